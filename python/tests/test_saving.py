"""Saving, loading, copying and pickling models."""

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


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__qualname__)
@pytest.mark.parametrize("kind", KINDS)
def test_a_loaded_model_continues_identically(kind, way, numbers, new_model, saved):
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
def test_stopping_after_each_sample_is_never_having_stopped(way, unordered_rows, new_model, saved):
    model, other = new_model(), new_model()
    for row, label in zip(*unordered_rows):
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
    # The loaded labels are recognised, and not taken as new ones.
    other.learn_many(X[: len(labels)], labels)
    assert other.labels == labels


def test_labels_of_any_type_come_back_from_pickles(new_model, numbers):
    labels = [("a", 1), frozenset({2}), b"bytes", None.__class__, 1 + 2j]
    model = new_model()
    model.learn_many(numbers[0][:5], labels)
    assert pickled(model).labels == labels
    with pytest.raises(TypeError, match=r"tuple.*use pickle"):
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


def test_another_process_continues_identically(trained, numbers, tmp_path, saved):
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


def test_files_without_random_weights_are_smaller_and_the_same_model(
    numbers, new_model, assert_same
):
    X, y = numbers
    model = new_model(preset="default", enhancement_nodes=400)
    model.learn_many(X[:200], y[:200])
    files = {}
    for weights in ("keep", "omit"):
        file = io.BytesIO()
        model.save(file, weights=weights)
        files[weights] = file.getvalue()
    assert len(files["omit"]) < len(files["keep"])
    again = broadstream.OnlineBLS.load(io.BytesIO(files["omit"]))
    for one in (model, again):
        one.learn_many(X[200:], y[200:])
    assert_same(again, model, X)
    with pytest.raises(ValueError, match="weights must be 'keep' or 'omit', got 'half'"):
        model.save(io.BytesIO(), weights="half")


def test_files_in_single_precision_are_half_as_large_and_nearly_the_same(numbers, new_model):
    X, y = numbers
    model = new_model(enhancement_nodes=300)
    model.learn_many(X[:200], y[:200])
    exact, small = io.BytesIO(), io.BytesIO()
    model.save(exact)
    model.save(small, weights="omit", precision="single")
    assert len(small.getvalue()) < 0.55 * len(exact.getvalue())
    again = broadstream.OnlineBLS.load(io.BytesIO(small.getvalue()))
    assert (model.precision, again.precision) == ("double", "single")
    assert np.allclose(again.predict_proba_many(X), model.predict_proba_many(X), atol=1e-3)
    again.learn_many(X[200:], y[200:])
    assert again.learned == 300
    with pytest.raises(ValueError, match="precision must be 'double' or 'single', got 'half'"):
        model.save(io.BytesIO(), precision="half")


def test_a_model_in_single_precision_refuses_what_must_be_exact(frozen, numbers, no_trace):
    X, y = numbers
    small = io.BytesIO()
    frozen.save(small, precision="single")
    rounded = broadstream.OnlineBLS.load(io.BytesIO(small.getvalue()))
    for model, operation in [
        (rounded, lambda: rounded.unlearn_one(X[0], y[0])),
        (rounded, lambda: rounded.correct_one(X[0], y[0], 1 - min(y[0], 1))),
        (rounded, lambda: rounded.merge(frozen)),
        (frozen, lambda: frozen.merge(rounded)),
    ]:
        with no_trace(model), pytest.raises(ValueError, match="it was saved in single precision"):
            operation()
    assert pickled(rounded).precision == "single"
    assert rounded.like().precision == "double"


def test_pickles_are_small_where_the_code_around_says_so(numbers, new_model):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from broadstream.sklearn import OnlineBLSClassifier

    X, y = numbers
    pipeline = make_pipeline(StandardScaler(), OnlineBLSClassifier(enhancement_nodes=300))
    pipeline.fit(X, y)
    exact = pickle.dumps(pipeline)
    with broadstream.small_pickles():
        small = pickle.dumps(pipeline)
    with broadstream.small_pickles(precision="double"):
        lossless = pickle.dumps(pipeline)
    assert len(small) < 0.55 * len(exact) and len(lossless) < len(exact)
    assert pickle.dumps(pipeline) == exact, "outside it is exact"
    expected = pipeline.predict_proba(X)
    assert np.array_equal(pickle.loads(lossless).predict_proba(X), expected)
    assert np.allclose(pickle.loads(small).predict_proba(X), expected, atol=1e-3)


def test_options_of_pickles_end_with_their_block(trained):
    exact = pickle.dumps(trained)
    with pytest.raises(KeyError), broadstream.small_pickles():
        raise KeyError
    assert pickle.dumps(trained) == exact
    refused = pytest.raises(ValueError, match="weights must be 'keep' or 'omit', got 'half'")
    with refused, broadstream.small_pickles(weights="half"):
        pass
