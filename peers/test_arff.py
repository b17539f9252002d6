import io
import unittest

from arff import write_arff
from table import read_table


class WriteArff(unittest.TestCase):
    def test_a_table_keeps_its_cells(self):
        table = read_table(
            io.StringIO('size,job,buys\n1.5,"baker, ""B""",yes\n?,clerk,no\n2,,yes\n')
        )
        arff = io.StringIO()
        write_arff(table, arff)
        lines = arff.getvalue().splitlines()
        self.assertEqual(
            lines[1:4],
            [
                '@attribute "size" numeric',
                '@attribute "job" {"baker, \\"B\\"","clerk"}',
                '@attribute "buys" {"yes","no"}',
            ],
        )
        self.assertEqual(lines[5:], ['1.5,"baker, \\"B\\"","yes"', '?,"clerk","no"', '2.0,?,"yes"'])


if __name__ == "__main__":
    unittest.main()
