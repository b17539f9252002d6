import contextlib
import io
import os
import pathlib
import tempfile
import time
import types
import unittest

from bench_default import SCALING, Bench, Section, scaling_streams
from busy_core import busy_core
from measured_process import ProcessFailure
from results_file import Results, ResultsError
from stream_files import GeneratedStream, StreamFiles

STREAMS = [GeneratedStream("A"), GeneratedStream("B")]


class FakeContestant:
    """Counts its measurements, and may be slow or fail."""

    def __init__(self, name, calls, seconds=1.0, fails=False):
        self.name = name
        self.identity = "1"
        self.calls = calls
        self.seconds = seconds
        self.fails = fails

    def measure(self, stream, _budget):
        self.calls.append((self.name, stream.name))
        if self.fails:
            raise ProcessFailure("it crashed")
        return {
            "samples": 10,
            "correct": 9,
            "seconds": self.seconds,
            "cpu_seconds": 1,
            "peak_bytes": 1,
        }


class TakeTurns(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.results = Results(pathlib.Path(folder.name) / "results.json", {})
        self.arguments = types.SimpleNamespace(rounds=2, once_over=60, budget=10)
        self.calls = []

    def take_turns(self, *contestants, results=None):
        bench = Bench(self.arguments, results or self.results, "unused")
        messages = io.StringIO()
        with contextlib.redirect_stderr(messages):
            bench.take_turns(Section("table", STREAMS, contestants))
        return messages.getvalue()

    def contestant(self, name, **options):
        return FakeContestant(name, self.calls, **options)

    def test_contestants_are_interleaved(self):
        self.take_turns(self.contestant("x"), self.contestant("y"))
        once = [("x", "A"), ("y", "A"), ("x", "B"), ("y", "B")]
        self.assertEqual(self.calls, once * 2)
        self.assertEqual(self.results.rounds("table"), 2)

    def test_a_finished_measurement_is_not_repeated(self):
        self.take_turns(self.contestant("x"))
        again = Results.open(self.results.path, {}, {})
        self.take_turns(self.contestant("x"), self.contestant("y"), results=again)
        self.assertEqual(self.calls.count(("x", "A")), 2)
        self.assertEqual(self.calls.count(("y", "A")), 2)

    def test_another_build_is_measured_again(self):
        self.take_turns(self.contestant("x"))
        changed = self.contestant("x")
        changed.identity = "2"
        self.take_turns(changed)
        self.assertEqual(self.calls.count(("x", "A")), 4)

    def test_a_long_measurement_is_not_repeated(self):
        self.take_turns(self.contestant("slow", seconds=61), self.contestant("fast"))
        self.assertEqual(self.calls.count(("slow", "A")), 1)
        self.assertEqual(self.calls.count(("fast", "A")), 2)

    def test_a_failure_does_not_end_the_run(self):
        messages = self.take_turns(self.contestant("bad", fails=True), self.contestant("good"))
        self.assertIn("table, round 1 of 2, A, bad failed: it crashed", messages)
        # Not in the second round, but in the next run.
        self.assertEqual(self.calls.count(("bad", "A")), 1)
        self.assertEqual(self.calls.count(("good", "B")), 2)
        self.take_turns(self.contestant("bad"), self.contestant("good"))
        self.assertIsNone(self.results.cell("table", "bad", "A").failure)


class FakeFiles(StreamFiles):
    """A stream whose shape is known without a file."""

    shape = {"samples": 10, "inputs": 1, "classes": 2}  # noqa: RUF012


class Export(unittest.TestCase):
    setUp = TakeTurns.setUp
    contestant = TakeTurns.contestant

    def export(self, source, rounds):
        self.arguments.rounds = rounds
        section = Section("table", [FakeFiles("A", source, None, "unused")], [self.contestant("x")])
        bench = Bench(self.arguments, self.results, "unused")
        with contextlib.redirect_stderr(io.StringIO()):
            bench.export(section)
            bench.take_turns(section)

    def test_a_later_round_cannot_be_of_another_stream(self):
        self.export("sea", rounds=1)
        with self.assertRaisesRegex(ResultsError, "another A"):
            self.export("sine", rounds=2)
        self.export("sea", rounds=2)
        self.assertEqual(self.results.rounds("table"), 2)

    def test_what_is_measured_is_not_exported(self):
        self.export("sea", rounds=1)
        self.export("sine", rounds=1)
        self.assertEqual(self.results.streams["A"]["source"], "sea")


class Scaling(unittest.TestCase):
    def test_one_size_varies_at_a_time(self):
        streams = {stream.name: stream.run for stream in scaling_streams(100)}
        self.assertEqual(len(streams), sum(len(values) for values in SCALING.values()))
        source, *nodes = streams["250 nodes"]
        self.assertEqual(source, "random-rbf:inputs=20,classes=5,centroids=200,samples=100")
        self.assertEqual(nodes, ["--enhancement-nodes", "250"])
        source, *nodes = streams["50 classes"]
        self.assertEqual(source, "random-rbf:inputs=20,classes=50,centroids=200,samples=100")
        self.assertEqual(nodes, ["--enhancement-nodes", "2000"])


class BusyCore(unittest.TestCase):
    def test_a_process_stays_on_one_core_as_long_as_it_is_wanted(self):
        last = {max(os.sched_getaffinity(0))}
        with busy_core() as process:
            while os.sched_getaffinity(process.pid) != last:
                time.sleep(0.01)
            self.assertIsNone(process.poll())
        self.assertIsNotNone(process.poll())


if __name__ == "__main__":
    unittest.main()
