"""The paths of the lasso, and ridge fits by the thousand, against scikit-learn and numpy.

scikit-learn's objective is ours divided by 2n, so lam = 2 n alpha. Both sides of a path get the
same centred sample; a tenth of the features matter.
"""

from functools import partial

import numpy as np
from rows import Quality, Row

TITLE = "Ridge and lasso"
HOW = (
    "The path of the lasso is followed from kink to kink, each a sweep of those rows of a table of "
    "inner products that belong to the active variables, and read off at the penalties; ridge fits "
    "of one size are solved together."
)

SAME_WORK = (
    "At this size a fit is forty microseconds of matrix products and elimination, which both "
    "sides leave to the same library; what is saved is the overhead of the calls."
)


def sample(n, d, mixing, seed):
    """Return a centred sample; neighbouring features have the correlation ``mixing``."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    for j in range(1, d):
        X[:, j] = mixing * X[:, j - 1] + np.sqrt(1 - mixing**2) * X[:, j]
    w = np.where(rng.permutation(d) < max(3, d // 10), 1 + rng.random(d), 0)
    y = X @ (w * rng.choice([-1, 1], d))
    y += y.std() * rng.standard_normal(n)
    X, y = X - X.mean(axis=0), y - y.mean()
    return {"X": X, "y": y, "lam": 2 * np.abs(X.T @ y).max() * np.geomspace(1, 1e-3, 100)}


def ours_path(data):
    from mllib.ridge_and_lasso import lars_path, path_at

    X, y, lam = data["X"], data["y"], data["lam"]
    return lambda: path_at(lars_path(X, y, lam_min=lam[-1]), lam)


def peer_path(options, data):
    from sklearn.linear_model import lasso_path

    X, y, alphas = data["X"], data["y"], data["lam"] / (2 * len(data["y"]))
    return lambda: lasso_path(X, y, alphas=alphas, **options)[1].T


def ours_whole(data):
    from mllib.ridge_and_lasso import lars_path

    return lambda: lars_path(data["X"], data["y"])


def peer_whole(data):
    from sklearn.linear_model import lars_path

    return lambda: lars_path(data["X"], data["y"], method="lasso")


def excess(data, mine, theirs):
    """Compare how far the objectives are above the minimum, at the worst of the penalties.

    The minimum lies between the dual value of either answer and the primal, so that no third
    solver need be trusted.
    """
    from mllib.ridge_and_lasso import lasso_gap, lasso_objective

    X, y, worst = data["X"], data["y"], np.zeros(2)
    for lam, *pair in zip(data["lam"], mine, theirs):
        primal = np.array([lasso_objective(w, X, y, lam) for w in pair])
        dual = primal - [lasso_gap(w, X, y, lam) for w in pair]
        worst = np.maximum(worst, (primal - dual.max()) / (y @ y))
    words = "largest excess of the objective over its minimum, relative to the sum of squares of y"
    return Quality(words, *worst, better="lower", allowed=1e-12)


def whole_excess(data, mine, theirs):
    """Compare both paths at the same penalties, on the straight lines between their kinks."""
    from mllib.ridge_and_lasso import path_at

    alphas, _, coefs = theirs
    kinks = 2 * len(data["y"]) * alphas
    other = [np.interp(data["lam"], kinks[::-1], w[::-1]) for w in coefs]
    return excess(data, path_at(mine, data["lam"]), np.column_stack(other))


def repeats(n, d, seed):
    """Return a thousand samples of one size."""
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((1000, n, d)), rng.standard_normal(d)
    return {"X": X, "y": X @ w + rng.standard_normal((1000, n))}


def ours_many(data):
    from mllib.ridge_and_lasso import ridge_many

    return lambda: ridge_many(data["X"], data["y"], 1.0)


def peer_many(data):
    def loop():
        W = []
        for X, y in zip(data["X"], data["y"]):
            W.append(np.linalg.solve(X.T @ X + np.eye(X.shape[1]), X.T @ y))
        return np.array(W)

    return loop


def mean_objective(data, mine, theirs):
    """Compare the mean of what each fit minimises; the weights must agree too."""
    if np.abs(mine - theirs).max() > 1e-10:
        raise RuntimeError("The same fits must have the same weights.")
    residuals = (data["y"] - np.einsum("rij,rj->ri", data["X"], W) for W in (mine, theirs))
    pair = (
        np.mean(np.sum(r**2, axis=1) + np.sum(W**2, axis=1))
        for r, W in zip(residuals, (mine, theirs))
    )
    return Quality("mean ridge objective", *pair, better="lower", allowed=1e-12)


def many_row(n, d, why=""):
    return Row(
        workload=f"1000 ridge fits, each {n} x {d}",
        n=n,
        d=d,
        against="a loop over numpy.linalg.solve",
        target=0.6,
        data=partial(repeats, n, d),
        ours=ours_many,
        peer=peer_many,
        quality=mean_objective,
        why=why,
    )


def path_row(n, d, mixing=0.5, target=1.2, why="", **options):
    tight = f", correlation {mixing:g}, tol {options['tol']:g}" if options else ""
    return Row(
        workload=f"lasso at 100 penalties{tight}, {n} x {d}",
        n=n,
        d=d,
        against="sklearn.linear_model.lasso_path",
        target=target,
        data=partial(sample, n, d, mixing),
        ours=ours_path,
        peer=partial(peer_path, options),
        quality=excess,
        why=why,
    )


def whole_row(n, d):
    return Row(
        workload=f"whole path of the lasso, {n} x {d}",
        n=n,
        d=d,
        against="sklearn.linear_model.lars_path",
        target=1.0,
        data=partial(sample, n, d, 0.5),
        ours=ours_whole,
        peer=peer_whole,
        quality=whole_excess,
    )


ROWS = [
    path_row(442, 10),
    path_row(1_000, 50),
    path_row(5_000, 200),
    path_row(100, 500),
    path_row(442, 10, 0.95, target=0.3, tol=1e-8, max_iter=100_000),
    path_row(1_000, 100, 0.95, target=0.3, tol=1e-8, max_iter=100_000),
    path_row(50, 200, 0.95, target=0.3, tol=1e-8, max_iter=100_000),
    whole_row(442, 10),
    whole_row(1_000, 50),
    whole_row(5_000, 200),
    whole_row(100, 500),
    many_row(50, 5),
    many_row(100, 20),
    many_row(200, 50, SAME_WORK),
]
