"""The streams of a comparison, as the files that all contestants read.

A stream is written once, in the order of evaluation, so that all of them see the same samples. A source is
what `broadstream export` takes, with its options, or `river:` and the name of a dataset of River.
"""

import csv
import functools
import pathlib
import re
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).parent


class StreamFailure(Exception):
    """Says why a stream cannot be had."""


class StreamFiles:
    """A stream that is exported when it is first needed."""

    def __init__(self, name, source, arguments, folder):
        self.name = name
        self.source = source
        self._arguments = arguments
        self._stem = pathlib.Path(folder) / re.sub(r"\W+", "-", name.lower())

    @functools.cached_property
    def csv(self):
        """The path of the stream as CSV."""
        path, limit = self._stem.with_suffix(".csv"), str(self._arguments.limit)
        if self.source.startswith("river:"):
            name = self.source.removeprefix("river:")
            self._write([sys.executable, HERE / "river_dataset.py", name, limit, path])
            return path
        source = shlex.split(self.source)
        command = [self._arguments.program, "export", *source, "--limit", limit]
        with open(path, "w", encoding="utf-8") as file:
            # Datasets are named by their files.
            self._write(command, stdout=file, cwd=self._arguments.data)
        return path

    @property
    def is_exported(self):
        return "csv" in vars(self)

    @property
    def run(self):
        """What `broadstream run` is given."""
        return [self.csv]

    @functools.cached_property
    def arff(self):
        """The path of the stream as ARFF."""
        path = self._stem.with_suffix(".arff")
        self._write([sys.executable, HERE / "arff.py", self.csv, path])
        return path

    @functools.cached_property
    def shape(self):
        """How many samples, inputs and classes there are."""
        with open(self.csv, newline="", encoding="utf-8") as file:
            return shape(file)

    def _write(self, command, **options):
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False, **options)
        if done.returncode != 0:
            raise StreamFailure(f"{self.name}: {done.stderr.strip()}")


class GeneratedStream:
    """A stream that `broadstream run` generates itself, with options of its own."""

    def __init__(self, name, *run):
        self.name = name
        self.run = run


def shape(file):
    """How many samples, inputs and classes a CSV file has, row by row."""
    rows = csv.reader(file)
    inputs = len(next(rows)) - 1
    samples, labels = 0, set()
    for row in rows:
        samples += 1
        labels.add(row[-1])
    return {"samples": samples, "inputs": inputs, "classes": len(labels)}
