import sys
import unittest

import measured_process
from measured_process import ProcessFailure


def run(code, timeout=60):
    return measured_process.run([sys.executable, "-c", code], timeout)


class MeasuredProcess(unittest.TestCase):
    def test_output_time_and_memory_are_those_of_the_program(self):
        small = run("print('done')")
        large = run("x = bytearray(100_000_000); print('done')")
        self.assertEqual(small.output, "done\n")
        self.assertGreater(large.peak_bytes - small.peak_bytes, 90_000_000)
        self.assertGreater(small.seconds, 0)
        self.assertGreater(small.cpu_seconds, 0)

    def test_the_memory_of_the_caller_is_not_counted(self):
        held = bytearray(200_000_000)
        held[::4096] = b"x" * len(held[::4096])
        self.assertLess(run("pass").peak_bytes, 100_000_000)

    def test_a_failure_says_why(self):
        for code, reason in [
            ("raise ValueError('no such column')", "exit code 1: ValueError: no such column"),
            ("import os; os.kill(os.getpid(), 9)", "exit code -9: it printed nothing"),
        ]:
            with self.subTest(code=code), self.assertRaisesRegex(ProcessFailure, reason):
                run(code)
        with self.assertRaisesRegex(ProcessFailure, "there is no program /no/such"):
            measured_process.run(["/no/such"], 1)

    def test_a_program_that_does_not_end_is_killed(self):
        with self.assertRaisesRegex(ProcessFailure, "no result after 1 seconds"):
            run("import time; time.sleep(600)", timeout=1)


if __name__ == "__main__":
    unittest.main()
