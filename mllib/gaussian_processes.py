"""Gaussian processes: conditioning, predictions with error bars, samples, evidence and its slope.

Chapter: Kernels and margins, *Gaussian processes*. Main reference: Rasmussen and Williams (2006).
The prior of a function f is N(0, tau^2 K) at every finite set of inputs, K the Gram matrix of a
kernel; a target is f(x) plus noise of variance sigma^2.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs
from scipy.optimize import minimize

from mllib.bayesian_regression import Prediction
from mllib.core.arrays import (
    check_array,
    check_kernel_values,
    check_square,
    check_target_length,
    check_targets,
    check_vector,
)
from mllib.core.errors import convergence_warning
from mllib.core.estimators import Regressor, begin_fit, check_features, check_fitted
from mllib.core.numerics import cholesky_with_jitter, max_abs, squared_distances
from mllib.core.scalars import check_choice, check_rng, check_scalar, random_generator
from mllib.kernels import (
    check_psd,
    default_width,
    gram,
    linear_kernel,
    polynomial_kernel,
    rbf_kernel,
)
from mllib.linear_algebra import spectral_decomposition
from mllib.probability import Gaussian

__all__ = [
    "Evidence",
    "EvidenceRun",
    "GPFit",
    "GaussianProcessRegressor",
    "condition_on",
    "evidence_slopes",
    "gp_covariance",
    "gp_fit",
    "gp_predict",
    "log_marginal_likelihood",
    "maximise_evidence",
    "polynomial_evidence",
    "rbf_evidence",
    "sample_functions",
    "sample_prior",
]


class Evidence(NamedTuple):
    """The log marginal likelihood log p(y | X) in nats, and its three parts."""

    value: float  #: fit + complexity + constant
    fit: float  #: -y^T C^{-1} y / 2, at most 0
    complexity: float  #: -log det(C) / 2
    constant: float  #: -n log(2 pi) / 2


class GPFit(NamedTuple):
    """What predictions need of n targets: C = K + (sigma^2 + jitter) I = L L^T."""

    L: np.ndarray  #: lower Cholesky factor of C, shape (n, n)
    alpha: np.ndarray  #: C^{-1} y, shape (n,): the mean at x is alpha^T k_x
    noise: float  #: sigma^2
    jitter: float  #: what had to be added to the diagonal beyond the noise, mostly 0
    evidence: Evidence  #: log p(y | X)


class EvidenceRun(NamedTuple):
    """The summits found by climbing the evidence from several starts."""

    theta: np.ndarray  #: (log ell, log tau^2, log sigma^2) of the highest summit, shape (3,)
    value: float  #: its log marginal likelihood
    gradient: np.ndarray  #: the slopes there, shape (3,): 0 except on a bound
    summits: np.ndarray  #: where each start ended, shape (s, 3)
    values: np.ndarray  #: the log marginal likelihoods there, shape (s,)
    at_bound: tuple  #: names of the hyperparameters that the best summit has on a bound
    n_iter: int  #: iterations of the best run
    converged: bool  #: whether the best run met its tolerance


# Conditioning --------------------------------------------------------------------------------


def condition_on(b, B, C, A, mean_b=0.0, mean_a=0.0):
    """Return the law of a given b, for (a, b) jointly Gaussian with Cov[b] = B invertible.

    Mean mean_a + C B^{-1} (b - mean_b), covariance A - C B^{-1} C^T, which may be singular. Unlike
    in ``gaussian_conditional`` the joint covariance may be singular too.

    Book: gaussian-processes-gaussian-conditioning.

    Parameters
    ----------
    b : array of shape (n,)
    B, C, A : arrays of shape (n, n), (m, n) and (m, m)
        Cov[b], symmetric positive definite; Cov[a, b]; Cov[a].
    mean_b, mean_a : float, or arrays of shapes (n,) and (m,)

    Examples
    --------
    >>> condition_on([3.0], [[2.0]], [[1.0]], [[1.0]])
    Gaussian(mean=array([1.5]), cov=array([[0.5]]))
    """
    b = check_vector(b, "b")
    B = check_square(B, "B", size=len(b), symmetric=True)
    C = check_array(C, "C", any_size=True)
    A = check_square(A, "A", size=len(C), symmetric=True)
    if C.shape[1] != len(b):
        raise ValueError(f"C must have {len(b)} columns like B, got {C.shape[1]}.")
    factor, info = dpotrf(B, lower=1)
    if info != 0:
        raise ValueError("B, the covariance of what is observed, must be positive definite.")
    gain = dpotrs(factor, C.T, lower=1)[0].T  # C B^-1
    mean_a = check_vector(np.broadcast_to(mean_a, len(A)), "mean_a")
    mean_b = check_vector(np.broadcast_to(mean_b, len(B)), "mean_b")
    return Gaussian(mean_a + gain @ (b - mean_b), A - gain @ C.T)


def sample_functions(mean, K, S, rng):
    """Return S draws from N(mean, K), shape (S, m), also where K is singular: mean + K^{1/2} z.

    Book: gaussian-processes-gaussian-vectors.

    Parameters
    ----------
    mean : float or array of shape (m,)
    K : array of shape (m, m)
        Symmetric positive semidefinite.
    S, rng : int, numpy.random.Generator

    Examples
    --------
    >>> sample_functions(0.0, [[1.0, 1.0], [1.0, 1.0]], 3, np.random.default_rng(0)).shape
    (3, 2)
    """
    K = check_psd(K)
    check_scalar(S, "S", low=1, integer=True)
    check_rng(rng)
    mean = check_vector(np.broadcast_to(mean, len(K)), "mean")
    values, V = spectral_decomposition(K)
    root = (V * np.sqrt(np.maximum(values, 0))) @ V.T
    return mean + rng.standard_normal((S, len(K))) @ root


def sample_prior(kernel, X, S, rng):
    """Return S functions drawn from the process with mean 0 and this kernel, at m points: (S, m).

    Book: gaussian-processes-gp-definition.

    Parameters
    ----------
    kernel : callable
        ``kernel(X, Y)`` returns the matrix k(x_i, y_j).
    X, S, rng : sequence of m points, int, numpy.random.Generator

    Examples
    --------
    >>> sample_prior(rbf_kernel, [[0.0], [1.0], [2.0]], 5, np.random.default_rng(0)).shape
    (5, 3)
    """
    return sample_functions(0.0, gram(kernel, X), S, rng)


# Prediction ----------------------------------------------------------------------------------


def _evidence(L, alpha, y):
    n = len(y)
    parts = (-0.5 * y @ alpha, -np.log(L.diagonal()).sum(), -0.5 * n * np.log(2 * np.pi))
    return Evidence(float(sum(parts)), *(float(part) for part in parts))


def _cholesky(C):
    """Return lower triangular L and the jitter in L L^T = C + jitter I, 0 wherever C allows."""
    factor, info = dpotrf(C.T, lower=0)
    pivots = np.square(factor.diagonal())
    if info == 0 and pivots.min() > 4 * np.finfo(float).eps * max_abs(C.diagonal()):
        return factor.T, 0.0
    least = 1e-14 * np.trace(C) / len(C)  # C is singular to rounding
    L, more = cholesky_with_jitter(C + least * np.eye(len(C)), "K + noise I")
    return L, least + more


def gp_fit(K, y, noise):
    """Return what predictions need: L with L L^T = K + sigma^2 I, and alpha = (K + sigma^2 I)^-1 y.

    K, shape (n, n), holds the prior covariances k(x_i, x_j), and noise is the variance sigma^2 >=
    0. Jitter is added only if K + sigma^2 I is singular to rounding, and is reported. noise = 0 is
    refused where the process cannot run through the targets, as at two equal inputs with different
    targets.

    Book: gaussian-processes-cholesky. Rasmussen and Williams (2006), algorithm 2.1.

    >>> fit = gp_fit([[1.0, 0.0], [0.0, 1.0]], [2.0, 4.0], noise=1.0)
    >>> fit.alpha, fit.jitter, round(fit.evidence.value, 4)
    (array([1., 2.]), 0.0, -7.531)
    """
    K = check_psd(K)
    y = check_vector(y, "y", length=len(K))
    with np.errstate(over="ignore", invalid="ignore"):
        return _finite_fit(_fit(K, y, check_scalar(noise, "noise", low=0)))


def _finite_fit(fit):
    """Return the fit unless numbers have overflowed on the way."""
    if not np.isfinite(fit.evidence.value):
        raise ValueError("y, X or K is too large for float64: divide it by a unit.")
    return fit


def _fit(K, y, noise):
    L, jitter = _cholesky(K + noise * np.eye(len(K)))
    alpha = dpotrs(L.T, y, lower=0)[0]
    missed = jitter * max_abs(alpha)  # y - K alpha is jitter times alpha without noise
    if noise == 0 and missed > 1e-6 * max_abs(y):
        raise ValueError(
            f"noise must be above 0: with noise = 0 the functions of this process miss some target "
            f"by {missed:.3g}. Two equal inputs have different targets, or K is singular."
        )
    return GPFit(L, alpha, float(noise), float(jitter), _evidence(L, alpha, y))


def gp_predict(fit, k_x, k_xx, latent=False):
    """Return mean and variance at m inputs: k_x^T alpha and k(x, x) - |L^{-1} k_x|^2 + sigma^2.

    Book: gaussian-processes-gp-predictive.

    Parameters
    ----------
    fit : GPFit
    k_x, k_xx : arrays of shape (n, m) and (m,)
        k(x_i, x), one column for each input x; and k(x, x).
    latent : bool
        Whether the variance is that of f(x), without the noise of a new target.

    Examples
    --------
    >>> fit = gp_fit([[1.0]], [2.0], noise=1.0)
    >>> gp_predict(fit, [[1.0, 0.0]], [1.0, 1.0])
    Prediction(mean=array([1., 0.]), variance=array([1.5, 2. ]))
    """
    k_x = check_array(k_x, "k_x", any_size=True)
    k_xx = check_vector(k_xx, "k_xx", length=k_x.shape[1])
    if len(k_x) != len(fit.alpha):
        raise ValueError(f"k_x must have {len(fit.alpha)} rows, one per target, got {len(k_x)}.")
    V = solve_triangular(fit.L, k_x, lower=True)
    variance = np.maximum(k_xx - np.einsum("ij,ij->j", V, V), 0.0)
    return Prediction(k_x.T @ fit.alpha, variance if latent else variance + fit.noise)


def gp_covariance(fit, k_x, K_xx):
    """Return the posterior covariances k(x, x') - k_x^T C^{-1} k_x' of f at m inputs, shape (m, m).

    K_xx holds the prior covariances of the m values.

    Book: gaussian-processes-gp-predictive.

    >>> gp_covariance(gp_fit([[1.0]], [2.0], 1.0), [[1.0, 0.5]], [[1.0, 0.5], [0.5, 1.0]])
    array([[0.5  , 0.25 ],
           [0.25 , 0.875]])
    """
    k_x = check_array(k_x, "k_x", any_size=True)
    K_xx = check_square(K_xx, "K_xx", size=k_x.shape[1], symmetric=True)
    V = solve_triangular(fit.L, k_x, lower=True)
    return K_xx - V.T @ V


# Evidence ------------------------------------------------------------------------------------


def log_marginal_likelihood(K, y, noise):
    """Return log N(y; 0, K + sigma^2 I) = -y^T C^{-1} y / 2 - log det(C) / 2 - n log(2 pi) / 2.

    Book: gaussian-processes-evidence.

    >>> round(log_marginal_likelihood([[1.0]], [2.0], noise=1.0).fit, 9)
    -1.0
    """
    return gp_fit(K, y, noise).evidence


def evidence_slopes(fit, slopes):
    """Return the derivative of log p(y | X) in each hyperparameter, from those of C.

    It is (alpha^T S alpha - tr(C^{-1} S)) / 2 with the symmetric matrices S = dC / dtheta_j.

    Book: gaussian-processes-evidence-gradient.

    >>> evidence_slopes(gp_fit([[1.0]], [2.0], 1.0), [np.ones((1, 1))])
    array([0.25])
    """
    half = dpotri(fit.L.T, lower=0)[0]  # the upper triangle of C^-1
    half[np.diag_indices(len(half))] /= 2
    return np.array([0.5 * fit.alpha @ S @ fit.alpha - np.vdot(half, S) for S in slopes])


def rbf_evidence(theta, D, y):
    """Return the evidence of theta = (log ell, log tau^2, log sigma^2) and its gradient.

    C = tau^2 exp(-D / (2 ell^2)) + sigma^2 I, D the squared distances of the inputs, shape (n, n).

    Book: gaussian-processes-evidence-gradient.

    >>> evidence, gradient = rbf_evidence(np.zeros(3), np.zeros((1, 1)), np.array([2.0]))
    >>> round(evidence.value, 4), gradient
    (-2.2655, array([0.  , 0.25, 0.25]))
    """
    ell, signal, noise = np.exp(theta)
    scaled = D / ell**2
    k = np.exp(-0.5 * scaled)
    return _scaled_evidence(k, k * scaled, signal, noise, y)


def polynomial_evidence(theta, X, y, r=3, c=1.0):
    """Return the evidence of theta = (log ell, log tau^2, log sigma^2) and its gradient.

    C = tau^2 (c + X X^T / ell^2)^r + sigma^2 I, the power being taken entry by entry.

    Book: gaussian-processes-evidence-gradient.

    Parameters
    ----------
    theta, X, y : arrays of shape (3,), (n, d) and (n,)
    r, c : int, float; see ``polynomial_kernel``

    Examples
    --------
    >>> evidence, gradient = polynomial_evidence(np.zeros(3), np.ones((1, 1)), np.array([3.0]), r=1)
    >>> round(evidence.value, 4), gradient.round(4)
    (-2.9682, array([-0.6667,  0.6667,  0.3333]))
    """
    ell, signal, noise = np.exp(theta)
    u = X @ X.T / ell**2
    by_ell = -2 * r * u * (c + u) ** (r - 1)
    return _scaled_evidence(polynomial_kernel(X, X, r, c, ell), by_ell, signal, noise, y)


def _scaled_evidence(k, by_ell, signal, noise, y):
    """Return evidence and slopes of C = signal k + noise I; by_ell is the slope of k by log ell."""
    fit = _fit(signal * k, y, noise)
    slopes = signal * evidence_slopes(fit, [by_ell, k])
    by_noise = 0.5 * (y @ fit.alpha - len(y)) - slopes[1]  # as alpha^T C alpha = y^T alpha
    return fit.evidence, np.append(slopes, by_noise)


def maximise_evidence(evidence, starts, low, high, *, names=None, tol=1e-5, max_iter=500):
    """Climb the evidence from each start within bounds, by L-BFGS-B; return all the summits.

    Book: gaussian-processes-climbing. Byrd, Lu, Nocedal and Zhu (1995).

    Parameters
    ----------
    evidence : callable
        ``evidence(theta)`` returns an Evidence and its gradient, as ``rbf_evidence`` does.
    starts : array of shape (s, p)
        Where to begin: logarithms of hyperparameters.
    low, high, names : arrays of shape (p,), and names by which bounds are reported
    tol, max_iter : float, int
        A run has converged if no slope that may be followed exceeds tol, in nats.

    Examples
    --------
    >>> D, y = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([1.0, -1.0])
    >>> run = maximise_evidence(lambda t: rbf_evidence(t, D, y), np.zeros((1, 3)),
    ...                         np.full(3, -2.0), np.full(3, 2.0))
    >>> run.at_bound
    ('theta_0',)
    """
    starts = check_array(starts, "starts", any_size=True)
    p = starts.shape[1]
    low, high = (check_vector(v, s, length=p) for v, s in ((low, "low"), (high, "high")))
    if (low > high).any() or (low == high).all():
        raise ValueError("low must not exceed high, and somewhere be below it.")
    names = names or [f"theta_{j}" for j in range(p)]
    runs = []
    for start in np.clip(starts, low, high):
        runs.append(_climb(evidence, start, low, high, tol, max_iter))
    values = np.array([-run.fun for run in runs])
    best = runs[int(np.argmax(values))]
    at = [n for n, t, a, b in zip(names, best.x, low, high) if t <= a or t >= b]
    summits = np.array([run.x for run in runs])
    done = (best.x, -float(best.fun), -best.jac, summits, values, tuple(at), best.nit)
    return EvidenceRun(*done, best.success)


def _climb(evidence, start, low, high, tol, max_iter):
    def downhill(theta):
        at, gradient = evidence(theta)
        return -at.value, -gradient

    steps, box = 0, np.column_stack([low, high])
    while True:  # a climb that stalls before it has arrived begins again where it stands
        options = {"maxiter": max_iter - steps, "ftol": 0.0, "gtol": 0.1 * tol}
        run = minimize(downhill, start, jac=True, method="L-BFGS-B", bounds=box, options=options)
        step = np.clip(run.x - run.jac, low, high) - run.x  # no further than the bounds allow
        run.success = bool(max_abs(step) <= tol)
        steps += max(run.nit, 1)
        if run.success or steps >= max_iter or np.array_equal(run.x, start):
            run.nit = steps
            return run
        start = run.x


# Estimator -----------------------------------------------------------------------------------


class GaussianProcessRegressor(Regressor):
    """y = f(x) + noise of variance sigma^2, f a Gaussian process: mean 0, covariance tau^2 k.

    The mean is kernel ridge regression with lam = sigma^2 / tau^2; the process adds the variance.
    There is no offset: subtract the mean of y, or add a constant to the kernel.

    Book: gaussian-processes-gp-predictive, gaussian-processes-evidence.

    Parameters
    ----------
    kernel, ell, degree, coef0 : see ``KernelRidge``
    signal : float or "scale"
        tau^2, above 0; "scale" takes the mean of y^2.
    noise : float or "scale"
        sigma^2, at least 0, above 0 if it is optimised; "scale" takes a tenth of the mean of y^2.
    optimise : bool
        Whether ell, signal and noise are the start of a climb of the evidence, or final. The
        linear kernel, a callable and "precomputed" have no ell.
    n_restarts : int
        Further climbs, from starts at random within a factor of 10 of the first.
    bounds : pair of float
        During the climb ell and the standard deviations tau and sigma stay between these multiples
        of ``default_width(X)`` and of the root of the mean of y^2.
    tol, max_iter, random_state : see ``mllib.core``
        A climb ends when no slope of the evidence exceeds tol nats.

    Attributes
    ----------
    ell_, signal_, noise_ : float
        The hyperparameters used.
    log_marginal_likelihood_ : float, in nats at these
    at_bound_ : tuple of str
        Which of them the climb left on a bound: their values say nothing but that.
    dual_coef_ : array of shape (n,)
        alpha: the mean at x is sum_i alpha_i tau^2 k(x_i, x).
    jitter_ : float, added to the diagonal beyond the noise; mostly 0
    X_fit_, n_iter_, converged_ : array of shape (n, d), int, bool

    Examples
    --------
    >>> model = GaussianProcessRegressor(ell=1.0, signal=1.0, noise=0.0, optimise=False)
    >>> mean, std = model.fit([[0.0], [3.0]], [1.0, 2.0]).predict([[0.0], [1e3]], return_std=True)
    >>> mean.round(6), std.round(6)
    (array([1., 0.]), array([0., 1.]))
    """

    def __init__(
        self,
        kernel="rbf",
        ell="scale",
        signal="scale",
        noise="scale",
        degree=3,
        coef0=1.0,
        optimise=True,
        n_restarts=0,
        bounds=(1e-3, 1e3),
        tol=1e-5,
        max_iter=500,
        random_state=None,
    ):
        self.kernel = kernel
        self.ell = ell
        self.signal = signal
        self.noise = noise
        self.degree = degree
        self.coef0 = coef0
        self.optimise = optimise
        self.n_restarts = n_restarts
        self.bounds = bounds
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _between(self, X, Y, ell):
        """Return the matrix of k(x_i, y_j), without tau^2."""
        kernel, degree, coef0 = self._chosen
        if callable(kernel):
            return check_kernel_values(kernel, X, Y)
        if kernel == "precomputed":
            return X
        if kernel == "linear":
            return linear_kernel(X, Y)
        if kernel == "rbf":
            return rbf_kernel(X, Y, ell)
        return polynomial_kernel(X, Y, degree, coef0, ell)

    def _own(self, X):
        """Return k(x, x) for each row of X."""
        kernel, degree, coef0 = self._chosen
        if kernel == "rbf":
            return np.ones(len(X))
        if kernel == "linear":
            return np.einsum("ij,ij->i", X, X)
        if kernel == "polynomial":
            Z = X / self.ell_
            return (coef0 + np.einsum("ij,ij->i", Z, Z)) ** degree
        return np.array([check_kernel_values(kernel, x[None], x[None])[0, 0] for x in X])

    def _starting_point(self, X, y):
        """Check the hyperparameters; return ell, tau^2, sigma^2 and the scales of both units."""
        if not callable(self.kernel):
            choices = ("rbf", "linear", "polynomial", "precomputed")
            check_choice(self.kernel, "kernel", choices)
        check_scalar(self.degree, "degree", low=1, integer=True)
        check_scalar(self.coef0, "coef0", low=0)
        check_scalar(self.n_restarts, "n_restarts", low=0, integer=True)
        width = 1.0 if self.kernel == "precomputed" else default_width(X)
        square = float(np.mean(y**2)) or 1.0
        found = []
        for name, scale in (("ell", width), ("signal", square), ("noise", square / 10)):
            value = getattr(self, name)
            if isinstance(value, str):
                check_choice(value, name, ("scale",))
                value = scale
            open_low = name != "noise" or self.optimise
            found.append(check_scalar(value, name, low=0, open_low=open_low))
            if 0 < value < 1e-300:
                raise ValueError(f"{name} is too small to divide by, got {value:g}.")
        return np.array(found, dtype=float), np.array([width, square, square])

    def _objective(self, X, y):
        """Return the evidence as a function of (log ell, log tau^2, log sigma^2)."""
        if self.kernel == "rbf":
            D = squared_distances(X, X)
            return lambda theta: rbf_evidence(theta, D, y)
        if self.kernel == "polynomial":
            return lambda theta: polynomial_evidence(theta, X, y, self.degree, self.coef0)
        k = self._between(X, X, 1.0)  # which has no ell
        flat = np.zeros_like(k)
        return lambda theta: _scaled_evidence(k, flat, *np.exp(theta[1:]), y)

    def _best_summit(self, X, y, start, scales):
        if len(self.bounds) != 2 or not 0 < self.bounds[0] < self.bounds[1]:
            raise ValueError(f"bounds must be two positive numbers, low first, got {self.bounds}.")
        if self.kernel not in ("rbf", "polynomial"):
            scales[0] = start[0]
        low, high = (np.log(scales) + np.array([1, 2, 2]) * np.log(b) for b in self.bounds)
        rng = random_generator(self.random_state)
        jumps = rng.uniform(-np.log(10), np.log(10), (self.n_restarts, 3))
        starts = np.log(start) + np.vstack([np.zeros(3), jumps])
        names = ("ell", "signal", "noise")
        options = {"names": names, "tol": self.tol, "max_iter": self.max_iter}
        run = maximise_evidence(self._objective(X, y), starts, low, high, **options)
        if not run.converged:
            convergence_warning(
                f"The evidence was still rising after max_iter={self.max_iter} iterations: its "
                f"largest slope is {max_abs(run.gradient):.1e}, tol={self.tol:g}."
            )
        self.at_bound_, self.n_iter_, self.converged_ = run.at_bound, run.n_iter, run.converged
        return np.exp(run.theta)

    def fit(self, X, y):
        """Fit to X of shape (n, d) and y of shape (n,); return self."""
        begin_fit(self, X)
        known = isinstance(self.kernel, str) and self.kernel == "precomputed"
        X, y = check_array(X, any_size=known), check_targets(y, type(self).__name__)
        check_target_length(X, y)
        found, scales = self._starting_point(X, y)
        self._chosen = self.kernel, self.degree, self.coef0  # set_params is for the next fit
        if callable(self.kernel) or known:
            check_psd(self._between(X, X, 1.0), "the matrix of the kernel")
        self.at_bound_, self.n_iter_, self.converged_ = (), 1, True
        with np.errstate(over="ignore", invalid="ignore"):
            if self.optimise:
                found = self._best_summit(X, y, found, scales)
            self.ell_, self.signal_, self.noise_ = (float(v) for v in found)
            fit = _finite_fit(_fit(self.signal_ * self._between(X, X, self.ell_), y, self.noise_))
        self._posterior, self.dual_coef_, self.jitter_ = fit, fit.alpha, fit.jitter
        self.log_marginal_likelihood_ = fit.evidence.value
        self.X_fit_, self.n_features_in_ = X, X.shape[1]
        return self

    def _refuse_precomputed(self, what):
        if self._chosen[0] == "precomputed":
            raise ValueError(f"{what} needs k(x, x') among new inputs: pass the kernel itself.")

    def predict(self, X, return_std=False, latent=False):
        """Return the mean at each row of X and, if asked, the standard deviation of a new target.

        ``latent=True`` leaves the noise out: the standard deviation of f(x).
        """
        check_fitted(self)
        X = check_features(self, X, any_size=self._chosen[0] == "precomputed")
        k_x = self.signal_ * self._between(X, self.X_fit_, self.ell_).T
        if not return_std:
            return np.einsum("ij,i->j", k_x, self.dual_coef_)
        self._refuse_precomputed("return_std")
        law = gp_predict(self._posterior, k_x, self.signal_ * self._own(X), latent)
        return law.mean, law.std

    def sample_prior(self, X, S, random_state=None):
        """Return S functions drawn from the prior, at the rows of X: shape (S, m)."""
        X = check_features(self, X)
        self._refuse_precomputed("sample_prior")
        K = self.signal_ * self._between(X, X, self.ell_)
        return sample_functions(0.0, K, S, random_generator(random_state))

    def sample_posterior(self, X, S, random_state=None):
        """Return S functions drawn from the posterior, at the rows of X: shape (S, m)."""
        X = check_features(self, X)
        self._refuse_precomputed("sample_posterior")
        k_x = self.signal_ * self._between(X, self.X_fit_, self.ell_).T
        cov = gp_covariance(self._posterior, k_x, self.signal_ * self._between(X, X, self.ell_))
        rng = random_generator(random_state)
        return sample_functions(k_x.T @ self.dual_coef_, (cov + cov.T) / 2, S, rng)
