"""Run one third-party stream learner over a CSV stream, and print its metrics as JSON.

Each sample is first predicted and then learned (test-then-train), as `broadstream run` does. The
stream must already be in the order of evaluation, as `broadstream export` writes it.
"""

import argparse
import csv
import json
import sys
import time

import numpy

from learners import METHODS, library_of, make_learner
from metrics import Metrics
from table import TableError, read_table

EXAMPLES = """\
methods:
{methods}

examples:
  broadstream export sea --limit 5000 | stream_learners.py --method river-hoeffding-tree \\
      --stream sea
  broadstream export letter.csv.gz --shuffle 1 > letter-1.csv
  stream_learners.py letter-1.csv --method capymoa-adaptive-random-forest --seed 1

The record on standard output has the metrics of the whole stream, a curve over time, and the
seconds that learning a sample took, without predicting and reading."""


def main():
    arguments = parse_arguments()
    try:
        if arguments.source == "-":
            table = read_table(sys.stdin, arguments.target, arguments.limit)
        else:
            with open(arguments.source, newline="", encoding="utf-8") as file:
                table = read_table(file, arguments.target, arguments.limit)
    except (TableError, OSError, UnicodeDecodeError, csv.Error) as error:
        sys.exit(f"error: {error}")
    json.dump(run(table, arguments), sys.stdout)
    print()


def parse_arguments():
    methods = "\n".join(f"  {name:<32}{text}" for name, (_, _, text) in METHODS.items())
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog=EXAMPLES.format(methods=methods),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "source",
        nargs="?",
        default="-",
        help="a CSV file with a header; '-', the default, is standard input",
    )
    parser.add_argument(
        "--method",
        required=True,
        choices=METHODS,
        metavar="METHOD",
        help="one of the methods below",
    )
    parser.add_argument(
        "--target", metavar="COLUMN", help="the column to predict [default: the last]"
    )
    parser.add_argument(
        "--stream", metavar="NAME", help="the name of the stream in the record [default: SOURCE]"
    )
    parser.add_argument("--seed", type=int, default=0, help="the seed of the method [default: 0]")
    parser.add_argument("--limit", type=at_least_one, metavar="N", help="stop after N samples")
    parser.add_argument(
        "--metrics-window",
        type=at_least_one,
        default=1000,
        metavar="N",
        help="how many samples the windowed accuracy covers [default: 1000]",
    )
    parser.add_argument(
        "--curve-every",
        type=at_least_one,
        default=1000,
        metavar="N",
        help="samples between two points of the curve [default: 1000]",
    )
    return parser.parse_args()


def at_least_one(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {number}")
    return number


def run(table, arguments):
    """Predict and learn all samples of a table; return the record."""
    _, config, _ = METHODS[arguments.method]
    learner = make_learner(arguments.method, table, arguments.seed)
    metrics = Metrics(arguments.metrics_window)
    curve, seconds = [], []
    for i, label in enumerate(table.y):
        learner.prepare(i)
        metrics.add(label, learner.predict())
        start = time.perf_counter()
        learner.learn(label)
        seconds.append(time.perf_counter() - start)
        if metrics.samples % arguments.curve_every == 0 or metrics.samples == len(table.y):
            point = {
                "sample": metrics.samples,
                "oca": metrics.oca(),
                "window_oca": metrics.window_oca(),
            }
            curve.append(point)
    return {
        "format": 1,
        "experiment": "",
        "stream": arguments.stream or arguments.source,
        "method": arguments.method,
        "seed": arguments.seed,
        "parameters": {},
        "samples": metrics.samples,
        "stopped": None,
        "metrics": metrics.summary(),
        "curve": curve,
        "update_time": distribution(seconds),
        "config": {**config, "metrics_window": arguments.metrics_window},
        "version": library_of(arguments.method),
        "machine": None,
        "cited": False,
        "note": None,
    }


def distribution(seconds):
    """The distribution of the times of learning, with the sample standard deviation."""
    values = numpy.array(seconds)
    median, p95, p99 = numpy.percentile(values, [50, 95, 99]).tolist()
    return {
        "mean": float(values.mean()),
        "sd": float(values.std(ddof=1)) if len(values) > 1 else 0.0,
        "min": float(values.min()),
        "median": median,
        "p95": p95,
        "p99": p99,
        "max": float(values.max()),
        "samples": len(values),
    }


if __name__ == "__main__":
    main()
