import sys
import types
import unittest

from contestants import Contestant, measurement
from measured_process import Measured, ProcessFailure

PROCESS = Measured(output="", seconds=5.0, cpu_seconds=8.0, peak_bytes=1000)


class Measurement(unittest.TestCase):
    def test_a_program_is_timed_from_outside(self):
        found = measurement({"samples": 200, "oca": 0.735, "seconds": 1.0}, PROCESS, False)
        self.assertEqual(
            (found["correct"], found["seconds"], found["cpu_seconds"]), (147, 5.0, 8.0)
        )

    def test_a_loop_is_timed_from_inside(self):
        record = {"samples": 200, "correct": 150, "seconds": 1.0, "cpu_seconds": 2.0}
        found = measurement(record, PROCESS, True)
        self.assertEqual(
            (found["correct"], found["seconds"], found["cpu_seconds"]), (150, 1.0, 2.0)
        )
        # Memory is always that of the process.
        self.assertEqual(found["peak_bytes"], 1000)

    def test_latencies_are_kept(self):
        record = {"samples": 2, "correct": 1, "seconds": 1.0, "latency": {"learn": {"p50": 1}}}
        found = measurement(record, PROCESS, True)
        self.assertEqual(found["latency"], {"learn": {"p50": 1}})
        self.assertEqual(found["cpu_seconds"], 8.0)


class Run(unittest.TestCase):
    def contestant(self, code):
        return Contestant("a", lambda stream: [sys.executable, "-c", code, stream.csv], "")

    def test_a_contestant_reads_the_stream_and_prints_its_result(self):
        stream = types.SimpleNamespace(csv="x.csv")
        code = 'import sys; print(\'{"samples": 5, "correct": %d}\' % len(sys.argv[1]))'
        found = self.contestant(code).measure(stream, budget=10)
        self.assertEqual((found["samples"], found["correct"]), (5, 5))

    def test_output_that_is_no_result_is_a_failure(self):
        stream = types.SimpleNamespace(csv="x.csv")
        for code in ["print('hello')", "print('{}')", 'print(\'{"samples": 0, "correct": 0}\')']:
            with (
                self.subTest(code=code),
                self.assertRaisesRegex(ProcessFailure, "unexpected output"),
            ):
                self.contestant(code).measure(stream, budget=10)


if __name__ == "__main__":
    unittest.main()
