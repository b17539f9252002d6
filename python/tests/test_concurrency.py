"""Models in several threads and in forked processes."""

from __future__ import annotations

import contextlib
import multiprocessing
import pickle
import signal
import threading
import time

import numpy as np
import pytest

# Far more than anything here takes on a busy machine, but less than a deadlock.
PATIENCE = 30


class Blocking:
    """A label that keeps the model in use until it is released."""

    def __init__(self):
        self.reached, self.released = threading.Event(), threading.Event()

    def __hash__(self):
        self.reached.set()
        self.released.wait(PATIENCE)
        return 1


@contextlib.contextmanager
def in_use(model):
    """Keep a model in use by another thread."""
    label = Blocking()
    thread = threading.Thread(target=model.learn_one, args=({"0": 1.0}, label), daemon=True)
    thread.start()
    assert label.reached.wait(PATIENCE)
    try:
        yield label
    finally:
        label.released.set()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def together(*calls):
    """Make calls at the same time, each in its own thread, and raise the first error."""
    failures = []

    def attempt(call):
        try:
            call()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=attempt, args=(call,), daemon=True) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads), "a call waits for ever"
    for failure in failures:
        raise failure


@pytest.mark.parametrize("threads", [1, 2])
def test_several_threads_use_one_model(threads, new_model, numbers):
    X, y = numbers
    model = new_model(threads=threads)
    model.learn_many(X, y)

    def learn_one():
        for x, label in zip(X[:100], y[:100]):
            model.learn_one(x, label)

    def learn_many():
        for _ in range(20):
            model.learn_many(X[:100], y[:100])

    def learn_new_labels():
        for i in range(20):
            model.learn_one({"0": 1.0, f"input {i}": 1.0}, f"label {i}")

    def predict():
        for x in X[:100]:
            assert model.predict_proba_one(x).keys() >= {0, 1, 2}

    def predict_many():
        for _ in range(20):
            probabilities = model.predict_proba_many(X)
            assert np.allclose(probabilities.sum(axis=1), 1)

    def look():
        for _ in range(20):
            assert pickle.loads(pickle.dumps(model)).learned <= model.learned
            assert len(model.copy().labels) <= len(model.labels)

    together(learn_one, learn_many, learn_new_labels, predict, predict_many, look)
    assert model.learned == len(X) + 100 + 2000 + 20
    assert len(model.labels) == 3 + 20
    assert len(model.inputs) == 4 + 20


def test_threads_that_learn_apart_learn_all(new_model, numbers):
    X, y = numbers
    model = new_model(nested_models=1)
    model.fit_scaling(X)
    one = model.copy()
    parts = np.array_split(np.arange(len(X)), 4)
    together(*(lambda part=part: model.learn_many(X[part], y[part]) for part in parts))
    one.learn_many(X, y)
    order = [model.labels.index(label) for label in one.labels]
    assert np.allclose(model.weights[:, order], one.weights, rtol=0, atol=1e-9)


def test_models_that_merge_into_each_other_do_not_wait_for_ever(frozen):
    one, other = frozen, frozen.copy()

    def merge(into, what):
        for _ in range(10):
            into.merge(what)

    together(lambda: merge(one, other), lambda: merge(other, one))
    # Each merge adds at least what the other model had at the start.
    assert min(one.learned, other.learned) >= 11 * 300


def test_a_model_that_is_in_use_is_waited_for(trained):
    with in_use(trained) as label:
        answers = []
        threads = [
            threading.Thread(target=lambda: answers.append(trained.predict_one({"0": 1.0})))
            for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        time.sleep(0.05)
        assert answers == []
        label.released.set()
        for thread in threads:
            thread.join(PATIENCE)
        assert len(answers) == 3


def test_other_threads_go_on_while_a_model_learns(new_model):
    X = np.random.default_rng(1).normal(size=(150_000, 3))
    model = new_model(enhancement_nodes=100)
    learning = threading.Thread(target=model.learn_many, args=(X, X[:, 0] > 0))
    ticks = 0
    learning.start()
    while learning.is_alive():
        time.sleep(0.002)
        ticks += 1
    # If learning held the interpreter, there would be only a few.
    assert ticks > 20


def in_child(work):
    """Return the result of a function run in a forked process."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def run():
        try:
            sender.send(work())
        except BaseException as failure:
            sender.send(failure)

    child = context.Process(target=run)
    child.start()
    try:
        assert receiver.poll(PATIENCE), "the child waits for ever"
        answer = receiver.recv()
        child.join(PATIENCE)
        assert child.exitcode == 0
    finally:
        child.kill()
        child.join()
    if isinstance(answer, BaseException):
        raise answer
    return answer


@pytest.mark.parametrize("threads", [1, 2])
def test_a_forked_process_goes_on_with_the_model(threads, new_model, numbers):
    X, y = numbers
    model = new_model(threads=threads, enhancement_nodes=200)
    model.learn_many(X[:200], y[:200])

    def learn():
        model.learn_many(X[200:], y[200:])
        return (
            model.weights,
            model.copy().predict_many(X),
            pickle.loads(pickle.dumps(model)).learned,
        )

    weights, predictions, learned = in_child(learn)
    model.learn_many(X[200:], y[200:])
    assert np.array_equal(weights, model.weights)
    assert np.array_equal(predictions, model.predict_many(X))
    assert learned == len(X)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_forked_process_may_drop_the_model(threads, new_model, numbers):
    models = [new_model(threads=threads, enhancement_nodes=200)]
    models[0].learn_many(*numbers)
    assert in_child(models.clear) is None
    assert models[0].learned == 300


@pytest.mark.parametrize("threads", [1, 2])
def test_a_model_in_use_while_forking_is_refused_in_the_child(threads, new_model):
    model = new_model(threads=threads)
    model.learn_one({"0": 1.0}, 0)
    copied = model.copy()
    with in_use(model):
        for call in (
            lambda: model.learned,
            lambda: model.predict_one({"0": 1.0}),
            lambda: model.learn_one({"0": 1.0}, 0),
            lambda: pickle.dumps(model),
            lambda: copied.merge(model),
        ):
            with pytest.raises(RuntimeError, match=r"in use by another thread when.*forked"):
                in_child(call)
        assert in_child(lambda: copied.learn_one({"0": 1.0}, 0)) is None


def test_a_signal_ends_waiting_for_a_model(trained):
    def stop(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    try:
        with in_use(trained) as label:
            # A thread that waits too long continues after a timeout, which is too late.
            timer = threading.Timer(10, label.released.set)
            timer.daemon = True
            timer.start()
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            start = time.monotonic()
            with pytest.raises(KeyboardInterrupt):
                trained.predict_one({"0": 1.0})
            assert time.monotonic() - start < 5
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
