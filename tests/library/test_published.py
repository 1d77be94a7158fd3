"""Numbers printed in the literature, recomputed with the library."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from nist import linear_sets
from scipy.cluster.hierarchy import fcluster, linkage

from mllib import (
    bayesian_regression,
    estimation,
    least_squares,
    optimization,
)
from mllib.concentration import clopper_pearson
from mllib.course.datasets import berkeley, diabetes, earthquakes, faithful, longley
from mllib.decision_theory import (
    add_intercept,
    cost_sensitive_rule,
    cost_threshold,
    posterior,
)
from mllib.hidden_markov_models import PoissonHMM, forward, posteriors, viterbi
from mllib.kernels import polynomial_kernel
from mllib.linear_algebra import (
    condition_number,
    is_positive_semidefinite,
    jacobi_eigen,
    leading_minors,
    spectral_decomposition,
    svd_solve,
)
from mllib.mixtures_and_em import GaussianMixture, e_step, em, m_step, start_from_labels
from mllib.pac_learning import linear_dichotomies, vc_dimension
from mllib.perceptron import perceptron
from mllib.probability import FiniteSpace, bayes, marginal
from mllib.ridge_and_lasso import centre, lars_path
from mllib.support_vector_machines import smo

# Perceptron ---


@pytest.mark.parametrize(
    ("ties", "w", "mistakes"),
    [("negative", (-0.1000, 0.2013), [13, 0]), ("mistake", (-0.2000, 0.4049), [24, 8, 2, 0])],
)
def test_threshold_learned_from_100_uniform_points(ties, w, mistakes):
    # Lorencio Abril (2023), Example 4.4: MATLAB's rng(5) draws NumPy's RandomState(5) uniforms.
    x = np.random.RandomState(5).random_sample(100)
    y = np.where(x > 0.5, 1.0, -1.0)
    run = perceptron(add_intercept(x[:, None]), y, eta=0.1, max_epochs=10, ties=ties)
    assert np.round(run.w, 4).tolist() == list(w)
    assert run.mistakes.tolist() == mistakes


# Support vector machines ---


def test_xor_with_the_quadratic_kernel():
    # Cherkassky and Mulier (1998), retold in Haykin (1999), section 6.6: every alpha is 1/8,
    # the dual optimum is 1/4, the decision function is x1 x2 up to sign.
    X, y = np.array([[-1.0, -1], [-1, 1], [1, -1], [1, 1]]), np.array([-1.0, 1, 1, -1])
    run = smo(polynomial_kernel(X, X, 2), y, np.inf)
    np.testing.assert_allclose(run.alpha, 1 / 8, rtol=1e-9)
    assert run.dual == pytest.approx(1 / 4)
    assert run.primal == pytest.approx(1 / 4)
    T = np.array([[0.3, -2.0], [1.5, 0.5]])
    scores = polynomial_kernel(T, X, 2) @ (run.alpha * y) + run.b
    np.testing.assert_allclose(scores, -T[:, 0] * T[:, 1], atol=1e-9)


# Hidden Markov models ---


def test_umbrella_world():
    # Russell and Norvig (2010), section 15.2: rain seen through umbrellas on days 1, 2, 4, 5.
    A, B = [[0.7, 0.3], [0.3, 0.7]], np.log([[0.9, 0.2], [0.9, 0.2], [0.1, 0.8]] + [[0.9, 0.2]] * 2)
    f, s = forward([0.5, 0.5], A, B), posteriors([0.5, 0.5], A, B)
    assert np.exp(f.log_filter[:2, 0]).round(3).tolist() == [0.818, 0.883]
    assert round(f.log_likelihood, 4) == -3.3725
    assert s.gamma[:, 0].round(4).tolist() == [0.8673, 0.8204, 0.3075, 0.8204, 0.8673]
    assert viterbi([0.5, 0.5], A, B).states.tolist() == [0, 0, 1, 0, 0]


def test_ice_cream():
    # Eisner (2002); Jurafsky and Martin, appendix on hidden Markov models: 3, 1, 3 ice creams.
    pi, A = [0.8, 0.2], [[0.6, 0.4], [0.5, 0.5]]
    B = np.log([[0.4, 0.1], [0.2, 0.5], [0.4, 0.1]])
    f = forward(pi, A, B)
    assert np.exp(f.log_alpha[:2]).round(6).tolist() == [[0.32, 0.02], [0.0404, 0.069]]
    assert round(np.exp(f.log_likelihood), 6) == 0.028562
    into = [B[:2] + np.array([[0, 0], row]) for row in ([0, -np.inf], [-np.inf, 0])]  # end in j
    v = [np.exp(viterbi(pi, A, log_B).log_probability) for log_B in into]
    assert np.round(v, 6).tolist() == [0.0384, 0.064]


def test_earthquakes_with_poisson_states():
    # Zucchini and MacDonald (2009): minus the log-likelihood for one, two and three states.
    X = earthquakes().X
    values = {1: 391.9189, 2: 341.8787, 3: 328.5275}
    for K, value in values.items():
        fit = PoissonHMM(K, n_init=5, random_state=0, tol=1e-9, max_iter=2000).fit(X)
        assert -fit.trace_[-1] == pytest.approx(value, abs=1e-4)
    assert np.sort(fit.rates_.ravel()) == pytest.approx([13.134, 19.713, 29.71], abs=1e-3)


# Mixtures and EM ---


def test_old_faithful_tied_and_full():
    # mclust prints -1126.326 and a BIC of -2314.316 (its sign is the opposite of ours) for the tied
    # model, where its own rule stops; the maximum is a hundredth higher.
    X = faithful().X
    tied = GaussianMixture(3, covariance_type="tied", random_state=0, tol=1e-12, max_iter=5000)
    tied.fit(X)
    assert tied.trace_[-1] == pytest.approx(-1126.316, abs=5e-4)
    assert -tied.bic(X) == pytest.approx(-2314.30, abs=5e-3)
    full = GaussianMixture(2, random_state=0, tol=1e-12).fit(X)
    assert full.trace_[-1] == pytest.approx(-1130.264, abs=5e-4)


def test_old_faithful_class_sizes_are_those_of_mclusts_stopping_rule():
    X = faithful().X
    ward = fcluster(linkage((X - X.mean(0)) / X.std(0), "ward"), 3, "maxclust") - 1
    theta, before = start_from_labels(X, ward, 3, covariance_type="tied"), -np.inf
    while True:
        R, value = e_step(X, theta)
        if value - before < 1e-5 * (1 + abs(value)):
            break
        theta, before = m_step(X, R, covariance_type="tied"), value
    assert sorted(np.bincount(R.argmax(axis=1))) == [45, 97, 130]


def test_genetic_linkage():
    # Dempster, Laird and Rubin (1977), section 1: the first iterates and the limit.
    def expect(t):
        p = np.array([0.5 + t / 4, (1 - t) / 4, (1 - t) / 4, t / 4])
        return 125 * t / (2 + t), np.array([125, 18, 20, 34]) @ np.log(p)

    fits = [em(expect, lambda h: (h + 34) / (h + 72), 0.5, tol=tol) for tol in (1e9, 1e-14)]
    assert fits[0].params == pytest.approx(0.608247423, abs=5e-10)
    assert fits[1].params == pytest.approx(0.626821498, abs=5e-8)


# PAC learning ---


@pytest.mark.parametrize(("inputs", "count"), [(1, 4), (2, 14), (3, 104)])
def test_number_of_linear_threshold_functions_of_boolean_inputs(inputs, count):
    # Muroga (1971); sequence A000609 of the On-Line Encyclopedia of Integer Sequences.
    cube = list(itertools.product((0.0, 1.0), repeat=inputs))
    made = linear_dichotomies(cube)
    assert len(made) == count
    assert vc_dimension(made) == inputs + 1


# Linear algebra ---


def test_condition_numbers_of_hilbert_matrices():
    # Todd (1954); the values that MATLAB's documentation of hilb and cond prints. The smallest
    # singular value carries the rounding of the largest: kappa is known to a factor 1 +- kappa eps,
    # which for d = 10 is more than the half unit of the last printed digit.
    for d, value in ((3, 524.06), (4, 15514), (5, 4.7661e05), (10, 1.6025e13)):
        H = 1 / (np.arange(d)[:, None] + np.arange(d) + 1)
        printed = 0.5 * 10 ** (np.floor(np.log10(value)) - 4) / value
        assert condition_number(H) == pytest.approx(value, rel=printed + value * 2.0**-52)


def test_wilson_matrix():
    # Ciarlet (1989), Introduction to Numerical Linear Algebra, section 2.2: determinant 1, an
    # integer inverse, and two right-hand sides 0.1 apart whose solutions have nothing in common.
    W = np.array([[10.0, 7, 8, 7], [7, 5, 6, 5], [8, 6, 10, 9], [7, 5, 9, 10]])
    assert f"{condition_number(W):.6g}" == "2984.09"
    assert is_positive_semidefinite(W)
    assert leading_minors(W)[-1] == pytest.approx(1, abs=1e-10)
    inverse = np.column_stack([svd_solve(W, e) for e in np.eye(4)])
    integers = [[25, -41, 10, -6], [-41, 68, -17, 10], [10, -17, 5, -3], [-6, 10, -3, 2]]
    np.testing.assert_allclose(inverse, integers, atol=1e-9)
    assert svd_solve(W, [32.0, 23, 33, 31]) == pytest.approx([1, 1, 1, 1], rel=1e-10)
    moved = svd_solve(W, [32.1, 22.9, 33.1, 30.9])
    assert moved == pytest.approx([9.2, -12.6, 4.5, -1.1], rel=1e-10)


def test_eigenvalues_of_the_second_difference_matrix():
    # Golub and Van Loan (2013), section 4.8: 4 sin^2(j pi / (2 (d + 1))), j = 1, ..., d.
    d = 12
    T = 2 * np.eye(d) - np.eye(d, k=1) - np.eye(d, k=-1)
    exact = 4 * np.sin(np.arange(d, 0, -1) * np.pi / (2 * (d + 1))) ** 2
    assert spectral_decomposition(T).values == pytest.approx(exact, abs=1e-13)
    assert jacobi_eigen(T).values == pytest.approx(exact, abs=1e-13)


# Estimation ---


#: The first twenty values of MATLAB's randn after rng('default'), as its documentation lists them.
MATLAB_RANDN = np.array(
    [
        [0.5377, 1.8339, -2.2588, 0.8622, 0.3188, -1.3077, -0.4336, 0.3426, 3.5784, 2.7694],
        [-1.3499, 3.0349, 0.7254, -0.0631, 0.7147, -0.2050, -0.1241, 1.4897, 1.4090, 1.4172],
    ]
)


def test_learning_a_gaussian_mean_in_two_batches():
    # Lorencio Abril (2023), Example A.9; its second step squares a variance once more.
    first, second = 5 + 2 * MATLAB_RANDN
    one = estimation.gaussian_mean_posterior(first, estimation.sample_variance(first), 0.0, 1.0)
    assert (one.mean, one.variance) == pytest.approx((2.7734, 0.5561), abs=1e-4)
    noise = estimation.sample_variance(second)
    printed = estimation.gaussian_mean_posterior(second, noise, one.mean, one.variance**2)
    assert (printed.mean, printed.variance) == pytest.approx((4.0179, 0.2034), abs=1e-4)
    right = estimation.gaussian_mean_posterior(second, noise, one.mean, one.variance)
    assert (right.mean, right.variance) == pytest.approx((4.5310, 0.2873), abs=1e-4)


def test_smoothed_die():
    # Lorencio Abril (2023), Example A.8.
    counts = estimation.category_counts(np.array([1, 3, 5, 4, 4, 6]) - 1, 6)
    assert estimation.categorical_map(counts)[:2] == pytest.approx([1 / 6, 1 / 12], rel=1e-15)


def test_old_faithful_means_and_standard_deviations():
    # R's sapply(faithful, mean) and sapply(faithful, sd).
    eruptions, waiting = faithful().X.T
    assert estimation.gaussian_mle(eruptions).mean == pytest.approx(3.487783, abs=5e-7)
    assert estimation.gaussian_mle(waiting).mean == pytest.approx(70.89706, abs=5e-6)
    assert estimation.sample_variance(eruptions) ** 0.5 == pytest.approx(1.141371, abs=5e-7)
    assert estimation.sample_variance(waiting) ** 0.5 == pytest.approx(13.59497, abs=5e-6)


# Decision theory ---


def test_medical_costs_ask_for_treatment_above_one_seventh():
    # Lorencio Abril (2023), section 4.1: a missed illness costs 60, a false alarm 10.
    cost = [[0.0, 60.0], [10.0, 0.0]]
    assert cost_threshold(cost) == 1 / 7
    assert cost_sensitive_rule([[0.86, 0.14], [0.85, 0.15]], cost).tolist() == [0, 1]


def test_posterior_after_a_positive_mammogram():
    # Eddy (1982): prevalence 1 %, 79.2 % of cancers and 9.6 % of the others test positive: 7.7 %.
    p = posterior(np.log([[0.096, 0.792]]), [0.99, 0.01])
    assert round(p[0, 1], 3) == 0.077


# Probability ---


def test_salary_and_tourist():
    # Lorencio Abril (2023), Examples A.1 and A.2.
    joint = [[Fraction(n, 100) for n in (5, 10, 20)], [Fraction(n, 100) for n in (15, 30, 20)]]
    assert marginal(joint, 0)[0] == Fraction(7, 20)
    prior, likelihood = [Fraction(1, 5), Fraction(4, 5)], [Fraction(1, 2), Fraction(1, 10)]
    answer = bayes(prior, likelihood)
    assert (answer.evidence, answer.posterior[0]) == (Fraction(9, 50), Fraction(5, 9))


def test_admissions_at_berkeley_by_department():
    # Freedman, Pisani and Purves (2007), Statistics, chapter 2, table 2: per cent admitted.
    table = berkeley()
    space = FiniteSpace.from_counts(dict(zip(map(tuple, table.X.tolist()), table.y.tolist())))
    printed = {0: [62, 63, 37, 33, 28, 6], 1: [82, 68, 34, 35, 24, 7]}
    for sex, rates in printed.items():
        for department, rate in enumerate(rates, start=1):
            here = space.given(lambda w, d=department, s=sex: w[:2] == (d, s))
            assert round(100 * here.prob(lambda w: w[2] == 1)) == rate


# Concentration ---


def test_exact_interval_for_mendelian_plants():
    # Conover (1971), p. 97, as the documentation of R's binom.test prints it: 682 giants of 925.
    low, high = clopper_pearson(682, 925, 0.05)
    assert (round(low, 7), round(high, 7)) == (0.7076683, 0.7654066)


# Optimisation ---


def test_equality_constrained_quadratic_of_nocedal_and_wright():
    # Nocedal and Wright (2006), Example 16.2: x = (2, -1, 1); their multipliers are the negatives.
    P, q = [[6.0, 2, 1], [2, 5, 2], [1, 2, 4]], [-8.0, -3, -3]
    A, b = [[1.0, 0, 1], [0, 1, 1]], [3.0, 0]
    for run in (optimization.lagrange_quadratic(P, q, A, b), optimization.solve_qp(P, q, A=A, b=b)):
        np.testing.assert_allclose(run.x, [2, -1, 1], atol=1e-12)
        np.testing.assert_allclose(run.nu, [-3, 2], atol=1e-12)


def test_inequality_constrained_quadratic_of_nocedal_and_wright():
    # Nocedal and Wright (2006), Example 16.4: x = (1.4, 1.7), only the first constraint active.
    G = [[-1.0, 2], [1, 2], [1, -2], [-1, 0], [0, -1]]
    run = optimization.solve_qp(2 * np.eye(2), [-2.0, -5], G, [2.0, 6, 2, 0, 0])
    np.testing.assert_allclose(run.x, [1.4, 1.7], atol=1e-12)
    np.testing.assert_allclose(run.lam, [0.8, 0, 0, 0, 0], atol=1e-12)


@pytest.mark.parametrize(
    ("damping", "iterations", "w"),
    [(1e-3, 227, (165540, -209910, 129120)), (1e-4, 144, (1634700, -2021900, 1205100))],
)
def test_damped_newton_on_separable_logistic_data(damping, iterations, w):
    # Lorencio Abril (2023), Example 4.5: 227 passes, the last of which only meets the threshold,
    # W = 1e5 (1.6554, -2.0991, 1.2912) for damping 1e-3; the weights grow as the damping shrinks.
    u = np.random.RandomState(5).random_sample(200)
    x1, x2 = 1 + 2 * u[:100], 3 * u[100:]
    X, y = np.column_stack([np.ones(100), x1, x2]), (x2 > 1.5 * x1 - 1).astype(float)
    p = lambda w: 0.5 * (1 + np.tanh(X @ w / 2))  # noqa: E731
    run = optimization.newton(
        lambda w: np.logaddexp(0, X @ w).sum() - y @ (X @ w),
        lambda w: X.T @ (p(w) - y),
        lambda w: (X.T * (p(w) * (1 - p(w)))) @ X,
        np.ones(3),
        damping=damping,
        tol=1e-3,
        max_iter=1000,
    )
    assert run.converged
    assert run.n_iter + 1 == iterations
    np.testing.assert_allclose(run.z, w, rtol=5e-5)


# Least squares -----------------------------------------------------------------------------------


def test_longley_to_the_certified_digits():
    # NIST StRD, data set Longley: certified values of the multiple regression with intercept.
    certified = [
        -3482258.63459582,
        15.0618722713733,
        -0.0358191792925910,
        -2.02022980381683,
        -1.03322686717359,
        -0.0511041056535807,
        1829.15146461355,
    ]
    deviations = [
        890420.383607373,
        84.9149257747669,
        0.0334910077722432,
        0.488399681651699,
        0.214274163161675,
        0.226073200069370,
        455.478499142212,
    ]
    table = longley()
    model = least_squares.LinearRegression().fit(table.X, table.y)
    found = np.append(model.intercept_, model.coef_)
    np.testing.assert_allclose(found, certified, rtol=1e-12)
    s2 = model.sigma2_ * 16 / 9
    assert np.sqrt(s2) == pytest.approx(304.854073561965, rel=1e-12)
    assert model.score(table.X, table.y) == pytest.approx(0.995479004577296, rel=1e-13)
    spread = np.sqrt(np.diag(least_squares.covariance(add_intercept(table.X), s2)))
    np.testing.assert_allclose(spread, deviations, rtol=1e-7)


def digits(found, certified):
    """Return how many digits of the worst coefficient are right, as NIST counts them."""
    error = np.abs(np.array(found) - certified) / np.abs(certified)
    return float(-np.log10(error.max())) if error.max() > 1e-15 else 15.0


def exactly(A, y):
    """Return the least squares weights of these float64 columns, by fractions."""
    rows = [[Fraction(v) for v in (*row, target)] for row, target in zip(A.tolist(), y.tolist())]
    d = A.shape[1]
    T = [[sum(row[i] * row[j] for row in rows) for j in range(d + 1)] for i in range(d)]
    for i in range(d):
        for k in range(d):
            if k != i:
                T[k] = [a - T[k][i] / T[i][i] * b for a, b in zip(T[k], T[i])]
    return [float(T[i][d] / T[i][i]) for i in range(d)]


#: Digits that LinearRegression must have; Filip's columns, rounded to float64, hold 7.6.
NIST = {"Norris": 12, "Pontius": 12, "NoInt1": 14, "NoInt2": 14, "Filip": 7, "Longley": 12}
NIST |= {"Wampler1": 9, "Wampler2": 12, "Wampler3": 9, "Wampler4": 7, "Wampler5": 5}


@pytest.mark.parametrize("name", NIST)
def test_all_linear_sets_of_nist_to_their_digits_and_none_below_numpys_best(name):
    data = linear_sets()[name]
    A = add_intercept(data.X) if data.intercept else data.X
    model = least_squares.LinearRegression(fit_intercept=data.intercept).fit(data.X, data.y)
    svd = least_squares.least_squares(data.X, data.y, intercept=data.intercept)
    sums = least_squares.regression_statistics(data.X, data.y, intercept=data.intercept)
    chunks = least_squares.solve_statistics(sums)
    for w, b, rank in (
        (model.coef_, model.intercept_, model.rank_),
        (svd.w, svd.b, svd.rank),
        (chunks.w, chunks.b, chunks.rank),
    ):
        assert rank == data.X.shape[1]
        assert digits(np.r_[[b] * data.intercept, w], data.w) >= min(NIST[name], 11) - 2.5
    found = digits(np.r_[[model.intercept_] * data.intercept, model.coef_], data.w)
    assert found >= NIST[name]
    Q, R = np.linalg.qr(A)
    theirs = [np.linalg.lstsq(A, data.y)[0], np.linalg.solve(R, Q.T @ data.y)]
    best = max(digits(w, data.w) for w in theirs)
    assert found > min(best, digits(exactly(A, data.y), data.w)) - 1
    s2 = model.sigma2_ * len(A) / (len(A) - A.shape[1])
    assert np.sqrt(s2) == pytest.approx(data.deviation, rel=1e-7, abs=1e-8 * np.abs(data.y).max())


# Ridge and lasso ---


def test_order_of_the_diabetes_path():
    # Efron et al. (2004), Figure 1 and section 3: LARS takes 3 9 4 7 2 10 5 8 6 1; on the lasso's
    # path variable 7 leaves in the eleventh step and comes back in the twelfth.
    table = diabetes()
    data = centre(table.X, table.y)
    angles = lars_path(data.X, data.y, drop=False).entered[:-1]
    assert [j + 1 for j in angles] == [3, 9, 4, 7, 2, 10, 5, 8, 6, 1]
    moves = [j + 1 if j >= 0 else -(~j + 1) for j in lars_path(data.X, data.y).entered[:-1]]
    assert moves == [3, 9, 4, 7, 2, 10, 5, 8, 6, 1, -7, 7]


# Bayesian regression ---


@pytest.mark.parametrize(
    ("variance", "covariance"),
    [(1e6, [[0.1220, -0.3537], [-0.3537, 1.2256]]), (1e3, [[0.1218, -0.3532], [-0.3532, 1.2240]])],
)
def test_hours_studied_and_score(variance, covariance):
    # Lorencio Abril (2023), Example A.10: column of ones last, prior standard deviation 1000;
    # the second row is what the variance 1000 named in the text gives.
    x = np.array([1, 2, 3, 4, 4.5])
    X = np.column_stack([x, np.ones(5)])
    belief = bayesian_regression.posterior(X, 2 * x + 1, 1.0, np.zeros(2), variance * np.eye(2))
    np.testing.assert_allclose(belief.covariance, covariance, atol=5e-5)
    if variance == 1e6:
        np.testing.assert_allclose(belief.mean, [2, 1], atol=5e-5)
        law = belief.predict([[3.5, 1.0]])
        assert round(law.mean[0], 4) == 8.0000
        assert round(law.std[0], 4) == 1.1153
