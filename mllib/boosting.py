"""Boosting: weighted votes of weak learners, and trees that follow the gradient of a loss.

Chapter: Trees and ensembles, *Boosting*. Main references: Freund and Schapire (1997), Journal of
Computer and System Sciences 55, 119-139; Friedman (2001), Annals of Statistics 29, 1189-1232.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mllib.core.arrays import (
    as_array,
    check_array,
    check_result,
    check_sample_weight,
    check_signs,
    check_vector,
    check_weighted_X_y,
)
from mllib.core.compiled import compiled
from mllib.core.errors import convergence_warning
from mllib.core.estimators import Classifier, Regressor, begin_fit, check_features, check_fitted
from mllib.core.scalars import check_choice, check_rng, check_scalar, random_generator
from mllib.logistic_regression import sigmoid, softmax
from mllib.trees import (
    Tree,
    apply,
    check_points,
    check_regression,
    check_sums,
    empty_tree,
    grow,
    leaves_of,
    midpoint,
    presort,
)

__all__ = [
    "AdaBoostClassifier",
    "Additive",
    "Bins",
    "Committee",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "Stump",
    "adaboost",
    "best_constant",
    "best_stump",
    "bin_columns",
    "committee_score",
    "gradient_boosting",
    "grow_binned",
    "leaf_values",
    "margins",
    "mean_loss",
    "negative_gradient",
    "normaliser",
    "reweight",
    "scores",
    "staged_committee_scores",
    "staged_scores",
    "vote_weight",
]

#: An error within this distance of one half is no edge.
_NO_EDGE = 1e-10


# Records -------------------------------------------------------------------------------------


class Stump(NamedTuple):
    """The classifier h(x) = sign if x_j > threshold and -sign otherwise; call it with X."""

    feature: int  #: the column j
    threshold: float  #: midway between neighbouring values, or -inf, below all of them
    sign: float  #: +1 or -1

    def __call__(self, X):
        """Return the answers for the rows of X, shape (m,)."""
        return np.where(X[:, self.feature] > self.threshold, self.sign, -self.sign)


class Committee(NamedTuple):
    """What T rounds of AdaBoost leave: learners, their votes, and the trace of the proof."""

    learners: tuple  #: the functions h_t, each from rows to answers -1 and +1
    alpha: np.ndarray  #: the weight of each vote, shape (T,)
    error: np.ndarray  #: weighted error of h_t under w_t, shape (T,)
    Z: np.ndarray  #: sum that normalises w_{t+1}, shape (T,)
    weights: np.ndarray  #: w_{T+1}, shape (n,), with sum 1
    stopped: str  #: "rounds", "perfect" or "no edge"


class Loss(NamedTuple):
    """A loss l(y, u) of targets and scores, shape (n,); for softmax u has shape (n, K)."""

    value: Callable  #: (y, u) -> l of each row
    slope: Callable  #: (y, u) -> -dl/du, the pseudo-residuals, shape of u
    start: Callable  #: (y, w, K) -> the constant scores of least mean loss
    leaf: Callable  #: (leaf, r, w, m, K) -> the best shift in each of m nodes, or one Newton step


class Additive(NamedTuple):
    """A sum of trees: u(x) = start + rate * (the leaf values of x in the trees of all rounds)."""

    start: np.ndarray  #: the best constant, shape (K,); K = 1 except for softmax
    trees: tuple  #: for each round a tuple of K trees whose ``value`` holds the leaf values
    rate: float  #: step size
    loss: str  #: its name
    trace: np.ndarray  #: mean training loss before the first round and after each, shape (T + 1,)


class Bins(NamedTuple):
    """Columns cut into at most B bins each."""

    codes: np.ndarray  #: the bin of each entry, uint8, shape (n, d)
    low: np.ndarray  #: smallest value in each bin, shape (d, B)
    high: np.ndarray  #: largest value in each bin, shape (d, B)


# AdaBoost ------------------------------------------------------------------------------------


@compiled
def best_cut(V, order, v):
    """Return (column, cut, sign) of the stump of largest sum_i v_i h(x_i), the first of equals.

    v_i is w_i y_i. ``V[j]`` holds column j in increasing order and ``order[j]`` its rows; the first
    ``cut`` of them get the answer -sign, the others sign.
    """
    feature, cut, best = 0, 0, v.sum()  # the sum for the stump that answers +1 everywhere
    slack = 1e-12 * np.linalg.norm(v, 1)
    for j in range(len(V)):
        r = v.sum()
        for c in range(1, len(v)):
            r -= 2 * v[order[j, c - 1]]  # from here on its answer is -1
            if V[j, c] > V[j, c - 1] and abs(r) > abs(best) + slack:
                feature, cut, best = j, c, r
    return feature, cut, 1.0 if best >= 0 else -1.0


def _sorted_columns(X):
    order = presort(X)
    return np.take_along_axis(np.ascontiguousarray(X.T), order, axis=1), order


def _stump(V, order, y, w):
    j, cut, sign = best_cut(V, order, w * y)
    threshold = midpoint(V[j, cut - 1], V[j, cut]) if cut > 0 else -np.inf
    return Stump(int(j), float(threshold), float(sign))


def best_stump(X, y, w=None):
    """Return the ``Stump`` of least weighted error for labels -1 and +1, the first of equals.

    The order is that of columns, then thresholds (below all values comes first), then +1 before -1.
    Weights are equal by default.

    Book: boosting-best-stump.

    >>> best_stump([[1.0], [2.0], [3.0]], [-1, -1, 1])
    Stump(feature=0, threshold=2.5, sign=1.0)
    """
    X, y, w = _check_signed(X, y, w)
    kept = w > 0
    return _stump(*_sorted_columns(X[kept]), y[kept], w[kept])


def vote_weight(error):
    """Return alpha = log((1 - error) / error) / 2, the weight of a vote; infinite for no error.

    Book: boosting-alpha-shape.

    >>> float(vote_weight(0.5))
    0.0
    """
    error = np.asarray(error, dtype=float)
    if not ((error >= 0) & (error <= 1)).all():
        raise ValueError(
            "error must lie in [0, 1]: divide the weight of the mistakes by all of it."
        )
    with np.errstate(divide="ignore"):
        return 0.5 * (np.log1p(-error) - np.log(error))


def normaliser(error, alpha):
    """Return Z = error e^alpha + (1 - error) e^-alpha, the total weight after reweighting.

    Book: boosting-alpha-optimal.

    >>> float(normaliser(0.2, 0.0))
    1.0
    """
    return error * np.exp(alpha) + (1 - error) * np.exp(-np.asarray(alpha, dtype=float))


def reweight(w, y, answer, alpha):
    """Return w_i e^(-alpha y_i h(x_i)) / Z and the sum Z.

    Book: boosting-adaboost.

    Parameters
    ----------
    w, y, answer : arrays of shape (n,)
        Weights, labels -1 and +1, answers -1 and +1.
    alpha : float
    """
    w = w * np.exp(-alpha * y * answer)
    Z = w.sum()
    check_result(Z / Z, "w, y, answer or alpha")
    return w / Z, Z


def adaboost(X, y, rounds, w=None, learn=None):
    """Return a ``Committee`` of weak learners, each trained where the earlier ones err.

    It has no learner at all if already the first is no better than a coin.

    Book: boosting-adaboost. Freund and Schapire (1997), Figure 2.

    Parameters
    ----------
    X, y : arrays of shape (n, d) and (n,)
        Labels are -1 and +1.
    rounds : int
        T; fewer if a learner makes no mistake, which then decides alone while the others go, or has
        no edge over a coin.
    w : array of shape (n,)
        Weights of the rows, equal by default; a whole number means so many equal rows.
    learn : callable
        ``learn(X, y, w)`` returns a function from rows to -1 and +1. By default the best stump.

    Examples
    --------
    >>> run = adaboost([[1.0], [2.0], [3.0]], [1, -1, 1], 3)
    >>> run.error.round(4).tolist()
    [0.3333, 0.25, 0.1667]
    """
    X, y, w = _check_signed(X, y, w)
    check_scalar(rounds, "rounds", low=1, integer=True)
    w = w / w.sum()
    kept = w > 0
    A, t, v = X[kept], y[kept], w[kept]
    if learn is None:
        columns = _sorted_columns(A)
        learn = lambda A, t, v: _stump(*columns, t, v)  # noqa: E731
    learners, alphas, errors, Zs, stopped = [], [], [], [], "rounds"
    for _ in range(rounds):
        h = learn(A, t, v)
        answer = _check_answers(h(A), len(A))
        wrong = answer != t
        error = v[wrong].sum()
        if not wrong.any():  # it decides alone
            learners, alphas, stopped = [h], [1.0], "perfect"
            errors, Zs = [0.0], [0.0]
            break
        if error >= 0.5 - _NO_EDGE:
            stopped = "no edge"
            break
        alpha = float(vote_weight(error))
        v, Z = reweight(v, t, answer, alpha)
        learners.append(h), alphas.append(alpha), errors.append(error), Zs.append(Z)
    last = np.zeros(len(X))
    last[kept] = v
    votes = (np.array(a) for a in (alphas, errors, Zs))
    return Committee(tuple(learners), *votes, last, stopped)


def committee_score(run, X):
    """Return f(x) = sum_t alpha_t h_t(x) for each row, shape (m,); its sign is the answer.

    Book: boosting-combined-classifier.
    """
    X = check_array(X)
    return sum((alpha * h(X) for alpha, h in zip(run.alpha, run.learners)), np.zeros(len(X)))


def staged_committee_scores(run, X):
    """Yield the scores f_1, ..., f_T of the rows, each of shape (m,)."""
    X = check_array(X)
    f = np.zeros(len(X))
    for alpha, h in zip(run.alpha, run.learners):
        f = f + alpha * h(X)
        yield f


def margins(f, y, alpha):
    """Return y_i f(x_i) / sum_t |alpha_t|, between -1 and 1, shape (n,).

    f are the scores of a committee, y labels -1 and +1, alpha the weights of its votes, shape (T,).

    Book: boosting-margins.
    """
    f, alpha = check_vector(f, "f"), check_vector(alpha, "alpha")
    if not alpha.any():
        raise ValueError("alpha must hold a weight other than 0: without votes there is no margin.")
    return check_signs(y, len(f)) * f / np.abs(alpha).sum()


def _check_signed(X, y, w):
    X = check_array(X)
    return X, check_signs(y, len(X)), check_sample_weight(w, len(X), "w", ones=True)


def _check_answers(answer, n):
    answer = np.asarray(answer, dtype=float)
    if answer.shape != (n,) or not (np.abs(answer) == 1).all():
        raise ValueError("learn must return a function that answers -1 or +1 for each row.")
    return answer


# Losses --------------------------------------------------------------------------------------


def _median(y, w):
    """Return the middle of the values that have half of the weight on either side."""
    at = np.argsort(y, kind="stable")
    below = np.cumsum(w[at]) / w.sum()
    low, high = np.searchsorted(below, (0.5 - 1e-12, 0.5 + 1e-12))
    return float(0.5 * y[at[low]] + 0.5 * y[at[high]])


def leaf_medians(leaf, r, w, m):
    """Return the weighted median of r in each of m leaves, 0 where no weight is."""
    value = np.zeros(m)
    for t in np.unique(leaf[w > 0]):
        at = (leaf == t) & (w > 0)
        value[t] = _median(r[at], w[at])
    return value


def leaf_means(leaf, r, w, m):
    """Return the weighted mean of r in each of m leaves, 0 where no weight is."""
    total, weight = np.bincount(leaf, w * r, m), np.bincount(leaf, w, m)
    return total / np.where(weight > 0, weight, np.inf)


def newton_steps(leaf, r, w, m):
    """Return sum w r / sum w p (1 - p) in each of m leaves, 0 where that is 0 / 0."""
    slope = np.bincount(leaf, w * r, m)
    curvature = np.bincount(leaf, w * np.abs(r) * (1 - np.abs(r)), m)  # |r| is p or 1 - p
    return slope / np.where(curvature > 0, curvature, np.inf)


def _one_hot(y, K):
    return (y[:, None] == np.arange(K)).astype(float)


def _log_odds(share):
    return np.log(share / (1 - share))


LOSSES = {
    "squared": Loss(
        value=lambda y, u: 0.5 * (y - u) ** 2,
        slope=lambda y, u: y - u,
        start=lambda y, w, K: np.average(y, weights=w),
        leaf=lambda leaf, r, w, m, K: leaf_means(leaf, r, w, m),
    ),
    "absolute": Loss(
        value=lambda y, u: np.abs(y - u),
        slope=lambda y, u: np.sign(y - u),
        start=lambda y, w, K: _median(y, w),
        leaf=lambda leaf, r, w, m, K: leaf_medians(leaf, r, w, m),  # of y - u
    ),
    "logistic": Loss(
        value=lambda y, u: np.logaddexp(0, u) - y * u,
        slope=lambda y, u: y - sigmoid(u),
        start=lambda y, w, K: _log_odds(np.average(y, weights=w)),
        leaf=lambda leaf, r, w, m, K: newton_steps(leaf, r, w, m),
    ),
    "softmax": Loss(
        value=lambda y, u: np.logaddexp.reduce(u, axis=1) - u[np.arange(len(y)), y.astype(int)],
        slope=lambda y, u: _one_hot(y, u.shape[1]) - softmax(u),
        start=lambda y, w, K: np.log(np.bincount(y.astype(int), w, minlength=K) / w.sum()),
        leaf=lambda leaf, r, w, m, K: (K - 1) / K * newton_steps(leaf, r, w, m),
    ),
}


def mean_loss(loss, y, u, w=None):
    """Return the weighted mean of l(y_i, u_i), the objective of an additive model.

    The losses are (y - u)^2 / 2, |y - u|, log(1 + e^u) - y u for y in {0, 1}, and
    log sum_k e^(u_k) - u_y for classes y = 0, ..., K - 1. NaN in an argument comes out as NaN.

    Book: boosting-additive-objective.

    Parameters
    ----------
    loss : {"squared", "absolute", "logistic", "softmax"}
    y, w : arrays of shape (n,)
    u : array of shape (n,), or (n, K) for softmax
        Scores.

    Examples
    --------
    >>> mean_loss("squared", np.array([1.0, 3.0]), np.array([0.0, 0.0]))
    2.5
    """
    return float(np.average(LOSSES[loss].value(y, u), weights=w))


def negative_gradient(loss, y, u):
    """Return -dl(y_i, u_i)/du_i, the pseudo-residuals, with arguments as in ``mean_loss``.

    Book: boosting-boosting-losses.

    >>> negative_gradient("logistic", np.array([0.0, 1.0]), np.zeros(2)).tolist()
    [-0.5, 0.5]
    """
    return LOSSES[loss].slope(y, u)


def best_constant(loss, y, w, K=1):
    """Return the constant scores of least mean loss, shape (K,); K = 1 except for softmax.

    These are the mean, the median, the log-odds, and the logarithms of the shares.

    Parameters
    ----------
    loss, y, w :
        As in ``mean_loss``.
    K : int
        Number of classes for softmax.
    """
    y, w = check_vector(y, "y"), check_sample_weight(w, len(y), "w", ones=True)
    if loss == "logistic" and not ((y >= 0) & (y <= 1)).all():
        raise ValueError("y must lie in [0, 1] for the logistic loss: turn labels into 0 and 1.")
    return np.atleast_1d(LOSSES[loss].start(y, w, K))


def leaf_values(loss, leaf, r, w, m, K=1):
    """Return the best shift of the scores in each leaf: exact, or one Newton step.

    For the squared loss it is the weighted mean of the residuals, for the absolute loss their
    median. For the logistic loss, whose second derivative p(1 - p) is |r|(1 - |r|), it is one
    Newton step; for softmax (K - 1)/K of one.

    Book: boosting-newton-leaf. Friedman (2001), Algorithms 2, 3, 5 and 6.

    Parameters
    ----------
    loss : {"squared", "absolute", "logistic", "softmax"}
    leaf : array of int of shape (n,)
        The leaf of each row, below m; the result has shape (m,), and 0 where no weight is.
    r : array of shape (n,)
        y - u for the squared and the absolute loss, else the pseudo-residuals.
    w : array of shape (n,)
    m, K : int
        Number of nodes, and of classes for softmax.
    """
    return LOSSES[loss].leaf(leaf, r, w, m, K)


# Histograms ----------------------------------------------------------------------------------


def bin_columns(X, max_bins=256, w=None):
    """Cut each column into at most ``max_bins`` ``Bins`` of about equal weight, at most 256.

    A column with no more distinct values than that has a bin for each.

    Book: boosting-histogram.

    >>> bins = bin_columns([[1.0], [5.0], [1.0], [9.0]], 2)
    >>> bins.codes[:, 0].tolist(), bins.high[0].tolist()
    ([0, 1, 0, 1], [1.0, 9.0])
    """
    X = check_array(X)
    check_scalar(max_bins, "max_bins", low=2, high=256, integer=True)
    w = check_sample_weight(w, len(X), "w", ones=True)
    codes = np.empty(X.shape, dtype=np.uint8)
    low, high = np.zeros((X.shape[1], max_bins)), np.zeros((X.shape[1], max_bins))
    for j, x in enumerate(X.T):
        values, at = np.unique(x, return_inverse=True)
        bin_of = np.arange(len(values))
        if len(values) > max_bins:
            own = np.bincount(at, w)
            place = (np.cumsum(own) - 0.5 * own) / w.sum()  # share of the weight up to the middle
            bin_of = np.minimum((max_bins * place).astype(int), max_bins - 1)
            bin_of = np.unique(bin_of, return_inverse=True)[1]  # no bin is empty
        first = np.flatnonzero(np.diff(bin_of, prepend=-1))
        codes[:, j] = bin_of[at]
        low[j, : len(first)] = values[first]
        high[j, : len(first)] = values[np.append(first[1:], len(values)) - 1]
    return Bins(codes, low, high)


@compiled
def fill_histogram(codes, rows, r, w, H):
    """Sum in each bin of each column the weights, the weighted residuals and the rows."""
    for j in range(H.shape[0]):
        for b in range(H.shape[1]):
            H[j, b, 0], H[j, b, 1], H[j, b, 2] = 0.0, 0.0, 0.0
    for i in rows:
        for j in range(H.shape[0]):
            b = int(codes[i, j])
            H[j, b, 0] += w[i]
            H[j, b, 1] += w[i] * r[i]
            H[j, b, 2] += 1.0


@compiled
def scan_histogram(H, W, mean, n, min_leaf, slack):
    """Return (column, last bin on the left) of the cut of largest gain; column -1 if none is."""
    feature, cut, best = -1, 0, -np.inf
    for j in range(H.shape[0]):
        W_left, S, rows = 0.0, 0.0, 0.0
        for b in range(H.shape[1]):
            W_left += H[j, b, 0]
            S += H[j, b, 1] - mean * H[j, b, 0]
            rows += H[j, b, 2]
            if rows > n - min_leaf:
                break
            if H[j, b, 2] > 0 and rows >= min_leaf and 0 < W_left < W:
                gain = S * S / (W_left * (W - W_left))
                if gain > best + slack:
                    feature, cut, best = j, b, gain
    return feature, cut


@compiled
def split_rows(codes, rows, start, end, feature, cut, buffer):
    """Move the rows of a node that go left to the front, in order; return where the rest begins."""
    a, b = start, 0
    for i in range(start, end):
        row = rows[i]
        if int(codes[row, feature]) <= cut:
            rows[a] = row
            a += 1
        else:
            buffer[b] = row
            b += 1
    for i in range(b):
        rows[a + i] = buffer[i]
    return a


@compiled
def grow_histograms(codes, rows, r, w, H, max_depth, min_leaf, tree, cut, after, leaf):
    """Grow depth first into the arrays of ``tree``; return the number of nodes.

    ``H`` is room for histograms. The cut of node t lies between the bins cut[t] and after[t]. A
    node's histogram less that of its smaller child is that of the larger one.
    """
    buffer = np.empty(len(rows), np.int64)
    free = np.arange(len(H))  # places for histograms that are not in use
    stack = np.empty((len(H) + 1, 5), np.int64)  # start, end, depth, parent, histogram
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3], stack[0, 4] = 0, len(rows), 0, -1, 0
    top, m, used = 1, 0, 1
    fill_histogram(codes, rows, r, w, H[0])
    while top > 0:
        top -= 1
        start, end, level, parent = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        place = stack[top, 4]
        if parent >= 0 and tree.left[parent] < 0:
            tree.left[parent] = m
        elif parent >= 0:
            tree.right[parent] = m
        W, S, squares, equal = 0.0, 0.0, 0.0, True
        for i in range(start, end):
            row = rows[i]
            W += w[row]
            S += w[row] * r[row]
            equal = equal and r[row] == r[rows[start]]
        mean = S / W
        for i in range(start, end):
            squares += w[rows[i]] * (r[rows[i]] - mean) ** 2
        tree.n[m], tree.weight[m] = end - start, W
        tree.value[m, 0], tree.impurity[m] = mean, squares / W
        j = -1
        if level < max_depth and not equal:
            slack = 1e-12 * (squares + 0.01 * abs(mean) * np.sqrt(W * squares)) / W
            j, c = scan_histogram(H[place], W, mean, end - start, min_leaf, slack)
        if j >= 0:
            middle = split_rows(codes, rows, start, end, j, c, buffer)
            tree.feature[m], cut[m], after[m] = j, c, c + 1
            while H[place, j, after[m], 2] == 0:
                after[m] += 1
            other = place
            if level + 1 < max_depth:
                other = free[used]
                used += 1
                first_smaller = middle - start <= end - middle
                if first_smaller:
                    fill_histogram(codes, rows[start:middle], r, w, H[other])
                else:
                    fill_histogram(codes, rows[middle:end], r, w, H[other])
                for k in range(H.shape[1]):
                    for b in range(H.shape[2]):
                        for s in range(3):
                            H[place, k, b, s] -= H[other, k, b, s]
                if not first_smaller:
                    place, other = other, place
            else:  # the children are leaves and need none
                used -= 1
                free[used] = place
            stack[top, 0], stack[top, 1], stack[top, 4] = middle, end, place
            stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 4] = start, middle, other
            stack[top : top + 2, 2], stack[top : top + 2, 3] = level + 1, m
            top += 2
        else:
            for i in range(start, end):
                leaf[rows[i]] = m
            if level < max_depth:
                used -= 1
                free[used] = place
        m += 1
    return m


def grow_binned(bins, r, w=None, *, max_depth=3, min_samples_leaf=1, rows=None):
    """Return the regression tree of ``trees.grow`` whose cuts fall between bins, and the leaves.

    Each threshold is midway between the values on its two sides. The leaf of each row has shape
    (n,); it is -1 for rows that are not used.

    Book: boosting-histogram. Ke et al. (2017), section 2.

    Parameters
    ----------
    bins : Bins
    r, w : arrays of shape (n,)
        Targets, and weights, all positive.
    max_depth, min_samples_leaf : int
    rows : array of int
        The rows to use; all by default.

    Examples
    --------
    >>> tree, leaf = grow_binned(bin_columns([[0.0], [1.0], [4.0]]), np.array([1.0, 1.0, 7.0]))
    >>> tree.threshold[0].item(), leaf.tolist()
    (2.5, [1, 1, 2])
    """
    count = len(bins.codes)
    r = check_vector(r, "r", length=count)
    w = check_sample_weight(w, count, "w", ones=True)
    if not w.all():
        raise ValueError("w must be positive: leave rows of weight 0 out.")
    check_sums(w, r)
    check_scalar(max_depth, "max_depth", low=1, integer=True)
    check_scalar(min_samples_leaf, "min_samples_leaf", low=1, integer=True)
    rows = np.arange(count) if rows is None else _check_rows(rows, count)
    deepest = min(max_depth, len(rows))
    tree = empty_tree(len(rows), deepest, 1)
    cut, after = np.empty_like(tree.n), np.empty_like(tree.n)
    leaf = np.full(count, -1, dtype=np.int64)
    H = np.empty((deepest + 1, *bins.low.shape, 3))
    m = grow_histograms(
        bins.codes, rows, r, w, H, deepest, min_samples_leaf, tree, cut, after, leaf
    )
    tree = Tree(*(a[:m].copy() for a in tree))
    for t in np.flatnonzero(tree.left >= 0):
        j = tree.feature[t]
        tree.threshold[t] = midpoint(bins.high[j, cut[t]], bins.low[j, after[t]])
    return tree, leaf


def _check_rows(rows, count):
    """Return the numbers of some of ``count`` rows, at least one."""
    rows = as_array(rows, "rows")
    if rows.ndim != 1 or rows.size == 0 or rows.dtype.kind not in "iu":
        raise ValueError("rows must be a list of row numbers, at least one.")
    if rows.min() < 0 or rows.max() >= count:
        raise ValueError(f"rows must hold row numbers from 0 to {count - 1}.")
    return rows.astype(np.int64)


# Gradient boosting ---------------------------------------------------------------------------


def gradient_boosting(
    X, y, loss="squared", *, rounds=100, rate=0.1, max_depth=3, min_samples_leaf=1, subsample=1.0,
    max_bins=None, w=None, n_classes=1, rng=None,
):  # fmt: skip
    """Return the sum of trees, ``Additive``, that follows the gradient of the training loss.

    Each round fits a tree to the pseudo-residuals by least squares, gives its leaves the values of
    ``leaf_values`` and adds ``rate`` times that tree.

    Book: boosting-gradient-boosting. Friedman (2001), Algorithm 1.

    Parameters
    ----------
    X, y : arrays of shape (n, d) and (n,)
        Targets are as in ``mean_loss``.
    loss : {"squared", "absolute", "logistic", "softmax"}
    rounds : int
    rate : float
        Step size, above 0.
    max_depth, min_samples_leaf : int
        Of each tree, at least 1.
    subsample : float
        Share of the rows that each round uses, drawn by ``rng`` without replacement.
    max_bins : int or None
        None looks at every threshold; 2 to 256 cuts the columns into so many bins first.
    w : array of shape (n,)
        Weights of the rows; a whole number means so many equal rows.
    n_classes : int
        K for softmax.
    rng : numpy.random.Generator

    Examples
    --------
    >>> model = gradient_boosting([[0.0], [1.0]], [1.0, 3.0], rounds=2, rate=0.5)
    >>> model.trace.tolist()
    [0.5, 0.125, 0.03125]
    """
    X, y = check_array(X), check_vector(y, "y", length=len(X))
    w = check_sample_weight(w, len(X), "w", ones=True)
    _check_target(loss, y, w, n_classes)
    check_scalar(rounds, "rounds", low=1, integer=True)
    check_scalar(rate, "rate", low=0, open_low=True)
    check_scalar(max_depth, "max_depth", low=1, integer=True)
    check_scalar(subsample, "subsample", low=0, high=1, open_low=True)
    if subsample < 1:
        check_rng(rng)
    X, y, w = X[w > 0], y[w > 0], w[w > 0]
    drawn = max(1, int(subsample * len(X)))
    grow_tree = _grower(X, w, max_depth, min_samples_leaf, max_bins)
    K = n_classes if loss == "softmax" else 1
    start = best_constant(loss, y, w, K)
    u = np.tile(start, (len(X), 1))
    scores = u if loss == "softmax" else u[:, 0]  # the same numbers in the shape of the loss
    trees, trace = [], [mean_loss(loss, y, scores, w)]
    for _ in range(rounds):
        rows = None if drawn == len(X) else np.sort(rng.choice(len(X), drawn, replace=False))
        at = slice(None) if rows is None else rows
        step, grown = np.empty_like(u), []
        R = negative_gradient(loss, y, scores).reshape(len(X), -1)
        for k in range(K):
            tree, leaf = grow_tree(R[:, k], rows)
            r = y - scores if loss == "absolute" else R[:, k]
            value = leaf_values(loss, leaf[at], r[at], w[at], len(tree.n), K)
            grown.append(tree._replace(value=value[:, None]))
            step[:, k] = value[leaf]
        u += rate * step
        trees.append(tuple(grown))
        trace.append(mean_loss(loss, y, scores, w))
        if not trace[-1] <= 1e100 * trace[0]:
            raise ValueError(
                f"the training loss diverged within {len(trees)} rounds: lower the rate {rate:g}."
            )
    return Additive(start, tuple(trees), float(rate), loss, np.array(trace))


def _grower(X, w, max_depth, min_samples_leaf, max_bins):
    """Return a function from targets and rows to a tree and the leaf of every row."""
    limits = {"max_depth": max_depth, "min_samples_leaf": min_samples_leaf}
    if max_bins is None:
        order = presort(X)

        def exact(r, rows):
            v = w
            if rows is not None:
                v = np.zeros(len(w))
                v[rows] = w[rows]
            tree = grow(X, r, v, order=order, **limits)
            return tree, apply(tree, X)

        return exact
    bins = bin_columns(X, max_bins, w)

    def binned(r, rows):
        tree, leaf = grow_binned(bins, r, w, rows=rows, **limits)
        return tree, leaf if rows is None else apply(tree, X)

    return binned


def _check_target(loss, y, w, n_classes):
    check_choice(loss, "loss", tuple(LOSSES))
    if loss in ("squared", "absolute"):
        return
    K = 2 if loss == "logistic" else check_scalar(n_classes, "n_classes", low=2, integer=True)
    if not np.isin(y, np.arange(K)).all():
        raise ValueError(f"y must hold the class indices 0 to {K - 1} for the {loss} loss.")
    if (np.bincount(y.astype(int), w, minlength=K) == 0).any():
        raise ValueError(f"y must hold every class from 0 to {K - 1} with positive weight.")


def scores(model, X):
    """Return u(x) for each row, shape (m, K), of a model ``Additive``.

    >>> model = gradient_boosting([[0.0], [1.0]], [1.0, 3.0], rounds=1, rate=1.0)
    >>> scores(model, [[-5.0], [5.0]]).tolist()
    [[1.0], [3.0]]
    """
    X = check_points(X, [tree for grown in model.trees for tree in grown])
    u = np.tile(model.start, (len(X), 1))
    for grown in model.trees:
        _add(grown, model.rate, X, u)
    return u


def _add(grown, rate, X, u):
    """Add rate times the leaf values of a round's trees to the scores u."""
    for k, tree in enumerate(grown):
        u[:, k] += rate * tree.value[leaves_of(tree, X), 0]


def staged_scores(model, X):
    """Yield the scores of the rows after each round, each of shape (m, K)."""
    X = check_points(X, [tree for grown in model.trees for tree in grown])
    u = np.tile(model.start, (len(X), 1))
    for grown in model.trees:
        u = u.copy()
        _add(grown, model.rate, X, u)
        yield u


# Estimators ----------------------------------------------------------------------------------


class AdaBoostClassifier(Classifier):
    """AdaBoost for two classes: sign of sum_t alpha_t h_t(x).

    It stops early when a learner makes no mistake, which then decides alone, and when a learner is
    no better than a coin; ``committee_.stopped`` says which. If this happens in the first round
    every score is 0, and a warning says so.

    Book: boosting-adaboost. Freund and Schapire (1997).

    Parameters
    ----------
    estimator : classifier or None
        The weak learner, with ``fit(X, y, sample_weight)`` and ``predict``; None takes the stump
        of least weighted error.
    n_estimators : int
        Rounds at most.

    Attributes
    ----------
    committee_ : Committee
    classes_ : array of shape (2,)
    n_features_in_ : int

    Examples
    --------
    >>> X, y = [[1.0], [2.0], [3.0]], ["out", "in", "out"]
    >>> AdaBoostClassifier(n_estimators=3).fit(X, y).predict(X)
    array(['out', 'in', 'out'], dtype='<U3')
    """

    def __init__(self, estimator=None, *, n_estimators=50):
        self.estimator = estimator
        self.n_estimators = n_estimators

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X, y, sample_weight=None):
        """Run AdaBoost; return self."""
        begin_fit(self, X)
        X, classes, y, w, _ = check_weighted_X_y(X, y, sample_weight, None, type(self).__name__)
        if len(classes) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"y holds {len(classes)} classes; take GradientBoostingClassifier."
            )
        learn = None if self.estimator is None else self._learn
        self.committee_ = adaboost(X, 2 * y - 1, self.n_estimators, w, learn)
        self.classes_ = classes
        self.n_features_in_ = X.shape[1]
        if not self.committee_.learners:
            convergence_warning(
                "the first weak learner is no better than a coin, so every score is 0: give "
                "features that say something about the classes, or a stronger estimator."
            )
        return self

    def _learn(self, X, y, w):
        estimator = type(self.estimator)(**self.estimator.get_params(deep=False))
        return estimator.fit(X, y, sample_weight=w).predict

    def decision_function(self, X):
        """Return the score f(x) = sum_t alpha_t h_t(x), shape (m,)."""
        X = check_features(self, X)
        return committee_score(self.committee_, X)

    def staged_decision_function(self, X):
        """Yield the scores after each round, each of shape (m,)."""
        X = check_features(self, X)
        yield from staged_committee_scores(self.committee_, X)

    def predict(self, X):
        """Return the class of each row, ``classes_[0]`` for a score of 0, shape (m,)."""
        f = self.decision_function(X)
        return self.classes_[(f > 0).astype(int)]

    def staged_predict(self, X):
        """Yield the answers after each round, each of shape (m,)."""
        for f in self.staged_decision_function(X):
            yield self.classes_[(f > 0).astype(int)]

    def predict_proba(self, X):
        """Return 1 - p and p = sigmoid(2 f(x)), which inverts f = log(p / (1 - p)) / 2."""
        p = sigmoid(2 * self.decision_function(X))
        return np.column_stack([1 - p, p])


class _GradientBoosting:
    """What both estimators share: their settings, and the scores after each round."""

    def __init__(
        self, *, n_estimators=100, learning_rate=0.1, max_depth=3, min_samples_leaf=1,
        subsample=1.0, max_bins=None, random_state=None,
    ):  # fmt: skip
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.subsample = subsample
        self.max_bins = max_bins
        self.random_state = random_state

    def _boost(self, X, y, loss, w, n_classes=1):
        check_scalar(self.learning_rate, "learning_rate", low=0, open_low=True)
        self.model_ = gradient_boosting(
            X, y, loss, rounds=self.n_estimators, rate=self.learning_rate,
            max_depth=self.max_depth, min_samples_leaf=self.min_samples_leaf,
            subsample=self.subsample, max_bins=self.max_bins, w=w, n_classes=n_classes,
            rng=random_generator(self.random_state),
        )  # fmt: skip
        self.n_features_in_ = X.shape[1]
        return self

    def _scores(self, X):
        X = check_features(self, X)
        return scores(self.model_, X)

    def _staged_scores(self, X):
        X = check_features(self, X)
        yield from staged_scores(self.model_, X)

    @property
    def train_loss_(self):
        """Mean training loss before the first round and after each, shape (T + 1,)."""
        check_fitted(self)
        return self.model_.trace


class GradientBoostingRegressor(_GradientBoosting, Regressor):
    """Gradient boosting of regression trees for the squared or the absolute loss.

    Book: boosting-gradient-boosting. Friedman (2001), Algorithms 2 and 3.

    Parameters
    ----------
    loss : {"squared", "absolute"}
        (y - u)^2 / 2, or |y - u|.
    n_estimators : int
        Rounds.
    learning_rate : float
        Step size, above 0.
    max_depth, min_samples_leaf : int
        Of each tree, at least 1.
    subsample : float
        Share of the rows drawn for each tree.
    max_bins : int or None
        None tries every threshold; 2 to 256 cuts the columns into so many bins first, whose sums
        do not see a weight below 1e-16 of the others: rounding cuts nodes of such rows alone.
    random_state : see ``mllib.core``

    Attributes
    ----------
    model_ : Additive
    train_loss_ : array of shape (n_estimators + 1,)
    n_features_in_ : int

    Examples
    --------
    >>> model = GradientBoostingRegressor(n_estimators=1, learning_rate=1.0)
    >>> model.fit([[0.0], [1.0]], [1.0, 3.0]).predict([[0.0], [1.0]])
    array([1., 3.])
    """

    def __init__(
        self, loss="squared", *, n_estimators=100, learning_rate=0.1, max_depth=3,
        min_samples_leaf=1, subsample=1.0, max_bins=None, random_state=None,
    ):  # fmt: skip
        self.loss = loss
        super().__init__(
            n_estimators=n_estimators, learning_rate=learning_rate, max_depth=max_depth,
            min_samples_leaf=min_samples_leaf, subsample=subsample, max_bins=max_bins,
            random_state=random_state,
        )  # fmt: skip

    def fit(self, X, y, sample_weight=None):
        """Boost; return self."""
        begin_fit(self, X)
        check_choice(self.loss, "loss", ("squared", "absolute"))
        X, y, w = check_regression(X, y, sample_weight, type(self).__name__)
        return self._boost(X, y, self.loss, w)

    def predict(self, X):
        """Return the score of each row, shape (m,)."""
        return self._scores(X)[:, 0]

    def staged_predict(self, X):
        """Yield the scores after each round, each of shape (m,)."""
        for u in self._staged_scores(X):
            yield u[:, 0]


class GradientBoostingClassifier(_GradientBoosting, Classifier):
    """Gradient boosting of regression trees for the logistic loss, or softmax for K > 2 classes.

    The parameters are those of ``GradientBoostingRegressor``, without a choice of the loss; with
    K > 2 classes each round grows K trees.

    Book: boosting-gradient-boosting. Friedman (2001), Algorithms 5 and 6.

    Attributes
    ----------
    model_ : Additive
    train_loss_ : array of shape (n_estimators + 1,)
    classes_ : array of shape (K,)
    n_features_in_ : int

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0]], ["out", "in", "out"]
    >>> GradientBoostingClassifier(n_estimators=10).fit(X, y).predict(X)
    array(['out', 'in', 'out'], dtype='<U3')
    """

    def fit(self, X, y, sample_weight=None):
        """Boost; return self."""
        begin_fit(self, X)
        name = type(self).__name__
        X, self.classes_, y, w, _ = check_weighted_X_y(X, y, sample_weight, None, name)
        K = len(self.classes_)
        return self._boost(X, y, "logistic" if K == 2 else "softmax", w, K)

    def decision_function(self, X):
        """Return the scores, shape (m,) for two classes and (m, K) for more."""
        u = self._scores(X)
        return u[:, 0] if u.shape[1] == 1 else u

    def _probabilities(self, u):
        if u.shape[1] > 1:
            return softmax(u)
        p = sigmoid(u[:, 0])
        return np.column_stack([1 - p, p])

    def predict_proba(self, X):
        """Return the probabilities of the classes, shape (m, K)."""
        return self._probabilities(self._scores(X))

    def staged_predict_proba(self, X):
        """Yield the probabilities after each round, each of shape (m, K)."""
        yield from map(self._probabilities, self._staged_scores(X))

    def predict(self, X):
        """Return the most probable class, the first at ties, shape (m,)."""
        P = self.predict_proba(X)
        return self.classes_[P.argmax(axis=1)]

    def staged_predict(self, X):
        """Yield the answers after each round, each of shape (m,)."""
        for P in self.staged_predict_proba(X):
            yield self.classes_[P.argmax(axis=1)]
