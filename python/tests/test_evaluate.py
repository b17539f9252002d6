"""Test-then-train evaluation, and what comes of it."""

from __future__ import annotations

import contextlib
import os
import pickle
import threading
import time

import matplotlib.figure
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.metrics

import broadstream
from broadstream import evaluate


@pytest.fixture(scope="module")
def flowers():
    """Rows of numbers and texts of which three labels follow."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(600, 3)), columns=["a", "b", "c"])
    frame["site"] = rng.choice(["field", "wood"], size=600)
    higher = frame.a + (frame.site == "wood") > frame.b
    frame["kind"] = np.where(frame.c > 1, "rose", np.where(higher, "iris", "lily"))
    return frame


@pytest.fixture
def rows(flowers):
    return flowers.drop(columns="kind"), flowers["kind"].tolist()


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
def test_predictions_are_those_of_test_then_train(options, weighted, rows, new_model, saved):
    w = np.random.default_rng(2).choice([0.0, 1.0, 2.0], size=600) if weighted else None
    model, other = new_model(**options), new_model(**options)
    result = evaluate(rows, model, sample_weight=w, progress=False)
    predictions, _, _ = other.test_then_train(*rows, w)
    assert result.predictions.tolist() == predictions.tolist()
    assert result.predictions[0] is None
    assert result.labels == model.labels == other.labels
    assert np.array_equal(model.weights, other.weights)
    assert saved(model) == saved(other)
    assert model.members == result.members == other.members


@pytest.mark.parametrize("name", ["pandas", "polars", "arrow", "dictionaries", "csv", "parquet"])
def test_every_source_gives_the_same_result(name, flowers, rows, new_model, tmp_path):
    expected = evaluate(rows, new_model(), progress=False)
    path = tmp_path / f"flowers.{name}"
    if name == "dictionaries":
        result = evaluate((rows[0].to_dict("records"), rows[1]), new_model())
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


def test_pipes_are_read_once(flowers, rows, new_model, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write():
        # Who reads only a part breaks the pipe.
        with contextlib.suppress(BrokenPipeError):
            pipe.write_text(flowers.to_csv(index=False))

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    # In a thread of its own, since reading a pipe that was read before would wait for ever.
    results = []
    reader = threading.Thread(
        target=lambda: results.append(evaluate(pipe, new_model(), target="kind")), daemon=True
    )
    reader.start()
    reader.join(10)
    assert [result.samples for result in results] == [600]
    assert_same_result(results[0], evaluate(rows, new_model()))


def test_metrics_are_those_of_scikit_learn(flowers, rows, new_model):
    result = evaluate(rows, new_model(), metrics_window=200)
    truth = flowers["kind"].to_numpy()
    # No prediction is wrong, whatever the label is.
    predicted = np.array([label or "none" for label in result.predictions])
    check_metrics(result.metrics, truth, predicted)
    check_metrics(result.window, truth[-200:], predicted[-200:])
    assert result.metrics["samples"] == result.samples == 600
    assert result.window["samples"] == 200
    assert result.accuracy == result.metrics["oca"] > 0.7
    assert np.array_equal(
        result.confusion,
        sklearn.metrics.confusion_matrix(truth, predicted, labels=result.labels),
    )
    assert result.confusion.sum() == 599


def check_metrics(metrics, truth, predicted):
    labels = np.unique([*truth, *(label for label in predicted if label != "none")])
    expected = {
        "oca": sklearn.metrics.accuracy_score(truth, predicted),
        "oce": 1 - sklearn.metrics.accuracy_score(truth, predicted),
        "bacc": sklearn.metrics.recall_score(
            truth, predicted, labels=np.unique(truth), average="macro"
        ),
        "f1": sklearn.metrics.f1_score(truth, predicted, labels=labels, average="macro"),
        "mcc": sklearn.metrics.matthews_corrcoef(truth, predicted),
        "kappa": sklearn.metrics.cohen_kappa_score(truth, predicted),
    }
    for name, value in expected.items():
        assert metrics[name] == pytest.approx(value, rel=1e-9), name


def test_probabilities_are_judged_as_scikit_learn_does(rows, new_model):
    result = evaluate(rows, new_model())
    _, probabilities, _ = new_model().test_then_train(*rows)
    truth = [result.labels.index(label) for label in rows[1]]
    chosen = probabilities[np.arange(600), truth]
    tiny = np.finfo(float).eps
    assert result.metrics["log_loss"] == pytest.approx(-np.log(chosen.clip(tiny, 1 - tiny)).mean())
    brier = ((probabilities - np.eye(3)[truth]) ** 2).sum(axis=1)
    assert result.metrics["brier"] == pytest.approx(brier.mean())
    right = sum(share * count for _, share, count in result.reliability)
    assert right == pytest.approx(result.confusion.trace())


def test_curves_end_in_the_metrics(rows, new_model):
    result = evaluate(rows, new_model(), curve_every=250, metrics_window=100)
    assert result.curve["sample"].tolist() == [250, 500, 600]
    for name, values in result.curve.items():
        assert values.shape == (3,), name
        if name.startswith("window_"):
            assert values[-1] == result.window[name.removeprefix("window_")]
        elif name != "sample":
            assert values[-1] == result.metrics[name]
    first = evaluate((rows[0][:250], rows[1][:250]), new_model(), metrics_window=100)
    assert result.curve["kappa"][0] == first.metrics["kappa"]
    assert result.curve["window_f1"][0] == first.window["f1"]
    frame = result.to_pandas()
    assert frame.index.tolist() == [250, 500, 600]
    assert frame.index.name == "sample"
    assert set(frame.columns) == set(result.curve) - {"sample"}
    assert frame["oca"].iloc[-1] == result.accuracy


@pytest.mark.parametrize("source", ["rows", "generator", "limit"])
def test_curves_have_about_a_hundred_points(source, rows, new_model):
    if source == "rows":
        result = evaluate(rows, new_model())
    elif source == "generator":
        result = evaluate("sea:samples=3000", new_model())
    else:
        result = evaluate("sea", new_model(), limit=1000)
    assert 90 <= len(result.curve["sample"]) <= 110


def test_late_labels_are_learned_late(rows, new_model):
    late, at_once = new_model(), new_model()
    result = evaluate(rows, late, delay=100)
    X, y = rows[0].to_dict("records"), rows[1]
    predictions = []
    for i, row in enumerate(X):
        if i >= 100:
            at_once.learn_one(X[i - 100], y[i - 100])
        predictions.append(at_once.predict_one(row))
    assert result.predictions.tolist() == predictions
    assert result.predictions[:100].tolist() == [None] * 100
    # The sample that is due is learned right after the last prediction.
    assert late.learned == 501
    assert_same_result(evaluate(rows, new_model(), delay=1), evaluate(rows, new_model()))


def test_a_limit_is_a_shorter_stream(rows, new_model):
    result = evaluate(rows, new_model(), limit=100, curve_every=100)
    short = evaluate((rows[0][:100], rows[1][:100]), new_model(), curve_every=100)
    assert_same_result(result, short)
    stream = broadstream.Stream("sea", limit=200)
    assert evaluate(stream, new_model()).samples == 200
    assert evaluate(stream, new_model(), limit=50).samples == 50
    assert evaluate(stream, new_model(), limit=500).samples == 200


def test_drifts_are_seen(new_model):
    result = evaluate("sea:noise=0,samples=8000", new_model(), drift_confidence=0.05)
    # SEA changes its concept three times, at every quarter.
    assert result.drifts
    assert all(sample > 2000 for sample in result.drifts)
    assert "drifts seen at " + str(result.drifts[0]) in str(result)
    bank = evaluate("sea:noise=0,samples=8000", new_model(preset="default"))
    assert bank.restarts
    assert all(sample > 2000 for sample in bank.restarts)
    assert "beginning anew at " + str(bank.restarts[0]) in str(bank)
    assert "beginning anew at" in bank._repr_html_()


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
    # What was left out stays so, and what is predicted is no input.
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


SOURCES = {
    "model that is not new": ("sea:samples=50", {"model": "trained"}, ValueError, "must be new"),
    "model that is none": ("sea:samples=50", {"model": 3}, TypeError, "OnlineBLS.*int"),
    "one class": (([[1.0]] * 5, [0] * 5), {}, ValueError, "one class '0'"),
    "no rows": (([], []), {}, ValueError, "empty"),
    "fewer labels": (([[1.0]] * 5, [0] * 4), {}, ValueError, "y must have 5 entries, got 4"),
    "missing label": (([[1.0]] * 2, [0, None]), {}, ValueError, "row 2: the label is missing"),
    "no labels": (([[1.0]] * 2, None), {}, (TypeError, ValueError), "."),
    "infinity": (([[1.0], [float("inf")]], [0, 1]), {}, ValueError, "row 2, column '0'"),
    "weights": (([[1.0]] * 2, [0, 1]), {"sample_weight": [1, -1]}, ValueError, "sample 2"),
    "fewer weights": (([[1.0]] * 2, [0, 1]), {"sample_weight": [1]}, ValueError, "2 entries, got 1"),
    "weights of a stream": ("sea:samples=50", {"sample_weight": [1.0]}, (TypeError, ValueError), "."),
    "table without target": (pd.DataFrame({"a": [1]}), {}, TypeError, "target="),
    "table without that target": (
        pd.DataFrame({"a": [1]}), {"target": "b"}, ValueError, "no column 'b': the columns are a"
    ),
    "rows with target": (([[1.0]], [0]), {"target": "a"}, ValueError, "target"),
    "stream with target": (broadstream.Stream("sea"), {"target": "a"}, ValueError, "target"),
    "array": (np.ones((2, 2)), {"target": "a"}, TypeError, "ndarray"),
    "three things": (([[1.0]], [0], [1.0]), {}, TypeError, "pair"),
    "nothing": (None, {}, TypeError, "pair"),
    "no such file": ("missing.csv", {}, FileNotFoundError, "missing.csv"),
    "no such parameter": ("sea:colour=1", {}, ValueError, "no parameter 'colour'"),
    "limit of 0": ("sea", {"limit": 0}, ValueError, "limit must be at least 1"),
    "limit below 0": ("sea", {"limit": -1}, ValueError, "limit"),
    "limit that is none": ("sea", {"limit": "all"}, TypeError, "."),
    "delay below 0": ("sea:samples=50", {"delay": -1}, ValueError, "delay"),
    "enormous delay": ("sea:samples=50", {"delay": 2**64}, ValueError, "delay"),
    "window of 0": ("sea", {"metrics_window": 0}, ValueError, "metrics_window must be at least 1"),
    "window below 0": ("sea", {"metrics_window": -1}, ValueError, "metrics_window"),
    "curve of 0": ("sea", {"curve_every": 0}, ValueError, "curve_every must be at least 1"),
    "confidence": ("sea", {"drift_confidence": 2}, ValueError, "drift_confidence must be between"),
    "confidence of NaN": ("sea", {"drift_confidence": float("nan")}, ValueError, "drift_confidence"),
    "unknown option": ("sea", {"speed": 2}, TypeError, "speed"),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_what_cannot_be_evaluated_is_refused(kind, trained, new_model):
    source, options, error, message = SOURCES[kind]
    model = options.get("model", new_model())
    model = trained if model == "trained" else model
    with pytest.raises(error, match=message):
        evaluate(source, **{**options, "model": model})


def test_a_trained_model_that_is_refused_is_left_alone(trained, no_trace, numbers):
    with no_trace(trained):
        for source in ("sea:samples=50", numbers):
            with pytest.raises(ValueError, match="must be new"):
                evaluate(source, trained)


def test_a_failure_leaves_the_model_as_far_as_it_has_come(numbers, new_model, saved):
    X, y = numbers[0].copy(), numbers[1].tolist()
    X[250, 2] = np.inf
    y[251:] = ["never reached"] * 49
    model, other = new_model(), new_model()
    with pytest.raises(ValueError, match="row 251, column '2'"):
        evaluate((X, y), model)
    other.learn_many(X[:250], y[:250])
    assert saved(model) == saved(other)
    model.learn_one(numbers[0][0], "new")
    assert model.labels[-1] == "new"


def test_progress_is_shown_if_asked_for(capfd, new_model):
    evaluate("sea:samples=100000", new_model(), progress=True)
    shown = capfd.readouterr()
    assert shown.out == ""
    assert "sea:samples=100000: " in shown.err
    assert " of 100,000 (" in shown.err
    assert "accuracy 0." in shown.err
    # The line is wiped in the end.
    assert shown.err.endswith(" \r")
    for progress in (False, None):
        evaluate("sea:samples=100000", new_model(), progress=progress)
        assert capfd.readouterr() == ("", "")


def test_figures_are_drawn(new_model, tmp_path):
    result = evaluate("sea:noise=0,samples=8000", new_model(), drift_confidence=0.05, curve_every=100)
    figure = result.plot()
    assert isinstance(figure, matplotlib.figure.Figure)
    axes = figure.axes[0]
    assert np.array_equal(axes.lines[0].get_ydata(), result.curve["oca"])
    assert np.array_equal(axes.lines[1].get_ydata(), result.curve["window_oca"])
    assert len(axes.lines) == 2 + len(result.drifts) + len(result.restarts)
    assert axes.get_ylabel() == "accuracy (OCA)"
    figure.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    own = matplotlib.figure.Figure()
    assert result.plot("ece", figure=own) is own
    # There is none of the last samples alone.
    assert len(own.axes[0].lines) == 1 + len(result.drifts) + len(result.restarts)
    with pytest.raises(ValueError, match="metric must be one of oca.*'speed'"):
        result.plot("speed")


def test_results_are_written_for_people(rows, new_model, tmp_path):
    path = tmp_path / "<b>&.csv"
    rows[0].assign(kind=rows[1]).to_csv(path, index=False)
    result = evaluate(path, new_model())
    text = str(result)
    assert f"accuracy (OCA)              {result.accuracy:10.4f}" in text
    assert "600 samples, 3 classes" in text
    assert result.model in text
    html = result._repr_html_()
    assert "&lt;b&gt;&amp;.csv" in html
    assert "<b>&.csv" not in html
    assert f"<td>{result.accuracy:.4f}</td>" in html
    assert repr(result).startswith("Evaluation(source=")
    assert "predictions" not in repr(result)


def test_time_is_told(rows, new_model):
    start = time.monotonic()
    result = evaluate(rows, new_model())
    taken = time.monotonic() - start
    assert 0 < result.seconds_learning + result.seconds_reading <= taken
    assert result.samples_per_second >= result.samples / taken
