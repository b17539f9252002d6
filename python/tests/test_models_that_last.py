"""Models that are saved, copied, merged and put right."""

from __future__ import annotations

import copy
import io
import pickle
import subprocess
import sys

import numpy as np
import pytest

import broadstream

KINDS = {
    "single": {},
    "default": {"preset": "default"},
    "forgetting": {"forgetting": 0.98},
    "window": {"window": 60},
    "class weights": {"class_weight": "balanced"},
    "kept weights": {"keep_weights": True},
}


def pickled(model):
    return pickle.loads(pickle.dumps(model))


def through_file(model):
    file = io.BytesIO()
    model.save(file)
    return broadstream.OnlineBLS.load(io.BytesIO(file.getvalue()))


WAYS = [pickled, through_file, broadstream.OnlineBLS.copy, copy.copy, copy.deepcopy]


@pytest.fixture(scope="module")
def rows():
    """Rows of numbers and texts, whose keys come in no order, and in which categories come late."""
    rng = np.random.default_rng(1)
    made = []
    for i, (size, heat) in enumerate(rng.normal(size=(160, 2))):
        modes = rng.integers(0, 2 + i // 20, size=2)
        row = {"size": size, "site": f"s{modes[0]}", "heat": heat, "mode": f"m{modes[1]}"}
        made.append(dict(list(row.items())[:: 1 if i % 2 else -1]))
    return made, ["big" if row["size"] > 0 else "small" for row in made]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__qualname__)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_read_goes_on_to_the_bit(kind, way, numbers, new_model, saved):
    X, y = numbers
    model = new_model(**KINDS[kind])
    model.learn_many(X[:150], y[:150])
    other = way(model)
    assert repr(other) == repr(model)
    assert saved(other) == saved(model)
    for one in (model, other):
        one.learn_many(X[150:], y[150:])
        one.learn_one({"0": 1.0, "late": "text"}, "late")
    assert np.array_equal(other.weights, model.weights)
    assert np.array_equal(other.predict_proba_many(X), model.predict_proba_many(X))
    assert saved(other) == saved(model)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__qualname__)
def test_stopping_after_each_sample_is_never_having_stopped(way, rows, new_model, saved):
    model, other = new_model(), new_model()
    for row, label in zip(*rows):
        model.learn_one(row, label)
        other.learn_one(row, label)
        other = way(other)
    assert other.inputs == model.inputs
    assert saved(other) == saved(model)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__qualname__)
def test_new_models_are_kept_too(way, numbers, new_model):
    X, y = numbers
    model, other = new_model(seed=5), way(new_model(seed=5))
    assert (other.labels, other.inputs, other.learned) == ([], [], 0)
    for one in (model, other):
        one.learn_many(X, y)
    assert np.array_equal(other.weights, model.weights)


@pytest.mark.parametrize("way", WAYS[2:], ids=lambda way: way.__qualname__)
def test_copies_are_independent(way, trained, numbers):
    X, _ = numbers
    other = way(trained)
    weights, before = trained.weights, pickle.dumps(trained)
    other.learn_many(X[:20], ["new"] * 20)
    other.learn_one({"new input": 1.0, "new column": "text"}, 0)
    assert pickle.dumps(trained) == before
    assert np.array_equal(trained.weights, weights)
    assert other.labels == [*trained.labels, "new"]
    assert len(other.inputs) == len(trained.inputs) + 2


def test_pickles_do_not_depend_on_when_they_are_made(trained, numbers, new_model):
    other = new_model()
    for x, label in zip(numbers[0][:100], numbers[1][:100].tolist()):
        other.learn_one(x, label)
        other.predict_one(x)
    assert pickle.dumps(trained) == pickle.dumps(other) == pickle.dumps(pickled(trained))


def test_paths_and_open_files_are_the_same(trained, tmp_path, saved):
    trained.save(tmp_path / "path.bsm")
    trained.save(str(tmp_path / "text.bsm"))
    with open(tmp_path / "open.bsm", "wb") as file:
        file.write(b"before")
        trained.save(file)
        assert not file.closed
    assert (tmp_path / "path.bsm").read_bytes() == saved(trained)
    assert (tmp_path / "text.bsm").read_bytes() == saved(trained)
    assert (tmp_path / "open.bsm").read_bytes() == b"before" + saved(trained)
    for path in (tmp_path / "path.bsm", str(tmp_path / "text.bsm")):
        assert saved(broadstream.OnlineBLS.load(path)) == saved(trained)
    with open(tmp_path / "open.bsm", "rb") as file:
        file.seek(6)
        assert saved(broadstream.OnlineBLS.load(file)) == saved(trained)
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize(
    "labels",
    [
        [3, -1, 0],
        [2**70, -(2**70)],
        ["b", "a", "", " a ", "naïve\n"],
        [True, False],
        [0.1, -0.0, 1e300, float("inf")],
        ["1", 1, 2.5, "2.5", "True", False],
        [1, "1", "'1'", "'1''"],
    ],
    ids=str,
)
def test_labels_come_back_from_files_with_their_types(labels, new_model, numbers):
    X, _ = numbers
    model = new_model()
    model.learn_many(X[: len(labels)], labels)
    other = through_file(model)
    assert other.labels == labels
    assert [type(label) for label in other.labels] == [type(label) for label in labels]
    # They are found again, and are no new labels.
    other.learn_many(X[: len(labels)], labels)
    assert other.labels == labels


def test_labels_of_any_type_come_back_from_pickles(new_model, numbers):
    labels = [("a", 1), frozenset({2}), b"bytes", None.__class__, 1 + 2j]
    model = new_model()
    model.learn_many(numbers[0][:5], labels)
    assert pickled(model).labels == labels
    with pytest.raises(TypeError, match="tuple.*pickle keeps any"):
        model.save(io.BytesIO())


def test_columns_named_like_the_target_are_kept(new_model):
    model = new_model()
    for i in range(20):
        model.learn_one({"y": float(i), "class": "ab"[i % 2], "target": 1.0}, "xy"[i % 2])
    other = through_file(model)
    assert other.inputs == model.inputs
    row = {"y": 3.0, "class": "b", "target": 1.0}
    assert other.predict_proba_one(row) == model.predict_proba_one(row)


def test_threads_are_kept_by_pickles_and_copies(new_model, numbers):
    model = new_model(threads=2)
    model.learn_many(*numbers)
    assert pickled(model).config["threads"] == 2
    assert model.copy().config["threads"] == 2
    assert np.array_equal(pickled(model).weights, model.weights)


def test_another_process_goes_on_to_the_bit(trained, numbers, tmp_path, saved):
    X, y = numbers
    trained.save(tmp_path / "model.bsm")
    np.savez(tmp_path / "rows.npz", X=X[100:], y=y[100:])
    program = (
        "import numpy as np, broadstream; rows = np.load('rows.npz');"
        "model = broadstream.OnlineBLS.load('model.bsm');"
        "model.learn_many(rows['X'], rows['y']); model.save('model.bsm')"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, timeout=60)
    trained.learn_many(X[100:], y[100:])
    assert (tmp_path / "model.bsm").read_bytes() == saved(trained)


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


def test_merging_matches_labels_and_inputs_by_name(new_model, rows):
    rows, y = rows
    y = [*y[:80], *["new" if label == "big" else label for label in y[80:]]]
    here, there, one = (
        # How many inputs a sample has would else go by the first.
        new_model(nested_models=1, scaling="none", inputs_per_sample=4) for _ in range(3)
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
    # Categories of the other one are known now.
    known = here.inputs
    here.learn_many(second, y[80:])
    assert here.inputs == known
    one.learn_many(second, y[80:])
    assert np.allclose(here.weights, one.weights, rtol=0, atol=1e-9)
    assert through_file(here).inputs == known


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
    # It is frozen: what is learned can be taken back.
    alike.learn_one(X[0] * 1e6, 0)
    alike.unlearn_one(X[0] * 1e6, 0)
    assert np.allclose(alike.weights, before.weights, rtol=0, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_what_is_taken_back_was_never_learned(weighted, new_model, numbers):
    X, y = numbers
    w = np.random.default_rng(4).uniform(0.5, 2, size=len(X)) if weighted else np.ones(len(X))
    model, never = new_model(nested_models=1), new_model(nested_models=1)
    for one in (model, never):
        one.fit_scaling(X)
    never.learn_many(X[:200], y[:200], w[:200])
    model.learn_many(X, y, w)
    certificate = model.unlearn_many(X[201:], y[201:], w[201:])
    assert certificate.samples == 99
    assert certificate.residual_before < 1e-12
    assert certificate.residual_after < 1e-12
    one = model.unlearn_one(X[200], y[200], w[200])
    assert one.samples == 1
    assert one.residual_after < 1e-12
    assert repr(one).startswith("Certificate(samples=1, residual_before=")
    assert np.allclose(model.weights, never.weights, rtol=0, atol=1e-9)
    assert np.allclose(model.predict_proba_many(X), never.predict_proba_many(X), rtol=0, atol=1e-9)


def test_one_sample_of_any_kind_is_taken_back(new_model, rows):
    rows, y = rows
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
    assert wrong.correct_one(X[7], mistaken[7], corrected[7]).residual_after < 1e-12
    certificate = wrong.correct_one(X[9], mistaken[9], "new")
    assert (certificate.samples, certificate.residual_after < 1e-12) == (1, True)
    assert wrong.labels[-1] == "new"
    order = [wrong.labels.index(label) for label in right.labels]
    assert np.allclose(wrong.weights[:, order], right.weights, rtol=0, atol=1e-9)


def test_the_config_makes_the_same_model(new_model, numbers):
    X, y = numbers
    for options in KINDS.values():
        model = new_model(**options, seed=3)
        other = broadstream.OnlineBLS(**model.config)
        assert repr(other) == repr(model)
        written = eval(repr(model), {"OnlineBLS": broadstream.OnlineBLS})
        for one in (model, other, written):
            one.learn_many(X[:80], y[:80])
        assert np.array_equal(model.weights, other.weights)
        assert np.array_equal(model.weights, written.weights)


def test_a_model_knows_its_size(trained, new_model):
    assert sys.getsizeof(trained) > trained.weights.nbytes
    assert sys.getsizeof(new_model(enhancement_nodes=500)) > 500**2 / 2 * 8
