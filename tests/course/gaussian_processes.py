"""Answers to the exercises of *Gaussian processes*: the chapter's own, and wrong ones."""

import numpy as np

RIGHT = {
    "ex-gaussian-processes-brownian": (
        "(lambda x, y, z: gp_predict(gp_fit(np.minimum.outer(x, x), y, 0.0),"
        " np.minimum.outer(x, z), z)[:2],)"
    ),
    "ex-gaussian-processes-loo": "(leave_one_out,)",
    "ex-gaussian-processes-design": "(plan,)",
    "ex-gaussian-processes-diabetes": (
        "(gains, np.mean(gains), np.std(gains, ddof=1) / 20**0.5, False)"
    ),
    "ex-gaussian-processes-break": (
        "('gaussian-processes-gp-predictive', 'gaussian-processes-gaussian-conditioning',"
        " 'gaussian-processes-evidence-gradient', 'gaussian-processes-gp-predictive')"
    ),
}


def bridge(*, noise=0.0, own=lambda z: z, kernel=np.minimum.outer, root=False):
    """The posterior of Brownian motion, with room for slips."""

    def between(x, y, z):
        G = np.linalg.solve(kernel(x, x) + noise * np.eye(len(x)), kernel(x, z))
        variance = own(z) - (kernel(x, z) * G).sum(axis=0)
        return y @ G, np.sqrt(np.abs(variance)) if root else variance

    return between


def loo(mean=lambda y, a, p: y - a / p, variance=lambda p: 1 / p):
    """Means and variances without one target, with room for slips."""

    def leave_one_out(C, y):
        P = np.linalg.inv(C)
        return mean(y, P @ y, np.diag(P)), variance(np.diag(P))

    return leave_one_out


def chosen(*, first=True, again=True, noise_left=1.0, told=np.max, by=np.argmax):
    """A plan of measurements, with room for slips."""

    def plan(K, n, noise):
        picks, k = [], K.copy()
        for _ in range(n):
            bars = np.round(np.diag(k), 9)
            if not again:
                bars[picks] = -1
            i = int(by(bars)) if first else len(bars) - 1 - int(by(bars[::-1]))
            k = k - np.outer(k[:, i], k[i]) / max(k[i, i] + noise_left * noise, 1e-9)
            picks.append(i)
        return picks, told(np.diag(k))

    return plan


GAINS = np.random.default_rng(0).normal(-0.003, 0.004, 20)
MEAN, ERROR = GAINS.mean(), GAINS.std(ddof=1) / 20**0.5
P, C, S, E = (
    f"gaussian-processes-{name}"
    for name in ("gp-predictive", "gaussian-conditioning", "evidence-gradient", "evidence")
)

WRONG = {
    "ex-gaussian-processes-brownian": [
        (bridge(noise=0.1),),
        (bridge(own=lambda z: np.ones(len(z))),),  # the prior variance of another kernel
        (bridge(kernel=lambda a, b: np.exp(-np.abs(np.subtract.outer(a, b)))),),
        (bridge(root=True),),  # the bar, not the variance
        (lambda x, y, z: bridge()(x, y, z)[0],),
    ],
    "ex-gaussian-processes-loo": [
        (loo(mean=lambda y, a, p: y + a / p),),
        (loo(mean=lambda y, a, p: a / p),),  # the residual
        (loo(mean=lambda y, a, p: y - a),),
        (loo(variance=lambda p: p),),
        (loo(variance=lambda p: 1 / p**0.5),),
        (lambda C, y: (y - np.linalg.inv(C) @ y / np.diag(C), 1 / np.diag(C)),),  # of C
    ],
    "ex-gaussian-processes-design": [
        (chosen(first=False),),  # the last at ties
        (chosen(again=False),),
        (chosen(noise_left=0.0),),
        (chosen(told=np.mean),),
        (chosen(by=np.argmin),),
        (lambda K, n, noise: chosen()(K, n - 1, noise),),
    ],
    "ex-gaussian-processes-diabetes": [
        (GAINS, MEAN, ERROR, True),
        (GAINS, MEAN, ERROR * 20**0.5 + 0.01, False),  # of one division
        (20 * GAINS, 20 * MEAN, 20 * ERROR, False),
        (GAINS * 100, MEAN * 100, ERROR * 100, False),  # sums over the patients
        (GAINS[:10], GAINS[:10].mean(), ERROR, False),
        (GAINS, -MEAN, ERROR, False),
    ],
    "ex-gaussian-processes-break": [
        ([P, C, E, P],),  # the evidence itself is not touched
        ([C, C, S, P],),
        ([P, C, S],),
        ([P, P, S, P],),
    ],
}
