"""Checks of the exercises of *Optimization*."""

import itertools

import numpy as np

from mllib.course.exercises import breaks, code, points, value

# A strictly convex function may have no minimum ----------------------------------------------


@code("ex-optimization-no-minimum", "your strictly convex function of one number, for part (a)")
def _(c, f):
    near, far = np.linspace(-15, 15, 61), [-300, -100, -15, 0, 15, 100, 300]
    values, wide = (np.array([float(f(float(z))) for z in grid]) for grid in (near, far))
    c.holds(
        "the middle of each chord is above the curve, at 59 points from $-15$ to 15",
        np.diff(values, 2) > 0,
    )
    falls = values[0] > values[-1]
    c.holds(
        "it never turns: it only falls or only rises there",
        np.diff(values) < 0 if falls else np.diff(values) > 0,
    )
    c.holds(
        "nor does it turn as far as $-300$ and 300",
        np.diff(wide) <= 0 if falls else np.diff(wide) >= 0,
    )


points(
    "ex-optimization-no-minimum",
    r"Taylor's formula: $f(z)\ge f(0)+\nabla f(0)^Tz+\frac m2\|z\|^2$.",
    r"With Cauchy and Schwarz this exceeds $f(0)$ where $\|z\|>2\|\nabla f(0)\|/m$.",
    "On the closed ball a continuous function has a least value, and it is at most $f(0)$.",
    "Two minimisers are excluded by strict convexity.",
)

# The price is a derivative -------------------------------------------------------------------

value(
    "ex-optimization-price",
    "for the fence: the derivative of the optimal value by u, and the price",
    "333fdf0626c52338",
)
points(
    "ex-optimization-price",
    r"For $x$ feasible for $u$: $p^*(0)=g(\lambda^*)\le\mathscr L(x,\lambda^*)"
    r"\le f_0(x)+\lambda^{*T}u$.",
    "The infimum over such $x$ gives the inequality.",
    r"So $p^*(u)+\lambda^{*T}u$ is smallest at $u=0$, and there a derivative vanishes.",
)

# Project onto the simplex --------------------------------------------------------------------


@code(
    "ex-optimization-simplex",
    "your function `project(v)`, which returns the point of the simplex closest to v",
)
def _(c, project):
    c.holds(
        "it leaves $(0.3,0.7)$ where it is, and sends $(2,0)$ to $(1,0)$",
        np.allclose(project(np.array([0.3, 0.7])), [0.3, 0.7], atol=1e-12),
        np.allclose(project(np.array([2.0, 0.0])), [1, 0], atol=1e-12),
    )
    rng, inside, least = np.random.default_rng(0), [], []
    for d, scale in itertools.product((1, 2, 3, 6), (0.2, 1, 5)):
        for v in rng.normal(0, scale, (5, d)):
            x = np.asarray(project(v.copy()))
            inside.append(abs(x.sum() - 1) < 1e-9 and x.min() > -1e-12)
            best = np.inf
            for size in range(1, d + 1):
                for face in map(list, itertools.combinations(range(d), size)):
                    z = np.zeros(d)  # the closest point of the plane through a face
                    z[face] = v[face] + (1 - v[face].sum()) / size
                    if z.min() >= 0:
                        best = min(best, np.linalg.norm(z - v))
            least.append(np.linalg.norm(x - v) <= best + 1e-8)
    c.holds(r"it returns points with $x\ge0$ and $\sum_jx_j=1$, 60 random $v$", inside)
    c.holds("no face of the simplex has a point closer to $v$", least)


points(
    "ex-optimization-simplex",
    r"Stationarity: $x_j=v_j+\lambda_j-\nu$.",
    r"If $x_j>0$, complementary slackness gives $\lambda_j=0$.",
    r"If $x_j=0$, then $v_j-\nu=-\lambda_j\le0$; both say $x_j=\max(v_j-\nu,0)$.",
)

# Newton does not care about units ------------------------------------------------------------

value(
    "ex-optimization-units",
    "the numbers of Newton's steps, as measured and standardised, and whether gradient descent "
    "gets there, True or False, as measured and standardised",
    "537a55b9a95ec3bb",
)
points(
    "ex-optimization-units",
    r"By the chain rule $\nabla F_T=T^T\nabla F$ and $\nabla^2F_T=T^THT$, both taken at $Tv$.",
    r"So the step in $v$ is $T^{-1}$ times the step in $w$, and $w_k=Tv_k$ follows by induction.",
)

# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-optimization-break",
    [
        ("gradient_descent", "z = z - eta * g  #", "z = z - eta * norms[-1]  #"),
        ("interior_point_step", "0.99 * length(ds, dlam)", "length(ds, dlam)"),
        ("kkt_residuals", "*(-lam), 0.0", "*lam, 0.0"),
        ("backtracking", "<= start + share * t * slope", "<= start"),
        ("_newton_step", "return -V @ ((V.T @ g)", "return V @ ((V.T @ g)"),
    ],
)
