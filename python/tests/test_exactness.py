"""Results do not depend on batches or on the number of threads."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

MODELS = {
    "single": {},
    "default": {"preset": "default"},
    "paper": {"preset": "paper", "feature_groups": 1},
    "forgetting": {"forgetting": 0.98},
    "forgetting and correction": {"forgetting": 0.99, "nested_models": 1, "correction_steps": 2},
    "window": {"window": 70},
    "class weights": {"class_weight": "balanced"},
    "scaling that freezes": {"scaling": "standard", "freeze_scaling_after": 100},
    "kept weights": {"keep_weights": True},
}


BATCHES = [1, 63, 64, 65, 200]


@pytest.fixture(scope="module")
def late_classes():
    """Samples with weights, some of them 0, and two classes that appear late."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(265, 4))
    y = (X[:, 0] > X[:, 1]).astype(int)
    y[90:] += (X[90:, 2] > 0.5) * 2
    y[200:] += (X[200:, 3] > 1) * 4
    return X, y, rng.choice([0.0, 0.5, 1.0, 3.0], size=len(X))


@pytest.fixture(scope="module")
def one_by_one(late_classes, new_model):
    """The results of learning one by one, by kind of model and whether weights are used."""
    X, y, w = late_classes
    known = {}

    def learned(kind, weighted):
        if (kind, weighted) not in known:
            model = new_model(**MODELS[kind])
            for i in range(len(X)):
                model.learn_one(X[i], y[i], w[i] if weighted else 1.0)
            known[kind, weighted] = model
        return known[kind, weighted]

    return learned


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("kind", MODELS)
def test_batches_give_the_bits_of_one_by_one(
    assert_same, kind, weighted, batch, late_classes, one_by_one, new_model, saved
):
    X, y, w = late_classes
    model = new_model(**MODELS[kind])
    for start in range(0, len(X), batch):
        part = slice(start, start + batch)
        model.learn_many(X[part], y[part], w[part] if weighted else None)
    assert_same(model, one_by_one(kind, weighted), X)
    assert saved(model) == saved(one_by_one(kind, weighted))


@pytest.mark.parametrize("seed", range(3))
def test_any_cut_gives_the_same_bits(assert_same, seed, late_classes, one_by_one, new_model):
    X, y, w = late_classes
    # Two cuts may coincide: an empty batch has no effect.
    cuts = np.sort(np.random.default_rng(seed).integers(0, len(X), size=8))
    model = new_model()
    for start, end in itertools.pairwise([0, *cuts, cuts[-1], len(X)]):
        model.learn_many(X[start:end], y[start:end], w[start:end])
    assert_same(model, one_by_one("single", True), X)


@pytest.mark.parametrize("kind", ["single", "default", "forgetting"])
def test_large_batches_are_cut_without_a_trace(assert_same, kind, new_model):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(6000, 3))
    y = (X[:, 0] > 0).astype(int)
    y[5000:] = 2
    options = {**MODELS[kind], "enhancement_nodes": 20}
    whole, parts = new_model(**options), new_model(**options)
    whole.learn_many(X, y)
    for start in range(0, len(X), 50):
        parts.learn_many(X[start : start + 50], y[start : start + 50])
    assert_same(whole, parts, X[:100])


@pytest.mark.parametrize("kind", ["single", "default", "forgetting", "window"])
def test_then_train_is_predicting_and_learning_in_turn(assert_same, kind, new_model, mixed_rows):
    rows, y = mixed_rows
    w = np.random.default_rng(3).choice([0.0, 1.0, 2.0], size=len(rows))
    at_once, in_turn = new_model(**MODELS[kind]), new_model(**MODELS[kind])
    predictions, probabilities, leverages = at_once.test_then_train(rows, y, w)
    assert probabilities.shape == (len(rows), len(at_once.labels))
    for i, row in enumerate(rows):
        assert predictions[i] == in_turn.predict_one(row)
        expected = in_turn.predict_proba_one(row)
        given = dict(zip(at_once.labels, probabilities[i]))
        assert given == {**dict.fromkeys(at_once.labels, 0.0), **expected}
        # test_then_train sums leverages in another order than leverage_one.
        assert leverages[i] == pytest.approx(in_turn.leverage_one(row), rel=1e-12)
        in_turn.learn_one(row, y[i], w[i])
    assert predictions[0] is None
    assert_same(at_once, in_turn, rows)


def test_then_train_does_not_depend_on_batches(new_model, mixed_rows):
    rows, y = mixed_rows
    whole = new_model().test_then_train(rows, y)
    for batch in BATCHES:
        model = new_model()
        starts = range(0, len(rows), batch)
        parts = [model.test_then_train(rows[s : s + batch], y[s : s + batch]) for s in starts]
        assert list(whole[0]) == [label for part in parts for label in part[0]]
        assert np.array_equal(whole[2], np.concatenate([part[2] for part in parts]))


@pytest.fixture(scope="module")
def mixed_rows():
    """Dictionaries of numbers and text with missing values, in which inputs and categories appear late."""
    rng = np.random.default_rng(4)
    rows, y = [], []
    for i in range(150):
        row = {"size": rng.normal(), "mode": f"m{rng.integers(0, 2 + i // 30)}"}
        # Two columns in which new categories appear together.
        row["site"] = f"s{rng.integers(0, 2 + i // 30)}"
        if rng.random() < 0.7:
            row["heat"] = rng.normal()
        if i > 80:
            row["late"] = float(rng.integers(0, 5))
        if rng.random() < 0.1:
            row["mode"] = None
        rows.append(dict(sorted(row.items())))
        y.append("high" if row["size"] > 0 else "low" if i < 100 else "lower")
    return rows, y


@pytest.mark.parametrize("many", [False, True], ids=["one by one", "at once"])
def test_the_order_of_keys_does_not_matter(assert_same, many, new_model, mixed_rows):
    rows, y = mixed_rows
    backward = [dict(reversed(row.items())) for row in rows]
    models = new_model(), new_model()
    for model, rows_of_model in zip(models, (rows, backward)):
        if many:
            model.learn_many(rows_of_model, y)
        else:
            for row, label in zip(rows_of_model, y):
                model.learn_one(row, label)
    assert_same(*models, rows)


def test_the_order_of_keys_does_not_matter_to_columns_without_values_so_far(
    assert_same, new_model, numbers
):
    X, y = numbers
    forward, backward = new_model(), new_model()
    for model, keys in [(forward, "abcd"), (backward, "dcba")]:
        model.learn_one(dict.fromkeys(keys), 0)
        for x, label in zip(X, y):
            values = dict(zip("abcd", x))
            model.learn_one({key: values[key] for key in keys}, label)
    assert_same(forward, backward, [dict(zip("abcd", x)) for x in X])


def test_absent_keys_are_none_and_nan(assert_same, new_model, mixed_rows):
    rows, y = mixed_rows
    names = sorted({name for row in rows for name in row})
    absent, none, nan = new_model(), new_model(), new_model()
    absent.learn_many([{k: v for k, v in row.items() if v is not None} for row in rows], y)
    none.learn_many([{name: row.get(name) for name in names} for row in rows], y)
    nan.learn_many([{name: float("nan"), **row} for name, row in zip(names * 30, rows)], y)
    assert_same(absent, none, rows)
    assert_same(absent, nan, rows)


@pytest.mark.parametrize("kind", ["single", "default", "forgetting"])
def test_threads_give_the_bits_of_one(assert_same, kind, numbers, new_model, saved):
    X, y = np.tile(numbers[0], (3, 1)), np.tile(numbers[1], 3)
    options = {**MODELS[kind], "enhancement_nodes": 300}
    one, two = new_model(**options), new_model(**options, threads=2)
    for model in (one, two):
        model.learn_many(X[:600], y[:600])
        model.test_then_train(X[600:], y[600:])
    assert_same(one, two, X[:100])
    assert saved(one) == saved(two)


def test_a_weight_is_that_many_samples(numbers, new_model):
    X, y = numbers
    weighted, repeated = new_model(nested_models=1), new_model(nested_models=1)
    counts = np.random.default_rng(8).integers(1, 4, size=len(X))
    for model in (weighted, repeated):
        model.fit_scaling(X)
    weighted.learn_many(X, y, counts)
    repeated.learn_many(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert np.allclose(weighted.weights, repeated.weights, rtol=0, atol=1e-9)
    assert weighted.learned == len(X)


def test_a_weight_of_0_only_announces_the_label(numbers, trained):
    X, _ = numbers
    weights, learned = trained.weights, trained.learned
    leverages = trained.leverage_many(X[:20])
    trained.learn_one(X[0], "announced", 0)
    assert trained.labels[-1] == "announced"
    assert trained.learned == learned
    assert np.array_equal(trained.weights[:, :-1], weights)
    assert not trained.weights[:, -1].any()
    assert np.array_equal(trained.leverage_many(X[:20]), leverages)


def test_predicting_many_is_predicting_one_by_one(trained, numbers):
    X = numbers[0]
    probabilities = trained.predict_proba_many(X)
    for x, label, row, leverage in zip(
        X, trained.predict_many(X), probabilities, trained.leverage_many(X)
    ):
        assert trained.predict_one(x) == label
        assert list(trained.predict_proba_one(x).values()) == row.tolist()
        assert trained.leverage_one(x) == leverage
    assert np.allclose(probabilities.sum(axis=1), 1)


@pytest.mark.parametrize(
    "rows",
    [
        np.ones((70, 4)),
        np.ones((70, 9)),
        [{"unknown": 1.0}] * 70,
        [{"unknown": "text"}] * 70,
        [{"0": 1.0, "mode": f"new {i}"} for i in range(70)],
        [{}],
    ],
    ids=["known", "wider", "unknown input", "unknown column", "unknown categories", "empty"],
)
@pytest.mark.parametrize("preset", ["single", "default"])
def test_predicting_changes_nothing(rows, preset, numbers, new_model, no_trace):
    X, y = numbers
    model = new_model(preset=preset)
    model.learn_many([{"0": x[0], "1": x[1], "mode": f"m{i % 3}"} for i, x in enumerate(X)], y)
    inputs = model.inputs
    with no_trace(model):
        model.predict_many(rows)
        model.predict_proba_many(rows)
        model.leverage_many(rows)
        model.predict_one(rows[0])
        model.predict_proba_one(rows[0])
        model.leverage_one(rows[0])
        model.explain_one(rows[0])
        model.explain_many(rows)
    assert model.inputs == inputs


def test_predicting_does_not_change_what_is_learned_later(mixed_rows, new_model, saved):
    rows, y = mixed_rows
    silent, asked = new_model(), new_model()
    for row, label in zip(rows, y):
        row = dict(reversed(row.items()))
        silent.learn_one(row, label)
        asked.predict_one({**row, "unknown": "text", "mode": "never learned"})
        asked.learn_one(row, label)
    assert saved(silent) == saved(asked)


def test_the_seed_makes_the_model(numbers, new_model):
    X, y = numbers
    models = [new_model(seed=seed) for seed in (1, 1, 2)]
    for model in models:
        model.learn_many(X, y)
    assert np.array_equal(models[0].weights, models[1].weights)
    assert not np.array_equal(models[0].weights, models[2].weights)
