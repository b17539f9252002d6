"""What the tests share: small models, data, and a check that a refused call leaves no trace."""

from __future__ import annotations

import contextlib
import io
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import broadstream


def _new_model(**options: Any) -> broadstream.OnlineBLS:
    small = {"preset": "single", "feature_groups": 2, "feature_nodes": 5, "enhancement_nodes": 20}
    return broadstream.OnlineBLS(**{**small, **options})


@pytest.fixture(scope="session")
def new_model() -> Callable[..., broadstream.OnlineBLS]:
    """Makes a model that is small, unless options say otherwise."""
    return _new_model


@pytest.fixture(scope="session")
def numbers() -> tuple[np.ndarray, np.ndarray]:
    """Rows of numbers, and labels 0 to 2 that follow from them."""
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
    """A model that has learned all rows of numbers, and from which they may be taken back."""
    X, y = numbers
    model = _new_model(nested_models=1)
    model.fit_scaling(X)
    model.learn_many(X, y)
    return model


@pytest.fixture(scope="session")
def saved() -> Callable[[broadstream.OnlineBLS], bytes]:
    """The bytes of a model's file: all that it knows, whatever the number of its threads."""

    def save(model: broadstream.OnlineBLS) -> bytes:
        file = io.BytesIO()
        model.save(file)
        return file.getvalue()

    return save


@pytest.fixture(scope="session")
def no_trace() -> Callable[[broadstream.OnlineBLS], contextlib.AbstractContextManager[None]]:
    """Checks that a model is to the byte what it was before."""

    @contextlib.contextmanager
    def check(model: broadstream.OnlineBLS) -> Iterator[None]:
        before = pickle.dumps(model)
        yield
        assert pickle.dumps(model) == before

    return check
