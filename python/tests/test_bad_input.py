"""A refused call states the rule, the value and the place, and leaves the model unchanged."""

from __future__ import annotations

import contextlib
import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

NAN, INF = float("nan"), float("inf")


HUGE = 10**400


TWO = [[1.0, 2.0, 3.0, 4.0]] * 2


ROWS = {
    "one sample": ([1.0, 2.0, 3.0, 4.0], "expected rows"),
    "one dimension": (np.ones(4), r"array of shape \(4,\)"),
    "three dimensions": (np.ones((2, 2, 2)), r"array of shape \(2, 2, 2\)"),
    "no dimension": (np.array(1.0), r"array of shape \(\)"),
    "ragged lists": ([[1.0, 2.0], [1.0]], "rows of 1 to 2 values"),
    "ragged texts": ([["a", "b"], ["a"]], "rows of 1 to 2 values"),
    "texts": (["ab", "cd"], "expected rows"),
    "complex numbers": (np.ones((2, 2), dtype=complex), "complex128"),
    "bytes": (np.array([[b"a"], [b"b"]]), "S1"),
    "records": (np.zeros(2, dtype=[("a", "f8")]), r"array of shape \(2,\)"),
    "lists inside": (np.array([[1, [2]], [1, 2]], dtype=object), "row 1, column '1'.*list"),
    "infinity": ([[1.0, 2.0], [1.0, INF]], "row 2, column '1'.*inf"),
    "minus infinity": (np.array([[1.0, 2.0], [-INF, 1.0]]), "row 2, column '0'.*inf"),
    "infinity of 32 bits": (np.array([[1, 2], [INF, 1]], dtype="f4"), "row 2, column '0'.*inf"),
    "infinity in a dictionary": ([{"a": 1}, {"a": INF}], "row 2, column 'a'.*inf"),
    "an enormous integer": ([{"a": 1}, {"a": HUGE}], "row 2, column 'a'.*too large"),
    "enormous integers": ([[HUGE], [1]], "row 1, column '0'.*too large"),
    "text for a number": ([{"0": 1.0}, {"0": "warm"}], "row 2, column '0'.*warm"),
    "infinite text": ([{"0": 1.0}, {"0": "inf"}], "row 2, column '0'.*inf"),
    "complex cell": ([{"a": 1}, {"a": 1j}], "row 2, column 'a'.*complex"),
    "complex cell of numpy": ([{"a": 1}, {"a": np.complex128(1j)}], "row 2, column 'a'.*complex"),
    "bytes cell": ([{"a": 1}, {"a": b"x"}], "row 2, column 'a'.*bytes"),
    "list cell": ([{"a": 1}, {"a": [1]}], "row 2, column 'a'.*list"),
    "array cell": ([{"a": 1}, {"a": np.ones(2)}], "row 2, column 'a'.*ndarray"),
    "object cell": ([{"a": 1}, {"a": object()}], "row 2, column 'a'.*object"),
    "text that is none": ([{"a": "x"}, {"a": "\ud800"}], "surrogates"),
    "name that is none": ([{"a": "x"}, {"\ud800": 1}], "surrogates"),
    "the same name twice": ([{1: 1.0}, {1: 1.0, "1": 2.0}], "row 2.*'1'"),
    "one category of two columns": ([{"a": "b=c"}, {"a=b": "c"}], "row 2, column 'a=b'.*'a=b=c'"),
    "a long text": ([{"a": "x"}, {"a": "x" * 10_000}], "row 2, column 'a'"),
    "dictionary and list": ([{"a": 1}, [1]], "dictionaries mixed with others"),
    "list and dictionary": ([[1], {"a": 1}], "dictionaries mixed with others"),
    "sparse complex numbers": (scipy.sparse.csr_array(np.eye(2) * 1j), "sparse array of complex"),
    "sparse infinity": (scipy.sparse.csr_array([[0, 1], [INF, 0]]), "row 2, column '0'.*inf"),
    "sparse and one dimension": (
        scipy.sparse.coo_array([1.0, 0.0]),
        r"sparse array of shape \(2,\)",
    ),
    "several kinds of times": (
        [{"a": 1}, {"b": datetime.date(2024, 1, 1), "c": [datetime.time(1)]}],
        "row 2, column 'c'.*list",
    ),
    "one dictionary": ({"a": 1.0}, "one dictionary.*learn_one"),
    "text": ("rows", "got str"),
    "bytes alone": (b"rows", "got bytes"),
    "nothing": (None, "got NoneType"),
    "a number": (3, "got int"),
    "a function": (len, "got builtin_function_or_method"),
    "numbers": (range(2), "expected rows"),
    "pandas of complex numbers": (pd.DataFrame({"a": [1, 1j]}), "'a'.*complex128"),
    "pandas of lists": (pd.DataFrame({"a": [1, [2]]}), "row 2, column 'a'.*list"),
    "pandas of intervals": (pd.DataFrame({"a": pd.interval_range(0, 2)}), "'a'.*interval"),
    "pandas of one name": (pd.DataFrame([[1, 2]] * 2, columns=["a", "a"]), "named 'a'"),
    "pandas of one text": (pd.DataFrame([[1, 2]] * 2, columns=[1, "1"]), "named '1'"),
    "pandas of infinity": (pd.DataFrame({"a": [1, INF]}), "row 2, column 'a'.*inf"),
    "series of pandas": (pd.Series([1, 2]), r"got pandas.Series, which is one column or one row"),
    "polars of lists": (pl.DataFrame({"a": [[1], [2]]}), "'a'.*List"),
    "polars not collected": (pl.LazyFrame({"a": [1, 2]}), r"LazyFrame: call collect\(\)"),
    "series of polars": (pl.Series([1, 2]), "got polars.Series"),
    "array of arrow": (pa.array([1, 2]), "got pyarrow.Int64Array"),
    "index of pandas": (pd.Index([1, 2]), "got pandas.Index"),
    "arrow of lists": (pa.table({"a": [[1], [2]]}), "'a'.*list"),
    "arrow of bytes": (pa.table({"a": [b"1", b"2"]}), "'a'.*binary"),
    "arrow of one name": (pa.table([[1, 2], [1, 2]], names=["a", "a"]), "named 'a'"),
}


@pytest.mark.parametrize("method", ["learn_many", "test_then_train", "predict_many"])
@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.filterwarnings("ignore:Casting complex")
def test_invalid_rows_are_refused(kind, method, trained, no_trace):
    rows, message = ROWS[kind]
    labels = () if method == "predict_many" else ([0, "new"],)
    with no_trace(trained), pytest.raises((ValueError, TypeError), match=message):
        getattr(trained, method)(rows, *labels)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (None, "got NoneType"),
        (3, "got int"),
        ("text", "got str"),
        ([[1.0, 2.0]], r"shape \(1, 2\)"),
        (np.ones((2, 2)), r"shape \(2, 2\)"),
        ([1.0, [2.0]], "sequence|list"),
        ([1.0, INF], "column '1'.*inf"),
        ([1.0, 1j], "complex"),
        ([1.0, b"x"], "bytes"),
        ({"0": "warm"}, "column '0'.*warm"),
        ({"a": object()}, "column 'a'.*object"),
        ({"0": np.complex128(1j)}, "column '0'.*complex"),
        ({"0": 1.0, 0: 2.0}, "'0'"),
        (iter([1.0]), "expected"),
        (np.array(["2024"], dtype="M8[s]"), "datetime64"),
        (pd.DataFrame({"a": [1]}), "column 'a'|one sample"),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "method", ["learn_one", "predict_one", "predict_proba_one", "leverage_one", "explain_one"]
)
@pytest.mark.filterwarnings("ignore:Casting complex")
def test_invalid_samples_are_refused(x, message, method, trained, no_trace):
    labels = ("new",) if method == "learn_one" else ()
    with no_trace(trained), pytest.raises((ValueError, TypeError), match=message):
        getattr(trained, method)(x, *labels)


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_numbers_beyond_64_bits_are_refused(trained, no_trace):
    rows = np.array([["1"], ["1e400"]]).astype("longdouble")
    with no_trace(trained), pytest.raises(ValueError, match="row 2, column '0'"):
        trained.learn_many(rows, [0, 1])


LAST = {
    "cell": ({"0": INF}, "label", 1.0),
    "text": ({"0": "warm"}, "label", 1.0),
    "new column": ({"brought": "x", "0": object()}, "label", 1.0),
    "label": ({"brought": 1.0}, None, 1.0),
    "unhashable label": ({"brought": 1.0}, [], 1.0),
    "weight": ({"brought": "x"}, "label", -1.0),
}


@pytest.mark.parametrize("kind", LAST)
@pytest.mark.parametrize("preset", ["single", "default"])
@pytest.mark.parametrize("method", ["learn_many", "test_then_train"])
def test_a_failure_in_the_last_row_leaves_nothing_learned(
    kind, preset, method, new_model, no_trace
):
    rng = np.random.default_rng(3)
    rows = [{"0": value, "1": f"c{i % 5}"} for i, value in enumerate(rng.normal(size=2999))]
    y = rng.integers(0, 3, size=2999).tolist()
    rows[1000]["brought later"] = 1.0
    row, label, weight = LAST[kind]
    model = new_model(preset=preset)
    model.learn_many(rows[:50], y[:50])
    before = model.labels, model.inputs, 50
    with no_trace(model), pytest.raises((ValueError, TypeError), match="3000"):
        getattr(model, method)([*rows, row], [*y[:-1], "new", label], [1.0] * 2999 + [weight])
    assert (model.labels, model.inputs, model.learned) == before
    # The model continues as if nothing had happened.
    other = new_model(preset=preset)
    for one in (model, other):
        one.learn_many(rows[50 * (one is model) : 200], y[50 * (one is model) : 200])
    assert np.array_equal(model.weights, other.weights)


def test_a_failure_leaves_a_new_model_new(new_model, no_trace):
    model = new_model()
    with no_trace(model):
        for rows, y in [
            ([[1.0], [INF]], [0, 1]),
            ([{"a": "x"}, {"a": []}], [0, 1]),
            (TWO, [0, None]),
        ]:
            with pytest.raises((ValueError, TypeError)):
                model.learn_many(rows, y)
            with pytest.raises((ValueError, TypeError)):
                model.fit_scaling(rows if y[1] else [[INF]])
    # A refused column may come back with another type.
    model.learn_many([{"a": 1.0}, {"a": 2.0}], ["x", "y"])
    assert (model.inputs, model.labels) == (["a"], ["x", "y"])


def test_rows_that_raise_pass_their_exception_on(trained, no_trace):
    def rows():
        yield {"0": 1.0}
        raise OSError("connection lost")

    with no_trace(trained):
        with pytest.raises(OSError, match="connection lost"):
            trained.learn_many(rows(), [0, 1])
        with pytest.raises(ZeroDivisionError):
            trained.learn_many(TWO, (1 // i for i in range(2)))


def test_names_that_raise_pass_their_exception_on(trained, no_trace):
    class Name:
        def __str__(self):
            raise OSError("no name")

    with no_trace(trained), pytest.raises(OSError, match="no name"):
        trained.learn_one({Name(): 1.0}, 0)


def test_a_row_that_changes_while_it_is_read_does_no_harm(trained):
    class Number:
        def __float__(self):
            row["more"] = 1.0
            return 1.0

    row = {"0": 1.0, "1": 1.0}
    trained.learn_one(row, 0)
    row["0"] = Number()
    with contextlib.suppress(ValueError, RuntimeError):
        trained.learn_one(row, 0)
    trained.learn_one({"0": 1.0, "1": 1.0}, 0)
    assert trained.learned in (102, 103)


def test_a_value_that_uses_the_model_gets_an_error(trained):
    class Number:
        def __float__(self):
            return float(trained.learned)

    with pytest.raises((RuntimeError, TypeError)):
        trained.learn_one({"0": Number()}, 0)
    trained.learn_one({"0": 1.0}, 0)
    assert trained.learned == 101
