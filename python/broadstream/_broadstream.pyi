"""The compiled part of broadstream."""

import os
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Final, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "VERSION",
    "Certificate",
    "OnlineBLS",
    "Stream",
    "_Samples",
    "datasets",
    "evaluate_stream",
    "find_dataset",
    "generators",
    "restore_model",
]

VERSION: Final[str]

@final
class Certificate:
    @property
    def samples(self) -> int: ...
    @property
    def residual_before(self) -> float: ...
    @property
    def residual_after(self) -> float: ...

@final
class OnlineBLS:
    def __new__(
        cls,
        *,
        preset: str | None = None,
        feature_groups: int | None = None,
        feature_nodes: int | None = None,
        enhancement_groups: int | None = None,
        enhancement_nodes: int | None = None,
        enhancement_source: str | None = None,
        activation: str | None = None,
        weight_scale: str | None = None,
        inputs_per_sample: int | None = None,
        scaling: str | Mapping[str, Any] | None = None,
        freeze_scaling_after: int | None = None,
        ridge: float | str | None = None,
        forgetting: float | str | None = None,
        window: int | None = None,
        refresh_every: int | None = None,
        correction_steps: int | None = None,
        nested_models: int | None = None,
        stacking: bool | None = None,
        label_lags: int | None = None,
        class_weight: str | None = None,
        keep_weights: bool | None = None,
        threads: int | None = None,
        seed: int | None = None,
        memory_limit: int | None = None,
    ) -> OnlineBLS: ...
    @property
    def labels(self) -> list[Any]: ...
    @property
    def inputs(self) -> list[str]: ...
    @property
    def learned(self) -> int: ...
    @property
    def config(self) -> dict[str, Any]: ...
    @property
    def weights(self) -> NDArray[np.float64]: ...
    @property
    def members(self) -> list[tuple[str, float]]: ...
    @property
    def restarts(self) -> list[int]: ...
    def learn_one(
        self, x: Mapping[Any, Any] | ArrayLike, y: Hashable, sample_weight: float = 1.0
    ) -> None: ...
    def predict_one(self, x: Mapping[Any, Any] | ArrayLike) -> Any: ...
    def predict_proba_one(self, x: Mapping[Any, Any] | ArrayLike) -> dict[Any, float]: ...
    def leverage_one(self, x: Mapping[Any, Any] | ArrayLike) -> float: ...
    def learn_many(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> None: ...
    def predict_many(self, X: Any) -> NDArray[Any]: ...
    def predict_proba_many(self, X: Any) -> NDArray[np.float64]: ...
    def leverage_many(self, X: Any) -> NDArray[np.float64]: ...
    def test_then_train(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None
    ) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]]: ...
    def fit_scaling(self, X: Any, sample_weight: ArrayLike | None = None) -> None: ...
    def like(self) -> OnlineBLS: ...
    def merge(self, other: OnlineBLS) -> None: ...
    def unlearn_one(
        self, x: Mapping[Any, Any] | ArrayLike, y: Hashable, sample_weight: float = 1.0
    ) -> Certificate: ...
    def unlearn_many(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None
    ) -> Certificate: ...
    def correct_one(
        self,
        x: Mapping[Any, Any] | ArrayLike,
        y: Hashable,
        new_y: Hashable,
        sample_weight: float = 1.0,
    ) -> Certificate: ...
    def save(self, file: Any) -> None: ...
    @classmethod
    def load(cls, file: Any) -> OnlineBLS: ...
    def copy(self) -> OnlineBLS: ...
    def residual(self) -> float: ...
    def __copy__(self) -> OnlineBLS: ...
    def __deepcopy__(self, memo: Any) -> OnlineBLS: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __sizeof__(self) -> int: ...

@final
class Stream:
    def __new__(
        cls,
        source: str | os.PathLike[str],
        *,
        target: str | None = None,
        drop: Sequence[str] | None = None,
        categorical: Sequence[str] | None = None,
        numeric: Sequence[str] | None = None,
        categories: str = "one-hot",
        format: str | None = None,
        delimiter: str | None = None,
        header: bool | None = None,
        shuffle: int | None = None,
        limit: int | None = None,
    ) -> Stream: ...
    @property
    def inputs(self) -> list[str]: ...
    @property
    def target(self) -> str: ...
    def arrays(self) -> tuple[NDArray[np.float64], list[str]]: ...
    def __iter__(self) -> Iterator[tuple[dict[str, Any], str]]: ...

@final
class _Samples:
    def __iter__(self) -> _Samples: ...
    def __next__(self) -> tuple[dict[str, Any], str]: ...

def datasets() -> list[dict[str, Any]]: ...
def evaluate_stream(
    model: OnlineBLS,
    stream: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    limit: int | None = None,
    metrics_window: int = 1000,
    curve_every: int | None = None,
    drift_confidence: float = 0.002,
    delay: int = 0,
    progress: Callable[[int, int | None, float], None] | None = None,
) -> dict[str, Any]: ...
def find_dataset(name: str, data: str | os.PathLike[str] | None = None) -> os.PathLike[str]: ...
def generators() -> list[str]: ...
def restore_model(state: bytes, labels: Sequence[Any], threads: int) -> OnlineBLS: ...
