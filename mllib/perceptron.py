"""The perceptron: a linear classifier that learns from its mistakes.

Chapter: Classification, *The perceptron*. Main references: Rosenblatt (1958), Novikoff (1962).
"""

from typing import NamedTuple

import numpy as np

from mllib.core.arrays import (
    check_array,
    check_kernel_values,
    check_result,
    check_signs,
    check_size,
    check_square,
    check_vector,
    check_weighted_X_y,
    check_X_y,
)
from mllib.core.compiled import compiled
from mllib.core.errors import convergence_warning
from mllib.core.estimators import Classifier, begin_fit, check_features, check_fitted
from mllib.core.numerics import column_scale
from mllib.core.scalars import check_choice, check_rng, check_scalar, random_generator
from mllib.decision_theory import add_intercept

__all__ = [
    "BatchPerceptron",
    "BatchRun",
    "KernelPerceptron",
    "KernelRun",
    "Perceptron",
    "PerceptronRun",
    "averaged_weights",
    "batch_perceptron",
    "functional_margin",
    "is_separable",
    "kernel_perceptron",
    "mistake_bound",
    "mistake_counts",
    "perceptron",
    "perceptron_criterion",
    "pocket_weights",
    "separating_weights",
    "weight_path",
]


# Records -------------------------------------------------------------------------------------


class PerceptronRun(NamedTuple):
    """What happened in a run of the online algorithm; everything else follows from it."""

    w: np.ndarray  #: final weights, shape (d,)
    order: np.ndarray  #: index i of the example at each mistake, shape (k,)
    steps: np.ndarray  #: how many examples were looked at before each mistake, shape (k,)
    mistakes: np.ndarray  #: mistakes in each pass, shape (n_epochs,); the last is 0 if converged
    n_steps: int  #: examples looked at in all
    converged: bool  #: whether the last pass made no mistake


class BatchRun(NamedTuple):
    """What happened in a run of gradient descent on the perceptron criterion."""

    w: np.ndarray  #: final weights, shape (d,)
    criterion: np.ndarray  #: E_P before each step, shape (n_iter + 1,)
    errors: np.ndarray  #: examples with score on the wrong side or zero, before each step
    converged: bool  #: whether the last weights make no error


class KernelRun(NamedTuple):
    """What happened in a run of the kernel perceptron."""

    alpha: np.ndarray  #: mistakes on each example, shape (n,)
    f: np.ndarray  #: scores f_i = sum_j alpha_j y_j K_ij, shape (n,)
    mistakes: np.ndarray  #: mistakes in each pass, shape (n_epochs,); the last is 0 if converged
    converged: bool  #: whether the last pass made no mistake


# Functions -----------------------------------------------------------------------------------


def _check_sample(X, y):
    X = check_array(X)
    return X, check_signs(y, len(X))


def _check_run(X, y, run, eta):
    """Return the sample of a run, or say that the run was made on another."""
    X, y = _check_sample(X, y)
    check_scalar(eta, "eta", low=0, open_low=True)
    if run.n_steps != len(X) * len(run.mistakes):
        raise ValueError(
            f"run must be one on X and y: it looked at {run.n_steps // len(run.mistakes)} examples "
            f"in each pass, X has {len(X)} rows."
        )
    return X, y


@compiled
def _one_pass(w, X, y, visits, eta, zero_is_wrong, order, steps):
    """Visit the examples in turn and move w at each mistake, in place; return how many there were.

    ``visits`` lists rows of X. The row of the k-th mistake, k = 0, 1, ..., is written to
    ``order[k]``, and the number of visits before it to ``steps[k]``. A score of 0 is a mistake if
    ``zero_is_wrong``, and else it is read as the label -1.
    """
    k = 0
    for step in range(len(visits)):
        i = visits[step]
        score = 0.0
        for j in range(len(w)):
            score += w[j] * X[i, j]
        wrong = y[i] * score <= 0 if zero_is_wrong else (y[i] > 0) != (score > 0)
        if wrong:
            for j in range(len(w)):
                w[j] += eta * y[i] * X[i, j]  # (eq-perceptron-update)
            order[k], steps[k] = i, step
            k += 1
    return k


def perceptron(X, y, *, eta=1.0, max_epochs=1000, ties="mistake", rng=None):
    """Return a ``PerceptronRun`` from w = 0: at a mistake, w <- w + eta y_i x_i.

    The model is sign(w^T x). Example i is a mistake if y_i w^T x_i <= 0. The run ends after a
    pass without mistakes or after ``max_epochs`` passes.

    Book: perceptron-perceptron-algorithm. Rosenblatt (1958), Psychological Review 65, 386-408.

    Parameters
    ----------
    X : array of shape (n, d); inputs, one row each; use ``add_intercept`` for an offset
    y : array of shape (n,); labels -1 and +1
    eta : float; step size; from w = 0 it only scales the weights
    max_epochs : int; passes through the sample at most
    ties : {"mistake", "negative"}
        A score of exactly 0 counts as a mistake, or is read as the prediction -1.
    rng : numpy.random.Generator, optional
        Shuffles the order of each pass; without it the order of the rows is kept.

    Examples
    --------
    >>> run = perceptron([[1.0, 2.0], [1.0, -1.0]], [1, -1])
    >>> run.w, run.mistakes.tolist(), run.converged
    (array([1., 2.]), [1, 0], True)
    """
    X, y = _check_sample(X, y)
    check_scalar(eta, "eta", low=0, open_low=True)
    check_scalar(max_epochs, "max_epochs", low=1, integer=True)
    check_choice(ties, "ties", ("mistake", "negative"))
    if rng is not None:
        check_rng(rng)
    n, d = X.shape
    w, i, t = np.zeros(d), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    order, steps, mistakes = [], [], []
    for passes in range(max_epochs):
        visits = np.arange(n) if rng is None else rng.permutation(n)
        k = _one_pass(w, X, y, visits, float(eta), ties == "mistake", i, t)
        order.append(i[:k].copy())
        steps.append(passes * n + t[:k])
        mistakes.append(k)
        if k == 0:
            break
    order, steps = np.concatenate(order), np.concatenate(steps)
    return PerceptronRun(w, order, steps, np.array(mistakes), n * len(mistakes), k == 0)


def mistake_counts(run, n):
    """Return alpha, where alpha_i is the number of mistakes made on example i.

    From w = 0 the weights are w = eta sum_i alpha_i y_i x_i; the run was over n examples.
    """
    check_scalar(n, "n", low=run.order.max(initial=0) + 1, integer=True)
    return np.bincount(run.order, minlength=n)


def weight_path(X, y, run, *, eta=1.0):
    """Return the weights before any mistake and after each: w^(0), ..., w^(k), shape (k + 1, d).

    Parameters: the sample X of shape (n, d) and y of shape (n,), the step size and the ``run``.
    """
    X, y = _check_run(X, y, run, eta)
    updates = eta * y[run.order, None] * X[run.order]
    return np.vstack([np.zeros(X.shape[1]), np.cumsum(updates, axis=0)])


def averaged_weights(X, y, run, *, eta=1.0):
    """Return the mean of the weights over all steps of a run: each counts as long as it survived.

    An update made after s of T steps is present in a share (T - s) / T of them.

    Freund and Schapire (1999), Machine Learning 37, 277-296. Parameters: as ``weight_path``.
    """
    X, y = _check_run(X, y, run, eta)
    share = (run.n_steps - run.steps) / run.n_steps
    return (eta * share * y[run.order]) @ X[run.order]


def pocket_weights(X, y, run, *, eta=1.0, candidates=100):
    """Return the best of the weights that survived longest in a run, and their training errors.

    Compared are the weights that survived longest before the next mistake; the fewest errors of
    sign(w^T x), with sign(0) = -1, win, the earliest weights at a tie.

    Gallant (1990), IEEE Transactions on Neural Networks 1, 179-191.

    Parameters
    ----------
    X, y, run, eta : as ``weight_path``; the run has at least one mistake
    candidates : int; how many weights are compared at most
    """
    X, y = _check_run(X, y, run, eta)
    check_scalar(candidates, "candidates", low=1, integer=True)
    if len(run.order) == 0:
        raise ValueError("run must have made a mistake: without any the only weights met are 0.")
    survived = np.diff(run.steps, append=run.n_steps)
    longest = np.sort(np.argsort(-survived, kind="stable")[:candidates])
    W, errors = _weights_after(X, y, run.order, longest, float(eta)), np.zeros(len(longest), int)
    for i in range(0, len(X), 1000):
        _count_errors(X[i : i + 1000] @ W.T, y[i : i + 1000], errors)
    best = int(errors.argmin())
    return W[best].copy(), int(errors[best])


@compiled
def _count_errors(scores, y, errors):
    """Add to ``errors``, one for each column of scores, the examples that it gets wrong."""
    for i in range(len(y)):
        for k in range(len(errors)):
            errors[k] += (scores[i, k] > 0) != (y[i] > 0)


@compiled
def _weights_after(X, y, order, mistakes, eta):
    """Return the weights after each of some mistakes of a run, shape (len(mistakes), d)."""
    w, W, row = np.zeros(X.shape[1]), np.zeros((len(mistakes), X.shape[1])), 0
    for k in range(mistakes[-1] + 1):
        for j in range(len(w)):
            w[j] += eta * y[order[k]] * X[order[k], j]
        if k == mistakes[row]:
            W[row] = w
            row += 1
    return W


def kernel_perceptron(K, y, *, max_epochs=1000):
    """Run the perceptron on inner products alone: count mistakes instead of moving weights.

    Example i is a mistake if y_i sum_j alpha_j y_j K_ij <= 0; then alpha_i <- alpha_i + 1. K is the
    kernel matrix k(x_i, x_j), y holds labels -1 and +1, ``max_epochs`` passes are made at most. The
    answer is a ``KernelRun`` (alpha, f, mistakes, converged), with the scores f at the end.

    Book: perceptron-weights-in-span. Aizerman, Braverman and Rozonoer (1964).

    Examples
    --------
    >>> kernel_perceptron([[4.0, -2.0], [-2.0, 1.0]], [1, -1]).alpha
    array([1, 0])
    """
    K = check_square(K, "K", symmetric=True)
    y = check_signs(y, len(K))
    check_scalar(max_epochs, "max_epochs", low=1, integer=True)
    alpha, f = np.zeros(len(y), dtype=int), np.zeros(len(y))
    mistakes = []
    for _ in range(max_epochs):
        before = alpha.sum()
        for i in range(len(y)):
            if y[i] * f[i] <= 0:
                alpha[i] += 1
                f = f + y[i] * K[:, i]  # (eq-perceptron-dual)
        mistakes.append(alpha.sum() - before)
        if mistakes[-1] == 0:
            break
    return KernelRun(alpha, f, np.array(mistakes), bool(mistakes[-1] == 0))


def perceptron_criterion(w, X, y):
    """Return E_P(w) = sum over mistakes of -y_i w^T x_i, and its gradient of shape (d,).

    The gradient is -sum over y_i w^T x_i <= 0 of y_i x_i, a subgradient where a score is 0.

    Examples
    --------
    >>> perceptron_criterion([1.0], [[2.0], [3.0]], [1, -1])
    (3.0, array([3.]))
    """
    X, y = _check_sample(X, y)
    w = check_vector(w, "w", length=X.shape[1])
    m = y * (X @ w)
    M = m <= 0
    return float(-m[M].sum()), -(y[M] @ X[M])  # (eq-perceptron-gradient)


def batch_perceptron(X, y, *, eta=1.0, max_iter=1000):
    """Minimise the perceptron criterion by steps w <- w + eta sum over mistakes of y_i x_i.

    Parameters: as ``perceptron``; at most ``max_iter`` steps are made. Returns a ``BatchRun``.

    Examples
    --------
    >>> batch_perceptron([[1.0, 2.0], [1.0, -1.0]], [1, -1]).w
    array([0., 3.])
    """
    X, y = _check_sample(X, y)
    check_scalar(eta, "eta", low=0, open_low=True)
    check_scalar(max_iter, "max_iter", low=1, integer=True)
    w = np.zeros(X.shape[1])
    criterion, errors = [], []
    for iteration in range(max_iter + 1):
        value, gradient = perceptron_criterion(w, X, y)
        criterion.append(value)
        errors.append(np.count_nonzero(y * (X @ w) <= 0))
        if errors[-1] == 0 or iteration == max_iter:
            break
        w = w - eta * gradient  # (eq-perceptron-batch)
    return BatchRun(w, np.array(criterion), np.array(errors), bool(errors[-1] == 0))


def functional_margin(w, X, y):
    """Return gamma = min_i y_i w^T x_i: positive exactly if every score has the right sign."""
    X, y = _check_sample(X, y)
    return float(np.min(y * (X @ check_vector(w, "w", length=X.shape[1]))))


def mistake_bound(X, y, w_star):
    """Return Novikoff's bound R^2 ||w*||^2 / gamma^2 on the mistakes of the perceptron.

    R = max_i ||x_i|| and gamma = min_i y_i w*^T x_i. Any weights will do that classify the sample
    without error; the best bound comes from those of largest margin.

    Book: perceptron-mistake-bound. Novikoff (1962).

    Examples
    --------
    >>> mistake_bound([[1.0, 0.0], [0.0, 1.0]], [1, 1], [1.0, 1.0])
    2.0
    """
    X = check_array(X)
    w_star = check_vector(w_star, "w_star", length=X.shape[1])
    gamma = functional_margin(w_star, X, y)
    if gamma <= 0:
        raise ValueError(
            f"w_star must classify every example correctly, its margin is {gamma:.3g}: take "
            f"separating_weights(X, y), or check is_separable(X, y)."
        )
    R2 = np.max(np.sum(X**2, axis=1))
    return float(R2 * (w_star @ w_star) / gamma**2)  # (eq-perceptron-bound)


def separating_weights(X, y):
    """Return some w with y_i w^T x_i > 0 for all i, or None if there is none.

    Separability is the feasibility of the linear programme y_i w^T x_i >= 1: any separator can be
    scaled to fulfil it. The solver does not see gaps below about 1e-9 of a feature's largest entry.

    Parameters
    ----------
    X : array of shape (n, d); use ``add_intercept`` for an offset
    y : array of shape (n,); labels -1 and +1

    Returns
    -------
    array of shape (d,) or None

    Examples
    --------
    >>> separating_weights([[1.0], [1.0]], [1, -1]) is None
    True
    """
    from scipy.optimize import linprog

    X, y = _check_sample(X, y)
    size = column_scale(X)
    A = y[:, None] * (X / size)
    answer = linprog(np.zeros(A.shape[1]), A_ub=-A, b_ub=-np.ones(len(A)), bounds=(None, None))
    if answer.status == 2:  # no w fulfils the inequalities
        return None
    if answer.status != 0:
        raise ValueError(f"X and y could not be decided by the linear programme: {answer.message}")
    w = answer.x / size
    return w if functional_margin(w, X, y) > 0 else None


def is_separable(X, y, *, intercept=True):
    """Return whether a hyperplane has every +1 strictly on one side and every -1 on the other.

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of shape (n,); labels -1 and +1
    intercept : bool; whether the hyperplane may pass beside the origin

    Examples
    --------
    >>> is_separable([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [-1, -1, 1, 1])
    False
    """
    return separating_weights(add_intercept(X) if intercept else X, y) is not None


# Estimators ----------------------------------------------------------------------------------


class _BinaryLinear(Classifier):
    """What the linear estimators of this chapter share: binary labels and a linear score."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _check_labels(self, X, y):
        X, classes, index = check_X_y(X, y, type(self).__name__)
        if len(classes) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"y holds {len(classes)} classes; wrap the estimator in a one-vs-rest scheme."
            )
        return X, classes, 2.0 * index - 1.0

    def _store(self, w, classes, d):
        self.classes_ = classes
        self.intercept_ = w[:1] if self.fit_intercept else np.zeros(1)
        self.coef_ = (w[1:] if self.fit_intercept else w).reshape(1, -1)
        self.n_features_in_ = d

    def decision_function(self, X):
        """Return the scores w^T x + b, shape (n,)."""
        X = check_features(self, X)
        return check_result(X @ self.coef_[0] + self.intercept_[0], "X")

    def predict(self, X):
        """Return the labels sign(w^T x + b), a score of 0 read as the first class; shape (n,)."""
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(int)]


class Perceptron(_BinaryLinear):
    """Binary linear classifier trained online: w <- w + eta y_i x_i at each mistake.

    If the sample is not separable the run ends at ``max_iter`` passes with a warning, and the best
    of the hundred weights that survived longest are kept, a form of the pocket, unless ``average``.

    Book: perceptron-perceptron-algorithm. Rosenblatt (1958); Gallant (1990) for the pocket.

    Parameters
    ----------
    eta : float; step size, above 0
    fit_intercept : bool; whether to add a constant input 1 for the offset
    max_iter : int; passes through the sample at most
    average : bool; whether to return the average of the weights over all steps
    shuffle : bool; whether to visit the examples in a new random order in each pass
    random_state : None, int or numpy.random.Generator; used if ``shuffle``

    Attributes
    ----------
    classes_ : array of shape (2,); the class of label -1, then that of +1
    coef_, intercept_ : arrays of shape (1, d) and (1,)
    mistake_counts_ : array of shape (n,); alpha_i, mistakes made on each training example
    mistakes_ : array of shape (n_iter_,); mistakes in each pass
    converged_ : bool; whether a pass without mistakes was made
    n_iter_ : int; passes made

    Examples
    --------
    >>> Perceptron().fit([[0.0], [1.0], [2.0]], ["a", "a", "b"]).predict([[3.0]])
    array(['b'], dtype='<U1')
    """

    def __init__(
        self,
        eta=1.0,
        fit_intercept=True,
        max_iter=1000,
        average=False,
        shuffle=False,
        random_state=None,
    ):
        self.eta = eta
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.average = average
        self.shuffle = shuffle
        self.random_state = random_state

    def fit(self, X, y):
        """Train on X of shape (n, d) and two classes of labels y of shape (n,); return self."""
        begin_fit(self, X)
        X, classes, y = self._check_labels(X, y)
        A = add_intercept(X) if self.fit_intercept else X
        rng = random_generator(self.random_state) if self.shuffle else None
        run = perceptron(A, y, eta=self.eta, max_epochs=self.max_iter, rng=rng)
        w = run.w
        if self.average:
            w = averaged_weights(A, y, run, eta=self.eta)
        elif not run.converged:
            w, _ = pocket_weights(A, y, run, eta=self.eta)
        if not run.converged:
            errors = np.count_nonzero((A @ w > 0) != (y > 0))
            convergence_warning(
                f"Perceptron stopped after max_iter={self.max_iter} passes; its weights leave "
                f"{errors} of {len(y)} training errors (tolerance 0). The sample may not be "
                f"separable: check is_separable(X, y) or raise max_iter."
            )
        self._store(w, classes, X.shape[1])
        self.mistake_counts_ = mistake_counts(run, len(y))
        self.mistakes_, self.converged_ = run.mistakes, run.converged
        self.n_iter_ = len(run.mistakes)
        return self


class BatchPerceptron(_BinaryLinear):
    """Binary linear classifier trained by gradient descent on E_P(w) = sum of -s_i y_i w^T x_i.

    The sum runs over the misclassified examples; the weights s_i are 1 unless given.

    Book: perceptron-perceptron-loss. Duda, Hart and Stork (2001), section 5.5.

    Parameters
    ----------
    eta : float; step size, above 0
    fit_intercept : bool; whether to add a constant input 1 for the offset
    max_iter : int; steps at most
    class_weight : None, "balanced" or dict
        Factor for the weights s_i of the examples of each class.

    Attributes
    ----------
    classes_, coef_, intercept_, converged_, n_iter_ : as ``Perceptron``; ``n_iter_`` counts steps
    criterion_ : array of shape (n_iter_ + 1,); E_P before each step and after the last
    """

    def __init__(self, eta=1.0, fit_intercept=True, max_iter=1000, class_weight=None):
        self.eta = eta
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.class_weight = class_weight

    def fit(self, X, y, sample_weight=None):
        """Train on X of shape (n, d) and two classes of labels y of shape (n,); return self.

        E_P is linear in each x_i, so an example of weight s_i is the example s_i x_i.
        """
        begin_fit(self, X)
        name = type(self).__name__
        X, classes, index, s, _ = check_weighted_X_y(X, y, sample_weight, self.class_weight, name)
        X, classes, y = self._check_labels(X, classes[index])
        A = add_intercept(X) if self.fit_intercept else X
        A = A if s is None else check_size(s[:, None] * A, "sample_weight times X")
        run = batch_perceptron(A, y, eta=self.eta, max_iter=self.max_iter)
        if not run.converged:
            convergence_warning(
                f"BatchPerceptron stopped after max_iter={self.max_iter} steps with "
                f"{run.errors[-1]} training errors (tolerance 0). The sample may not be "
                f"separable: check is_separable(X, y) or raise max_iter."
            )
        self._store(run.w, classes, X.shape[1])
        self.criterion_, self.converged_ = run.criterion, run.converged
        self.n_iter_ = max(1, len(run.criterion) - 1)
        return self


class KernelPerceptron(_BinaryLinear):
    """Perceptron in the feature space of a kernel: f(x) = sum_i alpha_i y_i k(x_i, x) + b.

    Book: perceptron-weights-in-span. Aizerman, Braverman and Rozonoer (1964).

    Parameters
    ----------
    kernel : callable or None
        ``kernel(X, Y)`` returns the matrix k(x_i, y_j); None is the inner product.
    fit_intercept : bool; whether to add 1 to the kernel, which adds an offset in the feature space
    max_iter : int; passes through the sample at most

    Attributes
    ----------
    classes_ : array of shape (2,)
    support_ : array of int; training examples on which a mistake was made
    dual_coef_ : array of shape (n_support,); alpha_i y_i of those examples
    support_vectors_ : array of shape (n_support, d)
    mistakes_, converged_, n_iter_ : as ``Perceptron``
    """

    def __init__(self, kernel=None, fit_intercept=True, max_iter=1000):
        self.kernel = kernel
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter

    def _kernel_matrix(self, X, Y):
        kernel, fit_intercept = self._chosen
        K = X @ Y.T if kernel is None else check_kernel_values(kernel, X, Y)
        return K + 1.0 if fit_intercept else K

    def fit(self, X, y):
        """Train on X of shape (n, d) and two classes of labels y of shape (n,); return self."""
        begin_fit(self, X)
        if self.kernel is not None and not callable(self.kernel):
            raise ValueError(f"kernel must be None or a function of X and Y, got {self.kernel!r}.")
        X, classes, y = self._check_labels(X, y)
        self._chosen = self.kernel, self.fit_intercept  # set_params is for the next fit
        run = kernel_perceptron(self._kernel_matrix(X, X), y, max_epochs=self.max_iter)
        if not run.converged:
            convergence_warning(
                f"KernelPerceptron stopped after max_iter={self.max_iter} passes, the last with "
                f"{run.mistakes[-1]} mistakes (tolerance 0): raise max_iter or change the kernel."
            )
        self.support_ = np.flatnonzero(run.alpha)
        self.support_vectors_ = X[self.support_]
        self.dual_coef_ = (run.alpha * y)[self.support_]
        self.classes_, self.n_features_in_ = classes, X.shape[1]
        self.mistakes_, self.converged_ = run.mistakes, run.converged
        self.n_iter_ = len(run.mistakes)
        return self

    def decision_function(self, X):
        """Return the scores sum_i alpha_i y_i k(x_i, x), shape (n,)."""
        check_fitted(self)
        return self._kernel_matrix(check_features(self, X), self.support_vectors_) @ self.dual_coef_
