"""Measure what users feel of the default: accuracy, speed, processor time and memory, beside others.

Everyone predicts and then learns the same samples in the same order, each in a process of its own. They take
turns for several rounds, so that a slow moment of the machine affects all of them. Results are stored
after every measurement: a run that was interrupted continues where it stopped, and what has not changed
since is not repeated.
"""

import argparse
import contextlib
import functools
import os
import pathlib
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass

import contestants
import default_figure
import default_page
import machine
from busy_core import busy_core
from measured_process import ProcessFailure
from results_file import Results, ResultsError
from stream_files import GeneratedStream, StreamFailure, StreamFiles

ROOT = pathlib.Path(__file__).resolve().parent.parent

# The streams of the table. SEA and Agrawal change their rule every quarter of their length.
STREAMS = {
    "SEA": "sea:samples=20000",
    "Agrawal": "agrawal:variants=0-3-6-0,samples=20000",
    "Electricity": "electricity.csv.gz --drop date,day",
    "Shuttle": "shuttle.csv.gz",
    "Adult": "adult.csv.gz --shuffle 1",
    "Letter": "letter.csv.gz --shuffle 1",
    "CoverType": "covertype.csv.gz",
    "MNIST": "mnist.csv.gz",
}
# Those of the section that predicts and learns one by one.
SHORT_STREAMS = {
    "SEA, short": "sea:samples=10000",
    "Phishing": "river:Phishing",
    "Image Segment": "river:ImageSegments",
}
# What scaling varies, each beside the first values of the others.
SCALING = {
    "nodes": [2000, 250, 500, 1000, 4000],
    "inputs": [20, 3, 10, 100, 500],
    "classes": [5, 2, 10, 20, 50],
}
SCALING_SAMPLES = 5000

EXAMPLES = """\
examples:
  bench_default.py --program target/release/broadstream --data DIR
  bench_default.py --program target/release/broadstream --baseline old/broadstream --data DIR \\
      --sections table,busy --contestants broadstream --fresh --results compared.json --page compared.md
  bench_default.py --render-only
"""


def main():
    arguments = parse_arguments()
    # Whatever stops it shall also stop what it has started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if arguments.render_only:
            results = Results.read(arguments.results)
        else:
            here = machine.machine()
            results = Results.open(arguments.results, settings(arguments), here, arguments.fresh)
            results.versions = machine.versions(arguments.program)
            with tempfile.TemporaryDirectory() as folder:
                Bench(arguments, results, folder).run()
    except (ResultsError, StreamFailure) as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit("stopped; the same command continues from here")
    link = os.path.relpath(arguments.figure, arguments.page.parent)
    page = default_page.render(results, link)
    arguments.page.write_text(page, encoding="utf-8")
    arguments.figure.write_text(default_figure.draw(results), encoding="utf-8")
    print(page, end="")


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "streams",
        nargs="*",
        metavar="NAME=SOURCE",
        help="streams for the table, with options of `broadstream export` after the source "
        f"[default: {', '.join(STREAMS)}]",
    )
    path = {"type": pathlib.Path, "metavar": "PATH"}
    parser.add_argument(
        "--program",
        **path,
        default=ROOT / "target/release/broadstream",
        help="the broadstream command",
    )
    parser.add_argument(
        "--baseline", **path, help="another broadstream command, to compare speeds with"
    )
    parser.add_argument(
        "--sgbt",
        **path,
        default=ROOT / "bench/target/release/sgbt",
        help="the program of the bench workspace that runs irithyll",
    )
    parser.add_argument(
        "--one-by-one",
        **path,
        default=ROOT / "target/release/examples/one_by_one",
        help="the library's example that predicts and learns one by one",
    )
    parser.add_argument(
        "--data",
        **path,
        default=os.environ.get("BROADSTREAM_DATA"),
        help="the folder with the datasets [default: BROADSTREAM_DATA]",
    )
    parser.add_argument(
        "--sections",
        type=lambda text: text.split(","),
        default=list(SECTIONS),
        metavar="LIST",
        help=f"some of {','.join(SECTIONS)} [default: all]",
    )
    parser.add_argument(
        "--contestants",
        nargs="+",
        choices=contestants.TABLE,
        default=contestants.TABLE,
        metavar="NAME",
        help="measure some alone in the table, of "
        f"{', '.join(repr(name) for name in contestants.TABLE)} [default: all]",
    )
    for option, kind, default, text in [
        ("--limit", int, 20000, "the most samples of a stream"),
        ("--river-limit", int, 5000, "the most that River's ensembles get"),
        ("--rounds", int, 3, "rounds of timing"),
        ("--budget", float, 120, "seconds after which a contestant is cut"),
        ("--once-over", float, 60, "seconds above which a measurement is not repeated"),
        ("--warm-up", float, 5, "seconds that Java gets to compile before it is timed"),
        ("--refit-every", int, 1000, "samples between two refits of LightGBM"),
    ]:
        parser.add_argument(
            option,
            type=positive(kind),
            default=default,
            metavar="N",
            help=f"{text} [default: {default}]",
        )
    parser.add_argument(
        "--results",
        **path,
        default=ROOT / "bench/default.json",
        help="where measurements are stored",
    )
    parser.add_argument(
        "--page", **path, default=ROOT / "bench/default.md", help="the page to write"
    )
    parser.add_argument(
        "--figure",
        **path,
        default=ROOT / "docs/images/default.svg",
        help="the picture to write",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="forget stored measurements, and repeat all"
    )
    parser.add_argument(
        "--render-only", action="store_true", help="measure nothing, but write page and picture"
    )
    arguments = parser.parse_args()
    if unknown := set(arguments.sections) - set(SECTIONS):
        parser.error(f"there is no section {', '.join(sorted(unknown))}")
    if any("=" not in stream for stream in arguments.streams):
        parser.error("a stream is written NAME=SOURCE")
    # Programs run in other folders.
    for name in ("program", "baseline", "sgbt", "one_by_one", "data"):
        if getattr(arguments, name):
            setattr(arguments, name, pathlib.Path(getattr(arguments, name)).resolve())
    return arguments


def positive(kind):
    def parse(text):
        number = kind(text)
        if not number > 0:
            raise argparse.ArgumentTypeError(f"must be above 0, got {text}")
        return number

    # argparse names the kind of number in its own message.
    parse.__name__ = kind.__name__
    return parse


def settings(arguments):
    """What all measurements of a results file have in common."""
    names = ("limit", "river_limit", "budget", "warm_up", "refit_every")
    return {name: getattr(arguments, name) for name in names}


@dataclass
class Section:
    """A part of the page: who is measured on what."""

    name: str
    streams: list
    contestants: list
    # What goes on meanwhile.
    during: Callable = contextlib.nullcontext


class Bench:
    """Measures what is selected and not yet stored."""

    def __init__(self, arguments, results, folder):
        self.arguments = arguments
        self.results = results
        self.folder = folder

    def run(self):
        sections = [SECTIONS[name](self) for name in self.arguments.sections]
        # A dataset that is missing shall be missed now, not in an hour.
        for section in sections:
            self.export(section)
        for section in sections:
            with section.during():
                self.take_turns(section)

    def table(self):
        # A baseline is only given to be measured.
        wanted = {*self.arguments.contestants, contestants.BASELINE}
        chosen = contestants.of_table(self.arguments)
        chosen = [contestant for contestant in chosen if contestant.name in wanted]
        return Section("table", self.table_streams, chosen)

    def one_by_one(self):
        return Section("one-by-one", self.short_streams, contestants.one_by_one(self.arguments))

    def latency(self):
        """The calls from Rust alone, which `one-by-one` times too."""
        rust = contestants.one_by_one(self.arguments)[:1]
        return Section("one-by-one", self.short_streams, rust)

    def scaling(self):
        streams = scaling_streams(min(SCALING_SAMPLES, self.arguments.limit))
        return Section("scaling", streams, contestants.of_default(self.arguments))

    def busy(self):
        chosen = contestants.of_default(self.arguments)
        return Section("busy", self.table_streams, chosen, busy_core)

    @functools.cached_property
    def table_streams(self):
        own = dict(stream.split("=", 1) for stream in self.arguments.streams)
        return self.files(own or STREAMS)

    @functools.cached_property
    def short_streams(self):
        return self.files(SHORT_STREAMS)

    def files(self, sources):
        return [
            StreamFiles(name, source, self.arguments, self.folder)
            for name, source in sources.items()
        ]

    def export(self, section):
        """Write the files of all streams that are to be measured."""
        turns = range(1, self.arguments.rounds + 1)
        for stream in section.streams:
            due = (
                self.is_due(section, contestant, stream, turn)
                for contestant in section.contestants
                for turn in turns
            )
            if isinstance(stream, StreamFiles) and any(due):
                if not stream.is_exported:
                    say(f"{stream.name}: exporting")
                self.results.add_stream(stream.name, {"source": stream.source, **stream.shape})

    def take_turns(self, section):
        """Measure everyone on every stream, round by round."""
        failed = set()
        for turn in range(1, self.arguments.rounds + 1):
            for stream in section.streams:
                for contestant in section.contestants:
                    cell = (contestant.name, stream.name)
                    if cell in failed or not self.is_due(section, contestant, stream, turn):
                        continue
                    if not self.measure(section, contestant, stream, turn):
                        failed.add(cell)

    def is_due(self, section, contestant, stream, turn):
        def stored(turn):
            key = (section.name, contestant.name, stream.name, turn, contestant.identity)
            return self.results.find(*key)

        first = stored(1)
        # Over a long time the machine's slow moments average out.
        once = turn > 1 and first and first["seconds"] > self.arguments.once_over
        return not once and not stored(turn)

    def measure(self, section, contestant, stream, turn):
        """Measure once and store the result; return whether there is one."""
        turns = f"round {turn} of {self.arguments.rounds}"
        where = f"{section.name}, {turns}, {stream.name}, {contestant.name}"
        try:
            measurement = contestant.measure(stream, self.arguments.budget)
        except (ProcessFailure, StreamFailure) as failure:
            measurement = {"failure": str(failure)}
            say(f"{where} failed: {failure}")
        else:
            accuracy = measurement["correct"] / measurement["samples"]
            speed = measurement["samples"] / measurement["seconds"]
            say(f"{where}: {100 * accuracy:.2f} % @ {speed:,.0f}/s")
        key = (section.name, contestant.name, stream.name, turn)
        self.results.add(*key, contestant.identity, measurement)
        self.results.write()
        return "failure" not in measurement


SECTIONS = {
    "table": Bench.table,
    "one-by-one": Bench.one_by_one,
    "latency": Bench.latency,
    "scaling": Bench.scaling,
    "busy": Bench.busy,
}


def say(text):
    print(text, file=sys.stderr, flush=True)


def scaling_streams(samples):
    """Generated streams that vary one size at a time."""
    base = {size: values[0] for size, values in SCALING.items()}
    streams = []
    for size, values in SCALING.items():
        for value in sorted(values):
            sizes = {**base, size: value}
            # Enough centroids that every class has some.
            source = (
                f"random-rbf:inputs={sizes['inputs']},classes={sizes['classes']},"
                f"centroids=200,samples={samples}"
            )
            nodes = ["--enhancement-nodes", str(sizes["nodes"])]
            streams.append(GeneratedStream(f"{value} {size}", source, *nodes))
    return streams


if __name__ == "__main__":
    main()
