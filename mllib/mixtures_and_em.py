"""EM for latent-variable models, and Gaussian mixtures fitted by it.

Chapter: Unsupervised learning, *Mixtures and EM*. Main reference: Dempster, Laird and Rubin (1977).
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import multigammaln, xlogy

from mllib.core.arrays import (
    check_array,
    check_distribution,
    check_sample_weight,
    check_square,
    check_vector,
)
from mllib.core.chunks import (
    ColumnMoments,
    as_passes,
    column_moments,
    reduce_chunks,
    weighted_rows_of,
)
from mllib.core.errors import convergence_warning
from mllib.core.estimators import DensityEstimator, begin_fit, check_features, check_fitted
from mllib.core.numerics import (
    log_normalise,
    log_sum_exp,
    safe_log,
    squared_distances,
)
from mllib.core.parallel import map_over
from mllib.core.scalars import check_choice, check_rng, check_scalar, random_generator
from mllib.discriminant_analysis import ClassStatistics
from mllib.k_means import k_means_restarts
from mllib.model_selection import bic
from mllib.probability import entropy

__all__ = [
    "CentredStatistics",
    "EMFit",
    "GaussianMixture",
    "InverseWishart",
    "MixtureParams",
    "centred_statistics",
    "complete_data_mle",
    "constrained_covariances",
    "e_step",
    "em",
    "em_over_chunks",
    "expected_complete_log_likelihood",
    "fit_mixture",
    "joint_log_density",
    "kl_gap",
    "log_likelihood",
    "log_prior",
    "lower_bound",
    "m_step",
    "m_step_from_statistics",
    "mixture_density",
    "n_parameters",
    "random_start",
    "responsibilities",
    "sample_mixture",
    "start_from_labels",
    "stepwise_em",
    "variance_floor",
]

COVARIANCE_TYPES = ("full", "tied", "diag", "spherical")


# Records -------------------------------------------------------------------------------------


class EMFit(NamedTuple):
    """What a run of EM did."""

    params: Any  #: the last parameters theta, of the type that the M-step returns
    trace: np.ndarray  #: objective at the start and after each iteration, shape (n_iter + 1,)
    n_iter: int  #: M-steps taken
    converged: bool  #: whether the last gain was at most tol * n_samples


class MixtureParams(NamedTuple):
    """theta = (pi, mu, Sigma), the parameters of a Gaussian mixture with K components."""

    weights: np.ndarray  #: pi_k >= 0 with sum one, shape (K,)
    means: np.ndarray  #: mu_k in the units of x, shape (K, d)
    covariances: np.ndarray  #: Sigma_k, positive definite, shape (K, d, d)


class InverseWishart(NamedTuple):
    """A prior on each covariance: density ~ |Sigma|^{-(nu_0+d+1)/2} exp(-tr(S_0 Sigma^{-1})/2)."""

    dof: float  #: nu_0 > d - 1, degrees of freedom
    scale: np.ndarray  #: S_0, positive definite, shape (d, d), in squared units of x


@dataclass(frozen=True)
class CentredStatistics:
    """All that an M-step needs to know of rows, about the mean of each component."""

    moments: ClassStatistics  #: N_k, the means m_k and sum_i gamma_ik (x_i - m_k)(x_i - m_k)^T
    log_likelihood: float  #: sum_i log p(x_i), in nats
    n_samples: float  #: number of rows, or the sum of their weights

    def __add__(self, other):
        """Return the statistics of the rows of both, for one theta."""
        return CentredStatistics(
            self.moments + other.moments,
            self.log_likelihood + other.log_likelihood,
            self.n_samples + other.n_samples,
        )


# Functions: EM for any model -----------------------------------------------------------------


def em(e_step, m_step, params, *, max_iter=200, tol=1e-6, n_samples=1, name="EM"):
    """Climb an objective l(theta) = log p(X; theta) [+ log prior] by expectation-maximisation.

    Each iteration maximises the lower bound that touches l at the current theta, so l never falls;
    if it does, or is not finite, one of the two steps is wrong, and a ``RuntimeError`` says so.

    Parameters
    ----------
    e_step : callable, theta -> (statistics, objective)
        The expected statistics (or posteriors) under theta, and l(theta), a float.
    m_step : callable, statistics -> theta
        The maximiser of the lower bound that those statistics define.
    params : theta_0, whatever ``e_step`` accepts
    max_iter : see ``mllib.core``
    tol : float
        The gain per observation, in nats, that ends the run: it does not depend on units.
    n_samples : float
        The number of observations in the objective.
    name : str
        The model's name, used in messages.

    Returns
    -------
    EMFit

    References
    ----------
    Label mixtures-and-em-em-monotone; Dempster, Laird and Rubin (1977), theorem 1, page 7.

    Examples
    --------
    A coin of bias theta is tossed twice in each of four trials, but only "two heads" (once) or "not
    two heads" (three times) is recorded. The maximum likelihood estimate is theta = 1/2.

    >>> def e_step(theta):
    ...     heads = 2 * 1 + 3 * 2 * theta / (1 + theta)
    ...     return heads, 1 * np.log(theta**2) + 3 * np.log(1 - theta**2)
    >>> fit = em(e_step, lambda heads: heads / 8, 0.1, tol=1e-12)
    >>> round(fit.params, 4), fit.converged
    (0.5, True)
    """
    fit = _climb(e_step, m_step, params, max_iter, tol, n_samples, name)
    _warn_if_unfinished(fit, max_iter, tol, n_samples, name)
    return fit


def _climb(e_step, m_step, params, max_iter, tol, n_samples, name):
    """Run `em` without the warning."""
    check_scalar(max_iter, "max_iter", low=1, integer=True)
    check_scalar(tol, "tol", low=0)
    check_scalar(n_samples, "n_samples", low=0, open_low=True)
    statistics, objective = e_step(params)
    trace = [_check_objective(objective, None, n_samples, name)]
    for n_iter in range(1, max_iter + 1):
        params = m_step(statistics)
        statistics, objective = e_step(params)
        trace.append(_check_objective(objective, trace[-1], n_samples, name))
        if trace[-1] - trace[-2] <= tol * n_samples:
            return EMFit(params, np.array(trace), n_iter, True)
    return EMFit(params, np.array(trace), max_iter, False)


def _warn_if_unfinished(fit, max_iter, tol, n_samples, name):
    if not fit.converged:
        gain = (fit.trace[-1] - fit.trace[-2]) / n_samples
        convergence_warning(
            f"{name} stopped at max_iter={max_iter}: the last iteration gained {gain:.3g} nats "
            f"per observation, tol is {tol:.3g}. Raise max_iter or tol."
        )


def _check_objective(objective, previous, n_samples, name):
    """Return the objective as a float; raise if it is not finite or has fallen beyond rounding."""
    objective = float(objective)
    if not np.isfinite(objective):
        when = "at the starting parameters" if previous is None else f"after it was {previous:.6g}"
        raise RuntimeError(
            f"The objective of {name} is {objective} {when}: no finite likelihood to climb; "
            f"change the start, or bound the parameters away from degeneracy."
        )
    if previous is not None:
        rounding = 1e-9 * (abs(previous) + abs(objective) + n_samples)
        if objective < previous - rounding:
            raise RuntimeError(
                f"The objective of {name} fell from {previous:.12g} to {objective:.12g}: "
                f"the M-step does not maximise the bound that the E-step defines."
            )
    return objective


# Functions: the mixture and its posterior ------------------------------------------------------


def _check_params(params, d=None):
    """Return MixtureParams as float64 arrays of matching shapes."""
    if not isinstance(params, tuple) or len(params) != 3:
        raise ValueError("params must be a MixtureParams(weights, means, covariances).")
    weights, means, covariances = params
    weights = check_distribution(weights, "weights")
    means = check_array(means, "means")
    if weights.ndim != 1 or len(means) != len(weights):
        raise ValueError(
            f"weights and means must have one entry per component, got shapes "
            f"{weights.shape} and {means.shape}."
        )
    if d is not None and means.shape[1] != d:
        raise ValueError(f"means must have {d} columns like X, got {means.shape[1]}.")
    return MixtureParams(weights, means, _check_matrices(covariances, "covariances", means.shape))


def _check_matrices(S, name, shape):
    """Return K finite symmetric d x d matrices as one array, for shape = (K, d)."""
    wanted = (*shape, shape[-1])
    if np.shape(S) != wanted:
        raise ValueError(
            f"{name} must have shape {wanted}, one matrix per component, got {np.shape(S)}."
        )
    return np.stack([check_square(A, name, symmetric=True) for A in S])


def _check_weights(R, n, K=None):
    """Return non-negative weights of the rows for each component as float64 of shape (n, K)."""
    R = check_array(R, "R", any_size=True)
    if len(R) != n or (K is not None and R.shape[1] != K):
        wanted = f"({n}, {'K' if K is None else K})"
        raise ValueError(f"R must have shape {wanted}, one row per row of X, got {R.shape}.")
    if (R < 0).any():
        raise ValueError("R must not be negative: it holds weights.")
    return R


def _check_known(labels, n, K):
    """Return labels as integers in -1..K-1, where -1 means unknown; None stays None."""
    if labels is None:
        return None
    labels = np.asarray(labels)
    if labels.shape != (n,) or labels.dtype.kind not in "iu":
        raise ValueError(f"labels must be {n} integers, one per row of X, with -1 for unknown.")
    if labels.min() < -1 or labels.max() >= K:
        raise ValueError(f"labels must lie in -1..{K - 1}, with -1 for unknown.")
    return labels


def _factors(covariances):
    """Return the lower Cholesky factor of each covariance, or name the one that collapsed."""
    try:
        return np.linalg.cholesky(covariances)
    except np.linalg.LinAlgError:
        smallest = np.linalg.eigvalsh(covariances)[:, 0]
        k = int(np.argmin(smallest))
        raise ValueError(
            f"The covariance of component {k} is not positive definite (smallest eigenvalue "
            f"{smallest[k]:.3g}): give m_step a floor or a prior, or start elsewhere."
        ) from None


def _only_known(log_joint, labels):
    """Leave a labelled row only the component of its label; in place."""
    if labels is not None:
        known = labels >= 0
        other = np.arange(log_joint.shape[1]) != labels[known, None]
        log_joint[known] = np.where(other, -np.inf, log_joint[known])
    return log_joint


def joint_log_density(X, params):
    """Return log p(x_i, z_i = k) = log pi_k + log N(x_i; mu_k, Sigma_k), shape (n, K).

    Raises ``ValueError`` if a covariance is not positive definite.
    """
    X = check_array(X)
    return _log_joint(X, _check_params(params, X.shape[1]))


def _log_joint(X, params):
    pi, mu, Sigma = params
    L = _factors(Sigma)
    W, half_log_det = np.linalg.inv(L), np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1)
    log_joint = np.empty((len(X), len(pi)))
    for k in range(len(pi)):
        Z = (X - mu[k]) @ W[k].T
        log_joint[:, k] = np.einsum("ij,ij->i", Z, Z)
    log_joint *= -0.5
    return log_joint + (safe_log(pi) - half_log_det - 0.5 * X.shape[1] * np.log(2 * np.pi))


def mixture_density(X, params):
    """Return p(x_i) = sum_k pi_k N(x_i; mu_k, Sigma_k), shape (n,).

    Examples
    --------
    >>> theta = MixtureParams([0.3, 0.7], [[1.0], [9.0]], [[[0.5]], [[0.5]]])
    >>> mixture_density([[1.0], [5.0], [9.0]], theta).round(4)
    array([0.1693, 0.    , 0.3949])
    """
    return np.exp(log_sum_exp(joint_log_density(X, params)))


def log_likelihood(X, params):
    """Return l(theta) = sum_i log sum_k pi_k N(x_i; mu_k, Sigma_k), in nats."""
    return float(log_sum_exp(joint_log_density(X, params)).sum())


def responsibilities(X, params):
    """Return gamma_ik = p(z_i = k | x_i), shape (n, K); each row sums to one."""
    return log_normalise(joint_log_density(X, params))[0]


def e_step(X, params, labels=None):
    """Return the responsibilities R, (n, K), and the log-likelihood: Bayes' rule for each row.

    ``labels``, shape (n,), gives the known component of each row, -1 where it is unknown. A known
    row has responsibility one for its component, and log pi_k N(x_i; mu_k, Sigma_k) is its share of
    the likelihood.
    """
    log_joint = joint_log_density(X, params)
    labels = _check_known(labels, *log_joint.shape)
    R, log_p = log_normalise(_only_known(log_joint, labels))
    return R, float(log_p.sum())


def expected_complete_log_likelihood(X, R, params):
    """Return Q = sum_ik R_ik [log pi_k + log N(x_i; mu_k, Sigma_k)], in nats.

    R of shape (n, K), whose rows are distributions: the posterior at theta_old gives
    Q(theta, theta_old), indicators give the complete-data log-likelihood.
    """
    log_joint = joint_log_density(X, params)
    R = check_distribution(_check_weights(R, *log_joint.shape), "R")
    return float((R * np.where(R > 0, log_joint, 0)).sum())


def lower_bound(X, R, params):
    """Return A = Q + sum_i H[q_i] <= l(theta), the bound that distributions q_i = R_i give."""
    return expected_complete_log_likelihood(X, R, params) + float(entropy(R).sum())


def kl_gap(X, R, params):
    """Return sum_i KL(q_i || p(z_i | x_i, theta)) >= 0, in nats: l(theta) - A for q_i = R_i."""
    log_joint = joint_log_density(X, params)
    R = check_distribution(_check_weights(R, *log_joint.shape), "R")
    log_posterior = log_joint - log_sum_exp(log_joint)[:, None]
    return float((xlogy(R, R) - R * np.where(R > 0, log_posterior, 0)).sum())


# Functions: the M-step --------------------------------------------------------------------------


def variance_floor(X, relative=1e-6):
    """Return ``relative`` times the variance of each column of X, shape (d,).

    A constant column takes the mean variance of the others instead of its own. X may be given as
    its ``mllib.core.chunks.ColumnMoments``. If all rows are equal no scale can be read from them,
    which is an error.
    """
    check_scalar(relative, "relative", low=0)
    variances = (X if isinstance(X, ColumnMoments) else column_moments(X)).variance
    if not variances.any():
        raise ValueError("All rows of X are equal: a density needs at least two different points.")
    return relative * np.where(variances > 0, variances, variances[variances > 0].mean())


def _raise_to_floor(S, floor):
    """Return the member of {Sigma >= diag(floor)} nearest to S in likelihood, for each S.

    In coordinates scaled by sqrt(floor), eigenvalues below one are set to one.
    """
    D = np.sqrt(floor)
    values, vectors = np.linalg.eigh(S / np.multiply.outer(D, D))
    if values.min() >= 1:
        return S
    values = np.maximum(values, 1.0)
    clipped = (vectors * values[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    return clipped * np.multiply.outer(D, D)


def constrained_covariances(scatters, counts, covariance_type="full", *, floor=None, prior=None):
    """Maximise -1/2 sum_k [N_k log|Sigma_k| + tr(Sigma_k^{-1} S_k)] + log prior over a family.

    Without floor and prior the maximisers are: full, S_k/N_k; tied, sum_k S_k / sum_k N_k for all;
    diag, the diagonal of S_k/N_k; spherical, tr(S_k)/(d N_k) times I. A prior (nu_0, S_0) adds S_0
    to S_k and nu_0 + d + 1 to N_k.

    Parameters
    ----------
    scatters : array of shape (K, d, d)
        S_k = sum_i gamma_ik (x_i - mu_k)(x_i - mu_k)^T.
    counts : array of shape (K,)
        N_k > 0.
    covariance_type : {"full", "tied", "diag", "spherical"}
    floor : array of shape (d,), optional
        Keeps Sigma_k - diag(floor) positive semi-definite (mixtures-and-em-floor-is-exact); all
        above 0, or all 0 for none.
    prior : InverseWishart, optional

    Returns
    -------
    array of shape (K, d, d)
    """
    counts = check_vector(counts, "counts")
    if not (counts > 0).all():
        raise ValueError("counts must be above 0: leave out components without points.")
    S = np.asarray(scatters)
    S = _check_matrices(S, "scatters", (len(counts), S.shape[-1] if S.ndim else 0))
    options = _check_options(S.shape[-1], covariance_type, floor, prior)
    return _covariances(S, counts, **options)


def _check_options(d, covariance_type, floor, prior):
    check_choice(covariance_type, "covariance_type", COVARIANCE_TYPES)
    floor, prior = _check_floor(floor, d), _check_prior(prior, d)
    return {"covariance_type": covariance_type, "floor": floor, "prior": prior}


def _covariances(S, N, covariance_type, floor, prior):
    K, d, _ = S.shape
    if covariance_type == "tied":
        S, N = S.sum(axis=0, keepdims=True), N.sum(keepdims=True)
    if prior is not None:
        S, N = S + prior.scale, N + prior.dof + d + 1
    Sigma = S / N[:, None, None]
    if covariance_type == "diag":
        Sigma = Sigma * np.eye(d)
    elif covariance_type == "spherical":
        Sigma = np.trace(Sigma, axis1=1, axis2=2)[:, None, None] / d * np.eye(d)
        floor = None if floor is None else np.full(d, np.max(floor))
    if floor is not None and np.all(floor > 0):
        Sigma = _raise_to_floor(Sigma, floor)
    return np.repeat(Sigma, K, axis=0) if covariance_type == "tied" else Sigma


def _assemble(moments, previous, covariance_type, floor, prior):
    """Put the M-step together; a component without points keeps its old mean and covariance."""
    N, means, scatters = moments.counts, moments.means.copy(), moments.scatters
    empty = N <= 0
    if empty.any() and previous is None:
        raise ValueError(
            f"Component {int(np.argmax(empty))} has no points: start it elsewhere, use fewer "
            f"components, or pass previous= to keep its old mean and covariance."
        )
    options = _check_options(means.shape[1], covariance_type, floor, prior)
    Sigma = _covariances(scatters, np.where(empty, 1.0, N), **options)
    if empty.any():
        previous = _check_params(previous, means.shape[1])
        means[empty] = previous.means[empty]
        if covariance_type != "tied":
            Sigma[empty] = previous.covariances[empty]
    return MixtureParams(N / N.sum(), means, Sigma)


def m_step(X, R, *, covariance_type="full", floor=None, prior=None, previous=None):
    """Maximise Q over theta: pi_k = N_k / sum N, mu_k = sum_i R_ik x_i / N_k, Sigma_k = S_k / N_k.

    Here N_k = sum_i R_ik and S_k = sum_i R_ik (x_i - mu_k)(x_i - mu_k)^T.

    Parameters
    ----------
    X : array of shape (n, d)
    R : array of shape (n, K)
        Weights of at least 0: responsibilities, or these times how often each row counts.
    covariance_type, floor, prior
        As for `constrained_covariances`; a floor comes from `variance_floor`.
    previous : MixtureParams, optional
        Where a component without points (N_k = 0) keeps its mean and covariance from; without it
        such a component is an error.

    Returns
    -------
    MixtureParams
    """
    X = check_array(X)
    moments = _moments(X, _check_weights(R, len(X)))
    return _assemble(moments, previous, covariance_type, floor, prior)


def _moments(X, R):
    """Return N_k, the means and the scatters of the rows of X with weights R."""
    N = R.sum(axis=0)
    mu = (R.T @ X) / np.where(N > 0, N, 1.0)[:, None]
    S = np.empty((len(N), X.shape[1], X.shape[1]))
    for k in range(len(N)):
        Z = X - mu[k]
        S[k] = (R[:, k, None] * Z).T @ Z
    return ClassStatistics(N, mu, S)


def complete_data_mle(X, z, **options):
    """Return the maximiser of sum_i log p(x_i, z_i) when the components z_i are known.

    pi_k is the share of class k, mu_k its mean, Sigma_k its covariance with divisor N_k: the M-step
    with indicators for responsibilities, and its options. z holds 0, ..., K - 1, each present.
    Points of a component in one hyperplane, without floor or prior, are an error: there is no
    maximum.
    """
    X = check_array(X)
    z = np.asarray(z)
    if z.shape != (len(X),) or z.dtype.kind not in "iu" or z.min() < 0:
        raise ValueError(f"z must be {len(X)} integers from 0, one per row of X.")
    params = m_step(X, np.eye(z.max() + 1)[z], **options)
    for k, Sigma in enumerate(params.covariances):
        if np.linalg.eigvalsh(Sigma)[0] <= 1e-14 * np.trace(Sigma):
            raise ValueError(
                f"Component {k}: its points lie in one hyperplane, so no covariance is the most "
                f"likely one; give more points, a floor or a prior."
            )
    return params


def log_prior(params, prior):
    """Return sum_k log p(Sigma_k) under an inverse-Wishart prior, in nats; 0 without a prior.

    Equal covariances of a tied mixture count once per component: pass a single one for those.
    """
    if prior is None:
        return 0.0
    Sigma = np.asarray(params.covariances)
    K, d = Sigma.shape[:2]
    Sigma = _check_matrices(Sigma, "covariances", (K, d))
    nu, S0 = _check_prior(prior, d)
    L = _factors(Sigma)
    log_det = 2 * np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1)
    trace = np.trace(np.linalg.solve(Sigma, np.broadcast_to(S0, Sigma.shape)), axis1=1, axis2=2)
    constant = nu / 2 * (np.linalg.slogdet(S0)[1] - d * np.log(2)) - multigammaln(nu / 2, d)
    return float((constant - ((nu + d + 1) * log_det + trace) / 2).sum())


def _check_prior(prior, d):
    if prior is None:
        return None
    if not isinstance(prior, tuple) or len(prior) != 2:
        raise ValueError("prior must be an InverseWishart(dof, scale) or None.")
    check_scalar(prior[0], "prior.dof", low=d - 1, open_low=True)
    scale = check_square(prior[1], "prior.scale", size=d, symmetric=True)
    if np.linalg.eigvalsh(scale)[0] <= 0:
        raise ValueError("prior.scale must be positive definite: add to its diagonal.")
    return InverseWishart(float(prior[0]), scale)


def _check_floor(floor, d):
    if floor is None:
        return None
    floor = check_vector(floor, "floor")
    if floor.shape != (d,) or (floor < 0).any() or (floor.any() and not floor.all()):
        raise ValueError(
            f"floor must hold {d} variances, one per column of X, all above 0 (or all 0 for none)."
        )
    return floor


def fit_mixture(
    X,
    start,
    *,
    covariance_type="full",
    floor=None,
    prior=None,
    labels=None,
    max_iter=200,
    tol=1e-6,
):
    """Fit a Gaussian mixture by EM from given parameters: `e_step` and `m_step` in turn.

    The objective is l(theta), plus the log prior of the covariances if there is one.

    Parameters
    ----------
    X : array of shape (n, d)
    start : MixtureParams
        Covariances outside the family or below the floor are replaced by the nearest allowed ones
        first, so that no iteration can lose.
    covariance_type, floor, prior
        As for `m_step`.
    labels : array of int of shape (n,), optional
        Known components, -1 for unknown (semi-supervised EM).
    max_iter, tol
        As for `em`; ``tol`` is in nats per row.

    Returns
    -------
    EMFit
        ``params`` is a MixtureParams.
    """
    X = check_array(X)
    start = _check_params(start, X.shape[1])
    labels = _check_known(labels, len(X), len(start.weights))
    fit = _fit(
        partial(_statistics, X, labels=labels), start, covariance_type, floor, prior, max_iter, tol
    )
    _warn_if_unfinished(fit, max_iter, tol, len(X), "EM")
    return fit


def _fit(total, start, covariance_type, floor, prior, max_iter, tol):
    """Run EM without a warning, where ``total(theta)`` are the statistics of all rows."""
    options = _check_options(start.means.shape[1], covariance_type, floor, prior)
    prior, start = options["prior"], _admitted(start, covariance_type, options["floor"])
    first = total(start)
    if not first.n_samples > 0:
        raise ValueError("sample_weight must not be zero for every row of all chunks.")

    def expect(params):
        sums = first if params is start else total(params)
        free = params.covariances[:1] if covariance_type == "tied" else params.covariances
        return (sums, params), sums.log_likelihood + log_prior(
            params._replace(covariances=free), prior
        )

    def maximise(pair):
        return m_step_from_statistics(pair[0], previous=pair[1], **options)

    return _climb(expect, maximise, start, max_iter, tol, first.n_samples, "EM")


def _admitted(params, covariance_type, floor):
    """Return the parameters with the nearest covariances that the family and the floor allow."""
    check_choice(covariance_type, "covariance_type", COVARIANCE_TYPES)
    pi, _, Sigma = params
    N = pi if covariance_type == "tied" else np.ones(len(pi))
    nearest = _covariances(N[:, None, None] * Sigma, N, covariance_type, floor, None)
    rounding = 1e-12 * np.linalg.norm(Sigma, axis=(1, 2), keepdims=True)
    if (np.abs(nearest - Sigma) <= rounding).all():
        return params
    return params._replace(covariances=nearest)


# Functions: statistics that add up, chunks, streams ----------------------------------------------


def centred_statistics(X, params, *, labels=None, weights=None):
    """Return N_k, the means and the scatters of the rows of X, weighted by responsibilities.

    Parameters
    ----------
    X : array of shape (n, d)
    params : MixtureParams
    labels : array of int of shape (n,), optional
        Known components, -1 for unknown.
    weights : array of shape (n,), optional
        How often each row counts.

    Returns
    -------
    CentredStatistics
        Those of two chunks add with ``+``.

    Examples
    --------
    >>> theta = MixtureParams([0.5, 0.5], [[0.0], [4.0]], [[[1.0]], [[1.0]]])
    >>> X = np.array([[0.0], [1.0], [3.0], [5.0]])
    >>> both = centred_statistics(X[:2], theta) + centred_statistics(X[2:], theta)
    >>> bool(np.allclose(both.moments.scatters, centred_statistics(X, theta).moments.scatters))
    True
    """
    X = check_array(X)
    params = _check_params(params, X.shape[1])
    labels = _check_known(labels, len(X), len(params.weights))
    return _statistics(X, params, labels, check_sample_weight(weights, len(X), "weights"))


def _statistics(X, params, labels=None, s=None):
    R, log_p = log_normalise(_only_known(_log_joint(X, params), labels))
    if s is None:
        return CentredStatistics(_moments(X, R), float(log_p.sum()), len(X))
    return CentredStatistics(_moments(X, s[:, None] * R), float(s @ log_p), float(s.sum()))


def m_step_from_statistics(
    statistics, *, covariance_type="full", floor=None, prior=None, previous=None
):
    """Return the M-step from summed statistics.

    Parameters
    ----------
    statistics : CentredStatistics
    covariance_type, floor, prior, previous
        As for `m_step`.
    """
    return _assemble(statistics.moments, previous, covariance_type, floor, prior)


def em_over_chunks(
    chunks,
    start,
    *,
    covariance_type="full",
    floor=None,
    prior=None,
    max_iter=200,
    tol=1e-6,
    workers=1,
):
    """Return what `fit_mixture` finds in the stacked chunks: one map and one sum per iteration.

    Parameters
    ----------
    chunks : sequence of arrays of shape (n_c, d), or function that returns an iterator over them
        Read once per iteration. With weights a chunk is a tuple (X, None, sample_weight).
    start, covariance_type, floor, prior, max_iter, tol
        As for `fit_mixture`.
    workers : see ``mllib.core``
    """
    again, start, n = as_passes(chunks), _check_params(start), 0

    def total(params):
        nonlocal n
        sums = reduce_chunks(partial(_chunk_statistics, params=params), again(), workers).value
        n = sums.n_samples
        return sums

    fit = _fit(total, start, covariance_type, floor, prior, max_iter, tol)
    _warn_if_unfinished(fit, max_iter, tol, n, "EM")
    return fit


def _chunk_statistics(chunk, params):
    X, s = weighted_rows_of(chunk)
    if len(X):
        return centred_statistics(X, params, weights=s)
    return CentredStatistics(ClassStatistics(*map(np.zeros_like, params)), 0.0, 0.0)


def stepwise_em(chunks, start, *, kappa=0.7, covariance_type="full", floor=None, warm_up=0):
    """Fit a Gaussian mixture to a stream: after chunk t, s <- (1 - eta_t) s + eta_t s_t.

    s_t are the mean statistics of chunk t under the current theta, eta_t = (t + 1)^(-kappa), and
    theta is the M-step of s. Each chunk is seen once; with 1/2 < kappa <= 1 the steps satisfy
    sum eta_t = infinity and sum eta_t^2 < infinity (Cappe and Moulines, 2009, section 2.2).

    Parameters
    ----------
    chunks : iterable of arrays of shape (n_t, d)
    start : MixtureParams
    kappa : float in (0.5, 1]
    covariance_type, floor
        As for `m_step`; a stream of small chunks needs a floor.
    warm_up : int
        The first chunks that only collect statistics and leave theta as it is.

    Returns
    -------
    params : MixtureParams
    trace : array, mean log-likelihood per row of each chunk before it was learned from
    """
    check_scalar(kappa, "kappa", low=0.5, high=1, open_low=True)
    check_scalar(warm_up, "warm_up", low=0, integer=True)
    params, total, trace = _check_params(start), None, []
    for t, X in enumerate(chunks, start=1):
        new = centred_statistics(X, params)
        trace.append(new.log_likelihood / new.n_samples)
        mean, eta = _times(new.moments, 1 / new.n_samples), (t + 1.0) ** -kappa
        total = mean if total is None else _times(total, 1 - eta) + _times(mean, eta)
        if t > warm_up:
            params = _assemble(total, params, covariance_type, floor, None)
    if not trace:
        raise ValueError("chunks must hold at least one chunk of rows.")
    return params, np.array(trace)


def _times(moments, c):
    """Return the moments of rows that count c times as much."""
    return ClassStatistics(c * moments.counts, moments.means, c * moments.scatters)


# Functions: starts ------------------------------------------------------------------------------


def start_from_labels(X, labels, K, *, covariance_type="full", floor=None, weights=None):
    """Return the share, mean and covariance of each cluster as parameters to start EM from.

    A cluster of at most d rows has no covariance of its own and takes the pooled one.

    Parameters
    ----------
    X : array of shape (n, d)
    labels : array of int of shape (n,)
        0, ..., K - 1, each present.
    K : int
    covariance_type, floor
        As for `m_step`.
    weights : array of shape (n,), optional
        How often each row counts.
    """
    X, d = check_array(X), np.shape(X)[1]
    labels = _check_known(labels, len(X), K)
    if labels.min() < 0:
        raise ValueError(f"labels must lie in 0..{K - 1}: each row starts in some cluster.")
    R = np.eye(K)[labels] * check_sample_weight(weights, len(X), "weights", ones=True)[:, None]
    counts = R.sum(axis=0)
    if (counts == 0).any():
        raise ValueError(
            f"Cluster {int(counts.argmin())} has no rows: X has too few different rows for "
            f"{K} components; use fewer."
        )
    start = m_step(X, R, covariance_type=covariance_type, floor=floor)
    if covariance_type != "tied" and (counts <= d).any():
        pooled = np.einsum("k,kij->ij", start.weights, start.covariances)
        small = (counts <= d)[:, None, None]
        start = start._replace(covariances=np.where(small, pooled, start.covariances))
    return start


def random_start(X, K, rng, *, covariance_type="full", floor=None, weights=None):
    """Return equal weights, K different rows of X as means, and the covariance of X for each.

    A row is drawn as often as it counts.

    Parameters
    ----------
    X, K, covariance_type, floor, weights
        As for `start_from_labels`.
    """
    X = check_array(X)
    check_scalar(K, "K", low=1, high=len(X), integer=True)
    check_rng(rng)
    s = check_sample_weight(weights, len(X), "weights", ones=True)
    whole = m_step(X, s[:, None], covariance_type=covariance_type, floor=floor)
    p = None if weights is None else s / s.sum()
    means = X[rng.choice(len(X), size=K, replace=False, p=p)]
    return MixtureParams(np.full(K, 1 / K), means, np.repeat(whole.covariances, K, axis=0))


def _labelled_start(X, labels, K, rng, **options):
    """Return a start whose component k is near the rows labelled k; other centres are drawn."""
    known = labels >= 0
    present = np.unique(labels[known])
    centres = np.empty((K, X.shape[1]))
    for k in present:
        centres[k] = X[labels == k].mean(axis=0)
    for k in np.setdiff1d(np.arange(K), present):
        D = squared_distances(X[~known], centres[present]).min(axis=1)
        centres[k] = X[~known][rng.choice(len(D), p=D / D.sum())]
        present = np.append(present, k)
    nearest = squared_distances(X, centres).argmin(axis=1)
    return start_from_labels(X, np.where(known, labels, nearest), K, **options)


# Functions: sampling and model choice -------------------------------------------------------------


def sample_mixture(params, n, rng):
    """Draw z_i from pi, then x_i = mu_z + L_z e with e standard normal and L_z L_z^T = Sigma_z.

    Returns X of shape (n, d) and the components z of shape (n,).
    """
    check_scalar(n, "n", low=1, integer=True)
    check_rng(rng)
    pi, mu, Sigma = _check_params(params)
    L = _factors(Sigma)
    z = rng.choice(len(pi), size=n, p=pi)
    noise = rng.standard_normal((n, mu.shape[1]))
    return mu[z] + np.einsum("nij,nj->ni", L[z], noise), z


def n_parameters(K, d, covariance_type="full"):
    """Return q, the number of free parameters of a mixture: weights, means, covariances.

    >>> [n_parameters(3, 2, family) for family in ("full", "tied", "diag", "spherical")]
    [17, 11, 14, 11]
    """
    check_scalar(K, "K", low=1, integer=True)
    check_scalar(d, "d", low=1, integer=True)
    check_choice(covariance_type, "covariance_type", COVARIANCE_TYPES)
    covariance = {"full": K * d * (d + 1) // 2, "tied": d * (d + 1) // 2, "diag": K * d}
    return K - 1 + K * d + covariance.get(covariance_type, K)


def _compact(S, covariance_type):
    """Return covariances in scikit-learn's shapes: (K, d, d), (d, d), (K, d) or (K,)."""
    if covariance_type == "diag":
        return np.diagonal(S, axis1=1, axis2=2).copy()
    return S[{"full": np.s_[:], "tied": 0, "spherical": np.s_[:, 0, 0]}[covariance_type]].copy()


# Estimator -----------------------------------------------------------------------------------


class GaussianMixture(DensityEstimator):
    """The mixture p(x) = sum_k pi_k N(x; mu_k, Sigma_k) that maximises the likelihood by EM.

    The best of ``n_init`` runs is kept, the first of those within ``tol``. Maximised is l(theta) =
    sum_i log p(x_i), plus the log density of an inverse-Wishart prior on each covariance if there
    is one, over the covariances of one family whose variance in every direction is at least a
    floor. Book: mixtures-and-em-gmm-em; Dempster, Laird and Rubin (1977), section 4.3.

    Parameters
    ----------
    n_components : int
        K.
    covariance_type : {"full", "tied", "diag", "spherical"}
        Any matrix each; one matrix for all; diagonal; a multiple of I each.
    covariance_floor : float
        Smallest variance, in units of each feature's own (see `variance_floor`); 0 for none.
    covariance_prior : InverseWishart, optional
        Prior (nu_0, S_0) on each covariance, S_0 in squared units of X.
    init : {"k-means", "random"} or MixtureParams
        Clusters of k-means; K random rows; or the parameters to start from, once, with the nearest
        covariances that the family and the floor allow.
    n_init, max_iter, random_state, workers : see ``mllib.core``
    tol : float
        The gain per row, in nats, that ends a run.

    Attributes
    ----------
    weights_, means_ : arrays of shapes (K,) and (K, d)
    covariances_ : array of shape (K, d, d), (d, d), (K, d) or (K,), by family
    params_ : MixtureParams, the same with covariances of shape (K, d, d)
    trace_ : array of shape (n_iter_ + 1,), the objective along the best run, in nats
    lower_bound_ : float, the last objective divided by the number of rows
    n_iter_, converged_ : int and bool

    Examples
    --------
    >>> X = [[-1.1], [-0.9], [-1.0], [3.0], [3.2], [2.9], [3.1]]
    >>> model = GaussianMixture(2, random_state=0).fit(X)
    >>> sorted(float(round(m, 2)) for m in model.means_[:, 0])
    [-1.0, 3.05]
    """

    def __init__(
        self,
        n_components=2,
        *,
        covariance_type="full",
        covariance_floor=1e-6,
        covariance_prior=None,
        init="k-means",
        n_init=5,
        max_iter=1000,
        tol=1e-6,
        random_state=None,
        workers=1,
    ):
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.covariance_floor = covariance_floor
        self.covariance_prior = covariance_prior
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.workers = workers

    def fit(self, X, y=None, labels=None, sample_weight=None):
        """Fit to rows X, y is ignored; labels (-1 for unknown) fix the components of some rows.

        A whole weight counts a row that often. Starts of k-means depend neither on the order of
        the rows nor on writing a row of weight 2 as two; K random rows do.
        """
        begin_fit(self, X)
        X = check_array(X, min_samples=2)
        s = check_sample_weight(sample_weight, len(X))
        K, family = self.n_components, self.covariance_type
        check_scalar(K, "n_components", low=1, integer=True)
        check_choice(family, "covariance_type", COVARIANCE_TYPES)
        labels = _check_known(labels, len(X), K)
        if s is not None:
            X, labels, s = X[s > 0], None if labels is None else labels[s > 0], s[s > 0]
        if len(X) < K:
            raise ValueError(
                f"n_components={K} needs at least {K} rows of X, got n_samples = {len(X)}: "
                f"use fewer components."
            )
        floor = variance_floor(column_moments(X, s), self.covariance_floor)
        rng, own = random_generator(self.random_state), {"covariance_type": family, "floor": floor}
        starts = self._starts(X, labels, np.ones(len(X)) if s is None else s, rng, own)
        limits = {"prior": self.covariance_prior, "max_iter": self.max_iter, "tol": self.tol}
        run = partial(_fit, partial(_statistics, X, labels=labels, s=s), **own, **limits)
        fits = map_over(run, starts, self.workers)
        n = len(X) if s is None else float(s.sum())
        enough = max(fit.trace[-1] for fit in fits) - self.tol * n
        fit = next(fit for fit in fits if fit.trace[-1] >= enough)
        _warn_if_unfinished(fit, self.max_iter, self.tol, n, "GaussianMixture")
        self.n_features_in_ = X.shape[1]
        self._freedom = n_parameters(K, X.shape[1], family)
        self.params_ = fit.params
        self.weights_, self.means_, covariances = fit.params
        self.covariances_ = _compact(covariances, family)
        self.trace_, self.n_iter_, self.converged_ = fit.trace, fit.n_iter, fit.converged
        self.lower_bound_ = float(fit.trace[-1] / n)
        return self

    def _starts(self, X, labels, s, rng, family):
        """Yield the parameters that the restarts begin from."""
        K, init = self.n_components, self.init
        if isinstance(init, tuple):
            init = _check_params(init, X.shape[1])
            if len(init.weights) != K:
                raise ValueError(
                    f"init must have n_components = {K} parts, got {len(init.weights)}."
                )
            yield init
            return
        check_choice(init, "init", ("k-means", "random"))
        order = np.lexsort(X.T[::-1])  # neither their place nor a repetition changes it
        X, s, labels = X[order], s[order], None if labels is None else labels[order]
        for _ in range(self.n_init):
            if labels is not None and (labels >= 0).any():
                yield _labelled_start(X, labels, K, rng, weights=s, **family)
            elif init == "random":
                yield random_start(X, K, rng, weights=s, **family)
            else:
                best, *_ = k_means_restarts(X, K, rng, n_init=1, sample_weight=s)
                yield start_from_labels(X, best.labels, K, weights=s, **family)

    def _log_joint(self, X):
        X = check_features(self, X)
        with np.errstate(over="ignore"):
            found = _log_joint(X, self.params_)
        if not np.isfinite(found.max(axis=1)).all():
            raise ValueError("X has a row too large for this mixture: its log density is infinite.")
        return found

    def score_samples(self, X):
        """Return log p(x_i), shape (n,), in nats."""
        return log_sum_exp(self._log_joint(X))

    def predict_proba(self, X):
        """Return the responsibilities gamma_ik, shape (n, K)."""
        return log_normalise(self._log_joint(X))[0]

    def predict(self, X):
        """Return the component of largest responsibility for each row; ties take the lowest."""
        return self._log_joint(X).argmax(axis=1)

    def fit_predict(self, X, y=None):
        """Fit and return the component of largest responsibility for each row of X."""
        return self.fit(X, y).predict(X)

    def sample(self, n_samples=1):
        """Return n rows drawn from the fitted mixture, and their components."""
        check_fitted(self)
        return sample_mixture(self.params_, n_samples, random_generator(self.random_state))

    def bic(self, X):
        """Return -2 l + q log n on X, -2 times ``model_selection.bic``; lower is better."""
        return -2 * bic(self._total(X), self._freedom, len(X))

    def aic(self, X):
        """Return -2 l + 2 q on X; lower is better."""
        return -2 * self._total(X) + 2 * self._freedom

    def _total(self, X):
        return float(self.score_samples(X).sum())
