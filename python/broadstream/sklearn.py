"""The online broad learning system as a scikit-learn classifier.

>>> from sklearn.datasets import load_iris
>>> from sklearn.model_selection import cross_val_score
>>> from broadstream.sklearn import OnlineBLSClassifier
>>> X, y = load_iris(return_X_y=True)
>>> bool(cross_val_score(OnlineBLSClassifier(), X, y).mean() > 0.94)
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state, compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from broadstream._broadstream import OnlineBLS
from broadstream._options import Options, OptionValues, takes_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["OnlineBLSClassifier"]


class OnlineBLSClassifier(Options, ClassifierMixin, BaseEstimator):
    """Online broad learning system.

    Ridge regression on random features of the inputs, whose closed-form optimum is updated with every
    sample. ``partial_fit`` gives the same result for any division into batches, and new classes may appear
    at any time. NaN is a missing value.

    By default this is one regression that forgets nothing. ``fit`` scales inputs by all samples and does not
    depend on their order, and a sample with weight 2 counts exactly like two copies of it.
    ``preset="default"`` is the model for streams that drift.

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
        The seed of the random features.

    The other parameters are the options of :class:`broadstream.OnlineBLS`; None leaves them to the preset.

    Attributes
    ----------
    classes_ : ndarray
        The sorted classes.
    n_features_in_ : int
        The number of features seen during ``fit``.
    feature_names_in_ : ndarray
        The names of the features, if all of them are strings.
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
        preset: str = "single",
        random_state: int | np.random.RandomState | None = 0,
        **options: Unpack[OptionValues],
    ) -> None:
        self._keep_options(locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OnlineBLSClassifier:
        """Fit the model to these samples, discarding anything learned before."""
        X, y = self._validated(X, y, reset=True)
        weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        class_weight = self.class_weight
        if isinstance(class_weight, str) and class_weight == "balanced":
            # All samples are here, so the weights need not depend on their order.
            class_weight = None
            weights = weights * _balanced(y, weights)
        weights = self._by_class(y, weights)
        if not np.any(weights > 0):
            raise ValueError("sample_weight must have a positive entry")
        model = self._new_model(class_weight)
        if model.config["scaling"] != "none" and "given" not in model.config["scaling"]:
            model.fit_scaling(X, weights)
        known = list(np.unique(y))
        self._learn(model, X, y, weights, known)
        self._announced = None
        self._blank = np.isnan(X[weights > 0]).all(axis=0)
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> OnlineBLSClassifier:
        """Learn more samples.

        ``classes`` may announce labels that will appear later, but labels need not be announced.
        """
        first = not hasattr(self, "model_")
        X, y = self._validated(X, y, reset=first)
        weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
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
        met = set(known)
        known = known + [label for label in coming if label not in met]
        self._learn(model, self._without_blank(X), y, self._by_class(y, weights), known)
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
            raise ValueError("costs must not have 'abstain': predict returns a class for every sample")
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
        X = self._checked(X)
        probabilities = np.zeros((len(X), len(self.classes_)))
        met = np.array(self._codes, dtype=self.classes_.dtype)[self.model_.labels]
        columns = np.searchsorted(self.classes_, met)
        probabilities[:, columns] = self.model_.predict_proba_many(X)
        return probabilities

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
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

    def _learn(
        self, model: OnlineBLS, X: np.ndarray, y: np.ndarray, weights: np.ndarray, known: list[Any]
    ) -> None:
        """Learn samples of these classes. If this fails, the estimator stays as it was."""
        codes = {label: code for code, label in enumerate(known)}
        model.learn_many(X, [codes[label] for label in y.tolist()], weights)
        classes = np.unique(np.array(known, dtype=object if y.dtype == object else None))
        self.model_, self._codes, self.classes_ = model, known, classes

    def _by_class(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        if isinstance(self.class_weight, dict):
            return weights * compute_sample_weight(self.class_weight, y)
        return weights

    def _validated(self, X: Any, y: Any, *, reset: bool) -> tuple[np.ndarray, np.ndarray]:
        X, y = validate_data(self, X, y, reset=reset, ensure_all_finite="allow-nan")
        check_classification_targets(y)
        return X, y

    def _checked(self, X: Any) -> np.ndarray:
        X = validate_data(self, X, reset=False, ensure_all_finite="allow-nan")
        return self._without_blank(X)

    def _without_blank(self, X: np.ndarray) -> np.ndarray:
        """Blank the features that had no value in `fit`, since their scaling is unknown."""
        if self._blank is None or not self._blank.any():
            return X
        return np.where(self._blank, np.nan, X)


def _balanced(y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return weights that give all classes the same total weight."""
    classes, positions = np.unique(y, return_inverse=True)
    totals = np.bincount(positions, weights=weights)
    shares = np.where(totals > 0, weights.sum() / (len(classes) * np.maximum(totals, 1e-300)), 0.0)
    return shares[positions]
