"""The online broad learning system as a scikit-learn classifier.

>>> from sklearn.datasets import load_iris
>>> from sklearn.model_selection import cross_val_score
>>> from broadstream.sklearn import OnlineBLSClassifier
>>> X, y = load_iris(return_X_y=True)
>>> bool(cross_val_score(OnlineBLSClassifier(), X, y).mean() > 0.94)
True
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from broadstream import _tables
from broadstream._broadstream import OnlineBLS
from broadstream._options import Options, OptionValues, explained, takes_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from broadstream._option_values import Preset

__all__ = ["OnlineBLSClassifier"]


@explained
class OnlineBLSClassifier(Options, ClassifierMixin, BaseEstimator):
    """Online broad learning system.

    Ridge regression on random features of the inputs, whose closed-form optimum is updated with every
    sample. ``partial_fit`` gives the same result for any division into batches, and new classes may appear
    at any time. NaN is a missing value, and columns of text, booleans and categories are categorical.

    By default this is one regression that forgets nothing. ``fit`` scales inputs by all samples and does not
    depend on their order, and a sample with weight 2 counts exactly like two copies of it.
    ``preset="default"`` is the model for streams that drift. It learns samples in an order, and ``fit``
    shuffles them, so that those at the end do not count more than the others.

    Parameters
    ----------
    preset : {"default", "single", "paper", "paper-drift"}, default="single"
        The configuration that the other options start from.
    nested_models : int, default=1
        The number of regressions, on nested subsets of the features, whose predictions are combined. With
        more than 1 the result depends on the order of samples.
    scaling : str or dict, default="standard"
        The scaling of inputs: ``standard``, ``robust``, ``min-max``, ``none``, or given for each input.
    class_weight : dict, "balanced", "auto" or None, default=None
        The weights of samples by class. In ``partial_fit``, "balanced" uses the class frequencies so far.
    random_state : int, RandomState instance or None, default=0
        The seed of the random features, and of the order of samples where that matters.
    shuffle : bool, default=True
        Whether ``fit`` shuffles the samples if the result depends on their order. Give False if the order
        is that in which they came, and the last ones are to count most. ``partial_fit`` never shuffles.
    warm_start : bool, default=False
        Whether ``fit`` continues from what earlier calls have learned, instead of discarding it.

    The other parameters are the options of :class:`broadstream.OnlineBLS`; None leaves them to the preset.

    Attributes
    ----------
    classes_ : ndarray
        The sorted classes.
    n_features_in_ : int
        The number of features seen during ``fit``.
    feature_names_in_ : ndarray
        The names of the features, if all of them are strings.
    feature_importances_ : ndarray
        By how much the probability of the most likely class changes without each feature: the mean over some
        of the samples, of which the last ones count most.
    model_ : broadstream.OnlineBLS
        The underlying model, whose labels number the classes in the order in which they appeared.

    Examples
    --------
    >>> import numpy as np
    >>> from broadstream.sklearn import OnlineBLSClassifier
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> OnlineBLSClassifier().fit(X, X[:, 0] > 0).score(X, X[:, 0] > 0) > 0.9
    True
    """

    classes_: np.ndarray
    model_: OnlineBLS
    # The class of each of the model's labels, the classes announced in the first `partial_fit`, and which
    # features had no value in `fit`.
    _codes: list[Any]
    _announced: np.ndarray | None
    _blank: np.ndarray | None

    @takes_options(scaling="standard", nested_models=1)
    def __init__(
        self,
        *,
        preset: Preset = "single",
        random_state: int | np.random.RandomState | None = 0,
        shuffle: bool = True,
        warm_start: bool = False,
        **options: Unpack[OptionValues],
    ) -> None:
        self._keep_options(locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OnlineBLSClassifier:
        """Fit the model to these samples, discarding anything learned before unless ``warm_start`` is set.

        If this fails, the estimator stays as it was.
        """
        before = dict(vars(self))
        try:
            return self._fit(X, y, sample_weight)
        except BaseException:
            _restore(self, before)
            raise

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> OnlineBLSClassifier:
        warm = self.warm_start and hasattr(self, "model_")
        X, y = self._validated(X, y, reset=not warm)
        weights = _check_sample_weight(sample_weight, y, ensure_non_negative=True)
        class_weight = self.class_weight
        if isinstance(class_weight, str) and class_weight == "balanced":
            # All samples are here, so the weights need not depend on their order.
            class_weight = None
            weights = weights * _balanced(y, weights)
        weights = self._by_class(y, weights, np.unique(y))
        if not np.any(weights > 0):
            raise ValueError("sample_weight must have a positive entry")
        if warm:
            model, known = self.model_.copy(), self._codes
            X = self._without_blank(X)
        else:
            model, known = self._new_model(class_weight), []
            if model.config["scaling"] != "none" and "given" not in model.config["scaling"]:
                model.fit_scaling(X, weights)
            self._announced, self._blank = None, _blank_features(X, weights, self.n_features_in_)
        if self.shuffle and _order_matters(model.config):
            order = np.random.default_rng(model.config["seed"]).permutation(len(y))
            X, y, weights = _tables.take(X, order), y[order], weights[order]
        self._know(model, known, np.unique(y), y.dtype)
        self._learn(X, y, weights)
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> OnlineBLSClassifier:
        """Learn more samples, in the order given.

        ``classes`` may announce labels that will appear later, but labels need not be announced. If this
        fails, the estimator stays as it was. Ctrl-C leaves it with the samples learned until then.
        """
        before = dict(vars(self))
        try:
            return self._partial_fit(X, y, classes, sample_weight)
        except Exception:
            _restore(self, before)
            raise

    def _partial_fit(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> OnlineBLSClassifier:
        first = not hasattr(self, "model_")
        X, y = self._validated(X, y, reset=first)
        weights = _check_sample_weight(sample_weight, y, ensure_non_negative=True)
        announced = None if classes is None else np.unique(classes)
        if first:
            model, known = self._new_model(self.class_weight), []
            self._announced, self._blank = announced, None
        else:
            model, known = self.model_, self._codes
            before = self.classes_ if self._announced is None else self._announced
            if announced is not None and not np.array_equal(before, announced):
                raise ValueError(
                    f"classes must be those of the first call, {before}, got {announced}"
                )
        coming = np.unique(y) if announced is None else np.union1d(announced, y)
        weights = self._by_class(y, weights, announced)
        X = self._without_blank(X)
        self._know(model, known, coming, y.dtype)
        self._learn(X, y, weights)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the most likely class of each sample."""
        check_is_fitted(self, "model_")
        self._decide()
        codes = self.model_.predict_many(self._checked(X)).astype(np.intp)
        return np.array(self._codes, dtype=self.classes_.dtype)[codes]

    def _decide(self) -> None:
        """Let the model decide as the parameters say now, which may differ from when it was fitted."""
        if self.objective is not None:
            self.model_.set_objective(self.objective)
        if self.costs is None:
            self.model_.set_costs(None)
            return
        codes = {label: code for code, label in enumerate(self._codes)}
        if any("abstain" in row for row in self.costs.values()):
            raise ValueError(
                "costs must not have 'abstain': predict returns a class for every sample"
            )
        unknown = [label for label in self._codes if label not in self.costs]
        if unknown:
            raise ValueError(f"costs must have every class, {unknown[0]!r} is missing")
        rows = {
            code: {codes[name]: cost for name, cost in self.costs[label].items() if name in codes}
            for label, code in codes.items()
        }
        self.model_.set_costs(rows if len(rows) > 1 else None)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, in the order of ``classes_``."""
        check_is_fitted(self, "model_")
        found = self.model_.predict_proba_many(self._checked(X))
        probabilities = np.zeros((len(found), len(self.classes_)))
        met = np.array(self._codes, dtype=self.classes_.dtype)[self.model_.labels]
        columns = np.searchsorted(self.classes_, met)
        probabilities[:, columns] = found
        return probabilities

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the log odds of ``classes_[1]`` if there are two classes, else a log probability for each.

        The class with the largest value is the one that ``predict`` returns.
        """
        # A class that was announced and not yet seen has probability 0.
        tiny = np.finfo(np.float64).tiny
        scores = np.log(np.maximum(self.predict_proba(X), tiny))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    @property
    def feature_importances_(self) -> np.ndarray:
        """The mean change of the probability of the most likely class without each feature."""
        check_is_fitted(self, "model_")
        importance = self.model_.importance
        columns = map(str, range(self.n_features_in_))
        return np.array([importance.get(column, 0.0) for column in columns])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        return tags

    def _new_model(self, class_weight: Any) -> OnlineBLS:
        options = self._options()
        options["class_weight"] = class_weight if isinstance(class_weight, str) else None
        # Costs go by class, and the model only knows the numbers of the classes.
        options["costs"] = None
        if options["inputs_per_sample"] is None:
            options["inputs_per_sample"] = max(1, self.n_features_in_)
        seed = self.random_state
        if not isinstance(seed, (int, np.integer)):
            seed = check_random_state(seed).randint(2**31)
        return OnlineBLS(**options, seed=seed)

    def _know(self, model: OnlineBLS, known: list[Any], coming: Any, dtype: Any) -> None:
        """Take over a model, and number the classes that are new."""
        met = set(known)
        self._codes = known + [label for label in coming.tolist() if label not in met]
        self.classes_ = np.unique(
            np.array(self._codes, dtype=object if dtype.kind == "O" else None)
        )
        self.model_ = model

    def _learn(self, X: Any, y: np.ndarray, weights: np.ndarray) -> None:
        codes = {label: code for code, label in enumerate(self._codes)}
        self.model_.learn_many(X, [codes[label] for label in y.tolist()], weights)

    def _by_class(self, y: np.ndarray, weights: np.ndarray, classes: Any) -> np.ndarray:
        """Multiply weights by those that `class_weight` has for these classes, if they are known."""
        given = self.class_weight
        if given is None or isinstance(given, str):
            return weights
        if not isinstance(given, Mapping):
            raise TypeError(
                f"class_weight must be a dict, 'balanced', 'auto' or None, got {given!r}"
            )
        bad = {key: weight for key, weight in given.items() if not _is_weight(weight)}
        if bad:
            raise ValueError(f"class_weight must have weights of at least 0, got {bad}")
        if classes is not None:
            classes = classes.tolist()
            unknown = [key for key in given if key not in classes]
            missing = [label for label in classes if label not in given]
            if unknown and missing:
                raise ValueError(
                    f"class_weight has weights for {unknown}, which are no classes, "
                    f"and none for the classes {missing}"
                )
        return weights * np.array([float(given.get(label, 1.0)) for label in y.tolist()])

    def _validated(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, np.ndarray]:
        if _has_categories(X):
            y = column_or_1d(y, warn=True)
            check_consistent_length(X, y)
            X = self._table(X, reset=reset)
        else:
            X, y = validate_data(
                self, X, y, reset=reset, ensure_all_finite="allow-nan", accept_sparse="csr"
            )
        check_classification_targets(y)
        return X, y

    def _checked(self, X: Any) -> Any:
        if _has_categories(X):
            X = self._table(X, reset=False)
        else:
            X = validate_data(
                self, X, reset=False, ensure_all_finite="allow-nan", accept_sparse="csr"
            )
        return self._without_blank(X)

    def _table(self, X: Any, *, reset: bool) -> Any:
        """Return rows that have categories with numbered columns, after the checks of scikit-learn."""
        if not hasattr(X, "shape"):
            X = np.asarray(X, dtype=object)
        validate_data(self, X, reset=reset, skip_check_array=True)
        return _tables.numbered(X)

    def _without_blank(self, X: Any) -> Any:
        """Blank the features that had no value in `fit`, since their scaling is unknown."""
        if self._blank is None or not self._blank.any():
            return X
        if isinstance(X, _tables.Table):
            return _tables.without(X, self._blank)
        return np.where(self._blank, np.nan, X.toarray() if issparse(X) else X)


def _has_categories(X: Any) -> bool:
    """Whether rows have columns other than numbers, which scikit-learn would refuse or convert."""
    if isinstance(X, np.ndarray):
        if X.dtype.kind == "O":
            return any(isinstance(value, str) for value in X.ravel())
        return X.dtype.kind in "US"
    if isinstance(X, (list, tuple)):
        return any(
            isinstance(value, str) for row in X if isinstance(row, (list, tuple)) for value in row
        )
    return _tables.has_categories(X)


def _restore(estimator: Any, attributes: dict[str, Any]) -> None:
    estimator.__dict__.clear()
    estimator.__dict__.update(attributes)


def _order_matters(config: dict[str, Any]) -> bool:
    """Whether a model of this configuration depends on the order of samples."""
    fixed = {"forgetting": 1.0, "window": None, "label_lags": 0, "nested_models": 1}
    return any(config[option] != value for option, value in fixed.items())


def _blank_features(X: Any, weights: np.ndarray, features: int) -> np.ndarray:
    """Return which features have no value in any sample of positive weight."""
    if isinstance(X, _tables.Table):
        return _tables.blank(X, weights > 0, features)
    X = X[weights > 0]
    if issparse(X):
        # What is not stored is 0, which is a value.
        missing = np.bincount(X.indices[np.isnan(X.data)], minlength=features)
        return missing == X.shape[0]
    return np.isnan(X).all(axis=0)


def _is_weight(value: Any) -> bool:
    try:
        return bool(0 <= float(value) < np.inf)
    except (TypeError, ValueError):
        return False


def _balanced(y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return weights that give all classes the same total weight."""
    classes, positions = np.unique(y, return_inverse=True)
    totals = np.bincount(positions, weights=weights)
    shares = np.where(totals > 0, weights.sum() / (len(classes) * np.maximum(totals, 1e-300)), 0.0)
    return shares[positions]
