"""Ctrl-C interrupts long calls and leaves models usable."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest

import broadstream

# Signals are checked ten times a second. A busy machine may need longer, but the calls interrupted here
# would take longer still.
SOON = 3


@pytest.fixture(scope="module")
def long_stream():
    """More rows than can be learned while a test waits, with a label that appears only at the end."""
    X = np.random.default_rng(1).normal(size=(400_000, 3))
    y = (X[:, 0] > 0).astype(int)
    y[-1] = 2
    return X, y


@contextlib.contextmanager
def interrupted(after=0.8):
    """Send Ctrl-C, and check that the call ends soon."""
    sent = []

    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, send)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            yield
        heard = time.monotonic()
    finally:
        timer.cancel()
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert heard - sent[0] < SOON


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("method", ["learn_many", "test_then_train"])
def test_ctrl_c_keeps_the_samples_learned_before_it(method, threads, long_stream, new_model):
    X, y = long_stream
    options = {"enhancement_nodes": 400, "threads": threads}
    model = new_model(**options)
    with interrupted():
        getattr(model, method)(X, y)
    learned = model.learned
    assert 0 < learned < len(X)
    assert model.labels == list(dict.fromkeys(y[:10].tolist()))
    other = new_model(**options)
    other.learn_many(X[:learned], y[:learned])
    for one in (model, other):
        one.learn_one(X[-1], 2)
        one.learn_one(X[-2], y[-2])
    assert model.labels == other.labels
    assert np.array_equal(model.weights, other.weights)
    assert np.array_equal(model.predict_proba_many(X[:50]), other.predict_proba_many(X[:50]))


def test_ctrl_c_leaves_no_trace_of_rows_that_were_not_reached(new_model):
    rows = [{"a": float(i % 7)} for i in range(400_000)]
    rows[-1] = {"a": 1.0, "b": "text"}
    y = [i % 2 for i in range(len(rows))]
    model = new_model(enhancement_nodes=400)
    with interrupted(0.6):
        model.learn_many(rows, y)
    assert 0 <= model.learned < len(rows)
    assert model.inputs == (["a"] if model.learned else [])
    # The column was never learned, so it may still hold numbers.
    model.learn_many([{"a": 1.0, "b": 2.0}] * 2, [0, 1])
    assert model.inputs == ["a", "b"]


@pytest.mark.parametrize("method", ["predict_many", "predict_proba_many", "leverage_many"])
def test_ctrl_c_ends_a_prediction(method, trained, no_trace):
    rows = np.broadcast_to(np.ones(4), (100_000_000, 4))
    with no_trace(trained), interrupted(0.2):
        getattr(trained, method)(rows)


def test_ctrl_c_leaves_a_scaling_unfitted(long_stream, new_model, no_trace):
    model = new_model()
    rows = np.broadcast_to(np.ones(4), (100_000_000, 4))
    with no_trace(model), interrupted(0.2):
        model.fit_scaling(rows)
    model.learn_many(*(part[:100] for part in long_stream))
    assert model.learned == 100


@pytest.mark.parametrize("kind", ["rows", "stream", "late labels"])
def test_ctrl_c_ends_an_evaluation(kind, long_stream, new_model):
    source = "sea:samples=100000000" if kind == "stream" else long_stream
    model = new_model(enhancement_nodes=300)
    with interrupted(0.4):
        broadstream.evaluate(source, model, progress=False, delay=100 * (kind == "late labels"))
    learned = model.learned
    assert learned > 0
    assert len(model.labels) == len(model.inputs) - 1 == 2
    assert model.predict_many(long_stream[0][:10]).tolist() != [None] * 10
    label = "late" if kind == "stream" else 2
    model.learn_one([1.0, 2.0, 3.0], label)
    assert model.labels[-1] == label
    assert model.learned == pickle.loads(pickle.dumps(model)).learned == learned + 1


def test_ctrl_c_ends_the_reading_of_a_stream():
    with interrupted(0.3):
        broadstream.Stream("sea:samples=1000000000").arrays()


def test_ctrl_c_ends_the_shuffling_of_a_stream():
    with interrupted(0.3):
        broadstream.Stream("sea:samples=50000000", shuffle=1).arrays()


@contextlib.contextmanager
def alarms(handler, every=0.05):
    before = signal.signal(signal.SIGALRM, lambda *_: handler())
    signal.setitimer(signal.ITIMER_REAL, every, every)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("call", ["learn_many", "evaluate"])
def test_a_signal_handler_that_uses_the_model_gets_an_error(call, long_stream, new_model):
    X, y = (part[:100_000] for part in long_stream)
    model = new_model(enhancement_nodes=100)
    refused = []

    def use():
        for attempt in (
            lambda: model.predict_one(X[0]),
            lambda: model.labels,
            lambda: repr(model),
            lambda: pickle.dumps(model),
            lambda: model.copy(),
        ):
            try:
                attempt()
            except RuntimeError as error:
                refused.append(str(error))

    if call == "learn_many":
        with alarms(use):
            model.learn_many(X, y)
    else:
        with alarms(use):
            broadstream.evaluate((X, y), model, progress=False)
    assert len(refused) >= 5
    assert all("already in use by the call that led here" in message for message in refused)
    assert model.learned == len(X)
    assert model.predict_one(X[0]) in (0, 1)


def test_an_exception_of_a_signal_handler_ends_a_call(long_stream, new_model):
    def fail():
        raise LookupError("enough")

    model = new_model(enhancement_nodes=400)
    with pytest.raises(LookupError, match="enough"), alarms(fail, 0.8):
        model.learn_many(*long_stream)
    # On a busy machine the signal may come while rows are still being checked.
    assert model.learned < len(long_stream[0])
