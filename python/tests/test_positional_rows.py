"""Rows without names fit only models whose inputs are numbered, whatever the rows hold."""

from __future__ import annotations

import collections

import numpy as np
import pandas as pd
import pytest

Row = collections.namedtuple("Row", ["a", "city"])

ONE = {
    "tuple": (1.0, "x"),
    "list": [1.0, "x"],
    "named tuple": Row(1.0, "x"),
    "objects": np.array([1.0, "x"], dtype=object),
    "texts": np.array(["1", "x"]),
    "numbered series": pd.Series([1.0, "x"]),
    "numbers": [1.0, 2.0],
}

MANY = {
    "tuples": [(1.0, "x")] * 2,
    "named tuples": [Row(1.0, "x")] * 2,
    "objects": np.array([[1.0, "x"]] * 2, dtype=object),
    "texts": np.array([["1", "x"]] * 2),
    "truth values": np.array([[True, False]] * 2),
    "numbered frame": pd.DataFrame([[1.0, "x"]] * 2),
    "numbered frame of numbers": pd.DataFrame([[1.0, 2.0]] * 2),
    "numbered series": [pd.Series([1.0, "x"])] * 2,
}


@pytest.fixture
def named(new_model):
    """A model whose inputs have names."""
    model = new_model()
    model.learn_many([{"a": 1.0, "city": "x"}, {"a": 2.0, "city": "y"}] * 5, [0, 1] * 5)
    return model


@pytest.mark.parametrize("kind", ONE)
def test_one_row_without_names_is_refused_by_a_model_with_names(kind, named, no_trace):
    x = ONE[kind]
    with no_trace(named):
        for call in (
            lambda: named.predict_one(x),
            lambda: named.predict_proba_one(x),
            lambda: named.leverage_one(x),
            lambda: named.learn_one(x, 0),
        ):
            with pytest.raises(ValueError, match=r"by names such as 'a'.*dictionaries or a table"):
                call()


@pytest.mark.parametrize("kind", MANY)
def test_rows_without_names_are_refused_by_a_model_with_names(kind, named, no_trace):
    X = MANY[kind]
    with no_trace(named):
        for call in (
            lambda: named.predict_many(X),
            lambda: named.predict_proba_many(X),
            lambda: named.learn_many(X, [0, 1]),
            lambda: named.test_then_train(X, [0, 1]),
        ):
            with pytest.raises(ValueError, match=r"by names such as 'a'.*dictionaries or a table"):
                call()


@pytest.mark.parametrize("kind", [kind for kind in ONE if kind not in ("texts", "numbers")])
def test_numbered_columns_may_hold_text(kind, new_model):
    model = new_model()
    model.learn_one(ONE[kind], "first")
    assert model.inputs == ["0", "1=x"]
    other = new_model()
    other.learn_one({"0": 1.0, "1": "x"}, "first")
    assert np.array_equal(model.weights, other.weights)


def test_a_series_with_names_is_a_row_with_names(named):
    assert named.predict_one(pd.Series({"a": 1.0, "city": "x"})) == 0
