"""Answers to the exercises of *Scaling out*: the chapter's own, and wrong ones."""

import numpy as np

from mllib.least_squares import LinearRegression, solve_statistics

RIGHT = {
    "ex-scaling-out-variance": "(P, Q, [4])",
    "ex-scaling-out-neighbour": (
        "(lambda A, B: (lambda p: (p - 1, p + 1, p))(min(set(A) ^ set(B))),)"
    ),
    "ex-scaling-out-histogram": "(rough_median,)",
    "ex-scaling-out-averaging": "(excess,)",
    "ex-scaling-out-folds": "(cross_validation,)",
    "ex-scaling-out-break": (
        "('scaling-out-merge', 'scaling-out-tree', 'scaling-out-greedy', 'scaling-out-states',"
        " 'scaling-out-gradient')"
    ),
}


def beside(step=1, shift=0, one=False):
    """Two negatives beside the first place in which the sets differ."""

    def tell(A, B):
        p = min(A or B) if one else min(set(A) ^ set(B))
        return p - step, p + step, p + shift

    return tell


def rough(*, at=0.5, rank=lambda n: -(-n // 2), each=False, exact=False):
    """The middle of the bin that holds the middle element, with room for slips."""

    def rough_median(chunks, k):
        if each:
            return np.median([rough_median_of([part], k) for part in chunks])
        return np.median(np.concatenate(chunks)) if exact else rough_median_of(chunks, k)

    def rough_median_of(chunks, k):
        counts = np.sum([np.histogram(part, k, (0, 1))[0] for part in chunks], axis=0)
        return (np.searchsorted(np.cumsum(counts), rank(counts.sum())) + at) / k

    return rough_median


def averaged(*, own=False, total=False, offset=True, ratio=False):
    def excess(X, y, cut):
        fits = [LinearRegression().fit(X[i], y[i]) for i in cut]
        whole = LinearRegression().fit(X, y).predict(X)
        w = np.mean([f.coef_ for f in fits], axis=0)
        b = np.mean([f.intercept_ for f in fits]) if offset else y.mean() - X.mean(axis=0) @ w
        size = np.sum if total else np.mean
        mine, best = size((y - X @ w - b) ** 2), size((y - whole) ** 2)
        if own:  # each chunk judged on all rows, and the errors averaged
            mine = np.mean([np.mean((y - f.predict(X)) ** 2) for f in fits])
        return mine / best if ratio else mine - best

    return excess


def folded(*, seen=False, centre=True, offset=True, mean=False, every=1):
    def cross_validation(kept, lam):
        errors = []
        for k, own in enumerate(kept):
            others = kept if seen else kept[:k] + kept[k + 1 :]
            fit = solve_statistics(sum(others[1:], others[0]), lam * every)
            v = np.append(-fit.w, 1)
            gap = own.mean @ v - (fit.b if offset else 0)
            errors.append(np.sum((own.R @ v) ** 2) + own.n * gap**2 * centre)
        return sum(errors) / sum(s.n for s in kept) if mean else sum(errors)

    return cross_validation


M, T, G, S, N = (
    f"scaling-out-{name}" for name in ("merge", "tree", "greedy", "states", "gradient")
)
WRONG = {
    "ex-scaling-out-variance": [
        ([0, 2], [0, 0, 2, 2], []),  # nothing is added
        ([0, 2], [2, 0], [4]),  # the same data
        ([0, 2], [1, 1], [4]),  # another variance
        ([0, 2], [0, 0, 2], [4]),
    ],
    "ex-scaling-out-neighbour": [
        (beside(step=3),),  # a tie with a neighbour
        (beside(shift=1),),  # at the negative
        (beside(one=True),),  # a place that both may have
        (lambda A, B: (2, 4, 3),),
    ],
    "ex-scaling-out-histogram": [
        (rough(at=0),),  # the left end
        (rough(rank=lambda n: n // 2),),
        (rough(rank=lambda n: n // 2 + 1),),  # the upper median
        (rough(each=True),),
        (rough(exact=True),),
    ],
    "ex-scaling-out-averaging": [
        (averaged(own=True),),
        (averaged(total=True),),
        (averaged(offset=False),),
        (averaged(ratio=True),),
    ],
    "ex-scaling-out-folds": [
        (folded(seen=True),),  # the fold trains too
        (folded(centre=False),),
        (folded(offset=False),),
        (folded(mean=True),),
        (folded(every=2),),  # another lambda
    ],
    "ex-scaling-out-break": [
        ([T, T, G, S, N],),  # the order of a sum, not its terms
        ([M, M, G, S, N],),
        ([M, T, G, G, N],),
        ([M, T, G, S],),
    ],
}
