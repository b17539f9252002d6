"""Merging models and unlearning samples."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import broadstream


def test_merged_models_are_one(new_model, numbers):
    X, y = numbers
    one = new_model(nested_models=1)
    one.fit_scaling(X)
    here, there = one.like(), one.like()
    assert here.learned == 0
    assert here.labels == []
    one.learn_many(X, y)
    here.learn_many(X[:100], y[:100])
    there.learn_many(X[100:], y[100:])
    before = pickle.dumps(there)
    here.merge(there)
    assert pickle.dumps(there) == before
    assert here.learned == one.learned == len(X)
    order = [here.labels.index(label) for label in one.labels]
    assert np.allclose(here.weights[:, order], one.weights, rtol=0, atol=1e-9)
    assert np.allclose(
        here.predict_proba_many(X)[:, order], one.predict_proba_many(X), rtol=0, atol=1e-9
    )
    here.learn_many(X[:50], y[:50])
    one.learn_many(X[:50], y[:50])
    assert np.allclose(here.weights[:, order], one.weights, rtol=0, atol=1e-9)


def test_merging_matches_labels_and_inputs_by_name(new_model, unordered_rows):
    rows, y = unordered_rows
    y = [*y[:80], *["new" if label == "big" else label for label in y[80:]]]
    here, there, one = (
        # Otherwise the first sample would determine the number of inputs per sample.
        new_model(nested_models=1, scaling="none", inputs_per_sample=4)
        for _ in range(3)
    )
    first = [{key: row[key] for key in ("size", "site", "mode")} for row in rows[:80]]
    second = [{key: row[key] for key in ("mode", "heat", "size")} for row in rows[80:]]
    here.learn_many(first, y[:80])
    there.learn_many(second, y[80:])
    one.learn_many([*first, *second], y)
    here.merge(there)
    assert here.labels == one.labels == [*here.labels[:2], "new"]
    assert sorted(here.inputs) == sorted(one.inputs)
    assert np.allclose(here.weights, one.weights, rtol=0, atol=1e-9)
    # The categories of the other model are known now.
    known = here.inputs
    here.learn_many(second, y[80:])
    assert here.inputs == known
    one.learn_many(second, y[80:])
    assert np.allclose(here.weights, one.weights, rtol=0, atol=1e-9)
    assert pickle.loads(pickle.dumps(here)).inputs == known


def test_merging_with_itself_counts_twice(frozen, numbers):
    X, y = numbers
    twice = frozen.copy()
    twice.learn_many(X, y)
    frozen.merge(frozen)
    assert np.allclose(frozen.weights, twice.weights, rtol=0, atol=1e-9)
    assert frozen.learned == twice.learned


def test_a_fitted_scaling_does_not_depend_on_the_order_of_samples(new_model, numbers):
    X, y = numbers
    order = np.random.default_rng(2).permutation(len(X))
    models = [new_model(nested_models=1) for _ in range(2)]
    for model, rows_of_model in zip(models, (np.arange(len(X)), order)):
        model.fit_scaling(X)
        assert (model.learned, model.labels) == (0, [])
        model.learn_many(X[rows_of_model], y[rows_of_model])
    columns = [models[1].labels.index(label) for label in models[0].labels]
    assert np.allclose(models[0].weights, models[1].weights[:, columns], rtol=0, atol=1e-9)


def test_a_fitted_scaling_counts_weights(new_model, numbers):
    X, y = numbers
    counts = np.random.default_rng(3).integers(0, 3, size=len(X))
    weighted, repeated = (new_model(nested_models=1, scaling="standard") for _ in range(2))
    weighted.fit_scaling(X, counts)
    repeated.fit_scaling(np.repeat(X, counts, axis=0))
    for model in (weighted, repeated):
        model.learn_many(X, y)
    assert np.allclose(weighted.weights, repeated.weights, rtol=0, atol=1e-9)


def test_models_alike_scale_as_the_first_has_come_to(new_model, numbers):
    X, y = numbers
    model = new_model(nested_models=1)
    model.learn_many(X * [1, 10, 100, 1000], y)
    alike = model.like()
    assert alike.learned == 0
    alike.learn_many(X * [1, 10, 100, 1000], y)
    before = alike.copy()
    # The scaling is frozen, so samples can be unlearned.
    alike.learn_one(X[0] * 1e6, 0)
    alike.unlearn_one(X[0] * 1e6, 0)
    assert np.allclose(alike.weights, before.weights, rtol=0, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_unlearned_samples_leave_no_trace(weighted, new_model, numbers):
    X, y = numbers
    w = np.random.default_rng(4).uniform(0.5, 2, size=len(X)) if weighted else np.ones(len(X))
    model, never = new_model(nested_models=1), new_model(nested_models=1)
    for one in (model, never):
        one.fit_scaling(X)
    never.learn_many(X[:200], y[:200], w[:200])
    model.learn_many(X, y, w)
    certificate = model.unlearn_many(X[201:], y[201:], w[201:])
    assert certificate.samples == 99
    assert certificate.error < 1e-10
    assert certificate.condition >= 1
    one = model.unlearn_one(X[200], y[200], w[200])
    assert one.samples == 1
    assert one.error < 1e-10
    assert repr(one).startswith("Certificate(samples=1, error=")
    assert np.allclose(model.weights, never.weights, rtol=0, atol=1e-9)
    assert np.allclose(model.predict_proba_many(X), never.predict_proba_many(X), rtol=0, atol=1e-9)


def test_samples_of_any_kind_can_be_unlearned(new_model, unordered_rows):
    rows, y = unordered_rows
    model = new_model(nested_models=1, scaling="none")
    model.learn_many(rows, y)
    before = model.weights
    model.learn_one(rows[0], y[0], 2.0)
    assert not np.allclose(model.weights, before, rtol=0, atol=1e-9)
    model.unlearn_one(rows[0], y[0], 2.0)
    assert np.allclose(model.weights, before, rtol=0, atol=1e-9)
    model.learn_one({"size": 1.0}, y[0])
    model.unlearn_many([{"size": 1.0}], [y[0]])
    assert np.allclose(model.weights, before, rtol=0, atol=1e-9)


def test_corrected_labels_are_as_if_they_had_been_right(new_model, numbers):
    X, y = numbers
    wrong, right = new_model(nested_models=1), new_model(nested_models=1)
    mistaken = y.tolist()
    mistaken[7], corrected = 1 - int(y[7] > 0), y.tolist()
    corrected[9] = "new"
    for one, labels in ((wrong, mistaken), (right, corrected)):
        one.fit_scaling(X)
        one.learn_many(X, labels)
    assert wrong.correct_one(X[7], mistaken[7], corrected[7]).error < 1e-10
    certificate = wrong.correct_one(X[9], mistaken[9], "new")
    assert (certificate.samples, certificate.error < 1e-10) == (1, True)
    assert wrong.labels[-1] == "new"
    order = [wrong.labels.index(label) for label in right.labels]
    assert np.allclose(wrong.weights[:, order], right.weights, rtol=0, atol=1e-9)


def test_health_tells_when_scores_cannot_be_trusted():
    options = {"preset": "single", "nested_models": 1, "scaling": "none", "enhancement_nodes": 20}
    sound, doubtful = broadstream.OnlineBLS(**options), broadstream.OnlineBLS(**options)
    rows = [[float(i % 7), float(i % 11)] for i in range(300)]
    labels = [int(a > 3) for a, _ in rows]
    sound.learn_many(rows, labels)
    doubtful.learn_many([[1.7e9 + i, b] for i, (_, b) in enumerate(rows)], labels)
    (regression,) = sound.health()
    assert regression["error"] < 1e-9 and regression["condition"] >= 1
    assert doubtful.health()[0]["error"] > 1e-7
    with pytest.raises(ValueError, match=r"cannot merge: .* condition number .*'0' \(1.7e9\)"):
        sound.merge(doubtful)
