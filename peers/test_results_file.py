import pathlib
import tempfile
import unittest

from results_file import Results, ResultsError

SETTINGS = {"limit": 1000, "budget": 10}
MACHINE = {"cores": 2, "memory_bytes": 1000}


def measurement(**changes):
    usual = {"samples": 1000, "correct": 800, "seconds": 2.0, "cpu_seconds": 3.0, "peak_bytes": 5}
    return {**usual, **changes}


class ResultsFile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "results.json"
        self.results = Results.open(self.path, SETTINGS, MACHINE)

    def add(self, turn=1, identity="a", **changes):
        self.results.add("table", "ours", "SEA", turn, identity, measurement(**changes))

    def test_a_cell_has_the_best_round_and_the_first_accuracy(self):
        self.add(turn=2, correct=700, seconds=1.0, cpu_seconds=4.0, peak_bytes=3)
        self.add(turn=1)
        cell = self.results.cell("table", "ours", "SEA")
        self.assertEqual((cell.accuracy, cell.speed, cell.peak_bytes), (0.8, 1000, 5))
        self.assertEqual(cell.cpu_per_sample, 0.003)
        self.assertIsNone(self.results.cell("table", "ours", "Adult"))

    def test_what_was_written_is_continued(self):
        self.add()
        self.results.add_stream("SEA", {"samples": 1000})
        self.results.write()
        again = Results.open(self.path, SETTINGS, MACHINE)
        self.assertEqual(again.find("table", "ours", "SEA", 1, "a")["correct"], 800)
        self.assertEqual(again.streams, {"SEA": {"samples": 1000}})
        self.assertEqual(Results.open(self.path, SETTINGS, MACHINE, fresh=True).measurements, [])

    def test_other_settings_are_not_mixed(self):
        self.add()
        self.results.write()
        with self.assertRaisesRegex(ResultsError, "limit 1000 instead of 500.*--fresh"):
            Results.open(self.path, {**SETTINGS, "limit": 500}, MACHINE)

    def test_other_machines_are_not_mixed(self):
        self.add()
        self.results.write()
        Results.open(self.path, SETTINGS, {**MACHINE, "memory_bytes": 999})
        with self.assertRaisesRegex(ResultsError, "cores 2 instead of 4.*--fresh"):
            Results.open(self.path, SETTINGS, {**MACHINE, "cores": 4})

    def test_other_streams_of_the_same_name_are_not_mixed(self):
        self.results.add_stream("SEA", {"source": "sea"})
        self.results.add_stream("SEA", {"source": "sea"})
        with self.assertRaisesRegex(ResultsError, "another SEA.*--fresh"):
            self.results.add_stream("SEA", {"source": "sea:samples=5"})

    def test_a_file_that_is_none_is_refused(self):
        for text in ["", "[]", "{}", '{"format": 7}']:
            self.path.write_text(text, encoding="utf-8")
            with self.subTest(text=text), self.assertRaises(ResultsError):
                Results.open(self.path, SETTINGS, MACHINE)

    def test_another_build_replaces_all_rounds_of_the_last(self):
        self.add(turn=1)
        self.add(turn=2)
        self.assertIsNone(self.results.find("table", "ours", "SEA", 1, "b"))
        self.add(turn=1, identity="b", correct=900)
        self.assertEqual(self.results.cell("table", "ours", "SEA").accuracy, 0.9)
        self.assertEqual(self.results.rounds("table"), 1)

    def test_a_failure_is_shown_and_tried_again(self):
        self.results.add("table", "ours", "SEA", 1, "a", {"failure": "no memory"})
        self.assertEqual(self.results.cell("table", "ours", "SEA").failure, "no memory")
        self.assertIsNone(self.results.done("table", "ours", "SEA"))
        self.assertIsNone(self.results.find("table", "ours", "SEA", 1, "a"))
        self.add()
        self.assertIsNone(self.results.cell("table", "ours", "SEA").failure)
        self.assertEqual(len(self.results.measurements), 1)


if __name__ == "__main__":
    unittest.main()
