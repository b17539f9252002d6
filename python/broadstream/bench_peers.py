"""Compare broadstream with River's ensembles in one process, and calls from Python with Rust.

    python -m broadstream.bench_peers
    python -m broadstream.bench_peers --rounds 1 --methods "broadstream, by rows" "River ARF(10)"

Each sample is predicted and then learned. The methods take turns for several rounds, each with a different
seed. Accuracies are means over the rounds; speeds are the best round, so that a busy machine does not matter.
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
# Runs a method on samples with a seed; returns accuracy and seconds.
Run = Callable[[list[Sample], int], tuple[float, float]]


def main() -> None:
    arguments = _arguments()
    streams = _streams(arguments.limit)
    chosen = {name: run for name, run in METHODS.items() if name in arguments.methods}
    results: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for turn in range(arguments.rounds):
        for stream, samples in streams.items():
            for method, run in chosen.items():
                _show_progress(f"round {turn + 1} of {arguments.rounds}: {method} on {stream}")
                accuracy, seconds = run(samples, turn)
                results.setdefault((method, stream), []).append((accuracy, len(samples) / seconds))
    _show_progress("")
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
    parser.add_argument("--limit", type=int, help="use at most this many samples of each stream")
    parser.add_argument(
        "--methods",
        nargs="+",
        choices=list(METHODS),
        default=list(METHODS),
        metavar="METHOD",
        help=f"some of {', '.join(repr(name) for name in METHODS)} [default: all]",
    )
    parser.add_argument(
        "--no-calls", action="store_true", help="skip the comparison of Python with Rust"
    )
    arguments = parser.parse_args()
    if arguments.rounds < 1 or (arguments.limit is not None and arguments.limit < 10):
        parser.error("--rounds must be at least 1 and --limit at least 10")
    return arguments


def _streams(limit: int | None) -> dict[str, list[Sample]]:
    """Load SEA, with three drifts and 10 % of labels flipped, and two streams included in River."""
    from river import datasets

    streams: dict[str, Iterable[Sample]] = {
        "SEA 10k": broadstream.Stream("sea:samples=10000"),
        "Phishing": datasets.Phishing(),
        "Image Segment": datasets.ImageSegments(),
    }
    return {name: list(samples)[:limit] for name, samples in streams.items()}


def _one_by_one(make: Callable[[int], Any]) -> Run:
    """Run a model with River's interface, one sample at a time."""

    def run(samples: list[Sample], seed: int) -> tuple[float, float]:
        model, correct = make(seed), 0
        start = time.perf_counter()
        for x, y in samples:
            correct += model.predict_one(x) == y
            model.learn_one(x, y)
        return correct / len(samples), time.perf_counter() - start

    return run


def _by_rows(make: Callable[[int], broadstream.OnlineBLS]) -> Run:
    """Run a model on all samples at once; it predicts each before learning it."""

    def run(samples: list[Sample], seed: int) -> tuple[float, float]:
        rows, labels = [x for x, _ in samples], [y for _, y in samples]
        model = make(seed)
        start = time.perf_counter()
        predictions, _, _ = model.test_then_train(rows, labels)
        seconds = time.perf_counter() - start
        correct = sum(prediction == y for prediction, y in zip(predictions.tolist(), labels))
        return correct / len(samples), seconds

    return run


def _forest(seed: int) -> Any:
    from river import forest

    return forest.ARFClassifier(n_models=10, seed=seed)


def _bagging(seed: int) -> Any:
    from river import ensemble, tree

    model = tree.HoeffdingTreeClassifier()
    return ensemble.LeveragingBaggingClassifier(model=model, n_models=10, seed=seed)


def _tree(_seed: int) -> Any:
    from river import tree

    return tree.HoeffdingTreeClassifier()


def _logistic_regression(_seed: int) -> Any:
    from river import linear_model, multiclass, preprocessing

    model = multiclass.OneVsRestClassifier(linear_model.LogisticRegression())
    return preprocessing.StandardScaler() | model


def _single(seed: int) -> broadstream.OnlineBLS:
    return broadstream.OnlineBLS(preset="single", seed=seed)


def _river(seed: int) -> Any:
    from broadstream.river import OnlineBLSClassifier

    return OnlineBLSClassifier(seed=seed)


METHODS: dict[str, Run] = {
    "broadstream, by rows": _by_rows(lambda seed: broadstream.OnlineBLS(seed=seed)),
    "broadstream, one by one": _one_by_one(lambda seed: broadstream.OnlineBLS(seed=seed)),
    "broadstream.river, one by one": _one_by_one(_river),
    "broadstream single, by rows": _by_rows(_single),
    "broadstream single, one by one": _one_by_one(_single),
    "River ARF(10)": _one_by_one(_forest),
    "River LeveragingBagging(10)": _one_by_one(_bagging),
    "River HoeffdingTree": _one_by_one(_tree),
    "River LogisticRegression": _one_by_one(_logistic_regression),
}


def _print_table(
    methods: list[str],
    streams: dict[str, list[Sample]],
    results: dict[tuple[str, str], list[tuple[float, float]]],
) -> None:
    print("Accuracy in percent @ samples per second\n")
    print("| | " + " | ".join(streams) + " |")
    print("|---|" + "---:|" * len(streams))
    for method in methods:
        texts = []
        for stream in streams:
            accuracies, speeds = zip(*results[method, stream])
            texts.append(f"{100 * np.mean(accuracies):.1f} @ {max(speeds):,.0f}")
        print(f"| {method} | " + " | ".join(texts) + " |")


def _print_calls(rounds: int) -> None:
    """Print the cost of calls from Python compared with Rust."""
    rounds = max(rounds, 5)
    samples = 2000
    stream = broadstream.generate("random-rbf", samples=samples, inputs=20)
    X, y = stream.arrays()
    rust = python = float("inf")
    for turn in range(rounds):
        _show_progress(f"round {turn + 1} of {rounds}: Python and Rust")
        model = broadstream.OnlineBLS()
        result = broadstream.evaluate(stream, model, progress=False, curve_every=samples)
        rust = min(rust, result.seconds_learning)
        model = broadstream.OnlineBLS()
        start = time.perf_counter()
        model.test_then_train(X, y)
        python = min(python, time.perf_counter() - start)
    _show_progress("")
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
    """Return seconds per call of `learn_one`, on a model so small that the call itself dominates."""
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


def _show_progress(text: str) -> None:
    """Show progress if standard error is a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write("\r" + text.ljust(70) + ("\r" if not text else ""))
        sys.stderr.flush()


if __name__ == "__main__":
    main()
