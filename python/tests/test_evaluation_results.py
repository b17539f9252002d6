"""The results of an evaluation: metrics, curves, drifts and figures."""

from __future__ import annotations

import time

import matplotlib
import matplotlib.axes
import matplotlib.figure
import numpy as np
import pytest
import sklearn.metrics

from broadstream import evaluate


def test_metrics_are_those_of_scikit_learn(flowers, flower_rows, new_model):
    result = evaluate(flower_rows, new_model(), metrics_window=200)
    truth = flowers["kind"].to_numpy()
    # A missing prediction counts as wrong, whatever the label is.
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


def test_probabilities_are_judged_as_scikit_learn_does(flower_rows, new_model):
    result = evaluate(flower_rows, new_model())
    _, probabilities, _ = new_model().test_then_train(*flower_rows)
    truth = [result.labels.index(label) for label in flower_rows[1]]
    chosen = probabilities[np.arange(600), truth]
    tiny = np.finfo(float).eps
    assert result.metrics["log_loss"] == pytest.approx(-np.log(chosen.clip(tiny, 1 - tiny)).mean())
    brier = ((probabilities - np.eye(3)[truth]) ** 2).sum(axis=1)
    assert result.metrics["brier"] == pytest.approx(brier.mean())
    right = sum(share * count for _, share, count in result.reliability)
    assert right == pytest.approx(result.confusion.trace())


def test_curves_end_in_the_metrics(flower_rows, new_model):
    result = evaluate(flower_rows, new_model(), curve_every=250, metrics_window=100)
    assert result.curve["sample"].tolist() == [250, 500, 600]
    members = {member["name"]: member for member in result.members}
    assert members
    for name, values in result.curve.items():
        assert values.shape == (3,), name
        kind, _, member = name.partition(":")
        if kind in ("weight", "features"):
            assert values[-1] == members[member][kind], name
        elif name.startswith("window_"):
            assert values[-1] == result.window[name.removeprefix("window_")]
        elif name != "sample":
            assert values[-1] == result.metrics[name]
    for name in members:
        assert {f"weight:{name}", f"features:{name}"} <= set(result.curve)
    first = evaluate((flower_rows[0][:250], flower_rows[1][:250]), new_model(), metrics_window=100)
    assert result.curve["kappa"][0] == first.metrics["kappa"]
    assert result.curve["window_f1"][0] == first.window["f1"]
    frame = result.to_pandas()
    assert frame.index.tolist() == [250, 500, 600]
    assert frame.index.name == "sample"
    assert set(frame.columns) == set(result.curve) - {"sample"}
    assert frame["oca"].iloc[-1] == result.accuracy


@pytest.mark.parametrize("source", ["flower_rows", "generator", "limit"])
def test_curves_have_about_a_hundred_points(source, flower_rows, new_model):
    if source == "flower_rows":
        result = evaluate(flower_rows, new_model())
    elif source == "generator":
        result = evaluate("sea:samples=3000", new_model())
    else:
        result = evaluate("sea", new_model(), limit=1000)
    assert 90 <= len(result.curve["sample"]) <= 110


def test_drifts_are_detected(new_model):
    result = evaluate("sea:noise=0,samples=8000", new_model(), drift_confidence=0.05)
    # SEA changes its concept three times, at every quarter.
    assert result.drifts
    assert all(sample > 2000 for sample in result.drifts)
    assert "drift detected at: " + str(result.drifts[0]) in str(result)
    bank = evaluate("sea:noise=0,samples=8000", new_model(preset="default"))
    assert bank.restarts
    assert all(sample > 2000 for sample in bank.restarts)
    assert "restarts after drift: " + str(bank.restarts[0]) in str(bank)
    assert "restarts after drift:" in bank._repr_html_()


def test_progress_is_shown_if_asked_for(capfd, new_model):
    evaluate("sea:samples=100000", new_model(), progress=True)
    shown = capfd.readouterr()
    assert shown.out == ""
    assert "sea:samples=100000: " in shown.err
    assert " of 100,000 (" in shown.err
    assert "accuracy 0." in shown.err
    # The line is erased at the end.
    assert shown.err.endswith(" \r")
    for progress in (False, None):
        evaluate("sea:samples=100000", new_model(), progress=progress)
        assert capfd.readouterr() == ("", "")


@pytest.fixture
def pyplot():
    """Pyplot with a backend that draws into memory, and no figure."""
    matplotlib.use("agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.close("all")
    yield plt
    plt.close("all")


def test_figures_are_drawn(new_model, pyplot, tmp_path):
    result = evaluate(
        "sea:noise=0,samples=8000", new_model(), drift_confidence=0.05, curve_every=100
    )
    axes = result.plot()
    assert isinstance(axes, matplotlib.axes.Axes)
    assert np.array_equal(axes.lines[0].get_ydata(), result.curve["oca"])
    assert np.array_equal(axes.lines[1].get_ydata(), result.curve["window_oca"])
    assert len(axes.lines) == 2 + len(result.drifts) + len(result.restarts)
    assert axes.get_ylabel() == "accuracy (OCA)"
    axes.figure.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    _, own = pyplot.subplots()
    assert result.plot("ece", ax=own) is own
    # This metric has no windowed version.
    assert len(own.lines) == 1 + len(result.drifts) + len(result.restarts)
    with pytest.raises(ValueError, match=r"metric must be one of oca.*'speed'"):
        result.plot("speed")


def test_figures_are_those_of_pyplot(flower_rows, new_model, pyplot):
    """So a notebook shows them at the end of a cell, and a program with `plt.show()`."""
    result = evaluate(flower_rows, new_model())
    first = result.plot()
    assert pyplot.gcf() is first.figure and pyplot.gca() is first
    drawn = [result.plot(metric) for metric in ("kappa", "f1")]
    assert [axes.figure.number for axes in drawn] == [2, 3], "each call has a figure of its own"
    _, side_by_side = pyplot.subplots(1, 2)
    for axes, metric in zip(side_by_side, ("oca", "mcc")):
        assert result.plot(metric, ax=axes) is axes
    assert len(pyplot.get_fignums()) == 4
    # A figure without pyplot works too.
    own = matplotlib.figure.Figure()
    assert result.plot(ax=own.subplots()).figure is own


def test_results_are_written_for_people(flower_rows, new_model, tmp_path):
    path = tmp_path / "<b>&.csv"
    flower_rows[0].assign(kind=flower_rows[1]).to_csv(path, index=False)
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


def test_times_are_reported(flower_rows, new_model):
    start = time.monotonic()
    result = evaluate(flower_rows, new_model())
    taken = time.monotonic() - start
    assert 0 < result.seconds_learning + result.seconds_reading <= taken
    assert result.samples_per_second >= result.samples / taken
