"""Naive Bayes: behaviour, errors, edge cases, oracles, published numbers, agreements."""

import functools
import itertools
from fractions import Fraction as F

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal, norm
from sklearn import naive_bayes as peer
from sklearn.datasets import load_digits, load_iris

from mllib.decision_theory import posterior
from mllib.estimation import categorical_map, categorical_mle, gaussian_mle
from mllib.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    Counts,
    GaussianNB,
    MixedNB,
    bernoulli_log_likelihoods,
    categorical_log_likelihoods,
    class_counts,
    class_moments,
    class_prior,
    class_variances,
    conditional_tables,
    gaussian_log_likelihoods,
    linear_weights,
    log_posterior,
    merge_counts,
    merge_moments,
    n_parameters,
    scores,
)

DAYS = """SHHW- SHHS- OHHW+ RMHW+ RCNW+ RCNS- OCNS+ SMHW- SCNW+ RMNW+ SMNS+ OMHS+ OHNW+ RMHS-"""
LETTERS = "SOR", "HMC", "HN", "WS"
PLAY = np.array([[v.index(a) for a, v in zip(day, LETTERS)] for day in DAYS.split()])
played = np.array([int(day[4] == "+") for day in DAYS.split()])
QUERY = [[0, 0, 1, 0]]  # sunny, hot, normal, weak


def table(seed=0, n=60, K=3, values=(2, 3, 4)):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, V, n) for V in values])
    y = np.concatenate([np.arange(K), rng.integers(0, K, n - K)])
    X[: max(values)] = np.minimum(np.arange(max(values))[:, None], np.array(values) - 1)
    return X, y


# Behaviour -----------------------------------------------------------------------------------


def test_counts_are_those_of_a_loop():
    X, y = table()
    weights = np.random.default_rng(1).integers(0, 5, len(y)).astype(float)
    counts = class_counts(X, y, 3, [2, 3, 4], weights)
    for k in range(3):
        assert counts.n[k] == sum(weights[i] for i in range(len(y)) if y[i] == k)
        for j, V in enumerate([2, 3, 4]):
            for v in range(V):
                rows = [i for i in range(len(y)) if y[i] == k and X[i, j] == v]
                assert counts.tables[j][k, v] == weights[rows].sum()


def test_tables_are_the_estimates_of_the_chapter_on_estimation():
    X, y = table()
    counts = class_counts(X, y, 3, [2, 3, 4])
    for c in (0.0, 0.5, 1.0):
        for N, theta in zip(counts.tables, conditional_tables(counts, c)):
            for k in range(3):
                assert np.allclose(theta[k], categorical_map(N[k], c), rtol=1e-15)
    assert np.allclose(class_prior(counts.n), categorical_mle(counts.n))
    assert np.allclose(class_prior(counts.n, 2.0), categorical_map(counts.n, 2.0))


def test_maximum_likelihood_beats_every_other_table_on_a_grid():
    X, y = np.array([[0], [1], [1], [0], [0]]), np.array([0, 0, 0, 1, 1])
    best = conditional_tables(class_counts(X, y, 2, [2]), 0.0)[0]

    def value(p, q):
        chosen = np.array([[p, 1 - p], [q, 1 - q]])[y, X[:, 0]]
        return np.prod(chosen)

    grid = np.linspace(0, 1, 61)
    top = max(itertools.product(grid, grid), key=lambda pq: value(*pq))
    assert np.allclose(top, best[:, 0], atol=1 / 120)


def test_moments_are_those_of_numpy_and_far_from_zero_too():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((50, 3)), rng.integers(0, 2, 50)
    for shift in (0.0, 1e8):
        n, mean, scatter = class_moments(X + shift, y, 2)
        for k in (0, 1):
            part = (X + shift)[y == k]
            assert n[k] == len(part)
            assert np.allclose(mean[k], part.mean(axis=0), rtol=1e-13)
            assert np.allclose(scatter[k], part.var(axis=0) * len(part), rtol=1e-6)
    fitted = gaussian_mle(X[y == 1, 0])
    moments = class_moments(X, y, 2)
    assert moments.mean[1, 0] == pytest.approx(fitted.mean)
    assert class_variances(moments)[1, 0] == pytest.approx(fitted.variance)


@pytest.mark.parametrize("weighted", [False, True])
def test_statistics_of_pieces_merge_to_those_of_the_whole(weighted):
    X, y = table(n=90)
    weights = np.random.default_rng(3).integers(1, 4, 90).astype(float) if weighted else None
    pieces = [slice(0, 10), slice(10, 11), slice(11, 90)]
    cut = [None if weights is None else weights[p] for p in pieces]
    whole = class_counts(X, y, 3, [2, 3, 4], weights)
    parts = [class_counts(X[p], y[p], 3, [2, 3, 4], w) for p, w in zip(pieces, cut)]
    merged = functools.reduce(merge_counts, parts)
    assert np.array_equal(merged.n, whole.n)
    assert all(np.array_equal(a, b) for a, b in zip(merged.tables, whole.tables))
    Z = X + 1e4
    whole = class_moments(Z, y, 3, weights)
    parts = [class_moments(Z[p], y[p], 3, w) for p, w in zip(pieces, cut)]
    for merged in (functools.reduce(merge_moments, parts), merge_moments(parts[2], parts[1])):
        assert merged.mean.shape == whole.mean.shape
    merged = functools.reduce(merge_moments, parts)
    assert np.allclose(merged.mean, whole.mean, rtol=1e-13)
    assert np.allclose(merged.scatter, whole.scatter, rtol=1e-9)


def test_scores_are_sums_of_logarithms():
    X, y = table()
    counts = class_counts(X, y, 3, [2, 3, 4])
    tables, prior = conditional_tables(counts), class_prior(counts.n)
    g = scores(prior, categorical_log_likelihoods(X, tables))
    for i, k in itertools.product(range(5), range(3)):
        by_hand = np.log(prior[k]) + sum(np.log(t[k, v]) for t, v in zip(tables, X[i]))
        assert g[i, k] == pytest.approx(by_hand, rel=1e-14)
    assert np.allclose(np.exp(log_posterior(g)), posterior(g - np.log(prior), prior))


def test_binary_features_are_categorical_ones_with_two_values_and_a_linear_form():
    rng = np.random.default_rng(4)
    X, y = rng.integers(0, 2, (40, 5)), rng.integers(0, 3, 40)
    a, b = BernoulliNB().fit(X, y), CategoricalNB(categories=[[0, 1]] * 5).fit(X, y)
    every = np.array(list(itertools.product([0, 1], repeat=5)))
    g = a.predict_joint_log_proba(every)
    assert np.allclose(g, b.predict_joint_log_proba(every), rtol=1e-13)
    offset, W = linear_weights(a.class_prior_, a.p_)
    assert np.allclose(g, offset + every @ W.T, rtol=1e-13)
    wrong = offset + every @ (W - offset[:, None]).T
    assert not np.allclose(g, wrong)


def test_probabilities_zero_and_one_never_make_nan():
    every = np.array(list(itertools.product([0, 1], repeat=3)))
    p = np.array([[0.0, 1.0, 0.5], [1.0, 0.25, 0.0]])
    g = bernoulli_log_likelihoods(every, p)
    tables = [np.column_stack([1 - q, q]) for q in p.T]
    assert np.array_equal(g == -np.inf, categorical_log_likelihoods(every, tables) == -np.inf)
    possible = g > -np.inf
    assert np.allclose(g[possible], categorical_log_likelihoods(every, tables)[possible])
    assert not np.isnan(g).any()


def test_gaussian_scores_equal_those_of_diagonal_covariances():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((60, 4)) * [1, 5, 0.1, 2], rng.integers(0, 3, 60)
    model = GaussianNB().fit(X, y)
    g = model.predict_joint_log_proba(X)
    for k in range(3):
        part = X[y == k]
        law = multivariate_normal(part.mean(axis=0), np.diag(part.var(axis=0)))
        by_scipy = law.logpdf(X) + np.log(len(part) / 60)
        assert np.allclose(g[:, k], by_scipy, rtol=1e-10)
        other = norm.logpdf(X, part.mean(axis=0), part.std(axis=0, ddof=1)).sum(axis=1)
        assert not np.allclose(g[:, k], other + np.log(len(part) / 60), rtol=1e-4)


def test_mixed_features_add_their_log_likelihoods():
    rng = np.random.default_rng(6)
    y = np.repeat([0, 1], 40)
    X = np.column_stack(
        [rng.normal(y), rng.integers(0, 2, 80), rng.normal(size=80), rng.integers(3, 6, 80)]
    )
    kinds = ["gaussian", "bernoulli", "gaussian", "categorical"]
    mixed = MixedNB(kinds).fit(X, y).predict_joint_log_proba(X)
    parts = [
        GaussianNB().fit(X[:, [0, 2]], y).predict_joint_log_proba(X[:, [0, 2]]),
        BernoulliNB().fit(X[:, [1]], y).predict_joint_log_proba(X[:, [1]]),
        CategoricalNB().fit(X[:, [3]], y).predict_joint_log_proba(X[:, [3]]),
    ]
    assert np.allclose(mixed, sum(parts) - 2 * np.log(0.5), rtol=1e-13)


def test_thousands_of_features_stay_finite():
    rng = np.random.default_rng(7)
    X, y = rng.integers(0, 4, (30, 2000)), rng.integers(0, 2, 30)
    model = CategoricalNB(categories=[np.arange(4)] * 2000).fit(X, y)
    log_p = model.predict_log_proba(X)
    assert np.isfinite(log_p).all()
    assert np.allclose(np.logaddexp(*log_p.T), 0)
    assert np.exp(model.predict_joint_log_proba(X)).max() == 0  # the products themselves underflow


MODELS = {
    "gaussian": GaussianNB(),
    "bernoulli": BernoulliNB(threshold=1.0),
    "categorical": CategoricalNB(unseen="missing"),
    "mixed": MixedNB(["gaussian", "categorical", "bernoulli"], unseen="missing", threshold=1.0),
}


@pytest.mark.parametrize("name", MODELS)
def test_weights_mean_repeated_rows(name):
    X, y = table(8)
    weights = np.random.default_rng(9).integers(0, 4, len(y))
    kind, settings = type(MODELS[name]), MODELS[name].get_params()
    weighted = kind(**settings).fit(X, y, weights)
    repeated = kind(**settings).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert np.allclose(weighted.predict_log_proba(X), repeated.predict_log_proba(X), rtol=1e-9)
    alone = kind(**settings).fit(X, y, (y == 1).astype(float))
    assert alone.classes_.tolist() == [1]


@pytest.mark.parametrize("name", MODELS)
def test_probabilities_are_probabilities_and_agree_with_predict(name):
    X, y = table(10)
    model = MODELS[name].fit(X, np.array(["a", "b", "c"])[y])
    p = model.predict_proba(X)
    assert np.allclose(p.sum(axis=1), 1)
    assert np.array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))
    assert np.allclose(np.log(p), model.predict_log_proba(X))
    assert 0 < model.score(X, np.array(["a", "b", "c"])[y]) <= 1


def test_column_order_and_class_names_do_not_matter():
    X, y = table(11)
    p = CategoricalNB().fit(X, y).predict_proba(X)
    assert np.allclose(CategoricalNB().fit(X[:, [2, 0, 1]], y).predict_proba(X[:, [2, 0, 1]]), p)
    assert np.allclose(CategoricalNB().fit(X / 4, y).predict_proba(X / 4), p)
    assert np.allclose(CategoricalNB().fit(X * 7 - 3, 5 - y).predict_proba(X * 7 - 3)[:, ::-1], p)


def test_gaussian_posteriors_do_not_depend_on_units():
    rng = np.random.default_rng(12)
    X, y = rng.standard_normal((40, 3)), rng.integers(0, 2, 40)
    p = GaussianNB().fit(X, y).predict_proba(X)
    for scale in (1e-8, 1e8):
        assert np.allclose(
            GaussianNB().fit(X * scale + scale, y).predict_proba(X * scale + scale), p
        )


# Edge cases and errors -----------------------------------------------------------------------


def test_a_value_never_seen_is_an_error_or_missing():
    X, y = np.array([[0, 1], [1, 1], [1, 2], [0, 2]]), [0, 0, 1, 1]
    model = CategoricalNB().fit(X, y)
    with pytest.raises(ValueError, match=r"X holds 7 in column 1.*unseen='missing'"):
        model.predict([[0, 7]])
    lenient = CategoricalNB(unseen="missing").fit(X, y)
    alone = CategoricalNB().fit(X[:, :1], y)
    assert np.allclose(lenient.predict_proba([[0, 7]]), alone.predict_proba([[0]]))
    stated = CategoricalNB(categories=[[0, 1], [1, 2, 7]]).fit(X, y)
    assert stated.tables_[1][:, 2] == pytest.approx([1 / 5, 1 / 5])


def test_values_need_not_be_consecutive_or_whole():
    X = np.array([[0.5], [2.5], [1e9], [0.5]])
    model = CategoricalNB().fit(X, [0, 0, 1, 1])
    assert model.categories_[0].tolist() == [0.5, 2.5, 1e9]
    assert model.tables_[0][1].tolist() == [2 / 5, 1 / 5, 2 / 5]


def test_an_impossible_row_is_refused_by_name():
    X, y = [[0, 0], [1, 1]], [0, 1]
    for model in (BernoulliNB(0.0), CategoricalNB(0.0)):
        model.fit(X, y)
        assert model.predict_proba([[0, 0]]).tolist() == [[1, 0]]
        for method in (model.predict, model.predict_proba, model.predict_log_proba):
            with pytest.raises(ValueError, match="row 1 of X is impossible in every class"):
                method([[0, 0], [0, 1]])
        assert (model.predict_joint_log_proba([[0, 1]]) == -np.inf).all()


def test_constant_features_and_single_examples():
    X = np.array([[1e8, 1.0], [1e8, 2.0], [1e8, 7.0]])
    model = GaussianNB().fit(X, [0, 0, 1])
    assert np.isfinite(model.predict_log_proba(X)).all()
    assert model.var_[:, 0].tolist() == [1, 1]  # says nothing about the class
    p = model.predict_proba([[3.0, 2.0], [1e8, 2.0]])
    assert np.allclose(p[0], p[1])
    assert model.var_[1, 1] == pytest.approx(1e-9 * X[:, 1].var())


def test_ties_go_to_the_first_class_and_one_class_is_always_right():
    assert GaussianNB().fit([[-1.0], [1.0]], ["b", "a"]).predict([[0.0]])[0] == "a"
    only = CategoricalNB().fit([[0], [1]], ["x", "x"])
    assert only.predict_proba([[1]]).tolist() == [[1.0]]


def test_priors_given_or_smoothed():
    X, y = table(13)
    given = CategoricalNB(priors=[0.5, 0.25, 0.25]).fit(X, y)
    assert given.class_prior_.tolist() == [0.5, 0.25, 0.25]
    smooth = CategoricalNB(prior_pseudocount=2).fit(X, y)
    assert np.allclose(smooth.class_prior_, (np.bincount(y) + 2) / (len(y) + 6))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: class_counts([[0.5]], [0], 1, [2]), "X must hold whole numbers"),
        (lambda: class_counts([[2]], [0], 1, [2]), "X must hold codes from 0"),
        (lambda: class_counts([[0, 0]], [0], 1, [2]), "X must have shape"),
        (lambda: class_counts([[0]], [1], 1, [2]), "y must hold class numbers"),
        (lambda: class_counts([[0]], [0, 0], 1, [2]), "y must have one entry"),
        (lambda: class_counts([[0]], [0], 1, [2], [-1.0]), "weights must not be negative"),
        (lambda: class_prior([1, 0]), "n must be positive"),
        (lambda: conditional_tables(Counts(np.array([0]), ()), 0), "counts must hold every class"),
        (lambda: conditional_tables(Counts(np.array([1]), ()), -1), "pseudocount"),
        (lambda: categorical_log_likelihoods([[3]], [[[0.5, 0.5]]]), "X must hold codes from -1"),
        (lambda: bernoulli_log_likelihoods([[2]], [[0.5]]), "X must hold only 0 and 1"),
        (lambda: bernoulli_log_likelihoods([[1]], [[1.5]]), "p must hold probabilities"),
        (lambda: linear_weights([1.0], [[1.0]]), "p must lie strictly between"),
        (lambda: gaussian_log_likelihoods([[0.0]], [[0.0]], [[0.0]]), "variance must be positive"),
        (lambda: gaussian_log_likelihoods([[0.0]], [[0.0, 1.0]], [[1.0]]), "mean and variance"),
        (lambda: class_variances(class_moments([[1.0]], [0], 2)), "moments must hold examples"),
        (lambda: log_posterior([[-np.inf]]), "row 0 of X is impossible"),
        (lambda: n_parameters([0], 2), "n_values must be"),
        (lambda: CategoricalNB(categories=[[0]]).fit([[0, 1]], [0]), "categories must list"),
        (lambda: CategoricalNB(categories=[[0]]).fit([[1]], [0]), "X holds 1 in column 0"),
        (lambda: CategoricalNB(unseen="ignore").fit([[1]], [0]), "unseen must be one of"),
        (lambda: CategoricalNB(-1).fit([[1]], [0]), "pseudocount must be"),
        (lambda: GaussianNB(var_floor=2).fit([[1.0]], [0]), "floor must be"),
        (lambda: MixedNB(["gaussian"]).fit([[1, 2]], [0]), "kinds must name one kind"),
        (lambda: MixedNB(["normal"]).fit([[1]], [0]), "kinds must be one of"),
        (lambda: GaussianNB(priors=[0.5, 0.6]).fit([[1.0], [2.0]], [0, 1]), "priors must sum"),
        (
            lambda: GaussianNB().fit([[1.0], [2.0]], [0, 1], [0, 0]),
            "sample_weight must not be zero",
        ),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_arguments_are_left_as_they_were():
    X, y = table(14)
    before, labels = X.copy(), y.copy()
    for model in MODELS.values():
        model.fit(X, y).predict_proba(X)
    assert np.array_equal(X, before)
    assert np.array_equal(y, labels)


# Oracles -------------------------------------------------------------------------------------


def test_scikit_learn_gives_the_same_posteriors():
    X, y = load_digits(return_X_y=True)
    ones = (X > 7).astype(float)
    theirs = peer.BernoulliNB(alpha=0.5).fit(ones, y).predict_log_proba(ones)
    assert np.allclose(BernoulliNB(0.5).fit(ones, y).predict_log_proba(ones), theirs, atol=1e-9)
    codes = np.floor(X / 4).astype(int)
    theirs = peer.CategoricalNB(alpha=2, min_categories=5).fit(codes, y).predict_log_proba(codes)
    ours = CategoricalNB(2, categories=[np.arange(5)] * 64).fit(codes, y)
    assert np.allclose(ours.predict_log_proba(codes), theirs, atol=1e-9)
    X, y = load_iris(return_X_y=True)
    theirs = peer.GaussianNB(var_smoothing=0).fit(X, y)
    ours = GaussianNB().fit(X, y)
    assert np.allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), atol=1e-9)
    assert np.allclose(ours.var_, theirs.var_)
    assert ours.score(X, y) == theirs.score(X, y)


# Published numbers ---------------------------------------------------------------------------


def exact(c, smooth_prior=0):
    s = []
    for k in (0, 1):
        rows = PLAY[played == k]
        s.append(F(len(rows) + smooth_prior, len(PLAY) + 2 * smooth_prior))
        for j, V in enumerate((3, 3, 2, 2)):
            hits = int(np.sum(rows[:, j] == QUERY[0][j]))
            s[-1] *= F(hits + c, len(rows) + c * V)
    return s[1] / sum(s)


@pytest.mark.parametrize(
    ("c", "smooth_prior", "value", "printed"),
    [(0, 0, F(500, 743), 0.672948), (1, 0, F(2401, 3611), 0.664913), (1, 1, F(12005, 18539), None)],
)
def test_confidence_on_the_fourteen_days(c, smooth_prior, value, printed):
    assert exact(c, smooth_prior) == value
    model = CategoricalNB(c, prior_pseudocount=smooth_prior).fit(PLAY, played)
    assert model.predict_proba(QUERY)[0, 1] == pytest.approx(float(value), rel=1e-13)
    if printed:
        assert round(float(value), 6) == printed


def test_iris_resubstitution_errors():
    X, y = load_iris(return_X_y=True)
    assert np.count_nonzero(GaussianNB().fit(X, y).predict(X) != y) == 6


@pytest.mark.filterwarnings("error")
def test_features_at_the_ends_of_the_policy_give_probabilities():
    X, y = np.arange(8.0)[:, None], np.repeat([0, 1], 4)
    for unit in (1e-149, 1e149):
        assert np.array_equal(GaussianNB().fit(X * unit, y).predict(X * unit), y)
    with pytest.raises(ValueError, match="too large, squares overflow"):
        GaussianNB().fit(X * 1e149, y, np.full(8, 1e200))


def test_without_a_floor_a_constant_feature_of_a_class_gives_probabilities():
    model = GaussianNB(var_floor=0).fit([[0.0], [0.0], [1.0], [2.0]], [0, 0, 1, 1])
    P = model.predict_proba([[0.0], [1.0], [1e6]])
    assert np.allclose(P, [[1, 0], [0, 1], [0, 1]], atol=1e-12)


GIVEN = [
    {},
    {"priors": [0.7, 0.2, 0.1]},
    {"prior_pseudocount": 5.0},
    {"pseudocount": 0.2},
    {"threshold": 1.5},
    {"var_floor": 0.5},
]


PAIRS = [
    (model, given)
    for model in (GaussianNB, BernoulliNB, CategoricalNB)
    for given in GIVEN
    if set(given) <= set(model().get_params())
]


@pytest.mark.parametrize(("model", "given"), PAIRS)
def test_every_hyperparameter_does_what_it_says_alone_and_among_other_kinds(model, given):
    X, y = table(values=(4, 4, 4))
    found = model(**given).fit(X, y)
    n = np.bincount(y)
    assert_allclose(found.class_count_, n)
    c = given.get("prior_pseudocount", 0.0)
    assert_allclose(found.class_prior_, given.get("priors", (n + c) / (n.sum() + 3 * c)))
    c, t = given.get("pseudocount", 1.0), given.get("threshold", 0.0)
    for k in range(3):
        Z = X[y == k]
        if model is GaussianNB:
            assert_allclose(found.theta_[k], Z.mean(axis=0))
            floor = given.get("var_floor", 1e-9) * X.var(axis=0)
            assert_allclose(found.var_[k], np.maximum(Z.var(axis=0), floor))
        elif model is BernoulliNB:
            assert_allclose(found.p_[k], ((t < Z).sum(axis=0) + c) / (n[k] + 2 * c))
        else:
            counts = [[(z == v).sum() for v in range(4)] for z in Z.T]
            assert_allclose([p[k] for p in found.tables_], (np.array(counts) + c) / (n[k] + 4 * c))
    mixed = MixedNB([model._kind] * 3, **given).fit(X, y)
    assert_allclose(mixed.predict_log_proba(X[:9]), found.predict_log_proba(X[:9]))
    if model is BernoulliNB:
        bits = BernoulliNB(**{**given, "threshold": 0.5}).fit(t < X, y)
        assert_allclose(found.predict_log_proba(X), bits.predict_log_proba(t < X))


def test_other_values_are_as_asked_alone_and_among_other_kinds():
    X, y = table()
    alphabet = [np.arange(6), np.arange(4), np.arange(5)]
    for model in (CategoricalNB, functools.partial(MixedNB, ["categorical"] * 3)):
        known = model(categories=alphabet).fit(X, y)
        record = known.features_[0][1]
        assert [t.shape[1] for t in record.tables] == [6, 4, 5]
        assert np.isfinite(known.predict_log_proba([[5, 0, 0]])).all()
        with pytest.raises(ValueError, match="X holds 5 in column 0"):
            model().fit(X, y).predict([[5, 0, 0]])
        model(unseen="missing").fit(X, y).predict([[5, 0, 0]])
    assert [v.tolist() for v in CategoricalNB().fit(X, y).categories_] == [
        [0, 1],
        [0, 1, 2],
        [0, 1, 2, 3],
    ]
    order = ["categorical", "gaussian", "bernoulli"]
    records = [type(record).__name__ for _, record in MixedNB(order).fit(X, y).features_]
    assert records == ["GaussianFeatures", "BernoulliFeatures", "CategoricalFeatures"]


def test_a_variance_of_nothing_becomes_a_billionth_of_that_of_all_classes():
    X = np.array([[1.0], [1.0], [4.0], [6.0], [2.0], [3.0]])
    moments = class_moments(X, [0, 0, 1, 1, 2, 2], 3)
    assert_allclose(class_variances(moments)[0], 1e-9 * X.var(), rtol=1e-9)


def test_chunks_of_several_kinds_add_up_in_the_order_of_the_kinds():
    rng, y = np.random.default_rng(3), np.arange(90) % 3
    X = np.c_[rng.standard_normal(90), rng.integers(0, 3, 90), rng.integers(0, 2, 90)]
    chunks = [(X[a : a + 30], y[a : a + 30]) for a in (0, 30, 60)]
    model = MixedNB(["gaussian", "categorical", "bernoulli"], var_floor=1.0)
    parts = model.fit_chunks(chunks).predict_proba(X)
    assert_allclose(parts, model.fit(X, y).predict_proba(X), rtol=1e-12)


def test_the_floor_of_mixed_features_is_that_of_their_gaussian_ones():
    X, y = np.random.default_rng(3).standard_normal((30, 1)), np.arange(30) % 3
    X += 3 * y[:, None]
    mixed = MixedNB(["gaussian"], var_floor=1.0).fit(X, y).predict_proba(X)
    assert_allclose(mixed, GaussianNB(var_floor=1.0).fit(X, y).predict_proba(X))
    assert np.max(abs(mixed - GaussianNB().fit(X, y).predict_proba(X))) > 0.01
