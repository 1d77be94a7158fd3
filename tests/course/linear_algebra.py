"""Answers to the exercises of *Linear algebra*: the chapter's own, and wrong ones."""

import numpy as np

RIGHT = {
    "ex-linear-algebra-disguise": "(K, z)",
    "ex-linear-algebra-one-sided": "(svd_by_turning,)",
    "ex-linear-algebra-digits": "(*counts['as it is'], *counts['centred'])",
    "ex-linear-algebra-spectral-norm": "(M, 1, B)",
    "ex-linear-algebra-break": (
        "('linear-algebra-central-differences', 'linear-algebra-jacobi-rotation',"
        " 'linear-algebra-gram-schmidt', 'linear-algebra-low-rank-approximation',"
        " 'linear-algebra-svd-code-example')"
    ),
}


def turning(*, sweeps=30, sign=1, largest_first=True, root=True, spoil=False):
    """One-sided rotations, with room for slips."""

    def svd_by_turning(A):
        B = A if spoil else A.copy()
        for _ in range(sweeps):
            for p in range(B.shape[1]):
                for q in range(p + 1, B.shape[1]):
                    a, b, g = B[:, p] @ B[:, p], B[:, q] @ B[:, q], B[:, p] @ B[:, q]
                    angle = sign * 0.5 * np.arctan2(2 * g, b - a) if g else 0.0
                    c, s = np.cos(angle), np.sin(angle)
                    B[:, [p, q]] = B[:, [p, q]] @ np.array([[c, s], [-s, c]])
        s = np.sort((B**2).sum(axis=0)) ** (0.5 if root else 1)
        return s[::-1] if largest_first else s

    return svd_by_turning


def by_squaring(A):
    return np.sqrt(np.maximum(np.linalg.eigvalsh(A.T @ A)[::-1], 0))


EYE, Z = np.eye(3), [1, 1, -2]
A = np.diag([3.0, 2.0, 1.0])
BREAK = [
    f"linear-algebra-{name}"
    for name in (
        "central-differences",
        "jacobi-rotation",
        "gram-schmidt",
        "low-rank-approximation",
        "svd-code-example",
    )
]

WRONG = {
    "ex-linear-algebra-disguise": [
        (np.diag([1, 0, -1]), [0, 0, 1]),  # the diagonal gives it away
        ([[1, 2, 2], [2, 1, 2], [2, 2, 1]], [1, -1, 0]),  # a negative leading minor
        ([[1, 1, 2], [1, 1, 2], [2, 2, 1]], [1, 1, 1]),  # another z
        ([[1, 1, 2], [1, 1, 2], [2, 2, 4]], Z),  # semidefinite
        ([[1, 1, 2], [1, 1, 2], [2, 1, 1]], Z),  # not symmetric
    ],
    "ex-linear-algebra-one-sided": [
        (by_squaring,),
        (turning(sweeps=1),),
        (turning(sign=-1),),
        (turning(largest_first=False),),
        (turning(root=False),),
        (turning(spoil=True),),
    ],
    "ex-linear-algebra-digits": [
        (21, 41, 9, 33),
        (8, 32, 20, 40),  # counted from 0
        (9, 33, 9, 33),
    ],
    "ex-linear-algebra-spectral-norm": [
        (A, 1, np.diag([3.0, 0, 0])),  # this is A_k
        (A, 1, np.diag([2.0, 0.5, 0])),  # its rank is 2
        (A, 1, np.diag([5.5, 0, 0])),
        (A, 2, np.diag([0, 2.0, 1])),
    ],
    "ex-linear-algebra-break": [
        [*BREAK[:2], "linear-algebra-svd-proof", *BREAK[3:]],  # completes a basis only
        [*BREAK[:4], "linear-algebra-svd"],
        ["linear-algebra-grad-quadratic", *BREAK[1:]],
        BREAK[:4],
    ],
}
