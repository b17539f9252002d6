"""The meaning of each kind of row."""

from __future__ import annotations

import collections
import decimal
import enum
import fractions
import types

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest


def test_one_sample_may_be_any_sequence(new_model):
    expected = new_model(scaling="none")
    expected.learn_one([1.0, 0.0, 3.0], "a")
    for x in [
        (1, 0, 3),
        np.array([1, 0, 3]),
        np.array([1, 0, 3], dtype=">f4"),
        np.array([9, 3, 9, 0, 9, 1], dtype=float)[::-2],
        np.array([1, False, 3], dtype=object),
        [True, 0, np.int8(3)],
        {0: 1, 1: 0, 2: 3},
        {"2": 3, "0": 1, "1": 0},
        pd.Series([1, 0, 3]),
        pd.Series({"2": 3, "0": 1, "1": 0}),
        pa.array([1, 0, 3]),
        pl.Series([1, 0, 3]),
    ]:
        model = new_model(scaling="none")
        model.learn_one(x, "a")
        assert model.inputs == ["0", "1", "2"], repr(x)
        assert np.array_equal(model.weights, expected.weights), repr(x)


@pytest.mark.parametrize(
    "rows",
    [
        np.empty((0, 3)),
        np.empty((0, 0)),
        [],
        (),
        iter([]),
        pd.DataFrame({"0": []}),
        pl.DataFrame({"0": []}),
        pa.table({"0": pa.array([], "float64")}),
    ],
    ids=["array", "no columns", "list", "tuple", "iterator", "pandas", "polars", "arrow"],
)
def test_an_empty_batch_has_no_effect(rows, trained, no_trace):
    rows = list(rows) if isinstance(rows, type(iter([]))) else rows
    with no_trace(trained):
        trained.learn_many(rows, [])
        assert trained.predict_many(rows).shape == (0,)
        assert trained.predict_many(rows).dtype == np.int64
        assert trained.predict_proba_many(rows).shape == (0, 3)
        assert trained.leverage_many(rows).shape == (0,)
        predictions, probabilities, leverages = trained.test_then_train(rows, [])
        assert (predictions.shape, probabilities.shape, leverages.shape) == ((0,), (0, 3), (0,))


ABSENT = [
    None,
    float("nan"),
    np.float32("nan"),
    pd.NA,
    pd.NaT,
    decimal.Decimal("NaN"),
    "",
    "  ",
]


@pytest.mark.parametrize("absent", ABSENT, ids=repr)
def test_missing_values_equal_absent_keys(absent, means):
    rows = [{"a": float(i)} if i % 3 else {"a": float(i), "b": i / 2} for i in range(70)]
    means([{"b": absent, **row} for row in rows], rows)


def test_rows_without_any_input_are_rows(means, new_model):
    means([{}, {}, {"a": 1.0}], [{"b": None}, {"b": None}, {"a": 1.0}])
    model = new_model()
    model.learn_many(np.empty((3, 0)), ["a", "b", "b"])
    assert model.predict_one({}) == "b"
    assert model.learned == 3


class Level(enum.IntEnum):
    LOW = 3


@pytest.mark.parametrize(
    "number",
    [
        3,
        True,
        np.int8(3),
        np.uint64(3),
        np.float32(3),
        np.float64(3),
        np.bool_(True),
        np.longdouble(3),
        np.array(3),
        np.array(3.0),
        decimal.Decimal(3),
        fractions.Fraction(3),
        Level.LOW,
        2**60,
        2**80,
        -(2**63),
    ],
    ids=lambda number: f"{type(number).__name__} {number}",
)
def test_cells_that_are_numbers_mean_floats(number, means):
    means([{"a": number}, {"a": 1.5}, {"a": 0.0}], [{"a": float(number)}, {"a": 1.5}, {"a": 0.0}])


@pytest.mark.parametrize(
    "text", ["c", np.str_("c"), type("Text", (str,), {})("c"), " c "], ids=repr
)
def test_cells_that_are_texts_mean_categories(text, means, new_model):
    means([{"a": text}, {"a": "d"}], [{"a": "c"}, {"a": "d"}])
    model = new_model()
    model.learn_one({"a": text}, 0)
    assert model.inputs == ["a=c"]


def test_the_first_value_decides_what_a_column_holds(new_model):
    model = new_model()
    model.learn_one({"numbers": 1, "texts": "x", "later": None}, 0)
    model.learn_one({"numbers": "2.5", "texts": 7, "later": "y"}, 1)
    assert model.inputs == ["numbers", "texts=x", "later=y", "texts=7"]


@pytest.mark.parametrize(
    "mapping",
    [
        collections.OrderedDict,
        lambda row: collections.defaultdict(float, row),
        types.MappingProxyType,
        collections.ChainMap,
        collections.UserDict,
    ],
    ids=["OrderedDict", "defaultdict", "MappingProxyType", "ChainMap", "UserDict"],
)
def test_mappings_are_dictionaries(mapping, means, new_model):
    rows = [{"b": float(i), "a": f"c{i % 3}"} for i in range(70)]
    means([mapping(row) for row in rows], rows)
    one, other = new_model(scaling="none"), new_model(scaling="none")
    one.learn_one(mapping(rows[1]), 0)
    other.learn_one(rows[1], 0)
    assert np.array_equal(one.weights, other.weights)


def test_rows_may_come_from_a_generator(means, numbers):
    rows = [{"a": float(i)} for i in range(70)]
    means((row for row in rows), rows)
    means(iter(numbers[0]), numbers[0].tolist())
    means(map(tuple, numbers[0]), numbers[0].tolist())


def test_names_that_are_numbers_are_ordered_as_numbers(new_model):
    model = new_model()
    model.learn_one({10: 1.0, 9: 2.0, "b": 1.0, "a": 2.0, "2": 3.0}, 0)
    assert model.inputs == ["2", "9", "10", "a", "b"]
    model.learn_one({"10": 1.0, 2: 3.0}, 0)
    assert model.inputs == ["2", "9", "10", "a", "b"]


def test_keys_are_matched_by_their_text(new_model):
    # These keys are equal in Python, but their names are not.
    keys = [1, 1.0, True]
    model = new_model()
    for key in keys:
        model.learn_one({key: 1.0}, 0)
    fresh = new_model()
    for key in keys:
        fresh.learn_one({key: 1.0}, 0)
        fresh = fresh.copy()
    assert model.inputs == fresh.inputs
