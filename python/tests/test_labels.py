"""The types of labels, and the types in which they are returned."""

from __future__ import annotations

import datetime
import enum

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest


class Level(enum.IntEnum):
    LOW = 3


LABELS = {
    "integers": ([3, 1, 3], [3, 1], np.int64),
    "large integers": ([2**70, 1, 1], [2**70, 1], object),
    "texts": (["x", "long", "x"], ["x", "long"], np.dtype("U4")),
    "truth values": ([True, False, True], [True, False], np.bool_),
    "floats": ([0.5, -1.0, 0.5], [0.5, -1.0], np.float64),
    "mixed": (["1", 1, 2.5], ["1", 1, 2.5], object),
    "pairs": ([(1, "a"), (2, "b"), (1, "a")], [(1, "a"), (2, "b")], object),
    "days": ([datetime.date(2024, 1, 1)] * 3, [datetime.date(2024, 1, 1)], object),
    "enumeration": ([Level.LOW] * 3, [Level.LOW], object),
    "integers of numpy": (np.array([3, 1, 3], dtype="i2"), [3, 1], np.int64),
    "scalars of numpy": ([np.int8(3), np.uint64(1), np.int8(3)], [3, 1], np.int64),
    "floats of numpy": ([np.float32(0.5), np.float64(-1)] * 2, [0.5, -1.0], np.float64),
    "texts of numpy": (np.array(["x", "long", "x"]), ["x", "long"], np.dtype("U4")),
    "scalar texts of numpy": ([np.str_("x"), np.str_("long")], ["x", "long"], np.dtype("U4")),
    "truth values of numpy": ([np.bool_(True), np.bool_(False)], [True, False], np.bool_),
    "categories of pandas": (pd.Series(["x", "long"], dtype="category"), ["x", "long"], "U4"),
    "texts of arrow": (pa.array(["x", "long"]), ["x", "long"], np.dtype("U4")),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_are_returned_with_their_types(kind, new_model):
    y, labels, dtype = LABELS[kind]
    given = y.to_pylist() if isinstance(y, pa.Array) else list(y)
    # One input per label, so that the labels can be told apart.
    rows = [{repr(labels[labels.index(label)]): 10.0} for label in given]
    model = new_model(scaling="none")
    for _ in range(5):
        model.learn_many(rows, y)
    assert model.labels == labels
    assert [type(label) for label in model.labels] == [type(label) for label in labels]
    predictions = model.predict_many(rows)
    assert predictions.dtype == dtype
    assert predictions.tolist() == given
    for row, label in zip(rows, predictions.tolist()):
        one = model.predict_one(row)
        assert one == label
        assert type(one) in {type(known) for known in labels}
    assert list(model.predict_proba_one(rows[0])) == labels


def test_before_any_label_predictions_are_none(new_model):
    model = new_model()
    rows = [{"a": 1.0}, {"a": "text"}]
    assert model.predict_one(rows[0]) is None
    assert model.predict_proba_one(rows[0]) == {}
    assert model.predict_many(rows[:1]).tolist() == [None]
    assert model.predict_proba_many(rows[:1]).shape == (1, 0)
    assert model.weights.shape == (30, 0)
    assert model.labels == model.inputs == []


def test_equal_labels_are_one(new_model):
    model = new_model()
    model.learn_many([[1.0]] * 4, [1, True, 1.0, "1"])
    assert model.labels == [1, "1"]


def test_the_list_of_labels_is_a_copy(trained, numbers):
    trained.labels.append("never learned")
    assert len(trained.labels) == 3
    assert trained.predict_proba_many(numbers[0][:2]).shape == (2, 3)


def test_labels_and_weights_may_come_from_anywhere(new_model, numbers):
    expected = new_model()
    expected.learn_many(numbers[0][:4], [1, 2, 1, 3], [1.0, 2.0, 1.0, 0.5])
    for y in [
        (1, 2, 1, 3),
        iter([1, 2, 1, 3]),
        np.array([1, 2, 1, 3], dtype="u1"),
        pd.Series([1, 2, 1, 3], index=list("wxyz")),
        pd.Series([1, 2, 1, 3], dtype="Int64"),
        pd.Categorical([1, 2, 1, 3]),
        pl.Series([1, 2, 1, 3]),
        pa.array([1, 2, 1, 3]),
        pa.chunked_array([[1, 2], [1, 3]]),
    ]:
        model = new_model()
        model.learn_many(numbers[0][:4], y, pd.Series([1, 2, 1, 0.5]))
        assert model.labels == [1, 2, 3], type(y)
        assert np.array_equal(model.weights, expected.weights), type(y)
