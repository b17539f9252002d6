"""Test-then-train evaluation of every source."""

from __future__ import annotations

import contextlib
import os
import pickle
import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from river import metrics
from river.evaluate import progressive_val_score

import broadstream
from broadstream import evaluate
from broadstream.river import OnlineBLSClassifier as RiverModel


def assert_same_result(one, other):
    """Two evaluations have the same numbers, to the bit."""
    assert one.metrics == other.metrics
    assert one.window == other.window
    assert one.labels == other.labels
    assert one.predictions.tolist() == other.predictions.tolist()
    assert np.array_equal(one.confusion, other.confusion)
    assert (one.drifts, one.restarts, one.members) == (other.drifts, other.restarts, other.members)
    assert one.reliability == other.reliability


@pytest.mark.parametrize("options", [{}, {"preset": "default"}, {"forgetting": 0.99}], ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
def test_predictions_are_those_of_test_then_train(options, weighted, flower_rows, new_model, saved):
    w = np.random.default_rng(2).choice([0.0, 1.0, 2.0], size=600) if weighted else None
    model, other = new_model(**options), new_model(**options)
    result = evaluate(flower_rows, model, sample_weight=w, progress=False)
    predictions, _, _ = other.test_then_train(*flower_rows, w)
    assert result.predictions.tolist() == predictions.tolist()
    assert result.predictions[0] is None
    assert result.labels == model.labels == other.labels
    assert np.array_equal(model.weights, other.weights)
    assert saved(model) == saved(other)
    assert model.members == result.members == other.members


@pytest.mark.parametrize("name", ["pandas", "polars", "arrow", "dictionaries", "csv", "parquet"])
def test_every_source_gives_the_same_result(name, flowers, flower_rows, new_model, tmp_path):
    expected = evaluate(flower_rows, new_model(), progress=False)
    path = tmp_path / f"flowers.{name}"
    if name == "dictionaries":
        result = evaluate((flower_rows[0].to_dict("records"), flower_rows[1]), new_model())
    elif name in ("csv", "parquet"):
        flowers.to_csv(path, index=False) if name == "csv" else flowers.to_parquet(path)
        result = evaluate(path, new_model(), target="kind")
        assert result.source == str(path)
        assert_same_result(evaluate(str(path), new_model()), result)
        stream = broadstream.Stream(path, target="kind")
        assert_same_result(evaluate(stream, new_model()), result)
    else:
        table = {"pandas": flowers, "polars": pl.from_pandas(flowers), "arrow": pa.table(flowers)}
        result = evaluate(table[name], new_model(), target="kind")
    assert_same_result(result, expected)


def test_columns_may_be_named_like_attributes(new_model):
    frame = pd.DataFrame({"column_names": [0.0, 1.0] * 50, "columns": 1.0, "y": [0, 1] * 50})
    assert evaluate(frame, new_model(), target="y").samples == 100


def test_generators_and_streams_are_the_same(new_model):
    result = evaluate("sea:samples=500,seed=3", new_model())
    stream = broadstream.generate("sea", samples=500, seed=3)
    assert_same_result(evaluate(stream, new_model()), result)
    assert result.source == "sea:samples=500,seed=3"
    X, y = stream.arrays()
    assert_same_result(evaluate((X, y), new_model()), result)


def test_pipes_are_read_once(flowers, flower_rows, new_model, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write():
        # Reading only a part breaks the pipe.
        with contextlib.suppress(BrokenPipeError):
            pipe.write_text(flowers.to_csv(index=False))

    results = []

    def read():
        try:
            results.append(evaluate(pipe, new_model(), target="kind"))
        except ValueError as error:
            results.append(error)

    # In separate threads, since opening the pipe once too often would wait for ever.
    writer, reader = (threading.Thread(target=work, daemon=True) for work in (write, read))
    writer.start()
    reader.start()
    reader.join(5)
    while reader.is_alive():
        with contextlib.suppress(OSError):
            os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
        reader.join(0.1)
    assert isinstance(results[0], broadstream.Evaluation), results[0]
    assert_same_result(results[0], evaluate(flower_rows, new_model()))


def test_late_labels_are_learned_late(flower_rows, new_model):
    late, at_once = new_model(), new_model()
    result = evaluate(flower_rows, late, delay=100)
    X, y = flower_rows[0].to_dict("records"), flower_rows[1]
    predictions = []
    for i, row in enumerate(X):
        if i >= 100:
            at_once.learn_one(X[i - 100], y[i - 100])
        predictions.append(at_once.predict_one(row))
    assert result.predictions.tolist() == predictions
    assert result.predictions[:100].tolist() == [None] * 100
    # A sample whose label has arrived is learned right after the last prediction.
    assert late.learned == 501
    assert_same_result(
        evaluate(flower_rows, new_model(), delay=1), evaluate(flower_rows, new_model())
    )


@pytest.mark.parametrize("delay", [2, 50, 250])
def test_late_labels_are_counted_as_in_river(delay, new_model):
    stream = broadstream.generate("sea", samples=600)
    result = evaluate(stream, new_model(), delay=delay)
    model = RiverModel(preset="single", feature_groups=2, feature_nodes=5, enhancement_nodes=20)
    accuracy = progressive_val_score(list(stream), model, metrics.Accuracy(), delay=delay)
    assert result.accuracy == pytest.approx(accuracy.get(), abs=1e-12)
    assert (result.unanswered, result.samples) == (delay, 600 - delay)
    assert len(result.predictions) == 600
    assert result.predictions[:delay].tolist() == [None] * delay
    assert result.confusion.sum() == 600 - delay
    assert result.curve["sample"][0] > delay and result.curve["sample"][-1] == 600


def test_without_late_labels_every_sample_counts(flower_rows, new_model):
    for delay in (0, 1):
        result = evaluate(flower_rows, new_model(), delay=delay)
        assert (result.unanswered, result.samples, result.confusion.sum()) == (0, 600, 599)


def test_labels_that_are_later_than_the_end_count_nothing(flower_rows, new_model):
    result = evaluate(flower_rows, new_model(), delay=1000)
    assert (result.unanswered, result.samples) == (600, 0)
    assert str(result)


def test_a_limit_is_a_shorter_stream(flower_rows, new_model):
    result = evaluate(flower_rows, new_model(), limit=100, curve_every=100)
    short = evaluate((flower_rows[0][:100], flower_rows[1][:100]), new_model(), curve_every=100)
    assert_same_result(result, short)
    stream = broadstream.Stream("sea", limit=200)
    assert evaluate(stream, new_model()).samples == 200
    assert evaluate(stream, new_model(), limit=50).samples == 50
    assert evaluate(stream, new_model(), limit=500).samples == 200


@pytest.mark.parametrize(
    "labels", [[0, 1, 2], ["x", "y", "z"], [True, False, True], [0.5, 1.5, 2.5], [(0,), 1, "1"]]
)
def test_the_model_goes_on_with_its_labels(labels, numbers, new_model):
    X, y = numbers
    y = [labels[i] for i in y]
    model, other = new_model(), new_model()
    result = evaluate((X, y), model)
    other.learn_many(X, y)
    assert result.labels == model.labels == other.labels
    kinds = {type(label) for label in labels}
    assert result.predictions[0] is None
    assert {type(label) for label in result.predictions[1:]} <= kinds
    assert result.confusion.sum() == len(X) - 1
    assert type(model.predict_one(X[0])) in kinds
    for one in (model, other):
        one.learn_many(X[:50], y[:50])
        one.learn_one({"0": 1.0, "new": "text"}, "new")
    assert np.array_equal(model.weights, other.weights)
    assert pickle.loads(pickle.dumps(model)).labels == model.labels


def test_the_model_of_a_stream_knows_its_columns(flowers, new_model, tmp_path, saved):
    path = tmp_path / "flowers.csv"
    flowers[:300].to_csv(path, index=False)
    model = new_model()
    evaluate(broadstream.Stream(path, drop=["c"]), model)
    assert model.labels == list(dict.fromkeys(flowers["kind"][:300]))
    assert {"a", "b", "site=field", "site=wood"} == set(model.inputs)
    other = new_model()
    other.learn_many(flowers[["a", "b", "site"]][:300], flowers["kind"][:300])
    assert np.array_equal(model.weights, other.weights)
    # Dropped columns stay dropped, and the target is not an input.
    rest = flowers[300:].drop(columns="kind")
    assert model.predict_many(rest).tolist() == other.predict_many(rest.drop(columns="c")).tolist()
    with pytest.raises(ValueError, match="'kind' is what the model predicts"):
        model.learn_one({"a": 1.0, "kind": "rose"}, "rose")
    model.save(tmp_path / "model.bsm")
    read = broadstream.OnlineBLS.load(tmp_path / "model.bsm")
    assert saved(read) == saved(model)
    for one in (model, read):
        one.learn_many(rest, flowers["kind"][300:])
    assert np.array_equal(model.weights, read.weights)
    assert "c" not in read.inputs


def test_without_a_model_the_default_is_evaluated():
    result = evaluate("sea:samples=50")
    assert result.model == "OnlineBLS()"
    assert result.samples == 50
