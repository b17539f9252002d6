"""Tables of all libraries give identical results, to the bit."""

from __future__ import annotations

import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import broadstream


@pytest.fixture(scope="module")
def tables():
    """The same rows, numbers and text with missing values, as a table of each library."""
    rng = np.random.default_rng(6)
    size = 200
    columns = {
        "0": [None if rng.random() < 0.2 else value for value in rng.normal(size=size).tolist()],
        "1": rng.integers(-5, 5, size=size).tolist(),
        "2": [None if rng.random() < 0.2 else f"c{rng.integers(0, 4)}" for _ in range(size)],
        "3": (rng.random(size) < 0.5).tolist(),
    }
    rows = [dict(zip(columns, values)) for values in zip(*columns.values())]
    return {
        "dictionaries": rows,
        "dictionaries without what is absent": [
            {key: value for key, value in row.items() if value is not None} for row in rows
        ],
        "numbered dictionaries": [{int(key): value for key, value in row.items()} for row in rows],
        "lists": [list(row.values()) for row in rows],
        "array of objects": np.array([list(row.values()) for row in rows], dtype=object),
        "pandas": pd.DataFrame(columns),
        "pandas in another order": pd.DataFrame(columns)[["3", "1", "0", "2"]],
        "pandas, nullable": pd.DataFrame(columns).convert_dtypes(),
        "pandas, categorical": pd.DataFrame(columns).astype({"2": "category"}),
        "pandas, numbered": pd.DataFrame(columns).rename(columns=int),
        "polars": pl.DataFrame(columns),
        "polars, categorical": pl.DataFrame(columns).cast({"2": pl.Categorical}),
        "arrow": pa.table(columns),
        "arrow, batch": pa.RecordBatch.from_pydict(columns),
        "arrow, chunks": pa.concat_tables([pa.table(columns)[:70], pa.table(columns)[70:]]),
        "arrow, dictionary": pa.table({**columns, "2": pa.array(columns["2"]).dictionary_encode()}),
    }


@pytest.mark.parametrize(
    "kind",
    [
        "dictionaries without what is absent",
        "numbered dictionaries",
        "lists",
        "array of objects",
        "pandas",
        "pandas in another order",
        "pandas, nullable",
        "pandas, categorical",
        "pandas, numbered",
        "polars",
        "polars, categorical",
        "arrow",
        "arrow, batch",
        "arrow, chunks",
        "arrow, dictionary",
    ],
)
def test_every_library_gives_the_same_bits(assert_same, kind, tables, new_model):
    rows = tables["dictionaries"]
    y = ["even" if row["1"] % 2 == 0 else "odd" for row in rows]
    expected, model = new_model(), new_model()
    expected.learn_many(rows, y)
    model.learn_many(tables[kind], y)
    assert_same(model, expected, rows)
    assert list(model.predict_many(tables[kind])) == list(expected.predict_many(rows))
    one_by_one = new_model()
    for row, label in zip(rows, y):
        one_by_one.learn_one(row, label)
    assert_same(model, one_by_one, rows)


def test_tables_and_dictionaries_agree_on_columns_that_come_late(assert_same, new_model):
    early = [{"n": 1.5, "o": "x"}, {"n": 2.5, "o": "y"}]
    # The first row has a new category in a known column, and in a new column before it.
    late = [{"a": "p", "n": 0.5, "o": "z"}, {"a": "q", "n": 3.5, "o": "x"}]
    tables, rows = new_model(), new_model()
    for part in (early, late):
        tables.learn_many(pd.DataFrame(part), [0, 1])
        rows.learn_many(part, [0, 1])
    assert_same(tables, rows, late)


PANDAS = {
    "Int64": (pd.array([1, None, 3], dtype="Int64"), [1, None, 3]),
    "UInt8": (pd.array([1, None, 3], dtype="UInt8"), [1, None, 3]),
    "Float32": (pd.array([1.5, None, 3], dtype="Float32"), [1.5, None, 3]),
    "boolean": (pd.array([True, None, False], dtype="boolean"), [1, None, 0]),
    "bool": (np.array([True, False, True]), [1, 0, 1]),
    "bool of arrow": (pd.array([True, None, False], dtype="bool[pyarrow]"), [1, None, 0]),
    "sparse bool": (pd.arrays.SparseArray([True, False, True]), [1, 0, 1]),
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


def test_columns_need_not_be_aligned(means):
    records = np.zeros(70, dtype=[("before", "u1"), ("value", "f8")])
    records["value"] = np.arange(70)
    frame = pd.DataFrame({"a": records["value"], "b": ["x", "y"] * 35}, copy=False)
    means(frame, [{"a": float(i), "b": "xy"[i % 2]} for i in range(70)])


@pytest.mark.parametrize("spelling", [["false", "true"], ["False", "True"], ["FALSE", "TRUE"]])
def test_booleans_are_those_of_a_file(spelling, tmp_path):
    """A model that was trained on a CSV file takes a boolean for what the file calls it."""
    path = tmp_path / "flags.csv"
    rows = [(spelling[i % 3 == 0], i % 5, "vu"[i % 2]) for i in range(60)]
    path.write_text("on,n,y\n" + "".join(f"{on},{n},{y}\n" for on, n, y in rows))
    model = broadstream.OnlineBLS(preset="single")
    for x, y in broadstream.Stream(path):
        model.learn_one(x, y)
    columns = {"n": [1.0, 2.0, 3.0], "on": [True, False, True]}
    texts = [{"n": n, "on": spelling[on]} for n, on in zip(*columns.values())]
    expected = model.predict_proba_many(texts)
    for rows in [
        [{"n": n, "on": on} for n, on in zip(*columns.values())],
        [{"n": n, "on": np.bool_(on)} for n, on in zip(*columns.values())],
        pd.DataFrame(columns),
        pd.DataFrame(columns).astype({"on": "boolean"}),
        pl.DataFrame(columns),
        pa.table(columns),
    ]:
        np.testing.assert_array_equal(model.predict_proba_many(rows), expected)
