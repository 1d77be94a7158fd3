"""PAC learning: empirical risk minimisation, finite classes, shattering, VC dimension, bounds.

Chapter: Learning theory, *PAC learning*. Main references: Vapnik and Chervonenkis (1971), Valiant
(1984), Shalev-Shwartz and Ben-David (2014).
"""

import itertools
import math
from typing import NamedTuple

import numpy as np

from mllib.concentration import hoeffding_bound, hoeffding_radius, hoeffding_sample_size
from mllib.core.arrays import check_array, check_vector
from mllib.core.numerics import column_scale
from mllib.core.scalars import check_count, check_probability, check_scalar
from mllib.decision_theory import add_intercept, zero_one

__all__ = [
    "ErmResult",
    "erm",
    "finite_class_bound",
    "finite_class_sample_size",
    "growth_function",
    "is_shattered",
    "linear_dichotomies",
    "patterns",
    "sauer_bound",
    "sine_frequency",
    "uniform_deviation_bound",
    "vc_dimension",
    "vc_generalisation_bound",
    "vc_log_growth",
    "vc_sample_size",
]


# Records -------------------------------------------------------------------------------------


class ErmResult(NamedTuple):
    """The hypothesis of least empirical risk in a finite class."""

    index: int  #: its number; the lowest at a tie
    risk: float  #: its empirical risk R_n
    risks: np.ndarray  #: the empirical risk of every hypothesis, shape (m,)


# Checks --------------------------------------------------------------------------------------


def _family(family):
    """Return a family of labellings as a boolean array with distinct rows, shape (m, n)."""
    F = check_array(family, "family")
    if not np.isin(F, (0.0, 1.0)).all():
        raise ValueError("family must hold only 0 and 1: map labels -1 and +1 by (y + 1) / 2.")
    return np.unique(F.astype(bool), axis=0)


def _columns(points, n):
    """Return points as whole numbers 0..n-1, or say what is wrong with them."""
    points = np.asarray(points)
    if points.size == 0 and points.ndim == 1:
        return points.astype(int)
    if points.ndim != 1 or points.dtype.kind not in "iu" or points.min() < 0 or points.max() >= n:
        raise ValueError(f"points must list columns of family, whole numbers from 0 to {n - 1}.")
    return points


# Empirical risk minimisation -----------------------------------------------------------------


def erm(predictions, y):
    """Return the hypothesis of least empirical risk, argmin over f of R_n(f), for the 0-1 loss.

    ``predictions`` has a row f(x_1), ..., f(x_n) for each hypothesis; labels are of any type.

    Book: pac-learning-erm.

    Examples
    --------
    >>> erm([[0, 0, 0], [0, 0, 1]], [0, 0, 1]).index
    1
    """
    predictions, y = np.asarray(predictions), np.asarray(y)
    if y.ndim != 1 or y.size == 0:
        raise ValueError(f"y must be a vector with at least one label, got shape {y.shape}.")
    if predictions.ndim != 2 or len(predictions) == 0 or predictions.shape[1] != len(y):
        raise ValueError(
            f"predictions must have one row per hypothesis, at least one, and one column for each "
            f"of the {len(y)} labels, got shape {predictions.shape}."
        )
    risks = zero_one(y, predictions).mean(axis=1)
    best = int(np.argmin(risks))
    return ErmResult(best, float(risks[best]), risks)


# Finite classes ------------------------------------------------------------------------------


def uniform_deviation_bound(n, epsilon, size):
    """Return 2 |F| exp(-2 n epsilon^2), which bounds P(sup over f of |R_n(f) - R(f)| >= epsilon).

    Book: pac-learning-finite-class-proof.

    Examples
    --------
    >>> round(uniform_deviation_bound(1000, 0.1, 100), 9)
    4.12e-07
    """
    return check_count(size, "size") * hoeffding_bound(n, epsilon)


def finite_class_bound(n, delta, size):
    """Return sqrt((2/n) log(2 |F| / delta)), the excess risk of ERM with probability 1 - delta.

    Losses lie in [0, 1]; the sample is i.i.d. It is twice the radius that Hoeffding's inequality
    gives one function at failure probability delta / |F|.

    Book: pac-learning-finite-class.

    Examples
    --------
    >>> round(finite_class_bound(4000, 0.05, 10), 4)
    0.0547
    """
    return 2 * hoeffding_radius(
        n, check_probability(delta, "delta", inside=True) / check_count(size, "size")
    )


def finite_class_sample_size(epsilon, delta, size):
    """Return the smallest whole n >= (2 / epsilon^2) log(2 |F| / delta).

    It is what Hoeffding's inequality asks for one function, accuracy epsilon / 2 and failure
    probability delta / |F|.

    Examples
    --------
    >>> finite_class_sample_size(0.1, 0.05, 10)
    1199
    """
    epsilon, delta = (
        check_probability(epsilon, "epsilon", inside=True),
        check_probability(delta, "delta", inside=True),
    )
    return hoeffding_sample_size(epsilon / 2, delta / check_count(size, "size"))


# Shattering ----------------------------------------------------------------------------------


def patterns(family, points):
    """Return the distinct labellings that a family induces on some of the points, one in each row.

    The family has a row of 0 and 1 per hypothesis and a column per point of a finite domain; the
    points are columns.
    """
    F = _family(family)
    return _patterns(F, _columns(points, F.shape[1]))


def _patterns(F, points):
    return np.unique(F[:, points], axis=0)


def is_shattered(family, points):
    """Return whether the family induces all 2^k labellings of the k points.

    Book: pac-learning-shattering.

    Examples
    --------
    >>> is_shattered([[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]], [1])
    True
    """
    return len(patterns(family, points)) == 2 ** len(points)


def growth_function(family, k):
    """Return Pi(k), the largest number of labellings induced on k points of the domain.

    Examples
    --------
    >>> growth_function([[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]], 2)
    3
    """
    F = _family(family)
    check_scalar(k, "k", low=0, high=F.shape[1], integer=True)
    subsets = itertools.combinations(range(F.shape[1]), k)
    return max(len(_patterns(F, list(points))) if k else 1 for points in subsets)


def vc_dimension(family):
    """Return the size of the largest shattered set of points of a finite domain, by exhaustion.

    Subsets of shattered sets are shattered, so the search stops at the first size without one; and
    no set is looked at that has more subsets than there are functions. The family is as for
    ``patterns``.

    Book: pac-learning-vc-dimension.

    Examples
    --------
    >>> vc_dimension([[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]])
    1
    """
    F = _family(family)
    most = min(F.shape[1], len(F).bit_length() - 1)  # 2^k patterns need as many functions
    for k in range(1, most + 1):
        subsets = itertools.combinations(range(F.shape[1]), k)
        if not any(len(_patterns(F, list(points))) == 2**k for points in subsets):
            return k - 1
    return most


def linear_dichotomies(X, *, intercept=True):
    """Return all labellings 1[w^T x + b > 0] of at most 16 points, over w and b, one in each row.

    A labelling t is made if z_i^T w >= 1 where t_i = 1 and z_i^T w <= 0 where t_i = 0 is feasible,
    with z_i = (1, x_i), or x_i without the intercept b: any w with the right signs can be scaled to
    fulfil it. Linear programming decides.

    Book: pac-learning-linear-classifier-vc. Cover (1965) counts them in general position.

    Examples
    --------
    >>> len(linear_dichotomies([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
    14
    """
    from scipy.optimize import linprog

    X = check_array(X)
    n = len(X)
    if n > 16:
        raise ValueError(f"X must have at most 16 rows, got {n}: 2^n labellings are tried.")
    X = X - X[0] if intercept else X  # the offset takes it up
    X = X / column_scale(X)  # the unit does not matter
    Z = add_intercept(X) if intercept else X

    def is_made(t):
        side = np.where(t, -1.0, 1.0)
        answer = linprog(np.zeros(Z.shape[1]), side[:, None] * Z, -t, bounds=(None, None))
        return answer.status == 0

    labellings = np.array(list(itertools.product((0, 1), repeat=n)))
    return labellings[[is_made(t) for t in labellings]]


# Bounds --------------------------------------------------------------------------------------


def sauer_bound(n, d):
    """Return sum over i = 0..d of binomial(n, i), which bounds the growth function.

    Book: pac-learning-sauer. Sauer (1972).

    Examples
    --------
    >>> sauer_bound(4, 2)
    11
    """
    check_count(n, "n", low=0)
    return sum(math.comb(n, i) for i in range(min(n, check_count(d, "d", low=0)) + 1))


def vc_log_growth(n, d):
    """Return d log(e n / d), an upper bound on the logarithm of the growth function at n >= d."""
    check_count(d, "d")
    if check_count(n, "n") < d:
        raise ValueError(
            f"n must be at least d = {d}, got {n}: below, all 2^n labellings may occur."
        )
    return d * math.log(math.e * n / d)


def vc_generalisation_bound(n, d, delta):
    """Return sqrt((8 d log(2 e n / d) + 8 log(4 / delta)) / n); above 1 it says nothing.

    With probability at least 1 - delta over an i.i.d. sample, |R(f) - R_n(f)| <= this for all f of
    a class of VC dimension d at once, for the 0-1 loss and 2 n >= d.

    Book: pac-learning-generalization-bound. Vapnik and Chervonenkis (1971).

    Examples
    --------
    >>> round(vc_generalisation_bound(500, 10, 0.05), 3)
    0.983
    """
    check_count(n, "n")
    log_growth = vc_log_growth(2 * n, d)
    return math.sqrt(
        8 * (log_growth + math.log(4 / check_probability(delta, "delta", inside=True))) / n
    )


def vc_sample_size(epsilon, delta, d):
    """Return the smallest n at which the VC bound on the generalisation gap is at most epsilon.

    The bound falls with n and exceeds 1 at n = d: doubling from there, then bisection.

    Book: pac-learning-generalization-bound.

    Examples
    --------
    >>> vc_sample_size(0.1, 0.05, 1)
    12401
    """
    epsilon = check_probability(epsilon, "epsilon", inside=True)
    low = high = check_count(d, "d")
    while vc_generalisation_bound(high, d, delta) > epsilon:
        low, high = high, 2 * high
        if high > 1e15:
            raise ValueError("epsilon is too small: the sample size would exceed 1e15.")
    while high - low > 1:  # the bound exceeds epsilon at low, not at high
        middle = (low + high) // 2
        if vc_generalisation_bound(middle, d, delta) > epsilon:
            low = middle
        else:
            high = middle
    return high


def sine_frequency(y):
    """Return omega with sign(sin(omega 10^-i)) = +1 exactly where y_i = 1, for i = 1..k, k <= 12.

    omega = pi (1 + sum over i with y_i = 0 of 10^i): one number memorises any labelling.

    Book: pac-learning-infinite-vc-converse. Vapnik (1998).

    Examples
    --------
    >>> omega = sine_frequency([1, 0])
    >>> [bool(math.sin(omega * x) > 0) for x in (0.1, 0.01)]
    [True, False]
    """
    y = check_vector(y, "y")
    if not np.isin(y, (0.0, 1.0)).all() or not 1 <= len(y) <= 12:
        raise ValueError("y must hold 1 to 12 labels, each 0 or 1.")
    return math.pi * (1 + sum(10**i for i, label in enumerate(y, start=1) if label == 0))
