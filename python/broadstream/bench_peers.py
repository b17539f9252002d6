"""Compare broadstream with River's ensembles in one process, and Python's calls with Rust's.

    python -m broadstream.bench_peers
    python -m broadstream.bench_peers --rounds 1 --methods "broadstream, by rows" "River ARF(10)"

Each sample is predicted and then learned. Accuracies are those of one run with seed 0. Speeds are the best
of several rounds in which the methods take turns, so that a busy machine is a busy machine for all of them.
Needs River: pip install broadstream[river]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import broadstream

Sample = tuple[dict[str, Any], Any]
# Accuracy and seconds of a run over samples.
Run = Callable[[list[Sample]], tuple[float, float]]


def main() -> None:
    arguments = _arguments()
    streams = _streams(arguments.limit)
    chosen = {name: run for name, run in METHODS.items() if name in arguments.methods}
    results: dict[tuple[str, str], tuple[float, float]] = {}
    for turn in range(arguments.rounds):
        for stream, samples in streams.items():
            for method, run in chosen.items():
                _say(f"round {turn + 1} of {arguments.rounds}: {method} on {stream}")
                accuracy, seconds = run(samples)
                speed = len(samples) / seconds
                before = results.get((method, stream))
                results[method, stream] = (accuracy, max(speed, before[1] if before else 0.0))
    _say("")
    _print_table(list(chosen), streams, results)
    if not arguments.no_calls:
        print()
        _print_calls(arguments.rounds)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m broadstream.bench_peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=3, help="rounds of timing [default: 3]")
    parser.add_argument("--limit", type=int, help="take at most so many samples of each stream")
    parser.add_argument(
        "--methods",
        nargs="+",
        choices=list(METHODS),
        default=list(METHODS),
        metavar="METHOD",
        help=f"some of {', '.join(repr(name) for name in METHODS)} [default: all]",
    )
    parser.add_argument(
        "--no-calls", action="store_true", help="leave out the comparison of Python with Rust"
    )
    arguments = parser.parse_args()
    if arguments.rounds < 1 or (arguments.limit is not None and arguments.limit < 10):
        parser.error("--rounds must be at least 1 and --limit at least 10")
    return arguments


def _streams(limit: int | None) -> dict[str, list[Sample]]:
    """SEA with three drifts and a tenth of the labels flipped, and two streams that come with River."""
    from river import datasets

    streams: dict[str, Iterable[Sample]] = {
        "SEA 10k": broadstream.Stream("sea:samples=10000"),
        "Phishing": datasets.Phishing(),
        "Image Segment": datasets.ImageSegments(),
    }
    return {name: list(samples)[:limit] for name, samples in streams.items()}


def _one_by_one(make: Callable[[], Any]) -> Run:
    """A model with River's face."""

    def run(samples: list[Sample]) -> tuple[float, float]:
        model, correct = make(), 0
        start = time.perf_counter()
        for x, y in samples:
            correct += model.predict_one(x) == y
            model.learn_one(x, y)
        return correct / len(samples), time.perf_counter() - start

    return run


def _by_rows(make: Callable[[], broadstream.OnlineBLS]) -> Run:
    """A model that is given all samples at once, and predicts each before it learns it."""

    def run(samples: list[Sample]) -> tuple[float, float]:
        rows, labels = [x for x, _ in samples], [y for _, y in samples]
        model = make()
        start = time.perf_counter()
        predictions, _, _ = model.test_then_train(rows, labels)
        seconds = time.perf_counter() - start
        correct = sum(prediction == y for prediction, y in zip(predictions.tolist(), labels))
        return correct / len(samples), seconds

    return run


def _forest() -> Any:
    from river import forest

    return forest.ARFClassifier(n_models=10, seed=0)


def _bagging() -> Any:
    from river import ensemble, tree

    tree = tree.HoeffdingTreeClassifier()
    return ensemble.LeveragingBaggingClassifier(model=tree, n_models=10, seed=0)


def _tree() -> Any:
    from river import tree

    return tree.HoeffdingTreeClassifier()


def _logistic_regression() -> Any:
    from river import linear_model, multiclass, preprocessing

    model = multiclass.OneVsRestClassifier(linear_model.LogisticRegression())
    return preprocessing.StandardScaler() | model


def _river() -> Any:
    from broadstream.river import OnlineBLSClassifier

    return OnlineBLSClassifier()


METHODS: dict[str, Run] = {
    "broadstream, by rows": _by_rows(lambda: broadstream.OnlineBLS()),
    "broadstream, one by one": _one_by_one(lambda: broadstream.OnlineBLS()),
    "broadstream.river, one by one": _one_by_one(_river),
    "broadstream single, by rows": _by_rows(lambda: broadstream.OnlineBLS(preset="single")),
    "broadstream single, one by one": _one_by_one(lambda: broadstream.OnlineBLS(preset="single")),
    "River ARF(10)": _one_by_one(_forest),
    "River LeveragingBagging(10)": _one_by_one(_bagging),
    "River HoeffdingTree": _one_by_one(_tree),
    "River LogisticRegression": _one_by_one(_logistic_regression),
}


def _print_table(
    methods: list[str],
    streams: dict[str, list[Sample]],
    results: dict[tuple[str, str], tuple[float, float]],
) -> None:
    print("Accuracy in percent @ samples per second\n")
    print("| | " + " | ".join(streams) + " |")
    print("|---|" + "---:|" * len(streams))
    for method in methods:
        cells = (results[method, stream] for stream in streams)
        texts = (f"{100 * accuracy:.1f} @ {speed:,.0f}" for accuracy, speed in cells)
        print(f"| {method} | " + " | ".join(texts) + " |")


def _print_calls(rounds: int) -> None:
    """What Python's calls cost beside Rust's."""
    rounds = max(rounds, 5)
    samples = 2000
    stream = broadstream.generate("random-rbf", samples=samples, inputs=20)
    X, y = stream.arrays()
    rust = python = float("inf")
    for turn in range(rounds):
        _say(f"round {turn + 1} of {rounds}: Python beside Rust")
        model = broadstream.OnlineBLS()
        result = broadstream.evaluate(stream, model, progress=False, curve_every=samples)
        rust = min(rust, result.seconds_learning)
        model = broadstream.OnlineBLS()
        start = time.perf_counter()
        model.test_then_train(X, y)
        python = min(python, time.perf_counter() - start)
    _say("")
    print(f"Bulk learning at the default size, 20 inputs, {samples} samples, best of {rounds}:")
    print(f"  from a numpy array  {samples / python:8,.0f} samples/s")
    print(
        f"  within Rust         {samples / rust:8,.0f} samples/s, {python / rust - 1:+.1%} in time\n"
    )
    print("learn_one of a dictionary with 20 nodes, the whole call:")
    for inputs in (3, 10, 50):
        seconds = min(_learn_one(inputs) for _ in range(rounds))
        print(f"  {inputs:2} inputs  {1e6 * seconds:5.1f} µs")


def _learn_one(inputs: int, samples: int = 2000) -> float:
    """Seconds per call of `learn_one` on a model so small that little is left but the call."""
    values = np.random.default_rng(0).normal(size=(samples, inputs))
    rows = [{f"input {j}": float(x) for j, x in enumerate(row)} for row in values]
    labels = (values[:, 0] > 0).tolist()
    model = broadstream.OnlineBLS(
        preset="single", feature_groups=1, feature_nodes=10, enhancement_nodes=10, nested_models=1
    )
    model.learn_one(rows[0], labels[0])
    start = time.perf_counter()
    for x, label in zip(rows, labels):
        model.learn_one(x, label)
    return (time.perf_counter() - start) / samples


def _say(text: str) -> None:
    """Progress, where somebody looks."""
    if sys.stderr.isatty():
        sys.stderr.write("\r" + text.ljust(70) + ("\r" if not text else ""))
        sys.stderr.flush()


if __name__ == "__main__":
    main()
