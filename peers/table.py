"""Read a CSV table into memory by the rules of the library's CSV stream.

A column is numeric if all its cells among the first 1000 rows are numbers; otherwise its cells are
categories. A cell that is empty, `?`, `NA` or `NaN` is missing.
"""

import csv
import itertools
import math
from array import array

import numpy

SURVEYED_ROWS = 1000
MISSING = {"", "?", "na", "nan"}


class TableError(Exception):
    """Says what is wrong with a table, and where."""


class Table:
    """The samples of a table.

    `x[i, j]` is a number, or the position of a category in `categories[j]`; NaN is missing. `y[i]` is
    a position in `labels`.
    """

    def __init__(self, inputs, target, categories, labels, x, y):
        self.inputs = inputs
        self.target = target
        self.categories = categories
        self.labels = labels
        self.x = x
        self.y = y


def read_table(file, target=None, limit=None):
    """Read a table with a header row. Without `target` the last column is the target."""
    rows = csv.reader(file)
    names = [name.strip() for name in next(rows, [])]
    if len(names) < 2:
        raise TableError("the stream is empty: expected a header with at least two columns")
    if len(set(names)) < len(names):
        raise TableError("line 1: two columns have the same name")
    target = names[-1] if target is None else target
    if target not in names:
        raise TableError(f"there is no column '{target}': the columns are {', '.join(names)}")
    target_position = names.index(target)
    inputs = [name for name in names if name != target]

    filled = ((line, row) for line, row in enumerate(rows, start=2) if row)
    cells = (split(line, row, len(names), target_position) for line, row in filled)
    cells = itertools.islice(cells, limit)
    head = list(itertools.islice(cells, SURVEYED_ROWS))
    columns = [Column(name, [row[j] for _, row, _ in head]) for j, name in enumerate(inputs)]
    labels, x, y = {}, array("d"), array("q")
    for line, row, label in itertools.chain(head, cells):
        if is_missing(label):
            raise TableError(f"line {line}, column '{target}': the label is missing")
        x.extend(column.encode(cell, line) for column, cell in zip(columns, row, strict=True))
        y.append(labels.setdefault(label, len(labels)))
    if not y:
        raise TableError("the stream is empty: expected at least one row of data")
    categories = {j: list(column.codes) for j, column in enumerate(columns) if column.codes}
    values = numpy.frombuffer(x, dtype=float).reshape(len(y), len(inputs))
    return Table(inputs, target, categories, list(labels), values, list(y))


def split(line, row, columns, target_position):
    """Return the line, the cells of the inputs and the label of a row."""
    if len(row) != columns:
        raise TableError(f"line {line}: expected {columns} fields, found {len(row)}")
    cells = [cell.strip() for cell in row]
    label = cells.pop(target_position)
    return line, cells, label


class Column:
    """Encodes the cells of a column as numbers."""

    def __init__(self, name, first_cells):
        self.name = name
        self.codes = {}
        kinds = {is_number(cell) for cell in first_cells if not is_missing(cell)}
        # A column without any cell so far is decided by the first one that appears.
        self.numeric = False not in kinds if kinds else None

    def encode(self, cell, line):
        if is_missing(cell):
            return math.nan
        if self.numeric is None:
            self.numeric = is_number(cell)
        if not self.numeric:
            return self.codes.setdefault(cell, len(self.codes))
        if not is_number(cell) or not math.isfinite(float(cell)):
            raise TableError(
                f"line {line}, column '{self.name}': expected a finite number, found '{cell[:60]}'"
            )
        return float(cell)


def is_missing(cell):
    return cell.lower() in MISSING


def is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    # Python accepts 1_000 as a number, but no other reader does.
    return "_" not in cell
