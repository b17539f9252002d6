import pathlib
import tempfile
import unittest

import machine


class Machine(unittest.TestCase):
    def test_this_machine_has_cores_and_memory(self):
        found = machine.machine()
        self.assertGreaterEqual(found["cores"], 1)
        self.assertGreater(found["memory_bytes"], 2**26)

    def test_the_processor_is_named(self):
        text = (
            "processor\t: 0\nmodel name\t: Some CPU @ 3 GHz\nflags\t: a\nmodel name\t: Some CPU\n"
        )
        self.assertEqual(machine.processor(text), "Some CPU @ 3 GHz")
        self.assertEqual(machine.processor("Hardware: x"), "a processor without a name")

    def test_versions_are_found(self):
        lock = '[[package]]\nname = "a"\nversion = "1.0.0"\n[[package]]\nname = "ab"\nversion = "2.1.0"\n'
        self.assertEqual(machine.locked_version(lock, "ab"), "2.1.0")
        self.assertEqual(machine.locked_version(lock, "b"), "unknown")
        self.assertEqual(machine.java_version('openjdk version "17.0.15" 2025-04-15'), "17.0.15")
        self.assertEqual(machine.java_version(""), "unknown")
        self.assertEqual(machine.package("no-such-package"), "not installed")

    def test_builds_differ_by_their_fingerprints(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "program"
            self.assertEqual(machine.fingerprint(path), "missing")
            path.write_bytes(b"one")
            first = machine.fingerprint(path)
            path.write_bytes(b"two")
            self.assertNotEqual(machine.fingerprint(path), first)


if __name__ == "__main__":
    unittest.main()
