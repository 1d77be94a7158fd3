"""What a user relies on: every default, and what the fit of an estimator remembers."""

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
#: The same for functions, by module; what is None where it is not given is left out.
FUNCTIONS = """
bayesian_networks: connected(given=()) d_separated(given=()) dirichlet_tables(alpha=1.0)
    gibbs(held=()) log_evidence(alpha=1.0)
bayesian_regression: evidence_maximization(max_iter=1000, method='fixed-point', tol=1e-08)
    sample_predictive(noise=True)
bias_variance: decompose(noise=0.0, workers=1) polynomial_learner(interval=(0.0, 1.0), lam=0.0)
    ridge_smoother(lam=0.0)
boosting: best_constant(K=1) bin_columns(max_bins=256) gradient_boosting(loss='squared',
    max_depth=3, min_samples_leaf=1, n_classes=1, rate=0.1, rounds=100, subsample=1.0)
    grow_binned(max_depth=3, min_samples_leaf=1) leaf_values(K=1)
concentration: bernstein_bound(two_sided=True) binomial_mean_tail(two_sided=True)
    central_limit_sample_size(two_sided=True) central_limit_tail(two_sided=True)
    chebyshev_bound(n=1) chernoff_bound(n=1) chernoff_sample_size(two_sided=False)
    hoeffding_bound(high=1.0, low=0.0, two_sided=True) hoeffding_interval(high=1.0, low=0.0)
    hoeffding_radius(high=1.0, low=0.0, two_sided=True) hoeffding_sample_size(high=1.0, low=0.0,
    two_sided=True) subgaussian_bound(two_sided=True) subgaussian_sample_size(two_sided=True)
decision_theory: binary_counts(positive=1) boundary_points(steps=60)
    decision_boundaries(points=2001) density_table(points=40) f_score(beta=1.0, positive=1)
    logistic(base=2.718281828459045) norm_loss(p=2) precision(positive=1) recall(positive=1)
    specificity(positive=1) threshold(t=0.5) type1_rate(positive=1) type2_rate(positive=1)
density_estimation: histogram(origin=0.0) loo_bandwidth(at_least=0.0)
discriminant_analysis: class_statistics(shared=False) estimate_classes(covariance_type='full',
    shared=False, unbiased=False) labelled_statistics(name='The classifier', shared=False)
    lda_error_rate(prior=0.5) regularised_covariances(unbiased=False)
estimation: categorical_map(pseudocounts=1.0) cramer_rao_bound(n=1, slope=1.0)
    mc_bias_variance(workers=1)
forests: embed(k=2) grow_forest(bootstrap=True, criterion='squared_error',
    min_weight_fraction_leaf=0.0, n_trees=100, workers=1) permutation_importance(repeats=1)
gaussian_processes: condition_on(mean_a=0.0, mean_b=0.0) gp_predict(latent=False)
    maximise_evidence(max_iter=500, tol=1e-05) polynomial_evidence(c=1.0, r=3)
hidden_markov_models: baum_welch(counts=expected_counts, max_iter=200, tol=1e-06)
    baum_welch_over_chunks(max_iter=200, tol=1e-06, workers=1)
hierarchical_clustering: dbscan(metric='euclidean', min_samples=5) divide(exact_up_to=10)
    linkage(algorithm='auto', method='average', metric='euclidean')
k_means: inertia_curve(n_init=10, workers=1) k_means(max_iter=300, tol=0.0)
    k_means_over_chunks(max_iter=300, tol=0.0, workers=1) k_means_restarts(init='k-means++',
    max_iter=300, n_init=10, tol=0.0, workers=1) seed_centres(power=2.0)
    selection_probabilities(power=2.0)
kernels: check_psd(name='K') matern_kernel(ell=1.0, nu=1.5) periodic_kernel(ell=1.0, period=1.0)
    polynomial_kernel(c=1.0, ell=1.0, r=3) polynomial_kernel_features(c=1.0, r=3)
    rbf_features(ell=1.0) rbf_kernel(ell=1.0) sigmoid_kernel(c=0.0, v=1.0) spectrum_kernel(p=3)
least_squares: covariance(sigma2=1.0) least_squares(intercept=False)
    regression_chunk(intercept=True) regression_statistics(intercept=True)
    solve_statistics(lam=0.0)
linear_algebra: gram_schmidt(rtol=1e-10) is_positive_semidefinite(rtol=1e-12) p_norm(p=2.0)
    push_through(side='smaller') sherman_morrison(a=1.0)
logistic_regression: fit_gd(lam=0.0, max_iter=1000, tol=1e-06) fit_irls(lam=0.0, max_iter=100,
    tol=1e-20) fit_l1(max_iter=200, tol=1e-10) fit_sgd(epochs=10) fit_softmax(lam=0.0,
    max_iter=100, tol=1e-20) kkt_residuals(penalty='l2') reliability(bins=10)
mixtures_and_em: constrained_covariances(covariance_type='full') em(max_iter=200, n_samples=1,
    name='EM', tol=1e-06) em_over_chunks(covariance_type='full', max_iter=200, tol=1e-06,
    workers=1) fit_mixture(covariance_type='full', max_iter=200, tol=1e-06)
    m_step(covariance_type='full') m_step_from_statistics(covariance_type='full')
    n_parameters(covariance_type='full') random_start(covariance_type='full')
    start_from_labels(covariance_type='full') stepwise_em(covariance_type='full', kappa=0.7,
    warm_up=0) variance_floor(relative=1e-06)
model_selection: cross_val_score(folds=5, workers=1) cross_validate(folds=5, loss=squared,
    workers=1) effective_df(intercept=False, lam=0.0) gcv_ridge(intercept=False, lam=0.0)
    grid_search(folds=5, loss=squared, rule='min', workers=1) hat_matrix(intercept=False, lam=0.0)
    loo_residuals(intercept=False, lam=0.0) loocv(loss=squared, workers=1)
    loocv_ridge(intercept=False, lam=0.0) nested_cross_validate(inner=5, loss=squared, outer=5,
    rule='min', workers=1) ridge_search(criterion='loo', intercept=True)
    train_val_test_split(sizes=(0.6, 0.2, 0.2))
naive_bayes: class_prior(pseudocount=0.0) class_variances(floor=1e-09)
    conditional_tables(pseudocount=1.0)
nearest_neighbours: cover_hart_bound(K=2) edited_nn(k=3, metric='euclidean', p=2.0) kd_query(k=1)
    kd_tree(leaf_size=16) leave_one_out(k=1, metric='euclidean', p=2.0)
    leave_one_out_errors(metric='euclidean', p=2.0) lsh_query(k=1) minkowski(p=2.0)
    neighbours(k=1, metric='euclidean', p=2.0) pairwise_distances(metric='euclidean', p=2.0)
    vote_weights(weights='uniform')
neural_networks: adam_step(decay=0.999, floor=1e-08, momentum=0.9) backward(activation='tanh')
    forward(activation='tanh') initialise(gain=1.0) loss_and_gradient(activation='tanh',
    alpha=0.0, output='identity') momentum_step(momentum=0.9) train(activation='tanh', alpha=0.0,
    batch_size=32, eta=0.01, max_iter=200, momentum=0.9, output='identity', patience=10,
    solver='adam', tol=0.0001)
optimization: backtracking(share=0.0001, shrink=0.5) check_first_order(tol=1e-09)
    dual_function(lam=(), nu=()) gradient_descent(max_iter=1000, tol=1e-06)
    is_convex_on_segments(tol=1e-09, weights=(0.25, 0.5, 0.75)) kkt_residuals(lam=(), nu=())
    lagrangian(lam=(), nu=()) newton(damping=0.0, line_search=False, max_iter=100, tol=1e-08)
    sgd(batch_size=1, epochs=10, sampling='uniform', tol=0.0) solve_qp(max_iter=100, tol=1e-09)
    worst_chord(tol=1e-09, weights=(0.25, 0.5, 0.75))
pac_learning: linear_dichotomies(intercept=True)
pca: factor_analysis(max_iter=10000, tol=1e-10) principal_components(center=True, method='auto')
    spectral_clustering(n_init=10)
perceptron: averaged_weights(eta=1.0) batch_perceptron(eta=1.0, max_iter=1000)
    is_separable(intercept=True) kernel_perceptron(max_epochs=1000) perceptron(eta=1.0,
    max_epochs=1000, ties='mistake') pocket_weights(candidates=100, eta=1.0) weight_path(eta=1.0)
probability: is_conditionally_independent(given=(), tol=1e-10)
ridge_and_lasso: lars_path(drop=True, lam_min=0.0) lasso(max_iter=10000, tol=1e-12)
scaling_out: best_workers(merge=1.0, row=1.0, serial=0.0) merge_error_bound(means=0.0, spread=0.0)
    needs(size=8) reduction_work(merge=1.0, row=1.0, serial=0.0, tree=True)
support_vector_machines: linear_svm(C=1.0, fit_intercept=True, loss='hinge', max_iter=1000,
    tol=1e-06) smo(C=1.0, max_iter=100000, tol=1e-06) support_vectors(tol=1e-06)
trees: best_category_split(criterion='gini') best_split(criterion='squared_error',
    min_samples_leaf=1) grow(criterion='squared_error', min_impurity_decrease=0.0,
    min_samples_leaf=1, min_samples_split=2, min_weight_leaf=0.0) id3(criterion='gain')
    information_gain(impurity=entropy)
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


def test_the_defaults_of_functions_are_those_that_are_published():
    words = []
    for info in pkgutil.iter_modules(mllib.__path__):
        module = importlib.import_module(f"mllib.{info.name}")
        found = [f"{info.name}:"]
        for name in () if info.ispkg else module.__all__:
            thing = inspect.unwrap(getattr(module, name))
            if callable(thing) and not inspect.isclass(thing):
                parameters = inspect.signature(thing).parameters.values()
                given = {p.name: p.default for p in parameters if p.default is not p.empty}
                pairs = [
                    f"{key}={getattr(value, '__name__', repr(value))}"
                    for key, value in sorted(given.items())
                    if value is not None
                ]
                found += [f"{name}({','.join(pairs)})"] if pairs else []
        words += found if found[1:] else []
    assert "".join(FUNCTIONS.split()) == "".join("".join(words).split())


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
