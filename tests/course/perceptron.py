"""Answers to the exercises of *The perceptron*: the chapter's own, and wrong ones."""

import numpy as np

#: What the solution of the chapter hands in: an expression in the names of its cells.
RIGHT = {
    "ex-perceptron-warm-start": (
        "(lambda R, length, gamma, v, eta:"
        " (R * length / gamma)**2 + 2 * length * v / (eta * gamma),)"
    ),
    "ex-perceptron-order": "(A, t, min(made, key=made.get), max(made, key=made.get))",
    "ex-perceptron-margin": "(margin_perceptron,)",
    "ex-perceptron-iris": (
        "([is_separable(flowers.X[pair][:, k:], np.where(flowers.y[pair] == a, 1.0, -1.0))"
        " for a, b in itertools.combinations(range(3), 2)"
        " for pair in [np.isin(flowers.y, (a, b))] for k in (0, 2)],)"
    ),
    "ex-perceptron-break": (
        "('perceptron-perceptron-algorithm', 'perceptron-mistake-bound',"
        " 'perceptron-perceptron-algorithm', 'perceptron-weights-in-span',"
        " 'perceptron-weights-in-span')"
    ),
}


def margin(rule=lambda score, c: score <= c, *, whole=True, counted=True, batch=False, start=0.0):
    """A perceptron with a margin, with room for slips."""

    def margin_perceptron(X, y, c):
        w, updates, passes, clean = np.full(X.shape[1], start), 0, 0, False
        while not clean and passes < 10**5:
            clean, passes, old = True, passes + 1, w
            for x_i, y_i in zip(X, y):
                if rule(y_i * ((old if batch else w) @ x_i), c):
                    w, updates, clean = w + y_i * x_i, updates + 1, not whole
        return w, updates if counted else passes

    return margin_perceptron


def spoils(X, y, c):
    answer = margin()(X, y, c)
    X *= 2
    return answer


X3, ONES = np.array([[1.0, 4.0], [1.0, -3.0], [4.0, 0.0]]), np.ones(3)
A, B = "perceptron-perceptron-algorithm", "perceptron-mistake-bound"
C, D = "perceptron-weights-in-span", "perceptron-xor"

WRONG = {
    "ex-perceptron-warm-start": [
        (lambda R, w, g, v, eta: (R * w / g) ** 2,),  # forgets the start
        (lambda R, w, g, v, eta: (R * w / g) ** 2 + 2 * w * v / g,),  # forgets the step
        (lambda R, w, g, v, eta: (R * w / g) ** 2 + w * v / (eta * g),),
        (lambda R, w, g, v, eta: 10 * (R * w / g) ** 2 + 2 * w * v / (eta * g),),
        (lambda R, w, g, v, eta: 1e6 * (1 + v),),
    ],
    "ex-perceptron-order": [
        (X3, ONES, (0, 1, 2), (0, 1, 2)),  # the same order twice
        (X3, ONES, (0, 1, 2), (2, 0)),  # not all rows
        (np.array([[1.0, 1], [-1, 1]]), [1, 1], (0, 1), (1, 0)),  # the same number
        (np.array([[1.0, 1], [-1, -1]]), [1, 1], (0, 1), (1, 0)),  # not separable
        (np.vstack([X3, X3]), np.ones(6), range(6), [5, 4, 3, 2, 1, 0]),  # six points
    ],
    "ex-perceptron-margin": [
        (margin(lambda score, c: score < c),),
        (margin(lambda score, c: score <= 0),),
        (margin(whole=False),),
        (margin(counted=False),),
        (margin(batch=True),),
        (margin(start=1.0),),
        (spoils,),
        (lambda X, y, c: margin()(X, y, c)[0],),
        (lambda X, y, c: None,),
    ],
    "ex-perceptron-iris": [
        ([True] * 6,),
        ([False] * 6,),
        ([True, True, True, True, True, False],),
        ([True, True, True, True],),
    ],
    "ex-perceptron-break": [
        ([A, B, A, C, D],),  # XOR says nothing of the kernel
        ([A, B, B, C, C],),  # the bound does not see the step size
        ([C, B, A, C],),
        ([A, B, A, "perceptron-no-such-claim", C],),
    ],
}
