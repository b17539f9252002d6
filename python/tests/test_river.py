"""River's own checks, and the estimator in River's pipelines."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from river import checks, compose, datasets, evaluate, metrics, preprocessing

import broadstream
from broadstream.river import OnlineBLSClassifier

MODEL = OnlineBLSClassifier(enhancement_nodes=100)
CHECKS = list(checks.yield_checks(MODEL))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_every_check_of_an_estimator_passes(check):
    check(MODEL.clone())


def test_no_check_is_left_out():
    assert len(CHECKS) == 65
    assert not MODEL._unit_test_skips()
    names = {check.__name__ for check in CHECKS}
    assert {"check_learn_many_matches_learn_one", "check_shuffle_features_no_impact"} <= names


def test_it_learns_in_a_pipeline_and_with_late_labels():
    model = preprocessing.StandardScaler() | OnlineBLSClassifier(enhancement_nodes=100)
    phishing = list(datasets.Phishing())
    now = evaluate.progressive_val_score(iter(phishing), model.clone(), metrics.Accuracy()).get()
    late = evaluate.progressive_val_score(
        iter(phishing), model.clone(), metrics.Accuracy(), delay=200
    ).get()
    assert now > 0.87 and late > 0.87
    assert late != now


def test_text_numbers_and_truth_values_mix():
    model = OnlineBLSClassifier(preset="single", enhancement_nodes=50)
    seen = metrics.Accuracy()
    for x, y in datasets.Bananas().take(300):
        x = {**x, "side": "left" if x["1"] < 0 else "right", "high": x["2"] > 0, "nothing": None}
        prediction = model.predict_one(x)
        if prediction is not None:
            seen.update(y, prediction)
        model.learn_one(x, y)
    assert seen.get() > 0.7
    assert {"side=left", "side=right", "high", "1", "2"} == set(model.model.inputs)


def test_features_come_and_go():
    rng = np.random.default_rng(0)
    model, correct = OnlineBLSClassifier(preset="single", enhancement_nodes=50), 0
    for i in range(600):
        x = {name: rng.normal() for name in "abcde" if rng.random() < 0.8}
        y = x.get("a", 0.0) + x.get("b", 0.0) > 0
        correct += model.predict_one(x) == y
        if i == 300:
            x["late"] = 1.0
        model.learn_one(x, y)
    assert correct / 600 > 0.8
    assert "late" in model.model.inputs


def test_tables_are_exactly_their_rows():
    rows = list(datasets.ImageSegments().take(150))
    X, y = pd.DataFrame([x for x, _ in rows]), pd.Series([y for _, y in rows])
    many, one = MODEL.clone(), MODEL.clone()
    many.learn_many(X, y)
    for x, label in rows:
        one.learn_one(x, label)
    probabilities = many.predict_proba_many(X)
    assert np.array_equal(probabilities, one.predict_proba_many(X))
    assert probabilities.columns.tolist() == y.unique().tolist()
    assert probabilities.loc[7].to_dict() == one.predict_proba_one(rows[7][0])
    index = pd.Index(["x", "y"])
    assert many.predict_many(X[:2].set_index(index)).index.equals(index)


def test_weights_count():
    rows = [({"a": float(i % 2)}, i % 3 == 0) for i in range(60)]
    twice, weighted = (
        OnlineBLSClassifier(preset="single", scaling="none", nested_models=1) for _ in range(2)
    )
    for x, y in rows:
        weighted.learn_one(x, y, w=2.0)
        twice.learn_one(x, y)
        twice.learn_one(x, y)
    for x, _ in rows[:2]:
        assert weighted.predict_proba_one(x)[True] == pytest.approx(
            twice.predict_proba_one(x)[True]
        )


def test_seeds_and_options_reach_the_model():
    model = OnlineBLSClassifier(preset="single", ridge=0.5, seed=3)
    assert model.model.config["ridge"] == 0.5 and model.model.config["seed"] == 3
    assert "ridge=0.5" in repr(model)
    with pytest.raises(ValueError, match="ridge must be above 0"):
        OnlineBLSClassifier(ridge=0)


def test_our_generators_are_those_of_river():
    ours = broadstream.Stream("hyperplane:inputs=4,seed=7,magnitude=0.01,noise=0.05,samples=50")
    from river.datasets import synth

    theirs = synth.Hyperplane(
        seed=7, n_features=4, n_drift_features=2, mag_change=0.01, noise_percentage=0.05
    )
    for (x, y), (river_x, river_y) in zip(ours, theirs.take(50)):
        assert list(x.values()) == list(river_x.values())
        assert y == str(river_y)


def test_it_takes_part_in_unions():
    select = compose.Select("age_of_domain", "long_url")
    union = select + compose.Discard("age_of_domain", "long_url")
    model = union | OnlineBLSClassifier(enhancement_nodes=50)
    metric = evaluate.progressive_val_score(datasets.Phishing().take(300), model, metrics.F1())
    assert metric.get() > 0.7


def test_tables_of_polars_are_learned_and_answered(flower_rows):
    frame, y = flower_rows
    options = {"preset": "single", "enhancement_nodes": 20}
    model, expected = OnlineBLSClassifier(**options), OnlineBLSClassifier(**options)
    table = pl.from_pandas(frame)
    model.learn_many(table, pl.Series(y))
    expected.learn_many(frame, pd.Series(y))
    predicted = model.predict_many(table)
    assert isinstance(predicted, pl.Series)
    assert predicted.to_list() == expected.predict_many(frame).tolist()
    probabilities = model.predict_proba_many(table)
    assert probabilities.columns == model.model.labels
    assert np.array_equal(probabilities.to_numpy(), expected.predict_proba_many(frame).to_numpy())
