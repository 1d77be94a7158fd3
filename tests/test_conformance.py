"""Every estimator passes scikit-learn's own checks, and works inside its tools."""

import importlib
import inspect
import pickle
import pkgutil

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler
from sklearn.utils.estimator_checks import (
    check_clusterer_compute_labels_predict,
    check_clustering,
    check_estimator,
    check_non_transformer_estimators_n_iter,
)

import mllib
from mllib.base import Estimator

#: Settings other than the defaults, where the data of the checks ask for them.
SETTINGS = {
    # the data are not separable by a hyperplane, but by a kernel that is narrow enough
    "HardMarginSVM": {"kernel": "rbf", "ell": 0.3},
    "CategoricalHMM": {"unseen": "missing"},  # a part of the data is fitted, all of it predicted
    "CategoricalNB": {"unseen": "missing"},  # as above
    "KMeans": {"n_clusters": 3},  # more clusters than distinct rows are refused: some data have 4
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
        if info.ispkg or info.name == "base":
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


def test_warnings_are_scikit_learns_own_when_it_is_loaded():
    from mllib.perceptron import Perceptron

    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        Perceptron(max_iter=1).fit([[0.0], [1.0], [2.0]], [0, 1, 0])
