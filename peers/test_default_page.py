import unittest

from contestants import (
    BASELINE,
    CAPYMOA_FOREST,
    DEFAULT,
    FROM_PYTHON,
    FROM_RUST,
    LIGHTGBM,
    RIVER_FOREST,
)
from default_page import markdown_table, render, significant, speed_text
from results_file import Results


def example():
    """Results of two streams, with a contestant that was cut, one that failed and one that is missing."""
    settings = {
        "limit": 1000,
        "river_limit": 250,
        "budget": 10,
        "warm_up": 1,
        "refit_every": 1000,
    }
    results = Results("unused", settings)
    results.machine = {
        "processor": "A Processor",
        "cores": 2,
        "memory_bytes": 8 * 2**30,
        "system": "Linux",
    }
    results.versions = {"broadstream": "1.2.3", "river": "0.26.1"}
    for stream in ("SEA", "Adult"):
        shape = {"samples": 1000, "inputs": 3, "classes": 2}
        results.streams[stream] = {"source": stream.lower(), **shape}
        add(results, "table", DEFAULT, stream, correct=900, seconds=0.5)
        add(results, "table", BASELINE, stream, correct=890, seconds=1 if stream == "SEA" else 4)
        add(results, "busy", DEFAULT, stream, correct=900, seconds=1.0)
    add(results, "table", CAPYMOA_FOREST, "SEA", correct=850, seconds=0.1)
    add(results, "table", RIVER_FOREST, "SEA", samples=250, correct=240, seconds=1.0)
    results.add("table", LIGHTGBM, "SEA", 1, "", {"failure": "exit code 1: no libgomp"})
    latency = {"p50": 0.0004, "p99": 0.001, "p99.9": 0.0123, "max": 0.5}
    calls = {
        "predict": latency,
        "learn": latency,
        "make_predictor": 0.0005,
        "predict_by_predictor": latency,
    }
    add(results, "one-by-one", FROM_RUST, "SEA", correct=900, seconds=1.0, latency=calls)
    add(results, "one-by-one", FROM_PYTHON, "SEA", correct=900, seconds=2.0)
    add(results, "one-by-one", RIVER_FOREST, "SEA", correct=850, seconds=4.0)
    for size in ("250 nodes", "4000 nodes", "3 inputs"):
        add(results, "scaling", DEFAULT, size, correct=900, seconds=0.25)
    return results


def add(results, section, name, stream, **changes):
    usual = {"samples": 1000, "cpu_seconds": 1.5, "peak_bytes": 70_000_000}
    results.add(section, name, stream, 1, "", {**usual, **changes})


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.page = render(example(), "picture.svg")
        cls.lines = cls.page.splitlines()

    def rows(self, start):
        return [line for line in self.lines if line.startswith(start)]

    def test_accuracy_speed_processor_time_and_memory_of_the_default(self):
        self.assertEqual(
            self.rows("| **broadstream** |")[:4],
            [
                "| **broadstream** | **90.0** | **90.0** |",
                "| **broadstream** | 2,000 | 2,000 |",
                "| **broadstream** | 1.5 | 1.5 |",
                "| **broadstream** | 70 | 70 |",
            ],
        )

    def test_fewer_samples_are_named_and_never_the_best(self):
        self.assertEqual(
            self.rows("| River ARF(10) |")[0], "| River ARF(10) | 96.0 (first 250) | |"
        )

    def test_a_failure_is_in_its_cells_and_has_its_reason(self):
        self.assertEqual(self.rows("| LightGBM")[0], "| LightGBM, refitted | failed | |")
        self.assertIn("- LightGBM, refitted on SEA failed: exit code 1: no libgomp", self.lines)

    def test_the_baseline_has_ratios_and_their_geometric_mean(self):
        self.assertIn("| SEA | 1,000 | 2,000 | 2.00 | 89.00 | 90.00 |", self.lines)
        self.assertIn("| Adult | 250 | 2,000 | 8.00 | 89.00 | 90.00 |", self.lines)
        self.assertIn("| **geometric mean** | | | **4.00** | | |", self.lines)

    def test_one_by_one_is_compared_with_the_forest(self):
        self.assertIn("| **broadstream from Rust** | 90.0 @ 1,000, 4 × |", self.lines)
        self.assertIn("| **broadstream from Python** | 90.0 @ 500, 2 × |", self.lines)
        self.assertIn("| River ARF(10) | 85.0 @ 250 |", self.lines)

    def test_latencies_are_milliseconds(self):
        for call in ("`predict_one`", "`learn_one`", "`predict_one` of a predictor"):
            self.assertIn(f"| SEA | {call} | 0.4 | 1 | 12.3 | 500 |", self.lines)

    def test_scaling_is_ordered_by_size(self):
        found = [
            self.lines.index(f"| {size} | 4,000 | 70 |") for size in ("250 nodes", "4000 nodes")
        ]
        self.assertEqual(found[1], found[0] + 1)

    def test_a_busy_core_has_a_ratio(self):
        self.assertIn("| **broadstream** | 1,000 (0.50) | 1,000 (0.50) | 0.50 |", self.lines)

    def test_machine_versions_and_settings_are_named(self):
        for text in [
            "A Processor, 2 cores, 8 GiB",
            "river 0.26.1",
            "picture.svg",
            "the first\n  250",
        ]:
            self.assertIn(text, self.page)

    def test_sections_without_results_are_left_out(self):
        results = example()
        results.measurements = [
            entry for entry in results.measurements if entry["section"] == "scaling"
        ]
        page = render(results, "picture.svg")
        self.assertIn("## Scaling", page)
        for title in ["beside others", "baseline", "One by one", "Latency", "busy"]:
            self.assertNotIn(f"## {title}", page)
            self.assertNotIn(f"{title}\n\n", page)


class Texts(unittest.TestCase):
    def test_numbers_have_three_digits(self):
        self.assertEqual([speed_text(x) for x in (23456, 123.4, 12.34)], ["23,500", "123", "12.3"])
        found = [significant(x) for x in (1234, 12.34, 0.01234, 2.0)]
        self.assertEqual(found, ["1,230", "12.3", "0.0123", "2"])

    def test_a_table_is_aligned(self):
        self.assertEqual(
            markdown_table(["", "a"], [["x", "1"]]), "| | a |\n|---|---:|\n| x | 1 |\n"
        )


if __name__ == "__main__":
    unittest.main()
