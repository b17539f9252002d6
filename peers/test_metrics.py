"""Test the metrics against the cases of the library's own tests (python3 -m unittest)."""

import json
import pathlib
import unittest

from metrics import Metrics

CASES = pathlib.Path(__file__).parent / "../crates/broadstream/tests/data/metrics/cases.json"


class SameAsTheLibrary(unittest.TestCase):
    def test_stored_streams(self):
        for case in json.loads(CASES.read_text())["cases"]:
            metrics = Metrics(window=10)
            for truth, predicted in zip(case["truth"], case["predicted"], strict=True):
                metrics.add(truth, predicted)
            for name, value in metrics.summary().items():
                with self.subTest(case=case["name"], metric=name):
                    self.assertAlmostEqual(value, case[name], delta=1e-12)

    def test_balanced_accuracy_over_time(self):
        for case in json.loads(CASES.read_text())["cases"]:
            expected = dict(case["bacc_at"])
            metrics = Metrics(window=10)
            for truth, predicted in zip(case["truth"], case["predicted"], strict=True):
                metrics.add(truth, predicted)
                if metrics.samples in expected:
                    self.assertAlmostEqual(metrics.bacc(), expected[metrics.samples], delta=1e-12)

    def test_window(self):
        metrics = Metrics(window=2)
        self.assertEqual(metrics.window_oca(), 0)
        for truth, predicted in [(0, None), (0, 0), (1, 0), (1, 1), (1, 1)]:
            metrics.add(truth, predicted)
        self.assertEqual((metrics.oca(), metrics.window_oca()), (0.6, 1.0))


if __name__ == "__main__":
    unittest.main()
