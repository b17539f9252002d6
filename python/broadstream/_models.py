"""Models of other libraries in an evaluation, behind two methods: `predict_proba` and `learn`.

`predict_proba(x)` returns a dictionary of probabilities by label, empty if there is no prediction yet, and
`learn(x, y)` learns a sample.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from broadstream._broadstream import OnlineBLS
from broadstream._sources import InstanceRow


def model_of(model: Any, classes: list[Any] | None) -> Any:
    """Return an OnlineBLS, or a model of another library behind the methods of this module.

    `classes` are all labels that will come, if they are known.
    """
    if isinstance(model, OnlineBLS):
        return model
    if isinstance(model, type):
        raise TypeError(f"expected a model, got the class {model.__name__}: call it to make one")
    # The estimator for River has no state of its own.
    own = getattr(model, "model", None)
    if isinstance(own, OnlineBLS) and hasattr(model, "learn_one"):
        return own
    if hasattr(model, "learn_one") and hasattr(model, "predict_one"):
        return RiverModel(model)
    if hasattr(model, "train") and hasattr(model, "predict") and hasattr(model, "schema"):
        return CapymoaModel(model)
    if hasattr(model, "partial_fit") and hasattr(model, "predict"):
        return SklearnModel(model, classes)
    raise TypeError(
        "expected an OnlineBLS, or a classifier with learn_one (River), partial_fit (scikit-learn) or train "
        f"(CapyMOA), got {type(model).__name__} as model"
    )


def title_of(model: Any) -> str:
    """Return what a model is called in tables, in one line."""
    text = " ".join(repr(model).split())
    return text if len(text) <= 120 else type(model).__name__


class RiverModel:
    """A classifier of River."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.has_probabilities = True

    def predict_proba(self, x: Any) -> dict[Any, float]:
        """Return probabilities, or 1 for the prediction of a model that has none."""
        if self.has_probabilities:
            try:
                return dict(self.model.predict_proba_one(x) or {})
            except (NotImplementedError, AttributeError):
                self.has_probabilities = False
        label = self.model.predict_one(x)
        return {} if label is None else {label: 1.0}

    def learn(self, x: Any, y: Any) -> None:
        """Learn a sample."""
        self.model.learn_one(x, y)


class SklearnModel:
    """A classifier of scikit-learn that has `partial_fit`, with the columns of the first row."""

    def __init__(self, model: Any, classes: list[Any] | None) -> None:
        self.model = model
        self.columns: list[Any] | None = None
        self.fitted = False
        self.fit_options: dict[str, Any] = {}
        if "classes" in inspect.signature(model.partial_fit).parameters and classes is not None:
            self.fit_options["classes"] = np.array(classes)

    def predict_proba(self, x: Any) -> dict[Any, float]:
        """Return probabilities, or 1 for the prediction of a model that has none."""
        if not self.fitted:
            return {}
        row = self._row(x)
        if hasattr(self.model, "predict_proba"):
            found = self.model.predict_proba(row)[0]
            return dict(zip(self.model.classes_.tolist(), found.tolist()))
        return {self.model.predict(row).tolist()[0]: 1.0}

    def learn(self, x: Any, y: Any) -> None:
        """Learn a sample."""
        try:
            self.model.partial_fit(self._row(x), np.array([y]), **self.fit_options)
        except ValueError as error:
            if self.fitted or self.fit_options or "classes" not in str(error):
                raise
            raise ValueError(
                f"{type(self.model).__name__} must know all classes before the first sample: evaluate it on "
                "a pair (X, y) or a table, whose labels are known"
            ) from error
        self.fit_options, self.fitted = {}, True

    def _row(self, x: Any) -> Any:
        if self.columns is None:
            self.columns = list(x)
        values = [x.get(column, float("nan")) for column in self.columns]
        if all(isinstance(value, (int, float)) for value in values):
            return np.array([values], dtype=np.float64)
        import pandas

        return pandas.DataFrame([values], columns=[str(column) for column in self.columns])


class CapymoaModel:
    """A classifier of CapyMOA."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.labels = list(model.schema.get_label_values())

    def predict_proba(self, x: Any) -> dict[Any, float]:
        """Return probabilities, or 1 for the prediction of a model that has none."""
        instance = _instance(x)
        try:
            found = self.model.predict_proba(instance)
        except NotImplementedError:
            found = None
        if found is not None and np.sum(found) > 0:
            return dict(zip(self.labels, np.asarray(found, dtype=float).tolist()))
        index = self.model.predict(instance)
        return {} if index is None else {self.labels[int(index)]: 1.0}

    def learn(self, x: Any, y: Any) -> None:
        """Learn a sample."""
        self.model.train(_instance(x))


def _instance(x: Any) -> Any:
    if not isinstance(x, InstanceRow):
        raise TypeError("a learner of CapyMOA takes instances: evaluate it on a stream of CapyMOA")
    return x.instance
