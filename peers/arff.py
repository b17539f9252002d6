"""Write a table as ARFF, the format of MOA.

    python arff.py stream.csv stream.arff

The program is a process of its own where memory is measured: the table would stay in that of its caller.
"""

import itertools
import json
import math
import sys

from table import read_table


def main():
    source, destination = sys.argv[1:]
    with open(source, newline="", encoding="utf-8") as file:
        table = read_table(file)
    with open(destination, "w", encoding="utf-8") as file:
        write_arff(table, file)


def write_arff(table, file):
    """Write a table. Unlike CSV, the format lists labels and categories in advance."""
    nominal = {j: quoted(texts) for j, texts in table.categories.items()}
    labels = quoted(table.labels)
    file.write("@relation stream\n")
    for j, name in enumerate(table.inputs):
        kind = f"{{{','.join(nominal[j])}}}" if j in nominal else "numeric"
        file.write(f"@attribute {quoted([name])[0]} {kind}\n")
    file.write(f"@attribute {quoted([table.target])[0]} {{{','.join(labels)}}}\n@data\n")
    for row, label in zip(table.x.tolist(), table.y, strict=True):
        cells = [cell(value, nominal.get(j)) for j, value in enumerate(row)]
        file.write(",".join([*cells, labels[label]]) + "\n")


def cell(value, nominal):
    """A number, or the position of a category, as ARFF; NaN is missing."""
    if math.isnan(value):
        return "?"
    return nominal[int(value)] if nominal else repr(value)


def rows(path):
    """The number of samples in a file, without keeping them."""
    with open(path, encoding="utf-8") as file:
        return sum(1 for line in itertools.dropwhile(lambda line: line != "@data\n", file)) - 1


def quoted(texts):
    return [json.dumps(text, ensure_ascii=False) for text in texts]


if __name__ == "__main__":
    main()
