"""Answers to the exercises of *Optimization*: the chapter's own, and wrong ones."""

import numpy as np

RIGHT = {
    "ex-optimization-no-minimum": "(lambda z: 2.718281828459045**-z,)",
    "ex-optimization-price": "(slope, price_0)",
    "ex-optimization-simplex": "(project,)",
    "ex-optimization-units": "(*steps, *arrived)",
    "ex-optimization-break": (
        "('optimization-step-edge', 'optimization-interior-point', 'optimization-kkt',"
        " 'optimization-backtracking', 'optimization-newton')"
    ),
}


def clipped(v):
    x = np.maximum(v, 0)
    return x / x.sum() if x.sum() else np.full(len(v), 1 / len(v))


def softmax(v):
    return np.exp(v) / np.exp(v).sum()


def shifted(v):
    return v + (1 - v.sum()) / len(v)


def cut_once(v):
    return clipped(shifted(v))


def spoils(v):
    v -= (v.sum() - 1) / len(v)
    return np.maximum(v, 0)


BREAK = [
    f"optimization-{name}"
    for name in ("step-edge", "interior-point", "kkt", "backtracking", "newton")
]

WRONG = {
    "ex-optimization-no-minimum": [
        (lambda z: z**4 + z,),
        (lambda z: -z,),  # convex, not strictly
        (lambda z: z**3,),
        (lambda z: (z - 40) ** 2,),  # its minimum is far away
        (lambda z: -(2.0**-z),),
    ],
    "ex-optimization-price": [(2, 2), (-2, -2), (-1, 1)],
    "ex-optimization-simplex": [(clipped,), (softmax,), (shifted,), (cut_once,), (spoils,)],
    "ex-optimization-units": [
        (6, 6, True, True),
        (6, 6, True, False),
        (20000, 6, False, True),
        (5, 5, False, True),
    ],
    "ex-optimization-break": [
        [BREAK[0], BREAK[1], "optimization-weak-duality", *BREAK[3:]],
        ["optimization-steepest-descent", *BREAK[1:]],
        [*BREAK[:4], "optimization-newton-taylor"],
        BREAK[1:],
    ],
}
