"""The model-selection module: behaviour of each public function, its errors and edge cases."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mllib.decision_theory import add_intercept, squared, zero_one
from mllib.least_squares import projection
from mllib.model_selection import (
    CrossValidation,
    KFold,
    RidgeCV,
    bic,
    bic_linear,
    cross_val_score,
    cross_validate,
    effective_df,
    gcv_ridge,
    grid_search,
    hat_matrix,
    k_fold,
    laplace_log_evidence,
    loo_residuals,
    loocv,
    loocv_ridge,
    nested_cross_validate,
    one_standard_error,
    ridge_search,
    train_val_test_split,
)


def sample(seed=0, n=30, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 3
    return X, X @ rng.normal(size=d) + 5 + rng.normal(size=n)


class Mean:
    """The smallest estimator: it predicts the mean of its targets."""

    def fit(self, X, y):
        self.mean = np.mean(y)

    def predict(self, X):
        return np.full(len(X), self.mean)


# Splitting -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "k"), [(2, 2), (7, 3), (10, 5), (11, 11), (23, 4)])
@pytest.mark.parametrize("seed", [None, 3])
def test_every_row_is_left_out_exactly_once_and_folds_have_equal_size(n, k, seed):
    folds = k_fold(n, k, rng=None if seed is None else np.random.default_rng(seed))
    assert len(folds) == k
    assert sorted(np.concatenate([f.validation for f in folds])) == list(range(n))
    sizes = [len(f.validation) for f in folds]
    assert max(sizes) - min(sizes) <= 1
    for fold in folds:
        assert sorted(np.r_[fold.train, fold.validation]) == list(range(n))


def test_stratified_folds_share_each_class_evenly():
    labels = np.array(list("a" * 17 + "b" * 9 + "c" * 4))
    folds = k_fold(30, 4, rng=np.random.default_rng(0), labels=labels)
    for label in "abc":
        counts = [np.sum(labels[f.validation] == label) for f in folds]
        assert max(counts) - min(counts) <= 1
    sizes = [len(f.validation) for f in folds]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("k", [1, 0, -2, 2.5, True, "5"])
def test_k_must_be_a_whole_number_above_one(k):
    with pytest.raises(ValueError, match="k must be an integer"):
        k_fold(10, k)


def test_more_folds_than_rows_are_refused():
    with pytest.raises(ValueError, match="at most the number of samples n=4"):
        k_fold(4, 5)
    with pytest.raises(ValueError, match="labels must have 4 entries"):
        k_fold(4, 2, labels=[0, 1])


@pytest.mark.parametrize("n", [5, 10, 97])
def test_the_three_parts_are_disjoint_and_complete(n):
    split = train_val_test_split(n, rng=np.random.default_rng(1))
    assert sorted(np.concatenate(split)) == list(range(n))
    assert [len(p) for p in split] == pytest.approx(np.array([0.6, 0.2, 0.2]) * n, abs=1)


def test_every_split_is_equally_likely():
    rng, counts = np.random.default_rng(2), {}
    for _ in range(4000):  # 5 choices of the validation row, times 4 of the test row
        split = train_val_test_split(5, rng=rng)
        key = int(split.validation[0]), int(split.test[0])
        counts[key] = counts.get(key, 0) + 1
    assert len(counts) == 20
    assert max(abs(count - 200) for count in counts.values()) < 6 * np.sqrt(200 * 0.95)


def test_a_stratified_split_keeps_the_shares_of_the_classes():
    labels = np.repeat([0, 1], [80, 20])
    split = train_val_test_split(100, rng=np.random.default_rng(1), labels=labels)
    assert [np.sum(labels[p] == 1) for p in split] == [12, 4, 4]


def test_bad_splits():
    rng = np.random.default_rng(0)
    for sizes in ((0.5, 0.5, 0.5), (1.0, 0.0, 0.0)):
        with pytest.raises(ValueError, match="sizes must be three positive shares"):
            train_val_test_split(10, sizes, rng=rng)
    for rng_like in (None, 0, "seed"):
        with pytest.raises(ValueError, match="rng must be a numpy"):
            train_val_test_split(10, rng=rng_like)
    with pytest.raises(ValueError, match="rng must be a numpy"):
        k_fold(10, 2, rng=0)
    with pytest.raises(ValueError, match="a part of the split is empty"):
        train_val_test_split(3, (0.9, 0.05, 0.05), rng=rng)


def test_kfold_is_a_splitter():
    X = sample()[0]
    fold = KFold(3, shuffle=True, random_state=5)
    first = [v.tolist() for _, v in fold.split(X)]
    assert first == [v.tolist() for _, v in fold.split(X)]
    assert first != [v.tolist() for _, v in KFold(3).split(X)]
    assert fold.get_n_splits() == 3
    assert "KFold(3, shuffle=True" in repr(fold)
    labels = np.repeat([0, 1], 15)
    for _, validation in KFold(3, stratify=True).split(X, labels):
        assert labels[validation].sum() == 5
    with pytest.raises(ValueError, match="requires y"):
        list(KFold(3, stratify=True).split(X))
    for options in ({"n_splits": 2.5}, {"shuffle": "no"}, {"stratify": None}):
        with pytest.raises(ValueError, match=f"{next(iter(options))} must be"):
            list(KFold(**options).split(X, labels))


# Cross-validation ----------------------------------------------------------------------------


def test_cross_validation_equals_a_loop_by_hand():
    X, y = sample()
    expected = []
    for start in range(0, 30, 6):
        out = np.arange(start, start + 6)
        keep = np.setdiff1d(np.arange(30), out)
        w = np.linalg.lstsq(add_intercept(X[keep]), y[keep], rcond=None)[0]
        expected.append(np.mean((y[out] - add_intercept(X[out]) @ w) ** 2))
    cv = cross_validate(LinearRegression(), X, y, folds=5)
    np.testing.assert_allclose(cv.losses, expected, rtol=1e-10)
    assert cv.mean == pytest.approx(np.mean(expected))
    assert cv.pooled == pytest.approx(np.mean(expected))
    assert cv.standard_error == pytest.approx(np.std(expected, ddof=1) / np.sqrt(5))
    assert (cv.train_losses < cv.losses.max()).all()


def test_pooled_and_plain_averages_differ_for_unequal_folds():
    cv = CrossValidation(np.array([1.0, 4.0]), np.zeros(2), np.array([2, 1]))
    assert cv.mean == 2.5
    assert cv.pooled == 2.0


def test_any_object_with_fit_and_predict_will_do_and_is_not_changed():
    X, y = sample()
    model = Mean()
    cv = cross_validate(model, X, y, folds=2)
    expected = [np.mean((y[:15] - y[15:].mean()) ** 2), np.mean((y[15:] - y[:15].mean()) ** 2)]
    np.testing.assert_allclose(cv.losses, expected)
    assert not hasattr(model, "mean")


def test_fitted_models_and_pipelines_start_afresh():
    X, y = sample()
    pipe = make_pipeline(StandardScaler(), Ridge(3.0))
    before = cross_validate(pipe, X, y).losses
    pipe.fit(X[:3], y[:3])
    centre = pipe[0].mean_.copy()
    np.testing.assert_array_equal(cross_validate(pipe, X, y).losses, before)
    np.testing.assert_array_equal(pipe[0].mean_, centre)


def test_labels_may_be_words():
    X = np.arange(12.0)[:, None]
    y = np.where(X[:, 0] < 6, "low", "high")
    folds = k_fold(12, 3, rng=np.random.default_rng(0))
    cv = cross_validate(KNeighborsClassifier(1), X, y, folds=folds, loss=zero_one)
    for loss, (train, out) in zip(cv.losses, folds):
        nearest = train[np.argmin(np.abs(out[:, None] - train), axis=1)]
        assert loss == np.mean(y[nearest] != y[out])


@pytest.mark.parametrize("workers", [2, 3, map])
def test_the_same_result_for_every_number_of_workers(workers):
    X, y = sample()
    grid = [{"alpha": a} for a in (100.0, 10.0, 1.0)]
    one = cross_validate(Ridge(), X, y)
    many = cross_validate(Ridge(), X, y, workers=workers)
    assert all(np.array_equal(a, b) for a, b in zip(one, many))
    assert np.array_equal(
        cross_val_score(Ridge(), X, y), cross_val_score(Ridge(), X, y, workers=workers)
    )
    assert np.array_equal(
        grid_search(Ridge(), grid, X, y).losses,
        grid_search(Ridge(), grid, X, y, workers=workers).losses,
    )
    first = nested_cross_validate(Ridge(), grid, X, y)
    second = nested_cross_validate(Ridge(), grid, X, y, workers=workers)
    assert np.array_equal(first.losses, second.losses)


def test_threads_map_too():
    X, y = sample()
    with ThreadPoolExecutor(2) as pool:
        many = cross_validate(Ridge(), X, y, workers=pool.map)
    assert np.array_equal(many.losses, cross_validate(Ridge(), X, y).losses)


def test_loocv_leaves_out_each_row_by_itself():
    X, y = sample(n=9, d=2)
    cv = loocv(Ridge(2.0), X, y)
    for i, loss in enumerate(cv.losses):
        model = Ridge(2.0).fit(np.delete(X, i, 0), np.delete(y, i))
        assert loss == pytest.approx((y[i] - model.predict(X[i : i + 1])[0]) ** 2, rel=1e-12)
    assert cv.sizes.tolist() == [1] * 9


def test_bad_input_is_refused_in_one_sentence():
    X, y = sample(n=6)
    bad = X.copy()
    bad[0, 0] = np.nan
    cases = [
        ((Mean(), X, y), {"folds": 7}, "at most the number of samples n=6"),
        ((Mean(), X, y), {"folds": 1}, "folds must be an integer"),
        ((Mean(), X, y), {"folds": []}, "at least one pair"),
        ((Mean(), X, y), {"folds": "five"}, "folds must be a whole number"),
        ((Mean(), X, y), {"folds": [([0, 1], [1, 2])]}, "validate on rows that they train on"),
        ((Mean(), X, y), {"folds": [([0, 1], [9])]}, "row numbers from 0 to 5"),
        ((Mean(), X, y), {"folds": [([0.5, 1], [2])]}, "vector of row numbers"),
        ((Mean(), bad, y), {}, "Input X contains NaN"),
        ((Mean(), X, bad[:, 0]), {}, "Input y contains NaN"),
        ((Mean(), X, np.array([None] * 6)), {}, "NaN or None"),
        ((Mean(), X, y[:-1]), {}, "X has 6 rows, y has 5 entries"),
        ((Mean(), X, X), {}, "y must be a vector"),
        ((Mean(), X, y + 1j), {}, "Complex data"),
        ((Mean, X, y), {}, r"pass Mean\(\)"),
        ((StandardScaler(), X, y), {}, "has no predict"),
        ((3, X, y), {}, "int has no fit"),
        ((Mean(), X, y), {"loss": "mse"}, "loss must be a function"),
        ((Mean(), X, y), {"workers": 0}, "workers must be"),
    ]
    for arguments, options, message in cases:
        with pytest.raises(ValueError, match=message):
            cross_validate(*arguments, **{"folds": 3} | options)
    with pytest.raises(ValueError, match="method score"):
        cross_val_score(Mean(), X, y)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_prediction_that_is_no_number_is_refused():
    class Broken(Mean):
        def predict(self, X):
            return np.full(len(X), np.nan)

    class Column(Mean):
        def predict(self, X):
            return np.zeros((len(X), 1))

    X, y = sample()
    with pytest.raises(ValueError, match="predict returned NaN"):
        cross_validate(Broken(), X, y)
    with pytest.raises(ValueError, match="loss returned NaN"):
        cross_validate(Mean(), X, y, loss=lambda y, f: np.log(-np.abs(y)))
    with pytest.raises(ValueError, match="predict must return shape"):
        cross_validate(Column(), X, y)


def test_one_hold_out_set_has_a_loss_but_no_standard_error():
    X, y = sample()
    cv = cross_validate(Mean(), X, y, folds=[(np.arange(20), np.arange(20, 30))])
    assert cv.losses == pytest.approx([np.mean((y[20:] - y[:20].mean()) ** 2)])
    with pytest.raises(ValueError, match="at least 2 folds"):
        _ = cv.standard_error


# Choosing ------------------------------------------------------------------------------------


def test_grid_search_returns_the_minimiser_of_the_losses():
    X, y = sample(n=40)
    grid = {"n_neighbors": [1, 3, 9], "weights": ["uniform", "distance"]}
    search = grid_search(KNeighborsRegressor(), grid, X, y)
    by_hand = [cross_validate(KNeighborsRegressor(**s), X, y).mean for s in search.candidates]
    np.testing.assert_allclose(search.means, by_hand)
    folds = [cross_validate(KNeighborsRegressor(**s), X, y).losses for s in search.candidates]
    np.testing.assert_allclose(search.losses, folds)
    spread = np.std(folds, axis=1, ddof=1) / np.sqrt(5)
    np.testing.assert_allclose(search.standard_errors, spread)
    assert search.candidates[4] == {"n_neighbors": 9, "weights": "uniform"}
    assert search.setting == search.candidates[int(np.argmin(by_hand))]


def test_each_fold_has_its_losses_and_its_size():
    X, y = np.zeros((5, 1)), np.array([0.0, 1.0, 5.0, 2.0, 8.0])
    folds = [(np.array([0, 1]), np.array([2, 3, 4])), (np.array([2, 3, 4]), np.array([0, 1]))]
    cv = cross_validate(LinearRegression(), X, y, folds=folds)  # it can only say the mean
    np.testing.assert_allclose(cv.train_losses, [y[:2].var(), y[2:].var()])
    np.testing.assert_allclose(
        cv.losses, [np.mean((y[2:] - 0.5) ** 2), np.mean((y[:2] - y[2:].mean()) ** 2)]
    )
    assert cv.sizes.tolist() == [3, 2]


def test_ties_go_to_the_first_candidate():
    X, y = sample()
    assert grid_search(Ridge(), [{"alpha": 2.0}, {"alpha": 2.0}], X, y).best == 0


def test_one_standard_error_takes_the_first_within_reach():
    assert one_standard_error([5, 2.9, 2.0, 2.5], [1, 1, 0.95, 1]) == 1
    assert one_standard_error([5, 2.96, 2.0, 2.5], [9, 9, 0.95, 1]) == 3 - 1
    assert one_standard_error([1.0], [0.0]) == 0
    with pytest.raises(ValueError, match="no candidates"):
        one_standard_error([], [])
    with pytest.raises(ValueError, match="negative"):
        one_standard_error([1.0], [-1.0])


def test_the_rule_changes_the_choice_and_nothing_else():
    X, y = sample(n=60)
    grid = [{"alpha": a} for a in (300.0, 30.0, 3.0, 0.3)]
    plain = grid_search(Ridge(), grid, X, y)
    simple = grid_search(Ridge(), grid, X, y, rule="one-se")
    np.testing.assert_array_equal(plain.losses, simple.losses)
    reach = plain.means[plain.best] + plain.standard_errors[plain.best]
    assert simple.best == np.flatnonzero(plain.means <= reach)[0]


def test_nested_cross_validation_equals_two_loops():
    X, y = sample(n=30)
    alphas = [100.0, 1.0, 0.01]
    nested = nested_cross_validate(Ridge(), {"alpha": alphas}, X, y, outer=3, inner=4)
    for loss, search, fold in zip(nested.losses, nested.searches, k_fold(30, 3)):
        means = [
            cross_validate(Ridge(a), X[fold.train], y[fold.train], folds=4).mean for a in alphas
        ]
        chosen = alphas[int(np.argmin(means))]
        assert search.setting == {"alpha": chosen}
        model = Ridge(chosen).fit(X[fold.train], y[fold.train])
        assert loss == pytest.approx(squared(y, model.predict(X))[fold.validation].mean())
    assert nested.mean == pytest.approx(sum(nested.losses) / 3)
    assert nested.standard_error == pytest.approx(np.std(nested.losses, ddof=1) / np.sqrt(3))


@pytest.mark.parametrize("search", [grid_search, nested_cross_validate])
def test_searches_refuse_bad_grids(search):
    X, y = sample()
    for grid, message in [
        ([], "no candidates"),
        ({}, "no candidates"),
        ({"alpha": []}, "no candidates"),
        ({"alpha": 3.0}, "must be a list of values"),
        ({"alpha": "abc"}, "must be a list of values"),
        (None, "grid must be a list of settings"),
        ("alpha", "grid must be a list of settings"),
        ([3.0], "must be a dictionary"),
        ([{"nonsense": 1}], "Invalid parameter"),
    ]:
        with pytest.raises(ValueError, match=message):
            search(Ridge(), grid, X, y)
    with pytest.raises(ValueError, match="needs set_params"):
        search(Mean(), [{"a": 1}], X, y)
    with pytest.raises(ValueError, match="rule must be one of"):
        search(Ridge(), [{"alpha": 1.0}], X, y, rule="best")
    one = [(np.arange(20), np.arange(20, 30))]
    with pytest.raises(ValueError, match="at least 2 folds"):
        grid_search(Ridge(), [{"alpha": 1.0}], X, y, folds=one, rule="one-se")
    assert grid_search(Ridge(), [{"alpha": 1.0}], X, y, folds=one).best == 0
    with pytest.raises(ValueError, match="inner must be a number of folds or a splitter"):
        nested_cross_validate(Ridge(), [{"alpha": 1.0}], X, y, inner=one)
    with pytest.raises(ValueError, match="outer must be a whole number"):
        nested_cross_validate(Ridge(), [{"alpha": 1.0}], X, y, outer="five")


# Ridge in closed form ------------------------------------------------------------------------


def refits(X, y, lam, intercept):
    """Return the n leave-one-out residuals by n fits of the normal equations."""
    out = []
    for i in range(len(y)):
        A, t = np.delete(X, i, 0), np.delete(y, i)
        x = X[i]
        if intercept:
            A, x = add_intercept(A), np.r_[1.0, x]
        P = lam * np.eye(len(x))
        P[0, 0] = 0 if intercept else lam
        out.append(y[i] - x @ np.linalg.solve(A.T @ A + P, A.T @ t))
    return np.array(out)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("lam", [0.0, 0.3, 50.0])
def test_leave_one_out_equals_n_refits(intercept, lam):
    X, y = sample()
    truth = refits(X, y, lam, intercept)
    np.testing.assert_allclose(loo_residuals(X, y, lam, intercept=intercept), truth, rtol=1e-10)
    assert loocv_ridge(X, y, lam, intercept=intercept) == pytest.approx(np.mean(truth**2))


def test_leave_one_out_far_from_the_origin():
    X, y = sample()
    ours = loo_residuals(X + 1e6, y + 1e6, 0.3, intercept=True)
    np.testing.assert_allclose(ours, refits(X, y, 0.3, True), rtol=1e-7)


def test_leaving_out_one_over_n_fails():
    X, y = sample()
    C, r = X - X.mean(axis=0), y - y.mean()
    wrong = loo_residuals(C, r, 1.0)
    assert np.abs(wrong - refits(X, y, 1.0, True)).max() > 1e-3


def test_wide_data_need_a_penalty_only_for_the_interpolated_rows():
    X, y = sample(n=6, d=9)
    with pytest.raises(ValueError, match="leverage 1"):
        loo_residuals(X, y)
    with pytest.raises(ValueError, match="Tr H = n"):
        gcv_ridge(X, y)
    np.testing.assert_allclose(loo_residuals(X, y, 0.5), refits(X, y, 0.5, False), rtol=1e-9)
    doubled = np.column_stack([sample()[0]] * 2)  # dependent columns: the fit is still determined
    np.testing.assert_allclose(loo_residuals(doubled, sample()[1]), loo_residuals(*sample()))


@pytest.mark.parametrize("intercept", [False, True])
def test_the_hat_matrix_maps_targets_to_fits(intercept):
    X, y = sample()
    H = hat_matrix(X, 2.0, intercept=intercept)
    model = Ridge(2.0, fit_intercept=intercept).fit(X, y)
    np.testing.assert_allclose(H @ y, model.predict(X), rtol=1e-10)
    assert effective_df(X, 2.0, intercept=intercept) == pytest.approx(np.trace(H))
    P = projection(add_intercept(X) if intercept else X)
    np.testing.assert_allclose(hat_matrix(X, intercept=intercept), P, atol=1e-12)
    assert effective_df(X, intercept=intercept) == pytest.approx(4 + intercept)


def test_gcv_by_its_definition():
    X, y = sample()
    H = hat_matrix(X, 3.0)
    expected = np.mean((y - H @ y) ** 2) / (1 - np.trace(H) / 30) ** 2
    assert gcv_ridge(X, y, 3.0) == pytest.approx(expected)
    with_one = hat_matrix(X, 3.0, intercept=True)
    expected = np.mean((y - with_one @ y) ** 2) / (1 - np.trace(with_one) / 30) ** 2
    assert gcv_ridge(X, y, 3.0, intercept=True) == pytest.approx(expected)


@pytest.mark.parametrize(("criterion", "score"), [("loo", loocv_ridge), ("gcv", gcv_ridge)])
def test_the_search_over_penalties(criterion, score):
    X, y = sample(n=12, d=6)
    lambdas = np.geomspace(1e-3, 1e3, 13)
    search = ridge_search(X, y, lambdas, criterion=criterion)
    expected = [score(X, y, lam, intercept=True) for lam in lambdas]
    np.testing.assert_allclose(search.scores, expected)
    np.testing.assert_allclose(search.df, [effective_df(X, v, intercept=True) for v in lambdas])
    assert search.lam == lambdas[np.argmin(expected)]
    model = RidgeCV(lambdas, criterion=criterion).fit(X, y)
    assert model.lambda_ == search.lam
    np.testing.assert_allclose(model.predict(X), Ridge(search.lam).fit(X, y).predict(X))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("lam", [0.0, 1e-14, 0.01, 1e4])
def test_wide_data_lose_no_digits_to_squares(lam, intercept):
    X, y = sample(n=12, d=40)
    X[3] = X[2] + 1e-7 * np.sin(np.arange(40))  # a last singular value that X X^T cannot hold
    C = X - X.mean(axis=0) if intercept else X
    s = np.linalg.svd(C, compute_uv=False)[: 12 - intercept]
    found = effective_df(X, lam, intercept=intercept)
    assert found == pytest.approx(np.sum(s**2 / (s**2 + lam)) + intercept, rel=1e-9)
    if lam >= 0.01:
        np.testing.assert_allclose(
            loo_residuals(X, y, lam, intercept=intercept), refits(X, y, lam, intercept), rtol=1e-5
        )


def test_bad_penalties():
    X, y = sample()
    with pytest.raises(ValueError, match="lam must be a number"):
        loocv_ridge(X, y, -1.0)
    with pytest.raises(ValueError, match="no candidates"):
        ridge_search(X, y, [])
    with pytest.raises(ValueError, match="must not be negative"):
        ridge_search(X, y, [1.0, -1.0])
    with pytest.raises(ValueError, match="criterion must be one of"):
        RidgeCV(criterion="aic").fit(X, y)
    with pytest.raises(ValueError, match="intercept must be True or False"):
        hat_matrix(X, intercept="no")
    with pytest.raises(ValueError, match="fit_intercept must be True or False"):
        RidgeCV(fit_intercept="no").fit(X, y)
    with pytest.raises(ValueError, match="contains NaN"):
        gcv_ridge(X, np.full(30, np.nan))


# Evidence ------------------------------------------------------------------------------------


def test_bic_of_linear_regression():
    X, y = sample()
    A = add_intercept(X)
    w = np.linalg.lstsq(A, y, rcond=None)[0]
    rss = np.sum((y - A @ w) ** 2)
    known = -15 * np.log(2 * np.pi * 2.0) - rss / 4
    assert bic_linear(A, y, sigma2=2.0) == pytest.approx(known - 2.5 * np.log(30))
    free = -15 * (np.log(2 * np.pi * rss / 30) + 1)
    assert bic_linear(A, y) == pytest.approx(free - 3 * np.log(30))
    assert bic(free, 6, 30) == pytest.approx(bic_linear(A, y))


def test_bic_refuses_what_it_cannot_count():
    X, y = sample()
    with pytest.raises(ValueError, match="dependent columns"):
        bic_linear(np.column_stack([X, X]), y)
    for scale in (1e-8, 1.0, 1e8):
        with pytest.raises(ValueError, match="fit is exact"):
            bic_linear(X[:4], scale * y[:4])
        with pytest.raises(ValueError, match="fit is exact"):
            bic_linear(X * [1, 1e4, 1e-4, 1], scale * (X @ [1.0, 2.0, 3.0, 4.0]))
    with pytest.raises(ValueError, match="sigma2 must be"):
        bic_linear(X, y, sigma2=0.0)
    for arguments in [(np.inf, 1, 2), (0.0, -1, 2), (0.0, 1, 0), (np.nan, 1, 2)]:
        with pytest.raises(ValueError, match="must be"):
            bic(*arguments)


def test_laplace_is_exact_for_a_gaussian():
    X, y = sample(n=12, d=3)
    sigma2, tau2 = 0.7, 2.5
    exact = multivariate_normal(np.zeros(12), sigma2 * np.eye(12) + tau2 * X @ X.T).logpdf(y)
    A = X.T @ X / sigma2 + np.eye(3) / tau2
    w = np.linalg.solve(A, X.T @ y / sigma2)
    joint = -0.5 * (12 * np.log(2 * np.pi * sigma2) + np.sum((y - X @ w) ** 2) / sigma2)
    joint -= 0.5 * (3 * np.log(2 * np.pi * tau2) + w @ w / tau2)
    assert laplace_log_evidence(joint, A) == pytest.approx(exact, rel=1e-10)


def test_laplace_needs_a_maximum():
    with pytest.raises(ValueError, match="positive definite"):
        laplace_log_evidence(0.0, [[-1.0]])
    with pytest.raises(ValueError, match="square"):
        laplace_log_evidence(0.0, [[1.0, 0.0]])


# Estimator -----------------------------------------------------------------------------------


def test_ridge_cv_scales_with_the_data():
    X, y = sample()
    model = RidgeCV([0.1, 1.0, 10.0]).fit(X, y)
    small = RidgeCV([0.1e-16, 1e-16, 10e-16]).fit(1e-8 * X, 1e8 * y)
    assert small.lambda_ == pytest.approx(model.lambda_ * 1e-16)
    np.testing.assert_allclose(small.coef_, 1e16 * model.coef_, rtol=1e-8)


def test_no_copy_of_a_row_is_less_than_a_row():
    X, y, s = np.eye(4, 2), np.arange(4.0), [0.5, 1, 2, 0]
    with pytest.raises(ValueError, match="at least 1 for criterion='loo'"):
        RidgeCV().fit(X, y, sample_weight=s)
    assert RidgeCV(criterion="gcv").fit(X, y, sample_weight=s).lambda_ in RidgeCV().lambdas


def test_a_constant_feature_has_no_weight():
    X, y = sample()
    X[:, 1] = 7.0
    model = RidgeCV([0.0]).fit(X, y)
    assert abs(model.coef_[1]) < 1e-12
    np.testing.assert_allclose(model.predict(X), LinearRegression().fit(X, y).predict(X))


def absolute_loss(y, f):
    return np.abs(y - f)


GRID = {"lambdas": [[1e4], [10.0], [1e-3]]}


@pytest.mark.parametrize(
    ("judged", "folds", "losses"),
    [
        (lambda *X_y, **given: cross_validate(RidgeCV(), *X_y, **given).losses, "folds", True),
        (lambda *X_y, **given: cross_val_score(RidgeCV(), *X_y, **given), "folds", False),
        (lambda *X_y, **given: loocv(RidgeCV(), *X_y, **given).losses, None, True),
        (
            lambda *X_y, **given: grid_search(RidgeCV(), GRID, *X_y, **given).losses[1],
            "folds",
            True,
        ),
        (
            lambda *X_y, **given: nested_cross_validate(RidgeCV(), GRID, *X_y, **given).losses,
            *("outer", True),
        ),
    ],
)
def test_folds_losses_and_workers_are_those_that_were_asked_for(judged, folds, losses):
    X, y = sample(7, n=21)
    calls = []

    def workers(function, tasks):
        return (calls.append(task) or function(task) for task in tasks)

    found = judged(X, y)
    assert len(found) == (5 if folds else 21)
    assert judged(X, y, workers=workers) == pytest.approx(found)
    assert len(calls) >= len(found)
    if folds:
        assert judged(X, y, **{folds: 5}) == pytest.approx(found)
        assert len(judged(X, y, **{folds: 3})) == 3
    if losses:
        assert judged(X, y, loss=squared) == pytest.approx(found)
        assert judged(X, y, loss=absolute_loss) != pytest.approx(found)


def test_the_search_inside_a_search_has_five_folds_and_the_rule_of_the_outer():
    X, y = sample(8)
    searches = nested_cross_validate(RidgeCV(), GRID, X, y).searches
    assert {search.losses.shape for search in searches} == {(3, 5)}
    one_se = nested_cross_validate(RidgeCV(), GRID, X, y, inner=3, rule="one-se")
    for search in one_se.searches:
        assert search.losses.shape == (3, 3)
        assert search.best == one_standard_error(search.means, search.standard_errors)


@pytest.mark.parametrize("score", [hat_matrix, effective_df, loo_residuals, loocv_ridge, gcv_ridge])
def test_no_penalty_and_no_intercept_are_the_defaults(score):
    X, y = sample(9)
    given = (X,) if score in (hat_matrix, effective_df) else (X, y)
    assert np.allclose(score(*given), score(*given, 0.0, intercept=False))
    assert not np.allclose(score(*given), score(*given, 1.0))
    assert not np.allclose(score(*given), score(*given, intercept=True))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("criterion", ["loo", "gcv"])
def test_ridge_cv_keeps_the_search_and_fits_its_choice(criterion, intercept):
    X, y = sample(10)
    lambdas = [100.0, 3.0, 0.1, 0.0]
    model = RidgeCV(lambdas, criterion, intercept).fit(X, y)
    one = loocv_ridge if criterion == "loo" else gcv_ridge
    scores = [one(X, y, lam, intercept=intercept) for lam in lambdas]
    df = [effective_df(X, lam, intercept=intercept) for lam in lambdas]
    search = ridge_search(X, y, lambdas, criterion=criterion, intercept=intercept)
    for found in (model.scores_, search.scores):
        assert found == pytest.approx(scores)
    for found in (model.df_, search.df):
        assert found == pytest.approx(df)
    assert search.lambdas.tolist() == lambdas
    assert model.lambda_ == lambdas[search.best] == lambdas[np.argmin(scores)]
    peer = Ridge(model.lambda_, fit_intercept=intercept).fit(X, y)
    assert model.coef_ == pytest.approx(peer.coef_)
    assert model.intercept_ == pytest.approx(peer.intercept_)
    left_out = ridge_search(X, y, lambdas)
    named = ridge_search(X, y, lambdas, criterion="loo", intercept=True)
    assert np.array_equal(left_out.scores, named.scores)


def test_the_default_folds_are_five_blocks():
    assert repr(KFold()) == "KFold(5, shuffle=False, random_state=None, stratify=False)"
    shares = [len(part) for part in train_val_test_split(100, rng=np.random.default_rng(0))]
    asked = train_val_test_split(100, (0.5, 0.1, 0.4), rng=np.random.default_rng(0))
    assert (shares, [len(part) for part in asked]) == ([60, 20, 20], [50, 10, 40])
