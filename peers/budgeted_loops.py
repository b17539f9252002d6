"""Loops that predict and then learn the samples of a stream, and end early if time runs out.

A loop never abandons what it has begun: it looks at the clock between two samples, two chunks or two
refits. So it may take longer than its budget, and its result counts what it has really done.
"""

import time
from collections import Counter
from dataclasses import asdict, dataclass

# The samples of the first chunk, after which the speed is known.
FIRST_CHUNK = 500
# How much of the budget a chunk is meant to take. Trees become slower as they grow, so that a loop may
# end later than meant, but not by much.
CHUNK_SHARE = 1 / 8


class Stopwatch:
    """Wall-clock and processor time since it was made, the latter of all threads of the process."""

    def __init__(self):
        self._start, self._cpu_start = time.perf_counter(), time.process_time()

    def seconds(self):
        return time.perf_counter() - self._start

    def cpu_seconds(self):
        return time.process_time() - self._cpu_start


@dataclass
class Outcome:
    """What a loop has done, and how long it took."""

    samples: int
    correct: int
    seconds: float
    cpu_seconds: float

    def record(self):
        return asdict(self)


def one_by_one(model, samples, budget, watch=Stopwatch):
    """Run a model with River's interface over pairs of a sample and a label."""
    count = correct = 0
    watch = watch()
    for x, y in samples:
        if watch.seconds() >= budget:
            break
        correct += model.predict_one(x) == y
        model.learn_one(x, y)
        count += 1
    return Outcome(count, correct, watch.seconds(), watch.cpu_seconds())


def in_chunks(learn_chunk, total, budget, watch=Stopwatch):
    """Run a learner that has a loop of its own: `learn_chunk(n)` returns how many of the next n
    predictions were correct."""
    count = correct = 0
    watch = watch()
    while chunk := next_chunk(count, total, watch.seconds(), budget):
        correct += learn_chunk(chunk)
        count += chunk
    return Outcome(count, correct, watch.seconds(), watch.cpu_seconds())


def next_chunk(done, total, seconds, budget):
    """The number of samples in the next chunk; 0 at the end of the stream or of the budget."""
    if seconds >= budget:
        return 0
    left = total - done
    if done == 0 or seconds <= 0:
        return min(FIRST_CHUNK, left)
    fitting = done / seconds * min(CHUNK_SHARE * budget, budget - seconds)
    return left if fitting >= left else max(1, int(fitting))


def refitted(fit, x, y, every, budget, watch=Stopwatch):
    """Refit a batch learner on everything seen after every so many samples.

    `fit(x, y)` returns a function from samples to labels, which predicts until the next refit. Before
    the first one, the most frequent label so far is predicted.
    """
    correct, end, predict, seen = 0, 0, None, Counter()
    watch = watch()
    while end < len(y) and watch.seconds() < budget:
        begin, end = end, min(end + every, len(y))
        if predict:
            correct += int((predict(x[begin:end]) == y[begin:end]).sum())
        else:
            for label in y[begin:end].tolist():
                correct += bool(seen) and seen.most_common(1)[0][0] == label
                seen[label] += 1
        # One class alone is nothing to fit.
        if predict or len(seen) > 1:
            predict = fit(x[:end], y[:end])
    return Outcome(end, correct, watch.seconds(), watch.cpu_seconds())
