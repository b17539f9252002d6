"""Compare the broadstream command with learners of River and CapyMOA: accuracy and speed.

All of them predict and then learn the same samples in the same order: each stream is written once by
`broadstream export`. The methods take turns for several rounds. A speed is the number of samples per
second of processor time, so that it is the speed on one core, also on a machine with other work; the
best round counts. It includes reading the samples; for River, whose users bring their own loop, only
predicting and learning is timed. CapyMOA runs its own loop in Java, in a virtual machine that the
earlier rounds have warmed up. Accuracies are those of the first round.
"""

import argparse
import json
import math
import os
import shlex
import subprocess
import sys
import tempfile
import time

from learners import METHODS
from table import read_table

EXAMPLES = """\
examples:
  versus.py --program target/release/broadstream 'SEA=sea:samples=20000'
  versus.py --program target/release/broadstream --limit 20000 --rounds 3 \\
      'Letter=letter.csv.gz --shuffle 1' 'Electricity=electricity.csv.gz --drop date,day'
"""


def main():
    arguments = parse_arguments()
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        streams = [Stream(text, arguments, folder) for text in arguments.streams]
        for turn in range(arguments.rounds):
            for stream in streams:
                for name in arguments.methods:
                    if turn > 0 and name in arguments.once:
                        continue
                    accuracy, seconds = CONTESTANTS[name](stream, arguments)
                    speed = stream.samples / seconds
                    say(f"round {turn + 1}, {stream.name}, {name}: {accuracy:.4f} @ {speed:.0f}/s")
                    results.setdefault((name, stream.name), []).append((accuracy, speed))
    print_table(arguments.methods, [stream.name for stream in streams], results)


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "streams",
        nargs="+",
        metavar="NAME=SOURCE",
        help="a stream, with options of `broadstream export` after its source",
    )
    parser.add_argument("--program", required=True, help="the broadstream command")
    parser.add_argument("--limit", type=int, help="take at most this many samples of each stream")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of timing [default: 3]")
    names = ", ".join(repr(name) for name in CONTESTANTS)
    for option, default, text in [
        ("--methods", list(CONTESTANTS), f"some of {names} [default: all]"),
        ("--once", [], "methods that only take part in the first round"),
    ]:
        parser.add_argument(
            option, nargs="+", choices=list(CONTESTANTS), default=default, metavar="M", help=text
        )
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error(f"--rounds must be at least 1, got {arguments.rounds}")
    if any("=" not in stream for stream in arguments.streams):
        parser.error("a stream is written NAME=SOURCE")
    return arguments


class Stream:
    """A stream as the files that the contestants read."""

    def __init__(self, text, arguments, folder):
        self.name, source = text.split("=", 1)
        limit = ["--limit", str(arguments.limit)] if arguments.limit else []
        export = [arguments.program, "export", *shlex.split(source), *limit]
        self.csv = os.path.join(folder, f"{self.name}.csv")
        self.arff = os.path.join(folder, f"{self.name}.arff")
        with open(self.csv, "w", encoding="utf-8") as file:
            subprocess.run(export, stdout=file, check=True)
        with open(self.csv, newline="", encoding="utf-8") as file:
            self.table = read_table(file)
        self.samples = len(self.table.y)
        with open(self.arff, "w", encoding="utf-8") as file:
            write_arff(self.table, file)


def write_arff(table, file):
    """Writes the format of MOA, which lists labels and categories in advance."""
    nominal = {j: quoted(texts) for j, texts in table.categories.items()}
    labels = quoted(table.labels)
    file.write("@relation stream\n")
    for j, name in enumerate(table.inputs):
        kind = f"{{{','.join(nominal[j])}}}" if j in nominal else "numeric"
        file.write(f"@attribute {quoted([name])[0]} {kind}\n")
    file.write(f"@attribute {quoted([table.target])[0]} {{{','.join(labels)}}}\n@data\n")
    for row, label in zip(table.x.tolist(), table.y, strict=True):
        cells = [cell(value, nominal.get(j)) for j, value in enumerate(row)]
        file.write(",".join([*cells, labels[label]]) + "\n")


def cell(value, nominal):
    """A number, or the position of a category, as ARFF; NaN is missing."""
    if math.isnan(value):
        return "?"
    return nominal[int(value)] if nominal else repr(value)


def quoted(texts):
    return [json.dumps(text, ensure_ascii=False) for text in texts]


def broadstream(*options):
    """The command with options."""

    def run(stream, arguments):
        # A thread that waits for another one spins for a while, which would count as work.
        threads = [] if "--model" in options else ["--threads", "1"]
        command = [arguments.program, "run", stream.csv, "--json", "--quiet", *threads, *options]
        before = os.times()
        record = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        after = os.times()
        seconds = after.children_user + after.children_system
        return record["oca"], seconds - before.children_user - before.children_system

    return run


def capymoa(name):
    """A learner of MOA, in MOA's own loop over an ARFF file."""

    def run(stream, _arguments):
        from capymoa import classifier
        from capymoa.evaluation import prequential_evaluation
        from capymoa.stream import ARFFStream

        samples = ARFFStream(stream.arff)
        options = {} if name == "HoeffdingTree" else {"ensemble_size": 10}
        learner = getattr(classifier, name)(schema=samples.get_schema(), **options)
        start = time.process_time()
        result = prequential_evaluation(samples, learner, window_size=stream.samples)
        return result["cumulative"].accuracy() / 100, time.process_time() - start

    return run


def river(method):
    """A learner of River, in a loop over dictionaries that are made beforehand."""

    def run(stream, _arguments):
        learner = METHODS[method][0](stream.table, 0)
        samples = []
        for i, label in enumerate(stream.table.y):
            learner.prepare(i)
            samples.append((learner.sample, label))
        model, correct = learner.model, 0
        start = time.process_time()
        for x, y in samples:
            correct += model.predict_one(x) == y
            model.learn_one(x, y)
        return correct / len(samples), time.process_time() - start

    return run


CONTESTANTS = {
    "broadstream": broadstream(),
    "broadstream --preset single": broadstream("--preset", "single"),
    "CapyMOA ARF(10)": capymoa("AdaptiveRandomForestClassifier"),
    "River ARF(10)": river("river-adaptive-random-forest"),
    "CapyMOA Hoeffding tree": capymoa("HoeffdingTree"),
    "no change": broadstream("--model", "no-change"),
}


def print_table(methods, streams, results):
    """Accuracy in percent @ samples per second of processor time, as Markdown."""
    print(f"| | {' | '.join(streams)} |\n|---|{'---:|' * len(streams)}")
    for method in methods:
        cells = []
        for stream in streams:
            runs = results[(method, stream)]
            cells.append(f"{100 * runs[0][0]:.1f} @ {max(speed for _, speed in runs):,.0f}")
        print(f"| {method} | {' | '.join(cells)} |")


def say(text):
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
