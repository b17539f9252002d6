import io
import pathlib
import sys
import tempfile
import types
import unittest

from river_dataset import write_dataset
from stream_files import StreamFailure, StreamFiles, shape

# Stands for `broadstream export`: writes its arguments, or fails.
PROGRAM = """#!{python}
import os, sys
if "missing" in sys.argv[2]:
    sys.exit("error: there is no such file")
print("words,folder,class")
print(" ".join(sys.argv[1:]) + "," + os.path.basename(os.getcwd()) + ",yes")
"""


class Exported(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "data").mkdir()
        program = self.folder / "program"
        program.write_text(PROGRAM.format(python=sys.executable), encoding="utf-8")
        program.chmod(0o700)
        self.arguments = types.SimpleNamespace(
            limit=500, program=program, data=self.folder / "data"
        )

    def stream(self, source):
        return StreamFiles("My Stream", source, self.arguments, self.folder)

    def test_a_stream_is_exported_once_where_the_data_is(self):
        stream = self.stream("letter.csv.gz --shuffle 1")
        self.assertFalse(stream.is_exported)
        text = stream.csv.read_text(encoding="utf-8")
        self.assertIn("export letter.csv.gz --shuffle 1 --limit 500,data,yes", text)
        self.assertTrue(stream.is_exported)
        stream.csv.write_text("x,class\n1,a\n2,b\n", encoding="utf-8")
        self.assertEqual(stream.shape, {"samples": 2, "inputs": 1, "classes": 2})
        self.assertEqual(stream.run, [stream.csv])

    def test_arff_is_made_of_the_same_rows(self):
        stream = self.stream("x")
        self.assertIn(
            '"export x --limit 500","data","yes"', stream.arff.read_text(encoding="utf-8")
        )

    def test_a_missing_source_is_named(self):
        with self.assertRaisesRegex(StreamFailure, "My Stream: error: there is no such file"):
            self.stream("missing.csv").csv  # noqa: B018


class Shape(unittest.TestCase):
    def test_quoted_cells_do_not_confuse_it(self):
        file = io.StringIO('a,b,class\n1,"x\ny",no\n2,"x,y",yes\n3,z,no\n')
        self.assertEqual(shape(file), {"samples": 3, "inputs": 2, "classes": 2})


class RiverDataset(unittest.TestCase):
    def test_the_label_is_the_last_column(self):
        file = io.StringIO()
        write_dataset([({"a": 1, "b": 0.5}, True), ({"a": 2, "b": 0}, False)], file)
        self.assertEqual(file.getvalue(), "a,b,class\n1,0.5,True\n2,0,False\n")


if __name__ == "__main__":
    unittest.main()
