"""Saves that are interrupted, killed, forked or made in several threads lose nothing."""

from __future__ import annotations

import copy
import io
import multiprocessing
import signal
import subprocess
import sys
import threading
import time

import pytest

import broadstream

# Saves a model again and again, with one more sample each time, and says so after each save.
SAVER = """
import sys, broadstream
model = broadstream.OnlineBLS.load(sys.argv[1])
try:
    for i in range(100_000):
        model.learn_one({"a": float(i % 7)}, i % 2)
        model.save(sys.argv[1])
        print(model.learned, flush=True)
except KeyboardInterrupt:
    sys.exit(7)
"""


def small_model(seed=0):
    return broadstream.OnlineBLS(preset="single", enhancement_nodes=100, seed=seed)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_save_that_is_interrupted_leaves_a_whole_file(number, tmp_path):
    path = tmp_path / "model.bsm"
    small_model().save(path)
    for attempt in range(12):
        program = [sys.executable, "-c", SAVER, str(path)]
        with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as saver:
            for _ in range(3):
                saver.stdout.readline()
            time.sleep(attempt * 0.0011)
            saver.send_signal(number)
            said = [int(line) for line in saver.stdout.read().split()]
            code = saver.wait()
        assert code == (7 if number == signal.SIGINT else -signal.SIGKILL)
        learned = broadstream.OnlineBLS.load(path).learned
        # Nothing is lost that was said to be saved.
        assert not said or said[-1] <= learned <= said[-1] + 1
    small_model().save(path)
    assert list(tmp_path.iterdir()) == [path], "whoever saves next cleans up"


def test_forked_and_threaded_saves_wait_for_each_other(tmp_path, saved):
    path = tmp_path / "model.bsm"
    models = [small_model(seed) for seed in range(3)]
    for model in models:
        model.learn_one({"a": 1.0}, "x")
    # A child may not use a model that a thread was using as it was forked.
    copies = [copy.deepcopy(model) for model in models]
    contents = {saved(model) for model in models}
    models[0].save(path)
    failures = []

    def save(model):
        try:
            for _ in range(15):
                model.save(path)
        except BaseException as failure:
            failures.append(failure)

    context = multiprocessing.get_context("fork")
    told = context.SimpleQueue()

    def save_in_child(model):
        save(model)
        told.put([repr(failure) for failure in failures])

    threads = [threading.Thread(target=save, args=(model,)) for model in models[:2]]
    for thread in threads:
        thread.start()
    # While the threads save, so that a child may begin with a lock that is not its own.
    children = [context.Process(target=save_in_child, args=(model,)) for model in copies * 2]
    for child in children:
        child.start()
    while any(worker.is_alive() for worker in [*threads, *children]):
        assert path.read_bytes() in contents
    assert failures == []
    assert [told.get() for _ in children] == [[]] * len(children)
    assert list(tmp_path.iterdir()) == [path]


class Piecemeal(io.RawIOBase):
    """Takes a few bytes at a time, as a file without a buffer may."""

    def __init__(self, most):
        self.content = b""
        self.most = most

    def writable(self):
        return True

    def write(self, content):
        taken = bytes(content[: self.most])
        self.content += taken
        return len(taken) if taken else None


def test_an_open_file_that_takes_a_part_gets_the_rest(saved):
    model = small_model()
    file = Piecemeal(1000)
    model.save(file)
    assert file.content == saved(model)
    with pytest.raises(BlockingIOError, match="takes nothing more"):
        model.save(Piecemeal(0))
