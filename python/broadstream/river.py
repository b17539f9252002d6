"""The online broad learning system as a classifier of River.

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
from broadstream._options import Options, OptionValues, takes_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["OnlineBLSClassifier"]


class OnlineBLSClassifier(Options, base.MiniBatchClassifier):
    """Online broad learning system.

    Random features of the inputs, and ridge regressions on them, each of which is after every sample the
    exact optimum of what it remembers. Features may appear, vanish and come in any order; text is a
    category, and ``None`` and NaN are absent. `learn_many` gives exactly the result of `learn_one`.

    Parameters
    ----------
    preset
        ``default`` has nothing to tune, ``single`` is one regression on all samples, ``paper`` and
        ``paper-drift`` are those of the paper.
    enhancement_nodes
        How many random non-linear features there are. River brings samples one at a time, so this is half of
        what the default has elsewhere: such a model stays in the processor's cache, and is several times as
        fast one by one.
    seed
        The seed of the random features; None is 0, so that results repeat in any case.

    The other options are those of `broadstream.OnlineBLS`; None leaves them to the preset.

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

    @takes_options(enhancement_nodes=1000)
    def __init__(
        self, preset: str = "default", seed: int | None = None, **options: Unpack[OptionValues]
    ) -> None:
        self._keep_options(locals())
        self._model = OnlineBLS(**self._options(), seed=0 if seed is None else seed)

    @property
    def model(self) -> OnlineBLS:
        """The model itself, which can be merged, asked for leverages, saved and more."""
        return self._model

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"enhancement_nodes": 100}

    def learn_one(self, x: dict, y: base.typing.ClfTarget, w: float = 1.0) -> None:
        """Learn a sample of weight `w`."""
        self._model.learn_one(x, y, w)

    def predict_one(self, x: dict, **kwargs: Any) -> base.typing.ClfTarget | None:
        """The most likely label; None before any was learned."""
        return self._model.predict_one(x)

    def predict_proba_one(self, x: dict, **kwargs: Any) -> dict[base.typing.ClfTarget, float]:
        """The probability of each label that was learned so far."""
        return self._model.predict_proba_one(x)

    def learn_many(self, X: pd.DataFrame, y: pd.Series, w: pd.Series | None = None) -> None:
        """Learn the rows of a table, exactly as one by one."""
        self._model.learn_many(X, y, w)

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        """The most likely label of each row."""
        return pd.Series(self._model.predict_many(X), index=X.index)

    def predict_proba_many(self, X: pd.DataFrame) -> pd.DataFrame:
        """The probabilities of each row, a column for each label."""
        probabilities = self._model.predict_proba_many(X)
        return pd.DataFrame(probabilities, index=X.index, columns=self._model.labels)
