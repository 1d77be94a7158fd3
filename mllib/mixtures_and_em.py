"""EM for latent-variable models, and Gaussian mixtures fitted by it (chapter "Mixtures and EM").

Main reference: Dempster, Laird and Rubin (1977), J. R. Statistical Society B 39, pages 1 to 38.
"""

from typing import Any, NamedTuple

import numpy as np

from mllib.base import check_scalar, convergence_warning

__all__ = ["EMFit", "em"]


# Records -------------------------------------------------------------------------------------


class EMFit(NamedTuple):
    """What `em` returns.

    Fields
    ------
    params : the last parameters theta, of the type that ``m_step`` returns.
    trace : array of shape (n_iter + 1,), the objective at the start and after each iteration, in
        nats; ``trace[-1]`` belongs to ``params``. It never falls.
    n_iter : int, the number of M-steps taken.
    converged : bool, whether the last gain was at most ``tol * n_samples``.
    """

    params: Any
    trace: np.ndarray
    n_iter: int
    converged: bool


# Functions: EM for any model -----------------------------------------------------------------


def em(e_step, m_step, params, *, max_iter=200, tol=1e-6, n_samples=1, name="EM"):
    """Climb an objective l(theta) = log p(X; theta) [+ log prior] by expectation-maximisation.

    Each iteration maximises the lower bound that touches l at the current theta, so l(theta_0) <=
    l(theta_1) <= ...: a fall can only be a mistake in one of the two steps, and raises. The loop
    ends when one iteration gains at most ``tol * n_samples``. Gains of a log-likelihood do not
    depend on the units of the data, its value does: hence a tolerance per observation.

    Parameters
    ----------
    e_step : callable, theta -> (statistics, objective)
        The expected statistics (or posteriors) under theta, and the objective l(theta), a float.
    m_step : callable, statistics -> theta
        The maximiser of the lower bound that those statistics define.
    params : theta_0, whatever ``e_step`` accepts
    max_iter : int
        The largest number of iterations, at least 1.
    tol : float
        The gain per observation, in nats, below which the iteration stops.
    n_samples : int or float
        The number of observations in the objective.
    name : str
        The model's name, used in messages.

    Returns
    -------
    EMFit

    Raises
    ------
    RuntimeError
        If the objective is not finite or falls by more than rounding.

    References
    ----------
    {prf:ref}`mixtures-and-em-em-monotonicity`; Dempster, Laird and Rubin (1977), theorem 1, p. 7.

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
    check_scalar(max_iter, "max_iter", low=1, integer=True)
    check_scalar(tol, "tol", low=0)
    statistics, objective = e_step(params)
    trace = [_check_objective(objective, None, n_samples, name)]
    for n_iter in range(1, max_iter + 1):
        params = m_step(statistics)
        statistics, objective = e_step(params)
        trace.append(_check_objective(objective, trace[-1], n_samples, name))
        gain = (trace[-1] - trace[-2]) / n_samples
        if gain <= tol:
            return EMFit(params, np.array(trace), n_iter, True)
    convergence_warning(
        f"{name} stopped at max_iter={max_iter}: the last iteration gained {gain:.3g} nats per "
        f"observation, tol is {tol:.3g}. Raise max_iter or tol."
    )
    return EMFit(params, np.array(trace), n_iter, False)


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
