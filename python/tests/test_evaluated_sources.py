"""Evaluations take iterables, datasets and streams of other libraries, and models that have learned."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from river import datasets

import broadstream
from broadstream import evaluate
from broadstream.river import OnlineBLSClassifier as RiverModel


def pairs_of(rows):
    return list(zip(rows[0].to_dict("records"), rows[1]))


@pytest.mark.parametrize("kind", [list, iter, lambda pairs: (pair for pair in pairs)])
def test_pairs_are_rows_with_labels(kind, flower_rows, new_model):
    result = evaluate(kind(pairs_of(flower_rows)), new_model())
    expected = evaluate(flower_rows, new_model())
    assert result.metrics == expected.metrics
    assert result.predictions.tolist() == expected.predictions.tolist()


def test_an_endless_iterable_is_read_up_to_the_limit(new_model):
    read = []

    def endless():
        for i in itertools.count():
            read.append(i)
            yield {"a": float(i % 7)}, i % 7 > 3

    assert evaluate(endless(), new_model(), limit=200).samples == 200
    assert len(read) == 200


def test_an_exception_of_an_iterable_ends_the_evaluation(new_model):
    def broken():
        yield from (({"a": float(i % 5)}, i % 2) for i in range(100))
        raise LookupError("the sensor is gone")

    model = new_model()
    with pytest.raises(LookupError, match="the sensor is gone"):
        evaluate(broken(), model)
    assert model.learned == 100 and model.labels == [0, 1]


def test_datasets_of_river(new_model):
    result = evaluate(datasets.Phishing(), new_model())
    assert result.source == "Phishing"
    assert result.samples == 1250 and result.accuracy > 0.8
    model = new_model()
    for x, y in datasets.Phishing():
        model.learn_one(x, y)
    assert model.labels == result.labels


def test_streams_of_capymoa(new_model):
    from capymoa.evaluation import prequential_evaluation
    from capymoa.stream.generator import SEA

    from broadstream.capymoa import OnlineBLS

    stream = SEA()
    options = {"preset": "single", "enhancement_nodes": 50, "seed": 1}
    result = evaluate(stream, broadstream.OnlineBLS(**options), limit=800)
    assert result.source == "SEA" and result.samples == 800
    del options["seed"]
    learner = OnlineBLS(stream.get_schema(), random_seed=1, **options)
    theirs = prequential_evaluation(stream, learner, max_instances=800)
    # Not the same model: inputs have names here, and random features follow names.
    assert 100 * result.accuracy == pytest.approx(theirs["cumulative"].accuracy(), abs=3)


@pytest.mark.parametrize("kind", ["rows", "pairs", "csv"])
def test_a_model_that_has_learned_goes_on(kind, flowers, flower_rows, new_model, tmp_path, saved):
    first, rest = (
        (flower_rows[0][:200], flower_rows[1][:200]),
        (
            flower_rows[0][200:],
            flower_rows[1][200:],
        ),
    )
    model, expected = new_model(), new_model()
    for one in (model, expected):
        one.learn_many(*first)
    predictions, _, _ = expected.test_then_train(*rest)
    source = rest if kind == "rows" else list(zip(rest[0].to_dict("records"), rest[1]))
    if kind == "csv":
        flowers[200:].to_csv(tmp_path / "rest.csv", index=False)
        source = tmp_path / "rest.csv"
    result = evaluate(source, model)
    assert result.predictions.tolist() == predictions.tolist()
    assert result.labels == model.labels == expected.labels
    assert result.predictions[0] is not None
    if kind != "csv":
        assert saved(model) == saved(expected)
    # And once more, from where it is now.
    assert evaluate(rest, model).accuracy > result.accuracy


def test_a_learned_model_knows_the_labels_of_a_file_by_their_text(new_model, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n" + "".join(f"{i % 7},{str(i % 7 > 3).lower()}\n" for i in range(90)))
    model = new_model()
    model.learn_many([{"a": float(i % 7)} for i in range(90)], [i % 7 > 3 for i in range(90)])
    result = evaluate(path, model)
    assert result.labels == model.labels == [False, True]
    assert result.accuracy > 0.9


def test_a_refused_row_leaves_a_learned_model_as_far_as_it_has_come(trained, numbers):
    X, y = numbers
    rows = [(dict(zip("0123", row)), label) for row, label in zip(X[:30].tolist(), y[:30])]
    rows[20] = ({"0": "no number"}, 0)
    learned = trained.learned
    with pytest.raises(ValueError, match="row 21, column '0'"):
        evaluate(rows, trained)
    assert trained.learned == learned + 20
    trained.learn_one(X[0], "new")
    assert trained.labels[-1] == "new"


def test_estimators_for_river_are_their_model(flower_rows):
    options = {"preset": "single", "enhancement_nodes": 20}
    model = RiverModel(**options)
    result = evaluate(flower_rows, model)
    expected = evaluate(flower_rows, broadstream.OnlineBLS(**options))
    assert result.metrics == expected.metrics
    assert model.model.learned == 600
    assert result.model.startswith("OnlineBLSClassifier")


def test_callbacks_see_each_point_and_may_end_the_evaluation(flower_rows, new_model):
    points = []
    result = evaluate(flower_rows, new_model(), curve_every=100, callback=points.append)
    assert [point["sample"] for point in points] == [100, 200, 300, 400, 500, 600]
    for name in ("oca", "kappa", "window_oca"):
        assert [point[name] for point in points] == result.curve[name].tolist()
    model = new_model()
    ended = evaluate(
        flower_rows, model, curve_every=100, callback=lambda point: point["sample"] < 300
    )
    assert ended.samples == model.learned == 300
    assert evaluate(flower_rows, new_model(), callback=lambda point: None).samples == 600

    def fail(point):
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        evaluate(flower_rows, new_model(), curve_every=100, callback=fail)


def test_progress_shows_the_time_left(capfd, new_model):
    X = np.random.default_rng(0).normal(size=(120_000, 3))
    evaluate((X, X[:, 0] > 0), new_model(), progress=True)
    shown = capfd.readouterr().err
    assert "█" in shown and " left" in shown and " of 120,000 (" in shown
