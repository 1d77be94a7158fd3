"""Answers to the exercises of *Decision trees*: the chapter's own, and wrong ones."""

import itertools

import numpy as np

RIGHT = {
    "ex-trees-judges": "(len(disputes), *disputes[0])",
    "ex-trees-parity": "(leaves_of,)",
    "ex-trees-which-cost": "(results[:, 1:], less.mean(), less.std(ddof=1) / np.sqrt(20))",
    "ex-trees-break": (
        "('trees-cart-classification', 'trees-cart-classification', 'trees-weakest-link',"
        " 'trees-cart-classification')"
    ),
}


def leaves(*, last=False, stop=False, depth=False, flip=False):
    """The leaves of a greedy tree on bits, with room for slips."""

    def grown(rows, y, columns):
        if len(set(y)) < 2 or not columns:
            return 1
        gains = []
        for j in columns:
            sides = [[v for r, v in zip(rows, y) if r[j] == side] for side in (0, 1)]
            gains.append(sum(2 * abs(sum(s) - len(s) / 2) for s in sides))
        top = max(gains)
        if stop and top < 1e-9:
            return 1
        ties = [j for j, gain in zip(columns, gains) if gain == top]
        j = ties[-1] if last else ties[0]
        rest = [i for i in columns if i != j]
        below = [
            grown([r for r in rows if r[j] == s], [v for r, v in zip(rows, y) if r[j] == s], rest)
            for s in (0, 1)
        ]
        return 1 + max(below) if depth else sum(below)

    def leaves_of(d, used):
        rows = list(itertools.product([0, 1], repeat=d))
        used = [d - 1 - j for j in used] if flip else used
        return grown(rows, [sum(r[j] for j in used) % 2 for r in rows], list(range(d)))

    return leaves_of


rng = np.random.default_rng(0)
TABLE = np.stack([rng.integers(4, 9, (20, 2)), rng.integers(9, 17, (20, 2)) / 169], axis=2)
MORE = TABLE[:, 0, 1] - TABLE[:, 1, 1]
MEAN, ERROR = MORE.mean(), MORE.std(ddof=1) / 20**0.5
C, W, G = "trees-cart-classification", "trees-weakest-link", "trees-greedy-tree"

WRONG = {
    "ex-trees-judges": [
        (26, (0, 1), (1, 3)),  # the other way round
        (104, (1, 3), (0, 1)),  # each division twice
        (26, (1, 3), (0, 0)),  # an empty group
        (26, (5, 5), (0, 5)),  # both prefer the second
        (20, (1, 3), (0, 1)),
    ],
    "ex-trees-parity": [
        (leaves(last=True),),
        (leaves(stop=True),),  # stops where nothing is gained
        (leaves(depth=True),),
        (leaves(flip=True),),
        (lambda d, used: 2 ** len(used),),
    ],
    "ex-trees-which-cost": [
        (TABLE, -MEAN, ERROR),
        (TABLE, MEAN, MORE.std(ddof=1)),  # of one division
        (TABLE, MEAN, MORE.std() / 20**0.5),
        (TABLE, MEAN, (TABLE[:, :, 1].var(axis=0, ddof=1).sum() / 20) ** 0.5),  # not paired
        (TABLE[:, :, ::-1], MEAN, ERROR),
        (TABLE * [1, 169], 169 * MEAN, 169 * ERROR),  # rows, not shares
    ],
    "ex-trees-break": [
        ([C, C, C, C],),  # growing has no strengths
        ([C, C, W, G],),
        ([C, W, C, C],),
        ([C, C, W],),
    ],
}
