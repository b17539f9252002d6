import unittest

from results_file import Results
from speed_ratios import geometric_mean, speed_ratios


class GeometricMean(unittest.TestCase):
    def test_a_factor_and_its_reciprocal_cancel(self):
        self.assertAlmostEqual(geometric_mean([4, 1 / 4]), 1)
        self.assertAlmostEqual(geometric_mean(iter([2, 8])), 4)
        self.assertAlmostEqual(geometric_mean([3]), 3)
        self.assertIsNone(geometric_mean([]))


class SpeedRatios(unittest.TestCase):
    def test_streams_that_one_of_them_lacks_are_left_out(self):
        results = Results("unused", {})
        for name, stream, seconds in [("new", "A", 1), ("old", "A", 3), ("new", "B", 1)]:
            done = {
                "samples": 6,
                "correct": 3,
                "seconds": seconds,
                "cpu_seconds": 1,
                "peak_bytes": 1,
            }
            results.add("table", name, stream, 1, "", done)
        results.add("table", "old", "B", 1, "", {"failure": "it crashed"})
        self.assertEqual(speed_ratios(results, "table", "new", "old", ["A", "B", "C"]), {"A": 3})


if __name__ == "__main__":
    unittest.main()
