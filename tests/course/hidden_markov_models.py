"""Answers to the exercises of *Hidden Markov models*: the chapter's own, and wrong ones."""

import numpy as np

RIGHT = {
    "ex-hidden-markov-models-predict": "(predict_state,)",
    "ex-hidden-markov-models-counterexample": "(pi, A, lambda x, z: 0.5 * (x[0] == x[1] == x[2]))",
    "ex-hidden-markov-models-order": "(sum(s >= in_order for s in shuffled), 1 / 100)",
    "ex-hidden-markov-models-break": (
        "('hidden-markov-models-forward', 'hidden-markov-models-forward',"
        " 'hidden-markov-models-viterbi', 'hidden-markov-models-baum-welch')"
    ),
}


def predict(*, extra=0, turned=False, seen=True, logs=False, whole=True):
    """The filter at T times A^h, with room for slips."""

    def predict_state(pi, A, log_B, h):
        p = np.asarray(pi) * (np.exp(log_B[0]) if seen else 1)
        for row in log_B[1:]:
            p = (p @ A) * np.exp(row)
        p = p / p.sum() if whole else p
        p = p @ np.linalg.matrix_power(A.T if turned else A, h + extra)
        return np.log(p) if logs else p

    return predict_state


FAIR, HALF = np.array([0.5, 0.5]), np.full((2, 2), 0.5)
F, V, B = (f"hidden-markov-models-{name}" for name in ("forward", "viterbi", "baum-welch"))
WRONG = {
    "ex-hidden-markov-models-predict": [
        (predict(extra=1),),
        (predict(turned=True),),
        (predict(seen=False),),
        (predict(logs=True),),
        (predict(whole=False),),
    ],
    "ex-hidden-markov-models-counterexample": [
        (FAIR, HALF, lambda x, z: 1 / 8),  # independent coins
        (FAIR, HALF, lambda x, z: float(x == z)),  # what is seen is the state
        (FAIR, HALF, lambda x, z: 1.0 * (x[0] == x[1] == x[2])),  # adds up to 2
        (FAIR, HALF, lambda x, z: 0.5),
    ],
    "ex-hidden-markov-models-order": [(1, 0.01), (0, 0.05), (99, 0.01), (0, 1)],
    "ex-hidden-markov-models-break": [
        ([F, F, F, B],),  # forward says nothing of paths
        ([F, F, V, V],),
        ([B, F, V],),
        ([V, F, V, B],),  # the best path does not come from the filter
    ],
}
