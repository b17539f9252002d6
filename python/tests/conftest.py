"""Shared fixtures: small models, data, and checks that a failed call leaves a model unchanged."""

from __future__ import annotations

import contextlib
import io
import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import broadstream


def _new_model(**options: Any) -> broadstream.OnlineBLS:
    small = {"preset": "single", "feature_groups": 2, "feature_nodes": 5, "enhancement_nodes": 20}
    return broadstream.OnlineBLS(**{**small, **options})


@pytest.fixture(scope="session")
def new_model() -> Callable[..., broadstream.OnlineBLS]:
    """Make a model that is small unless options say otherwise."""
    return _new_model


@pytest.fixture(scope="session")
def numbers() -> tuple[np.ndarray, np.ndarray]:
    """Rows of numbers, and labels 0 to 2 that depend on them."""
    X = np.random.default_rng(7).normal(size=(300, 4))
    y = (X[:, 0] > X[:, 1]).astype(int) + (X[:, 2] > 1)
    X.flags.writeable = False
    return X, y


@pytest.fixture
def trained(numbers: tuple[np.ndarray, np.ndarray]) -> broadstream.OnlineBLS:
    """A model that has learned 100 rows of numbers."""
    model = _new_model()
    model.learn_many(numbers[0][:100], numbers[1][:100])
    return model


@pytest.fixture
def frozen(numbers: tuple[np.ndarray, np.ndarray]) -> broadstream.OnlineBLS:
    """A model that has learned all rows of numbers and can unlearn them."""
    X, y = numbers
    model = _new_model(nested_models=1)
    model.fit_scaling(X)
    model.learn_many(X, y)
    return model


@pytest.fixture(scope="session")
def saved() -> Callable[[broadstream.OnlineBLS], bytes]:
    """The bytes of a model's file: its whole state, independent of the number of threads."""

    def save(model: broadstream.OnlineBLS) -> bytes:
        file = io.BytesIO()
        model.save(file)
        return file.getvalue()

    return save


@pytest.fixture(scope="session")
def no_trace() -> Callable[[broadstream.OnlineBLS], contextlib.AbstractContextManager[None]]:
    """Check that a model has not changed, byte for byte."""

    @contextlib.contextmanager
    def check(model: broadstream.OnlineBLS) -> Iterator[None]:
        before = pickle.dumps(model)
        yield
        assert pickle.dumps(model) == before

    return check


@pytest.fixture(scope="session")
def means() -> Callable[..., None]:
    """Check that two forms of rows are equivalent: a model learns the same from both, to the bit."""

    def check(rows: Any, expected: Iterable[Any]) -> None:
        expected = list(expected)
        y = [i % 2 for i in range(len(expected))]
        given, plain = _new_model(), _new_model()
        given.learn_many(rows, y)
        plain.learn_many(expected, y)
        assert given.inputs == plain.inputs
        assert np.array_equal(given.weights, plain.weights)
        assert given.learned == plain.learned == len(expected)

    return check


@pytest.fixture(scope="session")
def assert_same() -> Callable[[broadstream.OnlineBLS, broadstream.OnlineBLS, Any], None]:
    """Check that two models and their predictions are identical to the bit."""

    def check(one: broadstream.OnlineBLS, other: broadstream.OnlineBLS, X: Any) -> None:
        assert one.labels == other.labels
        assert one.inputs == other.inputs
        assert one.learned == other.learned
        assert np.array_equal(one.weights, other.weights)
        assert np.array_equal(one.predict_proba_many(X), other.predict_proba_many(X))
        assert np.array_equal(one.leverage_many(X), other.leverage_many(X))

    return check


@pytest.fixture(scope="session")
def unordered_rows() -> tuple[list[dict], list[str]]:
    """Rows of numbers and text, with keys in any order and categories that appear late."""
    rng = np.random.default_rng(1)
    made = []
    for i, (size, heat) in enumerate(rng.normal(size=(160, 2))):
        modes = rng.integers(0, 2 + i // 20, size=2)
        row = {"size": size, "site": f"s{modes[0]}", "heat": heat, "mode": f"m{modes[1]}"}
        made.append(dict(list(row.items())[:: 1 if i % 2 else -1]))
    return made, ["big" if row["size"] > 0 else "small" for row in made]


@pytest.fixture(scope="session")
def flowers() -> pd.DataFrame:
    """Rows of numbers and text that determine three labels."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(600, 3)), columns=["a", "b", "c"])
    frame["site"] = rng.choice(["field", "wood"], size=600)
    higher = frame.a + (frame.site == "wood") > frame.b
    frame["kind"] = np.where(frame.c > 1, "rose", np.where(higher, "iris", "lily"))
    return frame


@pytest.fixture
def flower_rows(flowers: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The same rows, with the labels separate."""
    return flowers.drop(columns="kind"), flowers["kind"].tolist()
