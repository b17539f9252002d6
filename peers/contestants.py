"""Who takes part in the benchmark of the default, and how each of them is run and timed.

A contestant is a command that predicts and learns a stream and prints JSON. The clock of a program runs from
its start to its end, reading included. A library's learner is timed by the loop that runs it, since the
start of Python and of Java is nothing that its users wait for again and again.
"""

import json
import pathlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

import machine
import measured_process
from measured_process import ProcessFailure

HERE = pathlib.Path(__file__).parent

# A program that takes so many times its budget has failed.
PATIENCE = 10

DEFAULT = "broadstream"
BASELINE = "broadstream, baseline"
SINGLE = "broadstream --preset single"
FROM_RUST = "broadstream from Rust"
FROM_PYTHON = "broadstream from Python"
CAPYMOA_FOREST = "CapyMOA ARF(10)"
CAPYMOA_PATCHES = "CapyMOA SRP(10)"
CAPYMOA_TREE = "CapyMOA Hoeffding tree"
RIVER_FOREST = "River ARF(10)"
RIVER_BAGGING = "River LeveragingBagging(10)"
LIGHTGBM = "LightGBM, refitted"
IRITHYLL = "irithyll SGBT(100)"
NO_CHANGE = "no change"

# The rows of the table, in order.
TABLE = [
    *(DEFAULT, BASELINE, SINGLE, CAPYMOA_FOREST, CAPYMOA_PATCHES, CAPYMOA_TREE),
    *(RIVER_FOREST, RIVER_BAGGING, LIGHTGBM, IRITHYLL, NO_CHANGE),
]


@dataclass(frozen=True)
class Contestant:
    """Someone who takes part."""

    name: str
    # From a stream to the command.
    command: Callable
    # Tells one build or version from another.
    identity: str
    # Whether the time is that of its loop, which it reports itself.
    times_itself: bool = False

    def measure(self, stream, budget):
        """Run it once on a stream."""
        command = [str(part) for part in self.command(stream)]
        process = measured_process.run(command, PATIENCE * budget + 60)
        try:
            record = json.loads(process.output)
            return measurement(record, process, self.times_itself)
        except (ValueError, KeyError, TypeError, ZeroDivisionError) as error:
            raise ProcessFailure(f"unexpected output: {process.output[:200]!r}") from error


def measurement(record, process, times_itself):
    """What is stored of a run."""
    samples = record["samples"]
    if samples < 1:
        raise ValueError("no sample was learned")
    correct = record["correct"] if "correct" in record else round(record["oca"] * samples)
    times = record if times_itself else vars(process)
    return {
        "samples": samples,
        "correct": correct,
        "seconds": times["seconds"],
        # A program that times its loop alone may leave its processor time to the system to tell.
        "cpu_seconds": times.get("cpu_seconds", process.cpu_seconds),
        "peak_bytes": process.peak_bytes,
        **({"latency": record["latency"]} if "latency" in record else {}),
    }


def program(name, path, *options):
    """The broadstream command with options."""
    return Contestant(
        name,
        lambda stream: [path, "run", *stream.run, "--json", "--quiet", *options],
        machine.fingerprint(path),
    )


def library(name, method, arguments, *, limit=None, files=None):
    """A learner of a Python package, by `timed_learner.py`."""
    files = files or (lambda _stream: [])

    def command(stream):
        samples = min(limit or sys.maxsize, stream.shape["samples"])
        return [
            *(sys.executable, HERE / "timed_learner.py", method, stream.csv, *files(stream)),
            *("--limit", samples, "--budget", arguments.budget),
            *("--refit-every", arguments.refit_every, "--warm-up", arguments.warm_up),
        ]

    package = method.split("-")[0]
    return Contestant(name, command, f"{package} {machine.package(package)}", times_itself=True)


def capymoa(name, method, arguments):
    return library(name, method, arguments, files=lambda stream: ["--arff", stream.arff])


def river(name, method, arguments):
    return library(name, method, arguments, limit=arguments.river_limit)


def gradient_boosted_trees(name, path, arguments):
    """irithyll's, by a program in the `bench` workspace."""
    return Contestant(
        name,
        lambda stream: [path, stream.csv, "--budget", arguments.budget],
        machine.fingerprint(path),
    )


def from_rust(path, arguments):
    """The library's example that predicts and learns one by one."""
    return Contestant(
        FROM_RUST,
        lambda stream: [path, stream.csv, "--budget", arguments.budget],
        machine.fingerprint(path),
        times_itself=True,
    )


def from_python(arguments):
    """The Python package, one by one."""
    contestant = library(FROM_PYTHON, "broadstream", arguments)
    # Builds of the same version differ.
    return replace(contestant, identity=machine.fingerprint(machine.compiled_module()))


def of_table(arguments):
    """The contestants of the table."""
    path, baseline = arguments.program, arguments.baseline
    return [
        program(DEFAULT, path),
        *([program(BASELINE, baseline)] if baseline else []),
        program(SINGLE, path, "--preset", "single"),
        capymoa(CAPYMOA_FOREST, "capymoa-adaptive-random-forest", arguments),
        capymoa(CAPYMOA_PATCHES, "capymoa-streaming-random-patches", arguments),
        capymoa(CAPYMOA_TREE, "capymoa-hoeffding-tree", arguments),
        river(RIVER_FOREST, "river-adaptive-random-forest", arguments),
        river(RIVER_BAGGING, "river-leveraging-bagging", arguments),
        library(LIGHTGBM, "lightgbm", arguments),
        gradient_boosted_trees(IRITHYLL, arguments.sgbt, arguments),
        program(NO_CHANGE, path, "--model", "no-change"),
    ]


def one_by_one(arguments):
    """The contestants that predict and learn one by one."""
    return [
        from_rust(arguments.one_by_one, arguments),
        from_python(arguments),
        # These streams are short, so that River needs no limit.
        library(RIVER_FOREST, "river-adaptive-random-forest", arguments),
    ]


def of_default(arguments):
    """The default, and the baseline if there is one."""
    return of_table(arguments)[: 2 if arguments.baseline else 1]
