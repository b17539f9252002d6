"""The results of a benchmark in a JSON file, which is written after every measurement.

A run that was interrupted continues where it stopped. A measurement is repeated if its contestant is another
one than before: a new build of a program, or another version of a library. All measurements in a file
have the same settings.
"""

import json
import os
import pathlib
from dataclasses import dataclass

FORMAT = 1
ADVICE = "repeat everything with --fresh, or write to another file with --results"


class ResultsError(Exception):
    """Says why the results of earlier runs cannot be continued."""


@dataclass
class Cell:
    """What a contestant did on a stream, over all rounds.

    The speed and the processor time are those of the best round, the memory that of the largest, and the
    accuracy that of the first. A cell without a result has the reason in `failure`.
    """

    samples: int = 0
    accuracy: float = 0.0
    speed: float = 0.0
    cpu_per_sample: float = 0.0
    peak_bytes: int = 0
    latency: dict | None = None
    failure: str | None = None


class Results:
    """Measurements by section, contestant, stream and round."""

    def __init__(self, path, settings):
        self.path = pathlib.Path(path)
        self.settings = settings
        self.machine = {}
        self.versions = {}
        self.streams = {}
        self.measurements = []

    @classmethod
    def read(cls, path):
        """Read a file."""
        try:
            content = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
            if content["format"] != FORMAT:
                raise ResultsError(f"{path} has format {content['format']}, expected {FORMAT}")
            results = cls(path, content["settings"])
            for name in ("machine", "versions", "streams", "measurements"):
                setattr(results, name, content[name])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ResultsError(f"{path} cannot be read: {error}") from error
        return results

    @classmethod
    def open(cls, path, settings, machine, fresh=False):
        """Read a file to continue it, or begin a new one."""
        results = cls(path, settings)
        results.machine = machine
        if fresh or not os.path.exists(path):
            return results
        results = cls.read(path)
        # The memory that a system has for programs varies a little.
        known = {**results.settings, **results.machine, "memory_bytes": None}
        wanted = {**settings, **machine, "memory_bytes": None}
        if different := [name for name in wanted if wanted[name] != known.get(name)]:
            texts = [f"{name} {known.get(name)} instead of {wanted[name]}" for name in different]
            raise ResultsError(f"{path} was measured with {', '.join(texts)}: {ADVICE}")
        return results

    def write(self):
        """Replace the file as a whole."""
        content = {
            "format": FORMAT,
            "settings": self.settings,
            "machine": self.machine,
            "versions": self.versions,
            "streams": self.streams,
        }
        # A measurement is a line of its own, so that a difference between two runs can be read.
        lines = ",\n".join("  " + json.dumps(entry) for entry in self.measurements)
        text = json.dumps(content, indent=1).removesuffix("\n}")
        text += f',\n "measurements": [\n{lines}\n ]\n}}\n'
        temporary = self.path.with_name(self.path.name + ".new")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(self.path)

    def add_stream(self, name, stream):
        """Store what a stream is. Two streams of the same name cannot be told apart later."""
        known = self.streams.get(name, stream)
        if known != stream:
            raise ResultsError(f"{self.path} has another {name}, {known}: {ADVICE}")
        self.streams[name] = stream

    def add(self, section, contestant, stream, turn, identity, measurement):
        """Store what `identity`, a build or version of a contestant, did in a round."""
        key = {"section": section, "contestant": contestant, "stream": stream}
        self.measurements = [
            entry
            for entry in self.measurements
            if not same(entry, key)
            or (entry["round"] != turn and entry["identity"] == identity and "failure" not in entry)
        ]
        self.measurements.append({**key, "round": turn, "identity": identity, **measurement})

    def find(self, section, contestant, stream, turn, identity):
        """The measurement of a round, unless there is none; a failure is none either."""
        for entry in self._of(section, contestant, stream):
            if entry["round"] == turn and entry["identity"] == identity and "failure" not in entry:
                return entry
        return None

    def cell(self, section, contestant, stream):
        """All rounds of a contestant on a stream, or None if it was not measured."""
        entries = sorted(self._of(section, contestant, stream), key=lambda entry: entry["round"])
        done = [entry for entry in entries if "failure" not in entry]
        if not done:
            return Cell(failure=entries[0]["failure"]) if entries else None
        best = max(done, key=speed)
        return Cell(
            samples=done[0]["samples"],
            accuracy=done[0]["correct"] / done[0]["samples"],
            speed=speed(best),
            cpu_per_sample=min(entry["cpu_seconds"] / entry["samples"] for entry in done),
            peak_bytes=max(entry["peak_bytes"] for entry in done),
            latency=best.get("latency"),
        )

    def done(self, section, contestant, stream):
        """The cell, unless there is none or it failed."""
        cell = self.cell(section, contestant, stream)
        return None if cell is None or cell.failure else cell

    def rounds(self, section):
        """How many rounds a section has at most."""
        turns = [entry["round"] for entry in self.measurements if entry["section"] == section]
        return max(turns, default=0)

    def names(self, section, kind):
        """The names of a section's streams or contestants that were measured."""
        return {entry[kind] for entry in self.measurements if entry["section"] == section}

    def _of(self, section, contestant, stream):
        key = {"section": section, "contestant": contestant, "stream": stream}
        return [entry for entry in self.measurements if same(entry, key)]


def same(entry, key):
    return all(entry[name] == value for name, value in key.items())


def speed(entry):
    """Samples per second."""
    return entry["samples"] / entry["seconds"]
