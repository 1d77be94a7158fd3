"""What a user of every estimator relies on: its defaults, and what a fit remembers."""

import importlib
import inspect
import pkgutil
import re
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mllib
from mllib.core.estimators import Classifier, Estimator, Regressor
from mllib.ridge_and_lasso import Lasso

#: The hyperparameters of every estimator where none is given.
DEFAULTS = """
BayesianLinearRegression: alpha=None beta=None fit_intercept=True max_iter=1000
    method='fixed-point' tol=1e-08
AdaBoostClassifier: estimator=None n_estimators=50
GradientBoostingClassifier: learning_rate=0.1 max_bins=None max_depth=3 min_samples_leaf=1
    n_estimators=100 random_state=None subsample=1.0
GradientBoostingRegressor: learning_rate=0.1 loss='squared' max_bins=None max_depth=3
    min_samples_leaf=1 n_estimators=100 random_state=None subsample=1.0
Standardizer: with_mean=True with_std=True
KernelDensity: at_least=0.0 bandwidth='silverman'
LinearDiscriminantAnalysis: covariance_type='full' priors=None unbiased=False
QuadraticDiscriminantAnalysis: covariance_type='full' priors=None unbiased=False
RegularisedDiscriminantAnalysis: alpha=0.5 gamma=0.1 priors=None unbiased=False
BaggingClassifier: estimator=None max_features=None max_samples=None n_estimators=50
    random_state=None workers=1
BaggingRegressor: estimator=None max_features=None max_samples=None n_estimators=50
    random_state=None workers=1
RandomForestClassifier: bootstrap=True class_weight=None criterion='gini' max_depth=None
    max_features='sqrt' max_samples=None min_impurity_decrease=0.0 min_samples_leaf=1
    min_samples_split=2 min_weight_fraction_leaf=0.0 n_estimators=100 oob_score=False
    random_state=None workers=1
RandomForestRegressor: bootstrap=True criterion='squared_error' max_depth=None
    max_features=0.3333333333333333 max_samples=None min_impurity_decrease=0.0 min_samples_leaf=1
    min_samples_split=2 min_weight_fraction_leaf=0.0 n_estimators=100 oob_score=False
    random_state=None workers=1
StackingClassifier: cv=5 estimators=None final_estimator=None random_state=None
StackingRegressor: cv=5 estimators=None final_estimator=None random_state=None
GaussianProcessRegressor: bounds=(0.001,1000.0) coef0=1.0 degree=3 ell='scale' kernel='rbf'
    max_iter=500 n_restarts=0 noise='scale' optimise=True random_state=None signal='scale'
    tol=1e-05
CategoricalHMM: categories=None emissionprob_init=None max_iter=200 n_components=2 n_init=1
    random_state=None startprob_init=None tol=1e-06 transmat_init=None unseen='error' workers=1
GaussianHMM: covariance_type='full' covars_init=None max_iter=200 means_init=None min_covar=1e-06
    n_components=2 n_init=1 random_state=None startprob_init=None tol=1e-06 transmat_init=None
    workers=1
PoissonHMM: max_iter=200 n_components=2 n_init=1 random_state=None rates_init=None
    startprob_init=None tol=1e-06 transmat_init=None workers=1
AgglomerativeClustering: distance_threshold=None linkage='ward' metric='euclidean' n_clusters=2
KMeans: init='k-means++' max_iter=300 n_clusters=8 n_init=10 random_state=None tol=0.0 workers=1
MiniBatchKMeans: batch_size=256 max_iter=10 n_clusters=8 random_state=None
KernelRidge: coef0=1.0 degree=3 ell='scale' kernel='linear' lam=1.0
LinearRegression: fit_intercept=True
LogisticRegression: class_weight=None fit_intercept=True lam=1.0 max_iter=200 penalty='l2'
    solver='auto' tol=1e-07
OneVsOne: class_weight=None estimator=None
OneVsRest: class_weight=None estimator=None
GaussianMixture: covariance_floor=1e-06 covariance_prior=None covariance_type='full'
    init='k-means' max_iter=1000 n_components=2 n_init=5 random_state=None tol=1e-06 workers=1
RidgeCV: criterion='loo' fit_intercept=True lambdas=(0.01,0.1,1.0,10.0,100.0)
BernoulliNB: prior_pseudocount=0.0 priors=None pseudocount=1.0 threshold=0.0
CategoricalNB: categories=None prior_pseudocount=0.0 priors=None pseudocount=1.0 unseen='error'
GaussianNB: prior_pseudocount=0.0 priors=None var_floor=1e-09
MixedNB: categories=None kinds=None prior_pseudocount=0.0 priors=None pseudocount=1.0
    threshold=0.0 unseen='error' var_floor=1e-09
KNeighborsClassifier: algorithm='auto' metric='euclidean' n_neighbors=5 p=2.0 weights='uniform'
KNeighborsRegressor: algorithm='auto' metric='euclidean' n_neighbors=5 p=2.0 weights='uniform'
MLPClassifier: activation='relu' alpha=0.001 batch_size=200 class_weight=None early_stopping=False
    hidden_layer_sizes=(100,) learning_rate=0.01 max_iter=200 momentum=0.9 patience=20
    random_state=0 solver='adam' tol=0.0001 validation_fraction=0.1
MLPRegressor: activation='relu' alpha=0.001 batch_size=200 early_stopping=False
    hidden_layer_sizes=(100,) learning_rate=0.01 max_iter=200 momentum=0.9 patience=20
    random_state=0 solver='adam' tol=0.0001 validation_fraction=0.1
PCA: center=True method='auto' n_components=None whiten=False
Isomap: n_components=2 n_neighbors=None
KernelPCA: coef0=1.0 degree=3 ell='scale' kernel='linear' n_components=None
BatchPerceptron: class_weight=None eta=1.0 fit_intercept=True max_iter=1000
KernelPerceptron: fit_intercept=True kernel=None max_iter=1000
Perceptron: average=False eta=1.0 fit_intercept=True max_iter=1000 random_state=None shuffle=False
Lasso: fit_intercept=True lam=1.0 max_iter=10000 tol=1e-10
Ridge: fit_intercept=True lam=1.0
SVC: C=1.0 class_weight=None coef0=1.0 degree=3 ell='scale' kernel='rbf' max_iter=100000
    multi_class='ovo' tol=0.001
HardMarginSVM: coef0=1.0 degree=3 ell='scale' kernel='linear' max_iter=100000 multi_class='ovo'
    tol=1e-06
LinearSVC: C=1.0 class_weight=None fit_intercept=True loss='squared_hinge' max_iter=1000
    multi_class='ovr' tol=0.0001
DecisionTreeClassifier: ccp_alpha=0.0 class_weight=None criterion='gini' max_depth=None
    max_features=None min_impurity_decrease=0.0 min_samples_leaf=1 min_samples_split=2
    min_weight_fraction_leaf=0.0 random_state=None
DecisionTreeRegressor: ccp_alpha=0.0 criterion='squared_error' max_depth=None max_features=None
    min_impurity_decrease=0.0 min_samples_leaf=1 min_samples_split=2 min_weight_fraction_leaf=0.0
    random_state=None
"""
#: Settings where the data below ask for them.
SETTINGS = {"HardMarginSVM": {"kernel": "rbf", "ell": 0.1}, "SVC": {"tol": 1e-10}}
TWO_CLASSES = {"AdaBoostClassifier", "BatchPerceptron", "KernelPerceptron", "Perceptron"}


def estimators():
    """Return every public estimator of the library, as a class."""
    names = [
        f"mllib.{info.name}" for info in pkgutil.iter_modules(mllib.__path__) if not info.ispkg
    ]
    public = [
        getattr(module, n) for module in map(importlib.import_module, names) for n in module.__all__
    ]
    return [thing for thing in public if inspect.isclass(thing) and issubclass(thing, Estimator)]


every = pytest.mark.parametrize("estimator", estimators(), ids=lambda kind: kind.__name__)


@every
def test_the_defaults_are_those_that_are_published(estimator):
    name = estimator.__name__
    words = " ".join(
        f"{key}={value!r}".replace(", ", ",")
        for key, value in estimator().get_params(deep=False).items()
    )
    assert re.search(rf"^{name}: (.*(?:\n    .*)*)", DEFAULTS, re.M)[1].split() == words.split()


def data(estimator):
    """Return X and y, whole numbers; y has classes that an estimator can take."""
    rng = np.random.default_rng(0)
    classes = 2 if estimator.__name__ in TWO_CLASSES else 3
    X = rng.integers(0, 5, (60, 3)) + 0.0
    return X, np.array([7, 3, 10])[(X @ [1, 2, 3] + rng.integers(0, 3, 60)).astype(int) % classes]


def said(model, X):
    """Return the first of what a model says about rows."""
    ways = ("predict_proba", "decision_function", "score_samples", "transform", "predict")
    return getattr(model, next(way for way in ways if hasattr(model, way)))(X)


@every
def test_what_a_fit_remembers(estimator):
    X, y = data(estimator)
    model = estimator(**SETTINGS.get(estimator.__name__, {}))
    limited = "max_iter" in model.get_params()
    model.set_params(**{"max_iter": 1} if limited else {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    assert model.n_features_in_ == 3
    if limited and estimator is not Lasso:  # which counts the steps of its path
        assert np.all(model.n_iter_ == 1)
    if issubclass(estimator, Classifier):
        assert model.classes_.tolist() == sorted(set(y))


def weighted():
    """Return the estimators that take weights and draw nothing."""
    for estimator in estimators():
        drawn = {"random_state"} & set(inspect.signature(estimator).parameters)
        if "sample_weight" in inspect.signature(estimator.fit).parameters and not drawn:
            yield estimator


@pytest.mark.parametrize("estimator", list(weighted()), ids=lambda kind: kind.__name__)
def test_a_weight_counts_a_row_that_often(estimator):
    X, y = data(estimator)
    weights = np.random.default_rng(1).integers(0, 4, 60)

    def fitted(X, y, **weights):
        model = estimator(**SETTINGS.get(estimator.__name__, {})).fit(X, y, **weights)
        return said(model, X[:9])

    rows = np.r_[:9, np.repeat(np.arange(60), weights)]
    both = np.r_[weights[:9] + 1, weights[9:]]
    assert_allclose(
        fitted(X, y, sample_weight=both), fitted(X[rows], y[rows]), rtol=1e-5, atol=1e-8
    )
    assert np.abs(fitted(X, y, sample_weight=both) - fitted(X, y)).max() > 1e-4


in_chunks = [kind for kind in estimators() if hasattr(kind, "fit_chunks")]


@pytest.mark.parametrize("estimator", in_chunks, ids=lambda kind: kind.__name__)
def test_chunks_that_hold_other_classes_give_the_fit_of_all_rows(estimator):
    X, y = data(estimator)
    cuts = np.array_split(np.lexsort([X[:, 0], y]), [11, 25, 26, 48])
    labelled = issubclass(estimator, (Classifier, Regressor))
    chunks = [lambda r=r: (X[r], y[r]) if labelled else X[r] for r in cuts]  # stay in this process
    whole, used = estimator().fit(X, y), []

    def workers(function, tasks):
        return (used.append(1) or function(task) for task in tasks)

    for model in (estimator().fit_chunks(chunks), estimator().fit_chunks(chunks, workers)):
        for name, value in vars(whole).items():
            if name.endswith("_") and isinstance(value, (int, float, np.ndarray)):
                assert_allclose(getattr(model, name), value, rtol=1e-8, atol=1e-10, err_msg=name)
        assert_allclose(said(model, X), said(whole, X))
    assert len(used) == len(chunks)
