"""What each kind of row and label means."""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import fractions
import types

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest


@pytest.fixture
def means(new_model):
    """Checks that rows mean the same as others: they teach the same, to the bit."""

    def check(rows, expected, y=None):
        expected = list(expected)
        y = [i % 2 for i in range(len(expected))] if y is None else y
        given, plain = new_model(), new_model()
        given.learn_many(rows, y)
        plain.learn_many(expected, y)
        assert given.inputs == plain.inputs
        assert np.array_equal(given.weights, plain.weights)
        assert given.learned == plain.learned == len(expected)

    return check


INTEGERS = np.random.default_rng(1).integers(-4, 5, size=(80, 3))


@pytest.mark.parametrize(
    "kind",
    ["f8", "f4", "f2", "i8", "i4", "i1", ">f8", ">i2", ">f4", "longdouble"],
)
def test_arrays_of_numbers_mean_their_numbers(kind, means):
    means(INTEGERS.astype(kind), INTEGERS.tolist())


@pytest.mark.parametrize("kind", ["u1", "u8", "?"])
def test_arrays_of_unsigned_numbers_and_truth_values_mean_numbers(kind, means):
    array = (INTEGERS > 0).astype(kind)
    means(array, [[float(value) for value in row] for row in array])


@pytest.mark.parametrize(
    "view",
    [
        np.asfortranarray,
        lambda X: np.repeat(X, 2, axis=0)[::2],
        lambda X: np.repeat(X, 3, axis=1)[:, ::3],
        lambda X: np.ascontiguousarray(X[::-1])[::-1],
        lambda X: np.ascontiguousarray(X[:, ::-1])[:, ::-1],
        lambda X: np.ascontiguousarray(X.T).T,
    ],
    ids=["Fortran", "strided rows", "strided columns", "backward", "mirrored", "transposed"],
)
@pytest.mark.parametrize("kind", ["f8", "f4"])
def test_arrays_may_lie_in_any_way(view, kind, means):
    means(view(INTEGERS.astype(kind)), INTEGERS.tolist())


def test_repeated_rows_may_be_one_in_memory(means):
    means(np.broadcast_to(np.array([1.0, 2.0]), (70, 2)), [[1.0, 2.0]] * 70)


@pytest.fixture
def packed():
    """Records without gaps between their fields, whose floats lie where floats should not."""
    kind = np.dtype([("before", "u1"), ("row", "f8", (3,)), ("weight", "f8")])
    records = np.zeros(len(INTEGERS), dtype=kind)
    records["row"] = INTEGERS
    records["weight"] = 1 + np.arange(len(INTEGERS)) % 3
    assert not records["row"].flags.aligned
    return records


def test_arrays_need_not_be_aligned(packed, means):
    means(packed["row"], INTEGERS.tolist())


def test_weights_need_not_be_aligned(packed, new_model):
    one, other = new_model(), new_model()
    y = [i % 2 for i in range(len(INTEGERS))]
    one.learn_many(INTEGERS, y, packed["weight"])
    other.learn_many(INTEGERS, y, packed["weight"].tolist())
    assert np.array_equal(one.weights, other.weights)


def test_columns_need_not_be_aligned(means):
    records = np.zeros(70, dtype=[("before", "u1"), ("value", "f8")])
    records["value"] = np.arange(70)
    frame = pd.DataFrame({"a": records["value"], "b": ["x", "y"] * 35}, copy=False)
    means(frame, [{"a": float(i), "b": "xy"[i % 2]} for i in range(70)])


def test_one_unaligned_sample_means_its_numbers(new_model):
    packed = np.zeros(3, dtype=[("before", "u1"), ("value", "f8")])
    packed["value"] = [1.0, 2.0, 3.0]
    # A running scaling has no scale yet for the first sample.
    one, other = new_model(scaling="none"), new_model(scaling="none")
    one.learn_one(packed["value"], "a")
    other.learn_one([1.0, 2.0, 3.0], "a")
    assert np.array_equal(one.weights, other.weights)


def test_read_only_arrays_are_read(means):
    array = INTEGERS.astype(float)
    array.flags.writeable = False
    means(array, INTEGERS.tolist())


def test_mapped_files_are_read(means, tmp_path):
    np.save(tmp_path / "rows.npy", INTEGERS.astype("f4"))
    means(np.load(tmp_path / "rows.npy", mmap_mode="r"), INTEGERS.tolist())


def test_masked_cells_are_absent(means):
    array = INTEGERS.astype(float)
    absent = np.where(array > 2, np.nan, array)
    means(np.ma.masked_greater(array, 2), absent.tolist())


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
def test_no_rows_are_nothing(rows, trained, no_trace):
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
def test_what_is_absent_is_as_if_it_were_not_there(absent, means):
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


@pytest.mark.parametrize("text", ["c", np.str_("c"), type("Text", (str,), {})("c"), " c "], ids=repr)
def test_cells_that_are_texts_mean_categories(text, means, new_model):
    means([{"a": text}, {"a": "d"}], [{"a": "c"}, {"a": "d"}])
    model = new_model()
    model.learn_one({"a": text}, 0)
    assert model.inputs == ["a=c"]


def test_the_first_value_decides_what_a_column_holds(new_model):
    model = new_model()
    model.learn_one({"numbers": 1, "texts": "x", "later": None}, 0)
    model.learn_one({"numbers": "2.5", "texts": 7, "later": "y"}, 1)
    assert model.inputs == ["numbers", "texts=x", "texts=7", "later=y"]


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


def test_rows_may_come_from_a_generator(means):
    rows = [{"a": float(i)} for i in range(70)]
    means((row for row in rows), rows)
    means(iter(INTEGERS), INTEGERS.tolist())
    means(map(tuple, INTEGERS.tolist()), INTEGERS.tolist())


def test_labels_and_weights_may_come_from_anywhere(new_model):
    expected = new_model()
    expected.learn_many(INTEGERS[:4], [1, 2, 1, 3], [1.0, 2.0, 1.0, 0.5])
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
        model.learn_many(INTEGERS[:4], y, pd.Series([1, 2, 1, 0.5]))
        assert model.labels == [1, 2, 3], type(y)
        assert np.array_equal(model.weights, expected.weights), type(y)


def test_names_that_are_numbers_are_ordered_as_numbers(new_model):
    model = new_model()
    model.learn_one({10: 1.0, 9: 2.0, "b": 1.0, "a": 2.0, "2": 3.0}, 0)
    assert model.inputs == ["2", "9", "10", "a", "b"]
    model.learn_one({"10": 1.0, 2: 3.0}, 0)
    assert model.inputs == ["2", "9", "10", "a", "b"]


def test_keys_mean_their_texts_whatever_came_before(new_model):
    # These keys are equal in Python, and their texts are not.
    keys = [1, 1.0, True]
    model = new_model()
    for key in keys:
        model.learn_one({key: 1.0}, 0)
    fresh = new_model()
    for key in keys:
        fresh.learn_one({key: 1.0}, 0)
        fresh = fresh.copy()
    assert model.inputs == fresh.inputs


PANDAS = {
    "Int64": (pd.array([1, None, 3], dtype="Int64"), [1, None, 3]),
    "UInt8": (pd.array([1, None, 3], dtype="UInt8"), [1, None, 3]),
    "Float32": (pd.array([1.5, None, 3], dtype="Float32"), [1.5, None, 3]),
    "boolean": (pd.array([True, None, False], dtype="boolean"), [1, None, 0]),
    "bool": (np.array([True, False, True]), [1, 0, 1]),
    "string": (pd.array(["a", None, "b"], dtype="string"), ["a", None, "b"]),
    "string of arrow": (pd.array(["a", None, "b"], dtype="string[pyarrow]"), ["a", None, "b"]),
    "integers of arrow": (pd.array([1, None, 3], dtype="int64[pyarrow]"), [1, None, 3]),
    "objects": (np.array(["a", None, "b"], dtype=object), ["a", None, "b"]),
    "mixed objects": (np.array([1, pd.NA, 2.5], dtype=object), [1, None, 2.5]),
    "categories": (pd.Categorical(["b", None, "a"], categories=["a", "b", "c"]), ["b", None, "a"]),
    "numbered categories": (pd.Categorical([2, None, 1]), ["2", None, "1"]),
    "sparse": (pd.arrays.SparseArray([0.0, 0.0, 2.0]), [0, 0, 2]),
}


@pytest.mark.parametrize("kind", PANDAS)
@pytest.mark.parametrize("alone", [True, False], ids=["alone", "beside numbers"])
def test_columns_of_pandas(kind, alone, means):
    values, expected = PANDAS[kind]
    frame = pd.DataFrame({"a": values}, index=[7, 7, 9])
    rows = [{"a": value} for value in expected]
    if not alone:
        frame["b"] = [1.0, 2.0, 3.0]
        rows = [{**row, "b": i + 1.0} for i, row in enumerate(rows)]
    means(frame, rows)


POLARS = {
    "integers": (pl.Series([1, None, 3]), [1, None, 3]),
    "small integers": (pl.Series([1, None, 3], dtype=pl.UInt8), [1, None, 3]),
    "decimals": (pl.Series([1.5, None, 3.0]).cast(pl.Decimal(10, 2)), [1.5, None, 3]),
    "truth values": (pl.Series([True, None, False]), [1, None, 0]),
    "texts": (pl.Series(["a", None, "b"]), ["a", None, "b"]),
    "categories": (pl.Series(["b", None, "a"], dtype=pl.Categorical), ["b", None, "a"]),
    "enumeration": (pl.Series(["b", None, "a"], dtype=pl.Enum(["a", "b"])), ["b", None, "a"]),
    "nothing": (pl.Series([None, None, None]), [None, None, None]),
    "beyond exact": (pl.Series([2**60 + 1, 1, 2]), [2**60, 1, 2]),
}


@pytest.mark.parametrize("kind", POLARS)
def test_columns_of_polars(kind, means):
    values, expected = POLARS[kind]
    frame = pl.DataFrame({"a": values, "b": [1.0, 2.0, 3.0]})
    means(frame, [{"a": value, "b": i + 1.0} for i, value in enumerate(expected)])


ARROW = {
    "integers": (pa.array([1, None, 3]), [1, None, 3]),
    "half floats": (pa.array(np.array([1, 2, 3], dtype="f2")), [1, 2, 3]),
    "decimals": (pa.array([decimal.Decimal("1.5"), None, decimal.Decimal(3)]), [1.5, None, 3]),
    "truth values": (pa.array([True, None, False]), [1, None, 0]),
    "texts": (pa.array(["a", None, "b"]), ["a", None, "b"]),
    "large texts": (pa.array(["a", None, "b"], "large_string"), ["a", None, "b"]),
    "text views": (pa.array(["a", None, "b"], "string_view"), ["a", None, "b"]),
    "dictionary": (pa.array(["b", None, "a"]).dictionary_encode(), ["b", None, "a"]),
    "nothing": (pa.nulls(3), [None, None, None]),
    "beyond exact": (pa.array([2**60 + 1, 1, 2]), [2**60, 1, 2]),
}


@pytest.mark.parametrize("kind", ARROW)
def test_columns_of_arrow(kind, means):
    values, expected = ARROW[kind]
    rows = [{"a": value, "b": i + 1.0} for i, value in enumerate(expected)]
    table = pa.table({"a": values, "b": [1.0, 2.0, 3.0]})
    means(table, rows)
    means(table.to_reader(), rows)


def test_names_of_pandas_are_their_texts(new_model):
    model = new_model()
    model.learn_many(pd.DataFrame({10: [1.0], 9: [2.0], ("a", 1): [3.0]}), [0])
    assert model.inputs == ["9", "10", "('a', 1)"]


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
def test_labels_come_back_as_what_they_are(kind, new_model):
    y, labels, dtype = LABELS[kind]
    given = y.to_pylist() if isinstance(y, pa.Array) else list(y)
    # An input for each label, so that each is told from the others.
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
