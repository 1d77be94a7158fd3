"""Answers to the exercises of *Principal components*: the chapter's own, and wrong ones."""

import numpy as np

RIGHT = {
    "ex-pca-dependent": "(np.column_stack([t, t**2 / 4]), lambda s: s**2 / 4 - 0.5)",
    "ex-pca-parallel": "(parallel_analysis,)",
    "ex-pca-gower": (
        "(lambda D, delta, k:"
        " kernel_scores(-0.5 * delta[:, None]**2, kernel_components(-0.5 * D**2, k))[0],)"
    ),
    "ex-pca-regression": "(both_errors, 4)",
    "ex-pca-break": "('pca-svd', 'pca-moments', 'pca-kpca-normalisation', 'pca-classical-scaling')",
}

T = np.arange(-2.0, 3)


def parallel(*, columns=True, level=0.95, stop=True, largest=False):
    """Parallel analysis, with room for slips."""

    def parallel_analysis(D, rounds, rng):
        def values(M):
            return np.linalg.eigvalsh(np.cov(M.T, bias=True))[::-1]

        shuffle = (lambda D: rng.permuted(D, axis=0)) if columns else rng.permutation
        null = np.array([values(shuffle(D)) for _ in range(rounds)])
        above = values(D) > np.quantile(null[:, :1] if largest else null, level, axis=0)
        return int(np.argmin([*above, False]) if stop else above.sum())

    return parallel_analysis


def gower(*, factor=-0.5, square=True, centred=True, power=0.5, own=True):
    def scores(D, delta, k):
        n, p = len(D), 2 if square else 1
        keep = np.eye(n) - 1 / n
        values, A = np.linalg.eigh(-0.5 * keep @ D**2 @ keep)
        v = delta**p - (D**p).mean(axis=1) * own
        v = factor * (keep @ v if centred else v)
        return (A[:, ::-1][:, :k] / values[::-1][:k] ** power).T @ v

    return scores


def errors(*, seen=False, scaled=True, offset=True, share=1, ddof=0):
    """Errors of components and of ridge, with room for slips."""

    def both_errors(X, y, train, test):
        rows = np.r_[train, test] if seen else train
        X = (X - X[rows].mean(axis=0)) / (X[rows].std(axis=0, ddof=ddof) if scaled else 1)
        A, Q, m = X[train], X[test], y[train].mean() if offset else 0
        t, V = y[train] - m, np.linalg.svd(A, full_matrices=False)[2].T
        weights = [V[:, :k] @ np.linalg.lstsq(A @ V[:, :k], t, rcond=None)[0] for k in range(1, 11)]
        weights += [
            np.linalg.solve(A.T @ A + lam * share * np.eye(10), A.T @ t) for lam in (1, 10, 30, 100)
        ]
        return [np.mean((y[test] - m - Q @ w) ** 2) for w in weights]

    return both_errors


S, M, K, C = "pca-svd", "pca-moments", "pca-kpca-normalisation", "pca-classical-scaling"
WRONG = {
    "ex-pca-dependent": [
        (np.column_stack([T, T**2]), lambda s: s**2 - 2),  # the axes change places
        (np.column_stack([T, T**2 / 4]), lambda s: s**2 / 4),  # not centred
        (np.column_stack([T, 0 * T]), lambda s: 0.0),  # constant
        (np.column_stack([T, T / 2]), lambda s: s / 2),  # correlated
        (np.column_stack([T, T**2 / 4])[1:4], lambda s: s**2 / 4 - 1 / 6),  # three points
    ],
    "ex-pca-parallel": [
        (parallel(columns=False),),  # whole rows are shuffled
        (parallel(level=0.5),),
        (parallel(stop=False),),
        (lambda D, rounds, rng: int((np.linalg.eigvalsh(np.cov(D.T)) > 1).sum()),),
    ],
    "ex-pca-gower": [
        (gower(factor=-1),),
        (gower(factor=0.5, power=1),),
        (gower(square=False),),
        (gower(own=False),),
        (gower(power=0),),
    ],
    "ex-pca-regression": [
        (errors(seen=True), 4),  # the test rows are seen
        (errors(scaled=False), 4),
        (errors(offset=False), 4),
        (errors(share=10), 4),  # another lambda
        (errors(), 3),
        (errors(), 5),
    ],
    "ex-pca-break": [
        ([C, M, K, C],),  # scaling has no singular values
        ([S, S, K, C],),
        ([S, M, M, C],),
        ([S, M, K],),
    ],
}
