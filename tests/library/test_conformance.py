"""Every estimator passes scikit-learn's own checks, and works inside its tools."""

import importlib
import inspect
import pickle
import pkgutil
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler
from sklearn.utils.estimator_checks import (
    check_clusterer_compute_labels_predict,
    check_clustering,
    check_dataframe_column_names_consistency,
    check_estimator,
    check_global_output_transform_pandas,
    check_non_transformer_estimators_n_iter,
    check_set_output_transform,
    check_set_output_transform_pandas,
    check_transformer_get_feature_names_out,
    check_transformer_get_feature_names_out_pandas,
)

import mllib
from mllib.core.estimators import Estimator, Transformer
from mllib.core.tables import column_names

#: Settings other than the defaults, where the data of the checks ask for them.
SETTINGS = {
    # the data are not separable by a hyperplane, but by a kernel that is narrow enough
    "HardMarginSVM": {"kernel": "rbf", "ell": 0.3},
    "CategoricalHMM": {"unseen": "missing"},  # a part of the data is fitted, all of it predicted
    "CategoricalNB": {"unseen": "missing"},  # as above
    "KMeans": {"n_clusters": 3},  # more clusters than distinct rows are refused: some data have 4
    "SVC": {"tol": 1e-10},  # weights and repeated rows are compared to seven digits
}

#: Checks whose data (fewer rows than features, constant features) make a covariance singular, so
#: that the model must refuse them with a sentence that names the remedy.
SINGULAR = {
    "check_sample_weights_shape",
    "check_sample_weights_not_overwritten",
    "check_sample_weight_equivalence_on_dense_data",
}
REFUSES = {"LinearDiscriminantAnalysis": SINGULAR, "QuadraticDiscriminantAnalysis": SINGULAR}


def estimators():
    """Return one instance of every public estimator of the library."""
    found = []
    for info in pkgutil.iter_modules(mllib.__path__):
        if info.ispkg:
            continue
        module = importlib.import_module(f"mllib.{info.name}")
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) and issubclass(thing, Estimator):
                found.append(thing(**SETTINGS.get(name, {})))
    return found


ESTIMATORS = estimators()


def named(estimator):
    return type(estimator).__name__


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=named)
def test_scikit_learn_checks(estimator):
    results = check_estimator(estimator, on_skip=None, on_fail=None)
    bad = {
        r["check_name"]: repr(r["exception"])
        for r in results
        if r["status"] != "passed" and r["check_name"] != "check_array_api_input"
    }
    assert set(bad) == REFUSES.get(named(estimator), set()), bad
    assert all("or shrink with" in message for message in bad.values())
    assert len(results) > 30


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=named)
def test_checks_that_scikit_learn_leaves_out_for_strangers(estimator):
    name = named(estimator)
    check_non_transformer_estimators_n_iter(name, estimator)
    if estimator.kind == "clusterer":
        check_clusterer_compute_labels_predict(name, clone(estimator))
        check_clustering(name, clone(estimator))
        check_clustering(name, clone(estimator), readonly_memmap=True)


def small_sample(kind):
    """Return two groups of rows in random order; the target of a regression rises from one
    to the other and has about mean 0, for models without an offset.
    """
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1], 20))
    X = rng.standard_normal((40, 2)) + 4 * y[:, None]
    if kind == "classifier":
        return X, y
    return X, X[:, 0] + X[:, 1] - 4 if kind == "regressor" else None


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=named)
def test_works_with_clone_and_pickle(estimator):
    X, y = small_sample(estimator.kind)
    if "Poisson" in named(estimator) or "Categorical" in named(estimator):
        X = np.clip(np.round(X[:, :1]), 0, 3)
    fitted = clone(estimator).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    methods = ("predict", "transform", "score_samples", "fit_predict")
    method = next(m for m in methods if hasattr(fitted, m))
    assert np.array_equal(getattr(fitted, method)(X), getattr(again, method)(X))
    assert repr(estimator) == repr(clone(estimator))
    assert "\n" not in repr(estimator)


#: Estimators with a kernel or an activation, and settings that predict in another way.
FITTED_WITH = {
    "GaussianMixture": [{}, {"covariance_type": "spherical"}],
    "GaussianProcessRegressor": [{"kernel": "polynomial", "degree": 2}, {"kernel": "linear"}],
    "HardMarginSVM": [{"kernel": "polynomial", "degree": 2}, {"kernel": "precomputed"}],
    "KernelPCA": [{"kernel": "polynomial", "degree": 2}, {"kernel": "precomputed"}],
    "KernelPerceptron": [{"kernel": None}, {"fit_intercept": False}],
    "KNeighborsClassifier": [{"metric": "manhattan"}],
    "KNeighborsRegressor": [{"metric": "manhattan"}],
    "KernelRidge": [{"kernel": "polynomial", "degree": 2}, {"kernel": "precomputed"}],
    "MLPClassifier": [{"activation": "tanh"}],
    "MLPRegressor": [{"activation": "tanh"}],
    "PCA": [{"whiten": True}, {"whiten": False}],
    "SVC": [{"kernel": "polynomial", "degree": 2}, {"kernel": "precomputed"}],
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", [e for e in ESTIMATORS if named(e) in FITTED_WITH], ids=named)
def test_a_fitted_estimator_goes_on_with_what_it_was_fitted_with(estimator):
    X, y = small_sample(estimator.kind)
    for settings in [{}, *FITTED_WITH[named(estimator)]]:
        fitted = clone(estimator).set_params(**settings)
        Z = X @ X.T + 1 if settings.get("kernel") == "precomputed" else X
        try:
            fitted.fit(Z, y)
        except ValueError:  # no hard margin in these features
            continue
        method = next(m for m in ("bic", "transform", "predict") if hasattr(fitted, m))
        answer = getattr(fitted, method)
        before, state = answer(Z), dict(vars(fitted))
        others = {"ell": 7.0, "degree": 5, "coef0": 9.0, "multi_class": "ovr", "whiten": "x"}
        others |= {"activation": "sigmoid", "fit_intercept": False}
        others |= {"metric": "chebyshev", "covariance_type": "diag"}
        for kernel in ("linear", "precomputed", np.minimum):
            change = {k: v for k, v in (others | {"kernel": kernel}).items() if hasattr(fitted, k)}
            fitted.set_params(**change)
            assert np.array_equal(answer(Z), before)
        fitted.set_params(**estimator.get_params() | settings)
        assert vars(fitted).keys() == state.keys()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator", [e for e in ESTIMATORS if e.kind in ("classifier", "regressor")], ids=named
)
def test_works_inside_pipelines_and_searches(estimator):
    X, y = small_sample(estimator.kind)
    categorical = estimator.__sklearn_tags__().input_tags.categorical
    prepare = (
        KBinsDiscretizer(3, encode="ordinal", strategy="uniform")
        if categorical
        else StandardScaler()
    )
    pipeline = make_pipeline(prepare, clone(estimator))
    assert cross_val_score(pipeline, X, y, cv=3).min() > 0.8
    names = list(estimator.get_params())
    name = next((k for k in ("max_iter", "C", "tol") if k in names), names[0])
    values = [estimator.get_params()[name]]
    search = GridSearchCV(pipeline, {f"{named(estimator).lower()}__{name}": values}, cv=3)
    assert search.fit(X, y).best_score_ > 0.8


# Weights -------------------------------------------------------------------------------------

#: Estimators without ``sample_weight``, and why copies of a row have no such meaning for them.
NO_WEIGHTS = {
    "AgglomerativeClustering": "merges pairs; the objective is no sum over rows",
    "Isomap": "a graph of the rows; copies of a row are neighbours at distance 0",
    "KNeighborsClassifier": "a vote of k rows, not a sum over all",
    "KNeighborsRegressor": "as above",
    "GaussianProcessRegressor": "the evidence is no sum over rows: every pair is correlated",
    "GaussianHMM": "rows of a sequence follow each other; a copy is another step in time",
    "PoissonHMM": "as above",
    "CategoricalHMM": "as above",
    "Perceptron": "visits rows in turn: a copy is another visit, and where it comes matters",
    "KernelPerceptron": "as above",
    "HardMarginSVM": "conditions, no sum: a condition twice is the same condition",
    "MiniBatchKMeans": "draws rows into batches: a copy is another draw",
}

#: Settings under which repetition is exact rather than on average.
EXACT = {
    "SVC": {"tol": 1e-10},
    "LinearSVC": {"tol": 1e-10},
    "LogisticRegression": {"tol": 1e-12},
    "MLPClassifier": {"batch_size": 10_000, "max_iter": 50},
    "MLPRegressor": {"batch_size": 10_000, "max_iter": 50},
    "GaussianMixture": {"tol": 1e-10},
}


def weighs(estimator):
    return "sample_weight" in inspect.signature(estimator.fit).parameters


def test_every_estimator_takes_weights_or_is_known_not_to():
    assert {named(e) for e in ESTIMATORS if not weighs(e)} == set(NO_WEIGHTS)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", [e for e in ESTIMATORS if weighs(e)], ids=named)
def test_a_weight_is_a_repeated_row(estimator):
    estimator, X, y = sample_for(estimator, d=2)
    estimator.set_params(**EXACT.get(named(estimator), {}))
    rng = np.random.default_rng(2)
    y = y + rng.standard_normal(40) if estimator.kind == "regressor" else y ^ (rng.random(40) < 0.3)
    times = rng.integers(0, 4, len(X))
    own = np.repeat(np.arange(len(X)), times)
    one, two = clone(estimator), clone(estimator)
    if "cv" in estimator.get_params():  # copies of a row belong to one fold
        folds = [(np.arange(40)[j::2], np.arange(40)[1 - j :: 2]) for j in (0, 1)]
        one.set_params(cv=folds)
        two.set_params(cv=[tuple(np.flatnonzero(np.isin(own, p)) for p in f) for f in folds])
    weighted, repeated = one.fit(X, y, sample_weight=times), two.fit(X[own], y[own])
    ours, theirs = (answers(m, X, y) for m in (weighted, repeated))
    ours.pop("labels_", None)
    for what, value in ours.items():
        np.testing.assert_allclose(value, theirs[what], rtol=1e-6, atol=1e-7, err_msg=what)
    plain = answers(clone(estimator).fit(X, y), X, y)  # without weights, all of them are 1
    ones = answers(clone(estimator).fit(X, y, sample_weight=np.ones(len(X))), X, y)
    for what, value in plain.items():
        np.testing.assert_allclose(ones[what], value, rtol=1e-6, atol=1e-7, err_msg=what)
    assert any(not np.allclose(plain[k], v, rtol=1e-6) for k, v in ours.items())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", [e for e in ESTIMATORS if weighs(e)], ids=named)
@pytest.mark.parametrize("bad", [-1.0, 0.0, np.nan, [1.0, 2.0], "many"])
def test_weights_that_are_refused(estimator, bad):
    estimator, X, y = sample_for(estimator, d=2)
    s = np.ones(len(X))
    s = s * 0 if bad == 0.0 else np.append(s[1:], bad) if isinstance(bad, float) else bad
    with pytest.raises((ValueError, TypeError), match="weight"):
        clone(estimator).fit(X, y, sample_weight=s)


CLASS_WEIGHTS = [e for e in ESTIMATORS if "class_weight" in e.get_params()]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", CLASS_WEIGHTS, ids=named)
def test_class_weights_multiply_the_weights_of_their_classes(estimator):
    estimator, X, y = sample_for(estimator, d=2)
    estimator.set_params(**EXACT.get(named(estimator), {}))
    names, rest = np.array(["left", "right"])[y], np.r_[np.flatnonzero(y == 0)[:5], y.nonzero()[0]]
    X, names = X[rest] / 3, names[rest]  # 5 and 20 examples; the classes overlap
    factors = {"left": 2.5, "right": 0.625}
    forest = "Forest" in named(estimator)  # weights of rows are draws, those of classes are not
    by_row = np.where(names == "left", *factors.values())
    expected = clone(estimator).fit(X, names, sample_weight=None if forest else by_row)
    balanced = clone(estimator).set_params(class_weight="balanced").fit(X, names)
    given = clone(estimator).set_params(class_weight=factors).fit(X, names)
    for what, value in answers(balanced, X, names).items():
        if value.dtype.kind == "f" if isinstance(value, np.ndarray) else True:
            found = answers(given, X, names)[what]
            np.testing.assert_allclose(found, value, rtol=1e-6, atol=1e-8, err_msg=what)
            if not forest:
                found = answers(expected, X, names)[what]
                np.testing.assert_allclose(found, value, rtol=1e-6, atol=1e-8, err_msg=what)
    for bad in ("even", 3, {"up": 1.0}, {"left": -1.0}, {"left": 0}):
        with pytest.raises(ValueError, match="class_weight"):
            clone(estimator).set_params(class_weight=bad).fit(X, names)


#: Classifiers whose model has no probabilities: a margin or a vote says which side, not how likely.
NO_PROBABILITIES = {
    "Perceptron", "BatchPerceptron", "KernelPerceptron", "SVC", "HardMarginSVM", "LinearSVC",
    "OneVsOne",
}  # fmt: skip


@pytest.mark.parametrize("estimator", [e for e in ESTIMATORS if e.kind == "classifier"], ids=named)
def test_probabilities_are_given_where_the_model_has_them(estimator):
    assert hasattr(estimator, "predict_proba") == (named(estimator) not in NO_PROBABILITIES)


# Tables --------------------------------------------------------------------------------------


class Table:
    """The least that a table is: columns with names, and an array of its values."""

    def __init__(self, X, columns):
        self.X, self.columns = np.asarray(X), columns

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.X, dtype=dtype)


def sample_for(estimator, d=4):
    """Return rows and a target that the estimator can be fitted to; its random state is set."""
    rng = np.random.default_rng(1)
    y = rng.permutation(np.repeat([0, 1], 20))
    X = rng.standard_normal((40, d)) + 4 * y[:, None]
    if "Poisson" in named(estimator) or "Categorical" in named(estimator):
        X = np.clip(np.round(X[:, :1] if "HMM" in named(estimator) else X), 0, 3)
    if "random_state" in estimator.get_params():
        estimator = clone(estimator).set_params(random_state=0)
    return clone(estimator), X, X.sum(axis=1) - 2 * d if estimator.kind == "regressor" else y


METHODS = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "transform",
    "score_samples",
)


def answers(estimator, X, y):
    """Return what all methods of a fitted estimator say to X, and its score."""
    said = {m: getattr(estimator, m)(X) for m in METHODS if hasattr(estimator, m)}
    if hasattr(estimator, "labels_"):
        said["labels_"] = estimator.labels_
    if named(estimator) == "OneVsOne":  # whose own scores are votes
        said["inside"] = estimator.estimators_[0].decision_function(np.asarray(X, order="C"))
    if hasattr(estimator, "score"):
        said["score"] = estimator.score(X, y)
    return said


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=named)
def test_scikit_learn_checks_of_tables(estimator):
    check_dataframe_column_names_consistency(named(estimator), estimator)
    assert isinstance(estimator, Transformer) == hasattr(estimator, "transform")
    if hasattr(estimator, "transform"):
        for check in (
            check_set_output_transform,
            check_set_output_transform_pandas,
            check_global_output_transform_pandas,
            check_transformer_get_feature_names_out,
            check_transformer_get_feature_names_out_pandas,
        ):
            check(named(estimator), estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("error:X :UserWarning")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=named)
def test_a_table_gives_what_its_values_give_to_the_last_bit(estimator):
    estimator, X, y = sample_for(estimator)
    names = [f"column {j}" for j in range(X.shape[1])]
    expected = answers(clone(estimator).fit(X, y), X, y)
    for table in (
        pd.DataFrame(X, columns=names),
        pd.DataFrame(dict(zip(names, X.T.copy()))),  # stored column by column
        Table(np.asfortranarray(X), names),
    ):
        model = clone(estimator).fit(table, pd.Series(y))
        assert model.feature_names_in_.tolist() == names
        found = answers(model, table, pd.Series(y))
        assert expected.keys() == found.keys()
        for what, value in expected.items():
            assert np.array_equal(value, found[what]), what


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=named)
def test_a_table_with_other_columns_is_refused(estimator):
    estimator, X, y = sample_for(estimator)
    names = [f"column {j}" for j in range(X.shape[1])]
    table, model = Table(X, names), clone(estimator).fit(Table(X, names), y)
    method = next((getattr(model, m) for m in METHODS if hasattr(model, m)), None)
    if method is None:  # clusters of the training rows only
        assert not hasattr(model.fit(X), "feature_names_in_")
        return
    renamed = pd.DataFrame(X, columns=["new", *names[1:]])
    with pytest.raises(
        ValueError, match=r"unseen at fit time:\n- new\n(.|\n)*missing:\n- column 0"
    ):
        method(renamed)
    if len(names) > 1:
        with pytest.raises(ValueError, match="same order as they were in fit"):
            method(Table(X[:, ::-1], names[::-1]))
        with pytest.raises(ValueError, match="yet now missing:\n- column 3"):
            method(pd.DataFrame(X[:, :-1], columns=names[:-1]))
    with pytest.warns(UserWarning, match="X does not have valid feature names") as seen:
        method(X)
    assert len(seen) == 1
    assert seen[0].filename == __file__
    if hasattr(model, "partial_fit"):
        with pytest.raises(ValueError, match="unseen at fit time:\n- new\n"):
            model.partial_fit(renamed, y)
        assert clone(estimator).partial_fit(table).feature_names_in_.tolist() == names
    model.fit(X=X, y=y)
    assert not hasattr(model, "feature_names_in_")
    with pytest.warns(UserWarning, match="fitted without feature names"):
        method(renamed)


def test_what_counts_as_the_names_of_columns():
    X = np.eye(3)
    assert column_names(X) is None
    assert column_names(pd.DataFrame(X)) is None  # numbered, not named
    assert (
        column_names(pd.DataFrame(X, columns=pd.MultiIndex.from_product([[0], [*"abc"]]))) is None
    )
    assert column_names(pd.DataFrame(X[:, :0])) is None
    assert column_names(pd.DataFrame(X, columns=[*"abc"])).tolist() == [*"abc"]
    with pytest.raises(TypeError, match="if all input features have string names"):
        column_names(pd.DataFrame(X, columns=["a", 1, "c"]))
    many = Table(np.ones((2, 12)), [f"column {j:02d}" for j in range(12)])
    model = mllib.pca.PCA(1).fit(Table(np.eye(12), [f"old {j:02d}" for j in range(12)]))
    with pytest.raises(
        ValueError, match=r"- column 04\n- ...\nFeature.*\n- old 00\n(.*\n)*- old 04\n- ...\n$"
    ):
        model.transform(many)


@pytest.mark.parametrize("estimator", [e for e in ESTIMATORS if hasattr(e, "transform")], ids=named)
def test_set_output_names_the_columns_and_keeps_the_index(estimator):
    estimator, X, y = sample_for(estimator)
    y = X[:, 0] > 2 if estimator.kind == "classifier" else None
    table = pd.DataFrame(X, columns=[*"abcd"], index=np.arange(40) + 100)
    plain = clone(estimator).fit(table, y)
    named_one = clone(clone(estimator).set_output(transform="pandas"))  # clones keep the wish
    for Z in (named_one.fit(table, y).transform(table), named_one.fit_transform(table, y)):
        assert Z.index.equals(table.index)
        assert Z.columns.tolist() == plain.get_feature_names_out().tolist()
        assert np.allclose(Z.to_numpy(), plain.transform(table), atol=1e-8)
    assert isinstance(named_one.set_output().transform(table), pd.DataFrame)
    assert isinstance(named_one.set_output(transform="default").transform(table), np.ndarray)
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(plain.transform(table), pd.DataFrame)
        assert isinstance(named_one.transform(table), np.ndarray)
    with pytest.raises(ValueError, match="transform must be one of 'default', 'pandas', got 'x'"):
        plain.set_output(transform="x")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "estimator", [e for e in ESTIMATORS if hasattr(e, "fit_chunks")], ids=named
)
def test_chunks_that_are_tables_keep_their_names_too(estimator):
    estimator, X, y = sample_for(estimator)
    names = [f"column {j}" for j in range(X.shape[1])]
    supervised = estimator.kind in ("classifier", "regressor")

    def chunks(frame):
        parts = [slice(0, 20), slice(20, 40)]
        return [(frame[p], y[p]) if supervised else frame[p] for p in parts]

    table = pd.DataFrame(X, columns=names)
    model = clone(estimator).fit_chunks([lambda c=c: c for c in chunks(table)])
    assert model.feature_names_in_.tolist() == names
    assert not hasattr(model.fit_chunks(chunks(X)), "feature_names_in_")
    mixed = [chunks(table)[0], chunks(table.rename(columns={"column 0": "new"}))[1]]
    with pytest.raises(ValueError, match=r"1: its columns are \['new'.* chunk 0 are \['column 0"):
        clone(estimator).fit_chunks(mixed)


def test_names_pass_through_a_pipeline():
    from mllib.decision_theory import Standardizer

    X, _ = small_sample("regressor")
    table = pd.DataFrame(X, columns=["height", "weight"])
    pipeline = make_pipeline(Standardizer(), mllib.pca.PCA(1)).set_output(transform="pandas")
    assert pipeline.fit_transform(table).columns.tolist() == ["pca0"]
    assert pipeline[0].transform(table).columns.tolist() == ["height", "weight"]
    assert Standardizer().fit(X).get_feature_names_out().tolist() == ["x0", "x1"]


# Warnings ------------------------------------------------------------------------------------


def test_warnings_are_scikit_learns_own_when_it_is_loaded():
    from mllib.perceptron import Perceptron

    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        Perceptron(max_iter=1).fit([[0.0], [1.0], [2.0]], [0, 1, 0])


def test_a_warning_names_the_line_of_the_user():
    from mllib.perceptron import Perceptron

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        Perceptron(max_iter=1).fit([[0.0], [1.0], [2.0]], np.array([[0], [1], [0]]))
    assert {w.category for w in told} == {DataConversionWarning, ConvergenceWarning}
    assert len(told) == 2  # of the column y, and of the end after one pass
    assert {w.filename for w in told} == {__file__}
