"""Predictions of one thread do not wait for the whole of what another learns."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest


def test_predictions_wait_for_a_piece_and_not_for_a_batch(new_model):
    X = np.random.default_rng(0).normal(size=(60_000, 5))
    y = (X[:, 0] > 0).astype(int)
    model = new_model(enhancement_nodes=300)
    model.learn_many(X[:100], y[:100])
    learning = threading.Thread(target=model.learn_many, args=(X, y))
    learning.start()
    seen = []
    while learning.is_alive():
        model.predict_one(X[0])
        model.predict_many(X[:3])
        seen.append(model.learned)
        time.sleep(0.001)
    learning.join()
    # A reader that waited for the whole batch would see one state of the model, or two. It sees more and more
    # samples, and never a part of one.
    assert seen == sorted(seen) and len(set(seen)) > 3
    assert model.learned == len(X) + 100


def test_a_reader_sees_what_was_learned_and_no_more(new_model, numbers):
    """Labels and inputs at the end of a batch are announced before they are learned."""
    X = np.random.default_rng(0).normal(size=(30_000, 3))
    y = (X[:, 0] > 0).astype(int).tolist()
    rows = [dict(zip("abc", row)) for row in X.tolist()]
    rows[-1] = {"a": 1.0, "late": "text"}
    y[-1] = "late"
    model = new_model(enhancement_nodes=200)
    learning = threading.Thread(target=model.learn_many, args=(rows, y))
    learning.start()
    found = []
    while learning.is_alive():
        labels = model.labels
        probabilities = model.predict_proba_one({"a": 1.0, "unseen": "x"})
        table = model.predict_proba_many([{"a": 0.5}])
        found.append((len(labels), len(probabilities), table.shape[1]))
    learning.join()
    early = [counts for counts in found if counts[2] < 3]
    assert early and max(max(counts) for counts in early) <= 2
    assert model.labels == [y[0], 1 - y[0], "late"]
    other = new_model(enhancement_nodes=200)
    other.learn_many(rows, y)
    assert np.array_equal(model.weights, other.weights), "readers leave nothing behind"
    assert model.inputs == other.inputs


def test_a_batch_that_is_refused_leaves_nothing_though_others_read(new_model, no_trace):
    rows = [{"a": float(i % 9), f"b{i // 5000}": 1.0} for i in range(40_000)]
    y = [i % 3 for i in range(len(rows))]
    rows[-1] = {"a": "no number"}
    model = new_model()
    model.learn_many([{"a": 1.0}, {"a": 2.0}], [0, 1])
    done = threading.Event()

    def read():
        while not done.is_set():
            model.predict_one({"a": 1.0, "new": "x"})

    reader = threading.Thread(target=read)
    reader.start()
    try:
        with no_trace(model), pytest.raises(ValueError, match="row 40000, column 'a'"):
            model.learn_many(rows, y)
    finally:
        done.set()
        reader.join()
    assert model.inputs == ["a"] and model.labels == [0, 1]


def test_batches_of_two_threads_are_learned_one_after_the_other(new_model):
    X = np.random.default_rng(0).normal(size=(4000, 3))
    model, expected = new_model(), [new_model(), new_model()]
    parts = [(X, ["a", "b"] * 2000), (X[::-1], ["c", "d"] * 2000)]
    threads = [threading.Thread(target=model.learn_many, args=part) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, order in zip(expected, (parts, parts[::-1])):
        for part in order:
            one.learn_many(*part)
    assert any(np.array_equal(model.weights, one.weights) for one in expected)
