"""The online broad learning system as a River classifier.

>>> from river import datasets, evaluate, metrics
>>> from broadstream.river import OnlineBLSClassifier
>>> model = OnlineBLSClassifier(preset="single")
>>> evaluate.progressive_val_score(datasets.Phishing().take(500), model, metrics.Accuracy())
Accuracy: 87.58%
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd
from river import base

from broadstream._broadstream import OnlineBLS
from broadstream._options import Options, OptionValues, explained, takes_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from broadstream._option_values import Preset

__all__ = ["OnlineBLSClassifier"]


@explained
class OnlineBLSClassifier(Options, base.MiniBatchClassifier):
    """Online broad learning system.

    The model computes random features of the inputs and fits ridge regressions to them. After every sample
    each regression is the exact optimum for the samples it remembers. Features may appear, disappear and
    come in any order; text is categorical, and ``None`` and NaN are missing values. `learn_many` gives
    exactly the result of `learn_one`.

    Parameters
    ----------
    preset
        ``default`` needs no tuning, ``single`` is one regression on all samples, ``paper`` and
        ``paper-drift`` are the configurations of the paper.
    seed
        The seed of the random features; None means 0, so that results are always reproducible.

    The other parameters are the options of `broadstream.OnlineBLS`; None leaves them to the preset.

    Examples
    --------

    >>> from river import compose, datasets
    >>> from broadstream.river import OnlineBLSClassifier
    >>> model = compose.Select("empty_server_form_handler", "https", "ip_in_url")
    >>> model |= OnlineBLSClassifier(preset="single")
    >>> for x, y in datasets.Phishing().take(200):
    ...     model.learn_one(x, y)
    >>> model.predict_one(x)
    True

    """

    @takes_options()
    def __init__(
        self, preset: Preset = "default", seed: int | None = None, **options: Unpack[OptionValues]
    ) -> None:
        self._keep_options(locals())
        self._model = OnlineBLS(**self._options(), seed=0 if seed is None else seed)

    @property
    def model(self) -> OnlineBLS:
        """The underlying model, which offers merging, leverages, saving and more."""
        return self._model

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"enhancement_nodes": 100}

    def learn_one(self, x: dict, y: base.typing.ClfTarget, w: float = 1.0) -> None:
        """Learn a sample with weight `w`."""
        self._model.learn_one(x, y, w)

    def predict_one(self, x: dict, **kwargs: Any) -> base.typing.ClfTarget | None:
        """Return the most likely label; None before any label was learned."""
        return self._model.predict_one(x)

    def predict_proba_one(self, x: dict, **kwargs: Any) -> dict[base.typing.ClfTarget, float]:
        """Return the probability of each label learned so far."""
        return self._model.predict_proba_one(x)

    def explain_one(self, x: dict, k: int | None = None) -> dict[str, float]:
        """Return by how much the `k` most important features change the probability of the prediction."""
        return self._model.explain_one(x, k)

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learn the rows of a table, with exactly the result of learning them one by one."""
        self._model.learn_many(X, y, w)

    def predict_many(self, X: Any) -> Any:
        """Return the most likely label of each row, as a series of the table's library."""
        labels = self._model.predict_many(X)
        if _is_polars(X):
            return _polars().Series(labels.tolist())
        return pd.Series(labels, index=X.index)

    def predict_proba_many(self, X: Any) -> Any:
        """Return the probabilities of each row, with a column for each label."""
        probabilities = self._model.predict_proba_many(X)
        if _is_polars(X):
            names = [str(label) for label in self._model.labels]
            return _polars().DataFrame(dict(zip(names, probabilities.T)))
        return pd.DataFrame(probabilities, index=X.index, columns=self._model.labels)


def _is_polars(table: Any) -> bool:
    return type(table).__module__.partition(".")[0] == "polars"


def _polars() -> Any:
    import polars

    return polars
