"""The protocol that every estimator of the book keeps.

The estimators follow scikit-learn's conventions without importing scikit-learn: they pass its
``check_estimator`` and work inside its pipelines and searches, while ``mllib`` itself needs only
numpy and scipy.
"""

import inspect
import sys

import numpy as np

from mllib.core.arrays import (
    check_array,
    check_result,
    check_target_length,
    check_target_shape,
    check_targets,
)
from mllib.core.errors import NotFittedError, same_as_sklearn
from mllib.core.parallel import check_workers
from mllib.core.scalars import check_choice, check_flag, check_scalar, random_generator
from mllib.core.tables import check_names, column_names, keep_names

__all__ = [
    "Classifier",
    "Clusterer",
    "DensityEstimator",
    "Estimator",
    "Regressor",
    "Transformer",
    "as_output",
    "begin_fit",
    "check_features",
    "check_fitted",
    "check_parameters",
]


class Estimator:
    """The part of scikit-learn's protocol that does not depend on what is estimated.

    A subclass lists its hyperparameters as keyword arguments of ``__init__``, which stores them
    untouched; ``fit`` validates them. Fitted attributes end in an underscore.

    Fitted to a table with named columns, an estimator keeps their names in ``feature_names_in_``
    and refuses a table whose columns have other names or another order.
    """

    kind = None

    @classmethod
    def _parameter_names(cls):
        signature = inspect.signature(cls.__init__)
        return sorted(name for name in signature.parameters if name != "self")

    def get_params(self, deep=True):
        """Return the hyperparameters by name; ``deep`` adds those of nested estimators."""
        params = {name: getattr(self, name) for name in self._parameter_names()}
        if deep:
            for name, value in list(params.items()):
                if hasattr(value, "get_params") and not isinstance(value, type):
                    params |= {f"{name}__{key}": v for key, v in value.get_params().items()}
        return params

    def set_params(self, **params):
        """Set hyperparameters by name (``part__name`` for a nested estimator); return self."""
        known = self._parameter_names()
        for key, value in params.items():
            name, _, rest = key.partition("__")
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}. Valid parameters "
                    f"are: {known}."
                )
            if rest:
                getattr(self, name).set_params(**{rest: value})
            else:
                setattr(self, name, value)
        return self

    def __repr__(self):
        signature = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={getattr(self, name)!r}"
            for name in self._parameter_names()
            if repr(getattr(self, name)) != repr(signature[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self):
        from sklearn.utils import ClassifierTags, RegressorTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None if self.kind == "transformer" else self.kind,
            target_tags=TargetTags(required=self.kind in ("classifier", "regressor")),
            classifier_tags=ClassifierTags() if self.kind == "classifier" else None,
            regressor_tags=RegressorTags() if self.kind == "regressor" else None,
            transformer_tags=TransformerTags() if hasattr(self, "transform") else None,
        )


#: What hyperparameters of one name mean in every estimator; ``check_parameters`` holds them to it.
FLAGS = ("average", "center", "early_stopping", "fit_intercept", "optimise")
FLAGS += ("oob_score", "shuffle", "unbiased", "whiten", "with_mean", "with_std")


COUNTS = ("max_iter", "n_estimators", "n_init")


def begin_fit(estimator, X):
    """Check the hyperparameters and keep the names of the columns of X: ``fit`` begins with it."""
    check_parameters(estimator)
    keep_names(estimator, column_names(X))


def check_parameters(estimator):
    """Refuse hyperparameters that make no sense, as every ``fit`` does first.

    Flags are True or False, counts are whole numbers from 1 on, ``tol`` is relative and lies in
    [0, 1), ``random_state`` is what ``random_generator`` takes and ``workers`` what ``map_over``
    takes. What only one model has is checked by that model.
    """
    given = estimator.get_params(deep=False)
    for name in FLAGS:
        if name in given:
            check_flag(given[name], name)
    for name in COUNTS:
        if name in given:
            check_scalar(given[name], name, low=1, integer=True)
    if "tol" in given:
        check_scalar(given["tol"], "tol", low=0, high=1, open_high=True)
    if "random_state" in given:
        random_generator(given["random_state"])
    if "workers" in given:
        check_workers(given["workers"])


def check_fitted(estimator):
    """Raise ``NotFittedError`` unless the estimator has been fitted."""
    if not hasattr(estimator, "n_features_in_"):
        raise same_as_sklearn(NotFittedError)(
            f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' with "
            f"appropriate arguments before using this estimator."
        )


def check_features(estimator, X, **options):
    """Check that the estimator is fitted and that ``X`` has its features; return X."""
    check_fitted(estimator)
    check_names(estimator, X)
    X = check_array(X, **options)
    if X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
    return X


class Classifier(Estimator):
    """An estimator whose ``predict`` returns one of ``classes_``."""

    kind = "classifier"

    def score(self, X, y):
        """Return the accuracy: the share of rows of ``X`` whose predicted label equals ``y``."""
        predicted = self.predict(X)
        y = check_target_shape(y, type(self).__name__)
        check_target_length(predicted, y)
        return float(np.mean(predicted == y))


class Regressor(Estimator):
    """An estimator whose ``predict`` returns real numbers."""

    kind = "regressor"

    def score(self, X, y):
        """Return R^2 = 1 - sum (y - f(x))^2 / sum (y - mean y)^2.

        If y is constant it is 1 where the predictions are exact, else 0.
        """
        predicted = self.predict(X)
        y = check_targets(y, type(self).__name__)
        check_target_length(predicted, y)
        with np.errstate(over="ignore", invalid="ignore"):
            residual = np.sum((y - predicted) ** 2)
            total = np.sum((y - y.mean()) ** 2)
            check_result(residual / total if total else 0.0, "y")
        if total == 0:
            return float(residual == 0)
        return float(1 - residual / total)


class Clusterer(Estimator):
    """An estimator that stores the cluster of each training row in ``labels_``."""

    kind = "clusterer"

    def fit_predict(self, X, y=None):
        """Fit and return the labels of the training rows."""
        return self.fit(X, y).labels_


class DensityEstimator(Estimator):
    """An estimator whose ``score_samples`` returns log-densities."""

    kind = "density_estimator"

    def score(self, X, y=None):
        """Return the mean log-density of the rows of ``X`` in nats."""
        return float(np.mean(self.score_samples(X)))


def as_output(estimator, Z, X):
    """Return Z, or the table of Z that ``set_output`` asks for; ``transform`` of X ends with it."""
    asked = getattr(estimator, "_sklearn_output_config", {}).get("transform")
    if asked is None and "sklearn" in sys.modules:
        asked = sys.modules["sklearn"].get_config().get("transform_output")
    if check_choice(asked or "default", "transform", ("default", "pandas")) == "default":
        return Z
    import pandas

    index = X.index if hasattr(X, "columns") and hasattr(X, "index") else None
    return pandas.DataFrame(Z, index=index, columns=estimator.get_feature_names_out())


class Transformer(Estimator):
    """An estimator whose ``transform`` maps rows to rows of ``_n_features_out`` numbers."""

    kind = "transformer"

    def fit_transform(self, X, y=None):
        """Fit and return the transformed training rows."""
        return self.fit(X, y).transform(X)

    def set_output(self, *, transform=None):
        """Choose what ``transform`` returns: "default", an array, or "pandas"; return self."""
        if transform is not None:
            check_choice(transform, "transform", ("default", "pandas"))
            self._sklearn_output_config = {"transform": transform}
        return self

    def get_feature_names_out(self, input_features=None):
        """Return the names of the columns of ``transform``: pca0, pca1, ... for a PCA."""
        self._input_names(input_features)
        name = type(self).__name__.lower()
        return np.array([f"{name}{j}" for j in range(self._n_features_out)], dtype=object)

    def _input_names(self, input_features):
        """Return the names of the columns of X: as given, as in ``fit``, or x0, x1, ..."""
        check_fitted(self)
        known = getattr(self, "feature_names_in_", None)
        if input_features is None:
            numbered = np.array([f"x{j}" for j in range(self.n_features_in_)], dtype=object)
            return numbered if known is None else known
        names = np.asarray(input_features, dtype=object)
        if known is not None and not np.array_equal(names, known):
            raise ValueError("input_features is not equal to feature_names_in_: leave it out.")
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features "
                f"({self.n_features_in_}), got {len(names)}"
            )
        return names
