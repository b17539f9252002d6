"""Streams of files and generators, and the catalogue of datasets."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from broadstream import Stream, datasets, generate, generators


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("size,mode,flag,kind\n1.5,eco,1,a\n,full,0,b\n2.5,eco,,a\n-1,,1,c\n")
    return path


ROWS = [
    ({"size": 1.5, "mode": "eco", "flag": 1.0}, "a"),
    ({"mode": "full", "flag": 0.0}, "b"),
    ({"size": 2.5, "mode": "eco"}, "a"),
    ({"size": -1.0, "flag": 1.0}, "c"),
]


def test_samples_are_dictionaries_and_labels(table):
    stream = Stream(table)
    assert list(stream) == ROWS
    # Each iteration starts over, and two may run side by side.
    assert list(stream) == ROWS
    assert [one == other for one, other in zip(stream, stream)] == [True] * 4
    samples = iter(stream)
    assert iter(samples) is samples
    assert next(samples) == ROWS[0]
    assert list(samples) == ROWS[1:]
    assert next(samples, "ended") == "ended"


@pytest.mark.parametrize("kind", ["jsonl", "csv.gz", "parquet", "tsv"])
def test_every_format_gives_the_same_samples(kind, table, tmp_path):
    path = tmp_path / f"other.{kind}"
    if kind == "jsonl":
        path.write_text("".join(json.dumps({**x, "kind": y}) + "\n" for x, y in ROWS))
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(table.read_bytes()))
    elif kind == "parquet":
        pd.read_csv(table).to_parquet(path)
    else:
        path.write_text(table.read_text().replace(",", "\t"))
    assert list(Stream(path, target="kind")) == ROWS


def test_categories_are_texts_whatever_their_columns_are_called(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,a=b,kind\nx,c,1\ny=z,d,0\n")
    assert list(Stream(path)) == [({"a": "x", "a=b": "c"}, "1"), ({"a": "y=z", "a=b": "d"}, "0")]


def test_columns_are_chosen(table):
    assert list(Stream(table, drop=["mode", "size"]))[1] == ({"flag": 0.0}, "b")
    assert next(iter(Stream(table, categorical=["flag"])))[0]["flag"] == "1"
    codes = [x.get("mode") for x, _ in Stream(table, categories="integer-codes")]
    assert codes == [0.0, 1.0, 0.0, None]
    assert Stream(table).target == "kind"
    assert Stream(table, target="flag").target == "flag"
    full = table.with_name("full.csv")
    full.write_text("kind,size\na,1\nb,2\n")
    assert list(Stream(full, target="kind")) == [({"size": 1.0}, "a"), ({"size": 2.0}, "b")]
    assert "size" in Stream(table).inputs


def test_files_without_a_header_have_numbered_columns(tmp_path):
    path = tmp_path / "table.txt"
    path.write_text("1;2;x\n3;4;y\n")
    assert list(Stream(path, delimiter=";", header=False)) == [
        ({"1": 1.0, "2": 2.0}, "x"),
        ({"1": 3.0, "2": 4.0}, "y"),
    ]


def test_arrays_are_the_samples(table):
    X, y = Stream(table, drop=["mode"]).arrays()
    expected = [[1.5, 1.0], [np.nan, 0.0], [2.5, np.nan], [-1.0, 1.0]]
    assert np.array_equal(X, expected, equal_nan=True)
    assert y == ["a", "b", "a", "c"]
    with pytest.raises(ValueError, match="categories, such as 'mode=eco'"):
        Stream(table).arrays()
    X, y = Stream("hyperplane:samples=5000").arrays()
    samples = list(Stream("hyperplane:samples=5000"))
    assert X.shape == (5000, 20)
    assert y == [label for _, label in samples]
    assert X.tolist() == [list(x.values()) for x, _ in samples]


@pytest.mark.parametrize("limit", [0, 1, 255, 256, 257, 300, 1000])
def test_a_limit_ends_a_stream(limit):
    stream = Stream("sea:samples=300", limit=limit)
    whole = list(Stream("sea:samples=300"))
    assert list(stream) == whole[:limit]
    X, y = stream.arrays()
    assert len(X) == len(y) == min(limit, 300)


def test_shuffling_gives_all_samples_in_another_order():
    whole = list(Stream("sea:samples=300"))
    shuffled = Stream("sea:samples=300", shuffle=1)
    assert list(shuffled) == list(shuffled) != whole
    assert list(Stream("sea:samples=300", shuffle=2)) != list(shuffled)
    order = [str(sample) for sample in whole]
    assert sorted(map(str, shuffled)) == sorted(order)
    # The limit applies after shuffling.
    assert list(Stream("sea:samples=300", shuffle=1, limit=50)) == list(shuffled)[:50]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"target": "nothing"}, ValueError, "no column 'nothing': the columns are size"),
        ({"drop": ["nothing"]}, ValueError, "no column 'nothing'"),
        ({"drop": ["kind"]}, ValueError, "column 'kind' is to be dropped"),
        ({"drop": "size"}, TypeError, "str"),
        ({"categorical": ["nothing"]}, ValueError, "no column 'nothing'"),
        ({"numeric": ["mode"]}, ValueError, "line 2, column 'mode'.*'eco'"),
        ({"categories": "many"}, ValueError, "one-hot or integer-codes.*'many'"),
        ({"format": "xml"}, ValueError, "one of csv.*'xml'"),
        ({"delimiter": ";;"}, ValueError, "one byte.*';;'"),
        ({"delimiter": "é"}, ValueError, "one byte"),
        ({"header": "yes"}, TypeError, "bool"),
        ({"limit": -1}, ValueError, "limit"),
        ({"limit": 1.5}, TypeError, "integer"),
        ({"shuffle": -1}, ValueError, "shuffle"),
        ({"shuffle": "yes"}, TypeError, "integer"),
        ({"unknown": 1}, TypeError, "unknown"),
    ],
    ids=str,
)
def test_bad_options_are_refused(options, error, message, table):
    with pytest.raises(error, match=message):
        list(Stream(table, **options))


def test_sources_that_are_none_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"missing.csv"):
        list(Stream(tmp_path / "missing.csv"))
    with pytest.raises(FileNotFoundError, match="seaside"):
        list(Stream("seaside"))
    with pytest.raises(IsADirectoryError, match=tmp_path.name):
        Stream(tmp_path).arrays()
    for source in (None, 3, b"sea", ["sea"]):
        with pytest.raises(TypeError):
            Stream(source)
    with pytest.raises(ValueError, match="a generator has no option 'target', got"):
        Stream("sea", target="class")
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    with pytest.raises(ValueError, match="empty"):
        list(Stream(empty))


def test_bad_lines_say_where(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,kind\n" + "1,x\n" * 500 + "warm,y\n")
    stream = Stream(path, numeric=["a"])
    samples = iter(stream)
    with pytest.raises(ValueError, match=r"line 502, column 'a'.*'warm'"):
        list(samples)
    for read in (stream.arrays, Stream(path, numeric=["a"], shuffle=1).arrays):
        with pytest.raises(ValueError, match=r"line 502, column 'a'.*'warm'"):
            read()


def test_a_path_is_never_a_generator(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("sea").write_text("a,kind\n1,x\n")
    assert list(Stream(Path("sea"))) == [({"a": 1.0}, "x")]
    assert len(list(Stream("sea", limit=3))) == 3


@pytest.mark.parametrize("name", generators())
def test_every_generator_makes_samples(name):
    stream = generate(name, samples=60, seed=5)
    samples = list(stream)
    assert len(samples) == 60
    assert list(generate(name, samples=60, seed=5)) == samples
    assert list(generate(name, samples=60, seed=6)) != samples
    assert {frozenset(x) for x, _ in samples} == {frozenset(samples[0][0])}
    assert all(isinstance(y, str) for _, y in samples)


def test_generators_take_their_parameters():
    assert repr(generate("sea", samples=500, noise=0.1, variant=2)) == (
        'Stream("sea:samples=500,seed=42,noise=0.1,variant=2")'
    )
    assert "balance=true" in repr(generate("agrawal", balance=True))
    assert generators()[0] == "sea"
    for parameters in ({"colour": 1}, {"samples": -5}, {"noise": 7}, {"seed": "x"}):
        with pytest.raises(ValueError, match="sea"):
            list(generate("sea", **parameters))


def test_unknown_generators_are_refused():
    with pytest.raises(ValueError, match="seaside"):
        generate("seaside")


def test_the_catalogue_knows_ten_datasets():
    known = datasets.catalogue()
    assert len(known) == len({entry.name for entry in known}) == 10
    electricity = datasets.dataset("electricity")
    assert electricity in known
    assert (electricity.rows, electricity.inputs, electricity.classes) == (45312, 6, 2)
    assert isinstance(electricity.drop, tuple)
    assert {entry.kind for entry in known} == {"stationary", "drifting"}
    assert all(entry.page.startswith("http") for entry in known if entry.generator is None)
    with pytest.raises(ValueError, match=r"no dataset 'iris': expected one of .*electricity"):
        datasets.dataset("iris")


def test_datasets_are_found_where_they_are(tmp_path, monkeypatch):
    monkeypatch.delenv("BROADSTREAM_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    electricity = datasets.dataset("electricity")
    with pytest.raises(OSError, match="fetch electricity"):
        electricity.find(tmp_path)
    with pytest.raises(OSError, match="fetch electricity"):
        electricity.stream(tmp_path)
    sea = datasets.dataset("sea")
    assert repr(sea.stream(limit=10)).startswith('Stream("sea')
    assert len(list(sea.stream(limit=10))) == 10
    with pytest.raises(ValueError, match="produced by the generator"):
        sea.find()


def test_samples_before_a_fault_come_before_it(tmp_path):
    path = tmp_path / "faulty.csv"
    path.write_text("a,y\n1,p\n2,q\nbroken\n3,p\n")
    samples = iter(Stream(path))
    assert [next(samples), next(samples)] == [({"a": 1.0}, "p"), ({"a": 2.0}, "q")]
    with pytest.raises(ValueError, match="line 4"):
        next(samples)
    assert list(samples) == []


def test_numbers_may_have_a_decimal_comma(tmp_path):
    path = tmp_path / "commas.csv"
    path.write_text("a;y\n3,5;u\n2;v\n")
    with pytest.warns(UserWarning, match="decimal comma, such as '3,5' on line 2 in column 'a'"):
        assert list(Stream(path)) == [({"a": 3.5}, "u"), ({"a": 2.0}, "v")]
    assert list(Stream(path, decimal_comma=True)) == [({"a": 3.5}, "u"), ({"a": 2.0}, "v")]
    with pytest.warns(UserWarning, match="column 'a' is read as categories"):
        assert next(iter(Stream(path, decimal_comma=False))) == ({"a": "3,5"}, "u")
