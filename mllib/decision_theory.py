"""Decisions under uncertainty: losses, risks, optimal rules, metrics, and preparing the inputs.

Chapter: Foundations, *Decision theory*. Main references: Wald (1950), Chow (1970), Duda, Hart and
Stork (2001, chapter 2).

Labels of classes are the indices 0, ..., K-1 wherever probabilities are columns. A cost matrix C
and a confusion matrix N have the decision as first index and the truth as second: C_ab is the cost
of deciding a when b is true.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import xlog1py, xlogy

from mllib.core.arrays import (
    check_array,
    check_distribution,
    check_sample_weight,
    check_size,
    check_vector,
)
from mllib.core.estimators import Transformer, as_output, begin_fit, check_features
from mllib.core.numerics import log_normalise
from mllib.core.scalars import check_scalar

__all__ = [
    "REJECT",
    "BinaryCounts",
    "DensityTable",
    "RejectTradeoff",
    "Standardizer",
    "absolute",
    "accuracy",
    "add_intercept",
    "bayes_classifier",
    "bayes_error",
    "binary_counts",
    "boundary_points",
    "conditional_risk",
    "confusion_matrix",
    "cost_loss",
    "cost_sensitive_rule",
    "cost_threshold",
    "decision_boundaries",
    "density_table",
    "empirical_risk",
    "expected_costs",
    "expected_risk",
    "exponential",
    "f_score",
    "from_one_hot",
    "hinge",
    "log_loss",
    "logistic",
    "mean_absolute_error",
    "mean_squared_error",
    "norm_loss",
    "nrmse",
    "one_hot",
    "posterior",
    "precision",
    "r2",
    "recall",
    "reject_rule",
    "reject_tradeoff",
    "root_mean_squared_error",
    "specificity",
    "squared",
    "squared_margin",
    "threshold",
    "type1_rate",
    "type2_rate",
    "zero_one",
    "zero_one_margin",
]

#: The answer of ``reject_rule`` where it does not decide.
REJECT = -1


# Records -------------------------------------------------------------------------------------


class DensityTable(NamedTuple):
    """A joint density turned into a table by quadrature."""

    x: np.ndarray  #: nodes, shape (m,)
    joint: np.ndarray  #: quadrature weight times prior times density, shape (m, K)


class RejectTradeoff(NamedTuple):
    """What a reject rule gives and takes, one entry for each threshold."""

    coverage: np.ndarray  #: probability that the rule decides, shape (t,)
    error: np.ndarray  #: probability that it decides and is wrong, shape (t,)


class BinaryCounts(NamedTuple):
    """How often each of the four outcomes of a binary decision occurred."""

    tp: int  #: true positives: decided positive, is positive
    fp: int  #: false positives: decided positive, is negative (type I errors)
    fn: int  #: false negatives: decided negative, is positive (type II errors)
    tn: int  #: true negatives: decided negative, is negative


# Checks --------------------------------------------------------------------------------------


def _real(v, name):
    """Return ``v`` as finite float64 of any shape, or say what is wrong with it."""
    shape = np.shape(v)
    return check_vector(np.ravel(v), name).reshape(shape)


def _check_shapes(**arrays):
    """Refuse arguments of an elementwise loss whose shapes do not go together."""
    try:
        np.broadcast_shapes(*(v.shape for v in arrays.values()))
    except ValueError:
        shapes = " and ".join(str(v.shape) for v in arrays.values())
        raise ValueError(
            f"{' and '.join(arrays)} must have shapes that go together elementwise, got {shapes}."
        ) from None


def _reals(**arguments):
    """Return the arguments of an elementwise loss as finite float64, in their order."""
    arrays = {name: _real(v, name) for name, v in arguments.items()}
    _check_shapes(**arrays)
    return arrays.values()


def _probabilities(p, name="p"):
    """Return rows of probabilities, shape (m, K)."""
    return check_distribution(check_array(p, name, any_size=True), name)


def _joint(joint):
    """Return a table of joint probabilities, shape (m, K), whose entries sum to one."""
    joint = check_array(joint, "joint", any_size=True)
    check_distribution(joint.ravel(), "joint")
    return joint


def _labels(y, name):
    """Return labels of one kind as a non-empty vector without NaN."""
    y = np.asarray(y)
    if y.ndim != 1 or y.size == 0:
        raise ValueError(f"{name} must be a non-empty vector of labels, got shape {y.shape}.")
    if y.dtype.kind == "O" and any(v is None or v != v for v in y):
        raise ValueError(f"{name} contains NaN or None: remove those samples first.")
    if y.dtype.kind == "f" and np.isnan(y).any():
        raise ValueError(f"{name} contains NaN: remove those samples first.")
    return y


def _label_pair(y, predicted):
    """Return the true and the predicted labels, of one length and comparable."""
    y, predicted = _labels(y, "y"), _labels(predicted, "predicted")
    if len(y) != len(predicted):
        raise ValueError(
            f"y and predicted must have the same length, got {len(y)} and {len(predicted)}."
        )
    kinds = ["number" if v.dtype.kind in "biuf" else "text" for v in (y, predicted)]
    if kinds[0] != kinds[1] and "O" not in (y.dtype.kind, predicted.dtype.kind):
        raise ValueError(
            f"y and predicted must hold labels of one kind, got {y.dtype} and {predicted.dtype}: "
            f"convert one of them."
        )
    return y, predicted


def _index(y, classes, name):
    """Return the position of each label in ``classes``; refuse a label that is not there."""
    position = {label: k for k, label in enumerate(classes.tolist())}
    if len(position) < len(classes):
        raise ValueError(f"classes must not repeat a label, got {classes.tolist()}.")
    unseen = sorted({v for v in y.tolist() if v not in position}, key=str)
    if unseen:
        raise ValueError(
            f"{name} holds the label {unseen[0]!r}, which is not among the classes "
            f"{classes.tolist()}: add it to classes or remove those samples."
        )
    return np.array([position[v] for v in y.tolist()])


def _pair(y, f):
    """Return targets and predictions as finite vectors of one length."""
    y = check_size(check_vector(y, "y"), "y")
    if y.size == 0:
        raise ValueError("y must have at least one entry.")
    return y, check_vector(f, "f", length=len(y))


def _ratio(numerator, denominator, what, undefined):
    """Return a quotient; where it is 0/0, the value ``undefined`` or an error that explains."""
    if denominator > 0:
        return float(numerator / denominator)
    if undefined is not None:
        return float(undefined)
    raise ValueError(f"{what}: pass undefined=0.0, or any other value, to get that instead.")


# Losses --------------------------------------------------------------------------------------


def zero_one(y, f):
    """Return the loss L(y, f) = 1[f != y] elementwise, for labels of any kind.

    >>> zero_one([0, 1, 1], [0, 0, 1])
    array([0., 1., 0.])
    """
    y, f = np.asarray(y), np.asarray(f)
    for v, name in ((y, "y"), (f, "f")):
        if v.dtype.kind == "f" and np.isnan(v).any():
            raise ValueError(f"{name} contains NaN: remove those samples first.")
    _check_shapes(y=y, f=f)
    return np.asarray(f != y, dtype=float)


def squared(y, f):
    """Return the loss L(y, f) = (f - y)^2 elementwise.

    >>> squared([1.0, 2.0], 4.0)
    array([9., 4.])
    """
    y, f = _reals(y=y, f=f)
    return (f - y) ** 2


def absolute(y, f):
    """Return the loss L(y, f) = |f - y| elementwise."""
    y, f = _reals(y=y, f=f)
    return np.abs(f - y)


def norm_loss(y, f, p=2):
    """Return the loss L(y, f) = ||f - y||_p of vectors, p >= 1 or infinite, along the last axis.

    >>> float(norm_loss([3.0, 0.0], [0.0, 4.0])), float(norm_loss([3.0, 0.0], [0.0, 4.0], p=1))
    (5.0, 7.0)
    """
    if p != np.inf:
        check_scalar(p, "p", low=1)
    y, f = _reals(y=y, f=f)
    return np.linalg.norm(np.atleast_1d(f - y), ord=p, axis=-1)


def log_loss(y, p):
    """Return the loss L(y, p) = -y log p - (1 - y) log(1 - p) in nats, elementwise.

    Labels y are 0 and 1, p probabilities of label 1; a label declared impossible costs infinity.

    >>> log_loss([1, 0], [0.5, 0.0])
    array([0.69314718, 0.        ])
    """
    y, p = _reals(y=y, p=p)
    if not np.isin(y, (0.0, 1.0)).all():
        raise ValueError("y must hold only 0 and 1: turn labels -1 and +1 into (y + 1)/2.")
    if ((p < 0) | (p > 1)).any():
        raise ValueError("p must hold probabilities in [0, 1]: pass scores through a sigmoid.")
    return np.abs(xlogy(y, p) + xlog1py(1 - y, -p))


def zero_one_margin(z):
    """Return the 0-1 loss 1[z <= 0] as a function of the margin z = y f(x), y = -1 or +1."""
    return np.asarray(_real(z, "z") <= 0, dtype=float)


def hinge(z):
    """Return the hinge loss max(0, 1 - z) of the margin z = y f(x), y = -1 or +1.

    >>> hinge([-1.0, 0.0, 2.0])
    array([2., 1., 0.])
    """
    return np.maximum(0.0, 1.0 - _real(z, "z"))


def logistic(z, base=np.e):
    """Return the logistic loss log(1 + e^-z) of the margin z = y f(x), y = -1 or +1.

    With base 2 it is 1 at z = 0 and lies above the 0-1 loss everywhere; in nats it does not.

    >>> logistic([0.0], base=2)
    array([1.])
    """
    check_scalar(base, "base", low=1, open_low=True)
    return np.logaddexp(0.0, -_real(z, "z")) / np.log(base)


def exponential(z):
    """Return the exponential loss e^-z of the margin z = y f(x), y = -1 or +1."""
    with np.errstate(over="ignore"):
        return np.exp(-_real(z, "z"))


def squared_margin(z):
    """Return (1 - z)^2, the squared loss (y - f(x))^2 as a function of the margin z = y f(x)."""
    return (1.0 - _real(z, "z")) ** 2


def cost_loss(cost):
    """Return the loss L(b, a) = C_ab that a cost matrix of shape (A, K) describes.

    >>> L = cost_loss([[0.0, 60.0], [10.0, 0.0]])
    >>> L([1, 0], [0, 1])
    array([60., 10.])
    """
    cost = check_array(cost, "cost")

    def loss(y, f):
        y, f = np.asarray(y), np.asarray(f)
        for v, name, size in ((y, "y", cost.shape[1]), (f, "f", cost.shape[0])):
            if v.dtype.kind not in "iu" or (v < 0).any() or (v >= size).any():
                raise ValueError(f"{name} must hold whole numbers from 0 to {size - 1}.")
        _check_shapes(y=y, f=f)
        return cost[f, y]

    return loss


# Risks ---------------------------------------------------------------------------------------


def _values(values, K):
    values = np.arange(K) if values is None else np.asarray(values)
    if values.shape != (K,):
        raise ValueError(
            f"values must have one entry for each of the {K} columns of probabilities, got shape "
            f"{values.shape}."
        )
    return values


def _losses(loss, y, f, shape):
    """Return L(y, f), which may be infinite but not NaN, as an array of that shape."""
    if not callable(loss):
        raise ValueError(f"loss must be a function of y and f, such as squared; got {loss!r}.")
    L = np.asarray(loss(y, f), dtype=float)
    if np.isnan(L).any():
        raise ValueError("loss must not return NaN: check its values at the predictions f.")
    try:
        return np.broadcast_to(L, shape)
    except ValueError:
        raise ValueError(
            f"loss must work elementwise: it returned shape {L.shape} instead of {shape}."
        ) from None


def conditional_risk(loss, f, p, values=None):
    """Return R(f, x) = sum_k L(y_k, f(x)) p(y_k | x) for each x, shape (m,).

    Book: decision-theory-conditional-risk.

    Parameters
    ----------
    loss : callable
        ``loss(y, f)``, elementwise with broadcasting, never NaN.
    f : array of shape (m,)
        The prediction at each x.
    p : array of shape (m, K)
        Rows p(. | x), each with sum one.
    values : array of shape (K,), optional
        The values y_k of the columns; 0, ..., K-1 by default.

    Examples
    --------
    >>> conditional_risk(zero_one, [0], [[0.75, 0.25]])
    array([0.25])
    """
    p = _probabilities(p)
    f, values = np.asarray(f), _values(values, p.shape[1])
    if f.shape != (len(p),):
        raise ValueError(f"f must have one entry for each of the {len(p)} rows, got {f.shape}.")
    L = _losses(loss, values[None, :], f[:, None], p.shape)
    return np.sum(p * np.where(p > 0, L, 0.0), axis=1)  # (eq-decision-theory-conditional)


def expected_risk(loss, f, joint, values=None):
    """Return R(f) = sum_x p(x) R(f, x) for a table of joint probabilities p(x, y).

    Book: decision-theory-expected-risk.

    Parameters
    ----------
    loss, f, values :
        As in ``conditional_risk``.
    joint : array of shape (m, K)
        p(x_i, y_k); the sum over all entries is one. ``density_table`` makes one of densities.

    Examples
    --------
    >>> expected_risk(zero_one, [0, 1], [[0.5, 0.125], [0.125, 0.25]])
    0.25
    """
    joint, f = _joint(joint), np.asarray(f)
    if f.shape != (len(joint),):
        raise ValueError(f"f must have one entry for each of the {len(joint)} rows, got {f.shape}.")
    p_x = joint.sum(axis=1)
    seen = p_x > 0
    p = joint[seen] / p_x[seen, None]
    return float(p_x[seen] @ conditional_risk(loss, f[seen], p, values))


def empirical_risk(loss, f, y):
    """Return R_n(f) = (1/n) sum_i L(y_i, f(x_i)), for predictions f and targets y of shape (n,).

    Book: decision-theory-empirical-risk.

    >>> empirical_risk(squared, [1.0, 3.0], [1.0, 1.0])
    2.0
    """
    f, y = np.asarray(f), np.asarray(y)
    if f.shape != y.shape or f.ndim != 1 or f.size == 0:
        raise ValueError(
            f"f and y must be non-empty vectors of one length, got shapes {f.shape} and {y.shape}."
        )
    return float(np.mean(_losses(loss, y, f, y.shape)))  # (eq-decision-theory-empirical)


# Optimal rules -------------------------------------------------------------------------------


def posterior(log_densities, prior):
    """Return p(k | x) = p(x | k) p(k) / p(x) from the logarithms of the class densities.

    ``log_densities`` and the result have shape (m, K), entry -inf where x_i is impossible in class
    k, but some class must be possible; ``prior``, shape (K,), has sum one.

    Book: decision-theory-prior-classconditional-posterior.

    >>> posterior(np.log([[0.5, 0.25]]), [0.2, 0.8])
    array([[0.33333333, 0.66666667]])
    """
    g = check_array(log_densities, "log_densities", finite=False)
    prior = check_distribution(check_vector(prior, "prior", length=g.shape[1]), "prior")
    if np.isnan(g).any() or (g == np.inf).any():
        raise ValueError("log_densities must hold numbers below infinity and no NaN.")
    with np.errstate(divide="ignore"):
        p, log_p_x = log_normalise(g + np.log(prior))
    if (log_p_x == -np.inf).any():
        row = int(np.argmax(log_p_x == -np.inf))
        raise ValueError(f"row {row} of log_densities is impossible in every class: remove it.")
    return p


def bayes_classifier(g):
    """Return f(x) = argmax_k g_k(x), the lowest k at a tie, for g of shape (m, K).

    With g_k(x) = p(k | x), or p(x, k), or any discriminant function with the same argmax, this is
    the rule of least error probability. -inf is allowed.

    Book: decision-theory-bayes-classifier.

    >>> bayes_classifier([[0.2, 0.5, 0.3], [0.4, 0.4, 0.2]])
    array([1, 0])
    """
    g = check_array(g, "g", finite=False)
    if np.isnan(g).any():
        raise ValueError("g must not hold NaN: check the class probabilities or scores.")
    return np.argmax(g, axis=1)


def threshold(p, t=0.5):
    """Return the hard decision 1[p >= t] for probabilities p of class 1, t in [0, 1].

    >>> threshold([0.2, 0.5, 0.9])
    array([0, 1, 1])
    """
    check_scalar(t, "t", low=0, high=1)
    p = check_vector(p, "p")
    if ((p < 0) | (p > 1)).any():
        raise ValueError("p must hold probabilities in [0, 1]: pass scores through a sigmoid.")
    return (p >= t).astype(int)


def bayes_error(joint):
    """Return the Bayes error rate 1 - sum_x max_k p(x, k) of a table of joint probabilities.

    It is the sum of all but the largest entry of each row, so that a small rate keeps its digits.

    Book: decision-theory-bayes-error-rate.

    >>> bayes_error([[0.5, 0.125], [0.125, 0.25]])
    0.25
    """
    joint = np.sort(_joint(joint), axis=1)
    return float(joint[:, :-1].sum())


def expected_costs(p, cost):
    """Return sum_b C_ab p(b | x), the conditional risk of each decision a at each x, shape (m, A).

    p has shape (m, K), its rows sum to one; C_ab, shape (A, K), is the cost of decision a when the
    class is b, and there may be more decisions than classes.

    >>> expected_costs([[0.75, 0.25]], [[0.0, 60.0], [10.0, 0.0]])
    array([[15. ,  7.5]])
    """
    p, cost = _probabilities(p), check_array(cost, "cost")
    if cost.shape[1] != p.shape[1]:
        raise ValueError(
            f"cost must have one row for each decision and one column for each of the "
            f"{p.shape[1]} classes, got shape {cost.shape}."
        )
    return p @ cost.T


def cost_sensitive_rule(p, cost):
    """Return f(x) = argmin_a sum_b C_ab p(b | x), the lowest a at a tie; see ``expected_costs``.

    Book: decision-theory-cost-matrix.

    >>> cost_sensitive_rule([[0.9, 0.1], [0.8, 0.2]], [[0.0, 60.0], [10.0, 0.0]])
    array([0, 1])
    """
    return np.argmin(expected_costs(p, cost), axis=1)  # (eq-decision-theory-cost-rule)


def cost_threshold(cost):
    """Return t = (C_10 - C_00) / (C_10 - C_00 + C_01 - C_11): decide 1 where p(1 | x) > t.

    Each error must cost more than the right decision in the same column.

    >>> cost_threshold([[0.0, 60.0], [10.0, 0.0]]) == 1 / 7
    True
    """
    C = check_array(cost, "cost")
    if C.shape != (2, 2):
        raise ValueError(f"cost must be of shape (2, 2) for two classes, got {C.shape}.")
    false_alarm, miss = C[1, 0] - C[0, 0], C[0, 1] - C[1, 1]
    if false_alarm <= 0 or miss <= 0:
        raise ValueError("cost must make each error dearer than the right decision in its column.")
    return float(false_alarm / (false_alarm + miss))  # (eq-decision-theory-cost-threshold)


def reject_rule(p, theta):
    """Return argmax_k p(k | x) where that probability is at least theta, and REJECT = -1 elsewhere.

    p has shape (m, K), its rows sum to one; theta = 0 never rejects.

    Book: decision-theory-reject-option. Chow (1970), IEEE Trans. Information Theory 16, 41-46.

    >>> reject_rule([[0.9, 0.1], [0.6, 0.4]], 0.8)
    array([ 0, -1])
    """
    p = _probabilities(p)
    check_scalar(theta, "theta", low=0, high=1)
    return np.where(p.max(axis=1) >= theta, np.argmax(p, axis=1), REJECT)


def reject_tradeoff(joint, theta):
    """Return the ``RejectTradeoff`` of ``reject_rule`` for thresholds theta in [0, 1], shape (t,).

    ``joint`` is a table of probabilities p(x_i, k), shape (m, K).

    >>> reject_tradeoff([[0.5, 0.125], [0.125, 0.25]], [0.0, 0.75]).error
    array([0.25 , 0.125])
    """
    joint, theta = _joint(joint), check_vector(theta, "theta")
    if ((theta < 0) | (theta > 1)).any():
        raise ValueError("theta must hold thresholds in [0, 1].")
    best, p_x = joint.max(axis=1), joint.sum(axis=1)
    decides = best >= theta[:, None] * p_x
    return RejectTradeoff(decides @ p_x, decides @ (p_x - best))


# Regions and densities -----------------------------------------------------------------------


def _decisions(rule, x):
    """Return what a rule decides about each of the points stacked along the first axis of x."""
    if not callable(rule):
        raise ValueError(f"rule must be a function of an array of points, got {rule!r}.")
    decided = np.asarray(rule(x))
    if decided.shape != x.shape[:1]:
        raise ValueError(
            f"rule must return one decision for each of the {len(x)} points, got shape "
            f"{decided.shape}."
        )
    return decided


def boundary_points(rule, U, V, *, steps=60):
    """Return one boundary point on each segment from u to v whose ends are decided differently.

    Bisection: the left end keeps the decision of u, so the limit is on the frontier of u's region.

    Parameters
    ----------
    rule : callable
        Maps points, stacked along the first axis, to their decisions.
    U, V : arrays of shape (q,) or (q, d)
        Ends of the segments, with rule(u) != rule(v) for each.
    steps : int
        Halvings; the point is within 2^-steps of the segment's length of the boundary.

    Examples
    --------
    >>> boundary_points(lambda x: x > 0.25, [0.0], [1.0])
    array([0.25])
    """
    U, V = _real(U, "U"), _real(V, "V")
    if U.shape != V.shape or U.ndim not in (1, 2):
        raise ValueError(
            f"U and V must have one shape, (q,) or (q, d), got {U.shape} and {V.shape}."
        )
    check_scalar(steps, "steps", low=1, integer=True)
    start = _decisions(rule, U)
    if (start == _decisions(rule, V)).any():
        raise ValueError("rule must decide differently at the two ends of each segment.")
    for _ in range(steps):
        middle = U + (V - U) / 2
        same = _decisions(rule, middle) == start
        same = same.reshape(same.shape + (1,) * (U.ndim - 1))
        U, V = np.where(same, middle, U), np.where(same, V, middle)
    return U + (V - U) / 2


def decision_boundaries(rule, low, high, *, points=2001):
    """Return the points of [low, high] where the decision about a number changes, in order.

    A region narrower than the grid's spacing can be missed: raise ``points``.

    Parameters
    ----------
    rule : callable
        Maps an array of shape (m,) to decisions of shape (m,).
    low, high : float
    points : int
        Size of the grid between whose neighbours changes are located by bisection.

    Examples
    --------
    >>> decision_boundaries(lambda x: abs(x) > 0.5, -1.0, 1.0)
    array([-0.5,  0.5])
    """
    check_vector([low, high], "low and high")
    check_scalar(high, "high", low=low, open_low=True)
    check_scalar(points, "points", low=2, integer=True)
    grid = np.linspace(low, high, points)
    decided = _decisions(rule, grid)
    change = np.flatnonzero(decided[1:] != decided[:-1])
    if change.size == 0:
        return np.empty(0)
    return boundary_points(rule, grid[change], grid[change + 1])


def _density_values(density, x):
    """Return p(x | k) at each node."""
    if not callable(density):
        raise ValueError(f"densities must be functions of an array, got {density!r}.")
    p = _real(density(x), "densities")
    if p.shape != x.shape:
        raise ValueError(f"densities must map shape {x.shape} to the same shape, got {p.shape}.")
    return p


def density_table(densities, prior, breaks, *, points=40):
    """Return the ``DensityTable`` of class densities on the line, by quadrature.

    Between consecutive breaks the table holds Gauss-Legendre nodes x_i, which increase, with
    weights w_i, and its entries are w_i p(k) p(x_i | k). Sums over the table are then integrals, to
    rounding where the integrand is smooth between the breaks; put breaks where a decision changes.

    Parameters
    ----------
    densities : sequence of K callables
        p(x | k), each mapping an array of shape (m,) to one of the same shape.
    prior : array of shape (K,)
        p(k), with sum one.
    breaks : array of shape (b,)
        Increasing; the first and the last must enclose all but 1e-8 of the mass.
    points : int
        Nodes in each interval.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> table = density_table([norm(-1).pdf, norm(1).pdf], [0.5, 0.5], [-12, 0, 12], points=80)
    >>> round(bayes_error(table.joint), 6)
    0.158655
    """
    prior = check_distribution(check_vector(prior, "prior"), "prior")
    breaks = check_vector(breaks, "breaks")
    check_scalar(points, "points", low=1, integer=True)
    if len(densities) != len(prior):
        raise ValueError(
            f"prior must have one entry for each of the {len(densities)} densities, got "
            f"{len(prior)}."
        )
    if len(breaks) < 2 or (np.diff(breaks) <= 0).any():
        raise ValueError("breaks must be at least two increasing numbers.")
    node, weight = np.polynomial.legendre.leggauss(points)
    half = np.diff(breaks)[:, None] / 2
    x = (breaks[:-1, None] + half * (1 + node)).ravel()
    p = np.column_stack([_density_values(density, x) for density in densities])
    joint = (half * weight).ravel()[:, None] * prior * p
    if abs(joint.sum() - 1) > 1e-8 or (p < 0).any():
        raise ValueError(
            f"breaks must enclose all of the mass of non-negative densities, the table sums to "
            f"{joint.sum():.10g}: widen the interval, add breaks or raise points."
        )
    return DensityTable(x, joint)


# Metrics for classes -------------------------------------------------------------------------


def confusion_matrix(y, predicted, classes=None):
    """Return N with N_ab = the number of samples for which a was decided and b is true.

    The layout is that of a cost matrix, so (C * N).sum() / n is the average cost; the confusion
    matrix of scikit-learn is the transpose. ``classes`` are the labels in the order of rows and
    columns; by default all that occur, sorted.

    >>> confusion_matrix(["s", "s", "h", "h"], ["s", "h", "h", "h"])
    array([[2, 1],
           [0, 1]])
    """
    y, predicted = _label_pair(y, predicted)
    if classes is None:
        try:
            classes = sorted(set(y.tolist()) | set(predicted.tolist()))
        except TypeError:
            raise ValueError(
                "y and predicted must hold labels of one kind, or pass classes."
            ) from None
    classes = _labels(classes, "classes")
    b, a = _index(y, classes, "y"), _index(predicted, classes, "predicted")
    N = np.zeros((len(classes), len(classes)), dtype=int)
    np.add.at(N, (a, b), 1)
    return N


def binary_counts(y, predicted, positive=1):
    """Return the ``BinaryCounts`` of labels when ``positive`` is one class and the rest the other.

    ``positive`` must occur, unless all labels are 0 and 1, or -1 and 1.

    >>> binary_counts([1, 1, 0, 0, 0], [1, 0, 1, 0, 0])
    BinaryCounts(tp=1, fp=1, fn=1, tn=2)
    """
    y, predicted = _label_pair(y, predicted)
    present = set(y.tolist()) | set(predicted.tolist())
    usual = any(present | {positive} <= pair for pair in ({0, 1}, {-1, 1}))
    if positive not in present and not usual:
        raise ValueError(
            f"positive={positive!r} is not among the labels {sorted(present, key=str)}: name the "
            f"class to look for."
        )
    is_, says = y == positive, predicted == positive
    counts = (says & is_, says & ~is_, ~says & is_, ~says & ~is_)
    return BinaryCounts(*(int(np.count_nonzero(v)) for v in counts))


def accuracy(y, predicted):
    """Return the share of right decisions, (TP + TN)/n for two classes.

    >>> accuracy([1, 1, 0, 0], [1, 0, 0, 0])
    0.75
    """
    y, predicted = _label_pair(y, predicted)
    return float(np.mean(y == predicted))


def precision(y, predicted, positive=1, undefined=None):
    """Return TP/(TP + FP), the share of true ones among the samples called positive.

    Parameters
    ----------
    y, predicted : arrays of shape (n,)
    positive : label
    undefined : float, optional
        Returned if nothing was called positive (or, in ``recall`` and ``type2_rate``, nothing is
        positive; in ``specificity`` and ``type1_rate``, nothing is negative); without it that is
        an error.

    Examples
    --------
    >>> precision([1, 1, 0, 0], [1, 0, 0, 0])
    1.0
    """
    c = binary_counts(y, predicted, positive)
    what = "precision is undefined when nothing is called positive"
    return _ratio(c.tp, c.tp + c.fp, what, undefined)


def recall(y, predicted, positive=1, undefined=None):
    """Return TP/(TP + FN), the share of the positive samples that were found (sensitivity).

    Parameters are as in ``precision``.
    """
    c = binary_counts(y, predicted, positive)
    return _ratio(c.tp, c.tp + c.fn, "recall is undefined when nothing is positive", undefined)


def specificity(y, predicted, positive=1, undefined=None):
    """Return TN/(TN + FP), the share of the negative samples that were left alone.

    Parameters are as in ``precision``.
    """
    c = binary_counts(y, predicted, positive)
    return _ratio(c.tn, c.tn + c.fp, "specificity is undefined when nothing is negative", undefined)


def type1_rate(y, predicted, positive=1, undefined=None):
    """Return FP/(FP + TN) = 1 - specificity, the rate of false alarms among the negative samples.

    Parameters are as in ``precision``.
    """
    c = binary_counts(y, predicted, positive)
    what = "the type I rate is undefined when nothing is negative"
    return _ratio(c.fp, c.fp + c.tn, what, undefined)


def type2_rate(y, predicted, positive=1, undefined=None):
    """Return FN/(TP + FN) = 1 - sensitivity, the rate of misses among the positive samples.

    Parameters are as in ``precision``.
    """
    c = binary_counts(y, predicted, positive)
    what = "the type II rate is undefined when nothing is positive"
    return _ratio(c.fn, c.tp + c.fn, what, undefined)


def f_score(y, predicted, positive=1, beta=1.0, undefined=None):
    """Return F_beta = (1 + beta^2) TP / ((1 + beta^2) TP + beta^2 FN + FP).

    With beta = 1 it is the harmonic mean 2PR/(P + R) of precision and recall; recall counts beta
    times as much. Parameters are as in ``precision``; it is undefined if nothing is positive or
    called so.

    >>> f_score([1, 1, 1, 0, 0], [1, 1, 0, 0, 1])  # precision = recall = 2/3
    0.6666666666666666
    """
    check_scalar(beta, "beta", low=0, open_low=True)
    c, b2 = binary_counts(y, predicted, positive), float(beta) ** 2
    what = "the F score is undefined when nothing is positive or called positive"
    return _ratio((1 + b2) * c.tp, (1 + b2) * c.tp + b2 * c.fn + c.fp, what, undefined)


# Metrics for regression ----------------------------------------------------------------------


def mean_squared_error(y, f):
    """Return MSE = (1/n) sum_i (y_i - f_i)^2.

    >>> mean_squared_error([1.0, 2.0], [1.0, 4.0])
    2.0
    """
    y, f = _pair(y, f)
    return float(np.mean((y - f) ** 2))


def root_mean_squared_error(y, f):
    """Return RMSE, the root of the mean squared error, in the units of y."""
    return float(np.sqrt(mean_squared_error(y, f)))


def mean_absolute_error(y, f):
    """Return MAE = (1/n) sum_i |y_i - f_i|."""
    y, f = _pair(y, f)
    return float(np.mean(np.abs(y - f)))


def _mse_over_variance(y, f):
    """Return MSE / Var(y); None if y is constant."""
    y, f = _pair(y, f)
    scatter = np.sum((y - y.mean()) ** 2)
    if (y == y[0]).all() or scatter == 0:
        return None
    return float(np.sum((y - f) ** 2) / scatter)


def nrmse(y, f, undefined=None):
    """Return NRMSE, the root of MSE / Var(y) with Var(y) = (1/n) sum_i (y_i - mean y)^2.

    If y is constant it is ``undefined``; without that it is an error.
    """
    ratio = _mse_over_variance(y, f)
    if ratio is None:
        return _ratio(0, 0, "NRMSE is undefined when y is constant", undefined)
    return float(np.sqrt(ratio))


def r2(y, f, undefined=None):
    """Return R^2 = 1 - MSE / Var(y); 0 for the mean as prediction, negative for worse ones.

    If y is constant it is ``undefined``; without that it is an error.

    >>> r2([1.0, 2.0, 3.0], [2.0, 2.0, 2.0]), r2([1.0, 2.0, 3.0], [3.0, 2.0, 1.0])
    (0.0, -3.0)
    """
    ratio = _mse_over_variance(y, f)
    if ratio is None:
        return _ratio(0, 0, "R^2 is undefined when y is constant", undefined)
    return 1.0 - ratio


# Preparing inputs ----------------------------------------------------------------------------


def add_intercept(X):
    """Return (1, X): a column of ones first, so that w_0 plays the part of the offset b.

    >>> add_intercept([[3.0, 4.0]])
    array([[1., 3., 4.]])
    """
    X = check_array(X)
    return np.column_stack([np.ones(len(X)), X])


def one_hot(y, classes=None):
    """Return Y with Y_ik = 1[y_i = class k]: label k becomes the unit vector e_k, shape (n, K).

    ``classes`` are the labels in the order of the columns; by default all that occur, sorted.

    >>> one_hot(["b", "a", "b"])
    array([[0., 1.],
           [1., 0.],
           [0., 1.]])
    """
    y = _labels(y, "y")
    classes = np.unique(y) if classes is None else _labels(classes, "classes")
    return np.eye(len(classes))[_index(y, classes, "y")]


def from_one_hot(Y, classes=None):
    """Return the label of the largest entry of each row, the first at a tie; undoes ``one_hot``.

    Rows of Y may be class probabilities. ``classes`` are the labels of the columns, by default
    0, ..., K-1.

    >>> from_one_hot([[0.0, 1.0], [1.0, 0.0]], ["a", "b"])
    array(['b', 'a'], dtype='<U1')
    """
    Y = check_array(Y, "Y", any_size=True)
    classes = np.arange(Y.shape[1]) if classes is None else _labels(classes, "classes")
    if len(classes) != Y.shape[1]:
        raise ValueError(
            f"classes must have one entry for each of the {Y.shape[1]} columns of Y, got "
            f"{len(classes)}."
        )
    return classes[np.argmax(Y, axis=1)]


def _mean_and_deviation(X, s=None):
    """Return the mean and the standard deviation (divisor: the total weight) of each column."""
    if s is not None:
        X, s = X[s > 0], s[s > 0]
    mean = np.average(X, axis=0, weights=s)
    mean += np.average(X - mean, axis=0, weights=s)  # removes the rounding error of a large mean
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=s))
    constant = (X[0] == X).all(axis=0)
    return np.where(constant, X[0], mean), np.where(constant, 0.0, deviation)


class Standardizer(Transformer):
    """Bring each feature to mean 0 and variance 1: z_ij = (x_ij - mean_j) / s_j.

    s_j^2 = (1/n) sum_i (x_ij - mean_j)^2. A feature without variance has s_j replaced by 1, so that
    it becomes 0 once its mean is subtracted.

    Book: decision-theory-supervised-setup.

    Parameters
    ----------
    with_mean, with_std : bool
        Whether to subtract the means, and to divide by the standard deviations.

    Attributes
    ----------
    mean_ : array of shape (d,)
    scale_ : array of shape (d,)
        s_j, or 1 for a feature without variance.

    Examples
    --------
    >>> Standardizer().fit_transform([[1.0, 5.0], [3.0, 5.0]])
    array([[-1.,  0.],
           [ 1.,  0.]])
    """

    def __init__(self, with_mean=True, with_std=True):
        self.with_mean = with_mean
        self.with_std = with_std

    def fit(self, X, y=None, sample_weight=None):
        """Measure means and standard deviations of the columns of X, shape (n, d); return self."""
        begin_fit(self, X)
        X = check_array(X)
        mean, deviation = _mean_and_deviation(X, check_sample_weight(sample_weight, len(X)))
        self.mean_ = mean if self.with_mean else np.zeros(X.shape[1])
        varies = (deviation > 0) & bool(self.with_std)
        self.scale_ = np.where(varies, deviation, 1.0)
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        """Return (X - mean_) / scale_, shape (n, d)."""
        return as_output(self, (check_features(self, X) - self.mean_) / self.scale_, X)

    def get_feature_names_out(self, input_features=None):
        """Return the names of the columns of ``transform``, which are those of X."""
        return self._input_names(input_features)

    def inverse_transform(self, X):
        """Return X * scale_ + mean_, shape (n, d): the measurements in their own units."""
        return check_features(self, X) * self.scale_ + self.mean_
