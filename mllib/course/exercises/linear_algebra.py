"""Checks of the exercises of *Linear algebra*."""

from fractions import Fraction

import numpy as np

from mllib.course.exercises import breaks, code, points, value

# A better disguise ---------------------------------------------------------------------------


def exact(v):
    """Return an array of fractions."""
    fraction = np.vectorize(lambda x: Fraction(float(x)).limit_denominator(10**6), otypes=[object])
    return fraction(v)


def determinant(M):
    """Expand a determinant along its first row."""
    without = (np.delete(M[1:], j, axis=1) for j in range(len(M)))
    return sum((-1) ** j * M[0, j] * determinant(N) for j, N in enumerate(without)) if len(M) else 1


@code("ex-linear-algebra-disguise", "your matrix K, three rows of three numbers, and the vector z")
def _(c, K, z):
    K, z = exact(K), exact(z)
    c.holds(
        "$K$ has three rows and three columns, $z$ three entries", K.shape == (3, 3), len(z) == 3
    )
    c.holds(
        "$K$ is symmetric, and $z$ has whole entries", K == K.T, [v.denominator == 1 for v in z]
    )
    c.holds("the diagonal is positive", np.diag(K) > 0)
    c.holds("no leading minor is negative", [determinant(K[:k, :k]) >= 0 for k in (1, 2, 3)])
    c.holds("$z^TKz<0$", z @ K @ z < 0)


points(
    "ex-linear-algebra-disguise",
    r"For a $2\times2$ matrix the principal minors are the diagonal entries and the determinant.",
    "With a positive diagonal and a leading minor of size 2 that is not negative, none of them is "
    "negative, and that characterises positive semidefinite matrices.",
)

# Turning columns instead of entries ----------------------------------------------------------


@code(
    "ex-linear-algebra-one-sided",
    "your function `svd_by_turning(A)`, which returns the singular values, the largest first",
)
def _(c, svd_by_turning):
    tall, square = np.array([[3.0, 0.0], [0.0, -4.0], [0.0, 0.0]]), np.array([[2.0, 2.0], [1, -1]])
    c.holds(
        "perpendicular columns of the lengths 3 and 4: the singular values 4 and 3",
        np.allclose(svd_by_turning(tall), [4, 3], rtol=1e-12, atol=0),
    )
    c.holds(
        r"the columns $(2,1)$ and $(2,-1)$: $\sqrt8$ and $\sqrt2$",
        np.allclose(svd_by_turning(square), np.sqrt([8, 2]), rtol=1e-12, atol=0),
    )
    rng, alike = np.random.default_rng(0), []
    for n, d in [(4, 4), (7, 4), (6, 3)] * 10:
        A = rng.standard_normal((n, d))
        truth = np.linalg.svd(A, compute_uv=False)
        alike.append(np.allclose(svd_by_turning(A), truth, rtol=1e-11, atol=0))
    c.holds(r"NumPy's on 30 random matrices, to eleven digits", alike)
    laeuchli = np.array([[1, 1], [1e-9, 0], [0, 1e-9]])
    c.holds(
        r"those of Läuchli's matrix for $\varepsilon=10^{-9}$, to ten digits",
        np.allclose(svd_by_turning(laeuchli), [np.sqrt(2), 1e-9], rtol=1e-10, atol=0),
    )


# How many directions do the digits need? -----------------------------------------------------

value(
    "ex-linear-algebra-digits",
    "the numbers of directions for 90 % and 99 % of the matrix as it is, then of the centred one",
    "f63cfe7c875dbdeb",
)
points(
    "ex-linear-algebra-digits",
    "No pixel is negative, so every image has a large component along the mean image.",
    "The first direction is close to the mean image; what tells digits apart is in the others.",
)

# The other Eckart-Young theorem --------------------------------------------------------------


@code("ex-linear-algebra-spectral-norm", "a matrix A, the rank k, and your B that attains equality")
def _(c, A, k, B):
    A, B = np.asarray(A, dtype=float), np.asarray(B, dtype=float)
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    c.holds("$A$ and $B$ have one shape, and $k<d$", A.shape == B.shape, 0 < k < len(s))
    c.holds("the rank of $B$ is at most $k$", np.linalg.svd(B)[1][k:] < 1e-9 * s[0])
    c.holds(r"$\|A-B\|_2=s_{k+1}$", np.isclose(np.linalg.norm(A - B, 2), s[k], rtol=1e-9))
    best = (U[:, :k] * s[:k]) @ Vt[:k]
    c.holds("$B$ differs from $A_k$ by more than rounding", np.abs(B - best).max() > 1e-6 * s[0])


points(
    "ex-linear-algebra-spectral-norm",
    "The null space of $B$ has dimension at least $d-k$, and there $(A-B)x=Ax$.",
    "By the min-max formula for $A^TA$ a space of this dimension holds an $x$ of length 1 with "
    r"$\|Ax\|\ge s_{k+1}$.",
    r"$A-A_k$ has the singular values $s_{k+1},\dots,s_d$, so $A_k$ attains equality.",
)

# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-linear-algebra-break",
    [
        ("numeric_jacobian", "        behind[j] -= h\n        columns", "        columns"),
        ("_rotation", "t = sign / (abs", "t = -sign / (abs"),
        ("gram_schmidt", "for _ in range(2):", "for _ in range(1):"),
        ("low_rank_approximation", "p_norm(s[k:]), s)", "p_norm(s[k:]) ** 2, s)"),
        ("svd_solve", "y) / s[keep])", "y) / s[keep] ** 2)"),
    ],
)
