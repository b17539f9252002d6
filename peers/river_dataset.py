"""Write a dataset that is included in River as CSV.

python river_dataset.py Phishing phishing.csv
"""

import csv
import itertools
import sys


def main():
    from river import datasets

    name, limit, destination = sys.argv[1:]
    samples = itertools.islice(getattr(datasets, name)(), int(limit))
    with open(destination, "w", newline="", encoding="utf-8") as file:
        write_dataset(samples, file)


def write_dataset(samples, file):
    """Write samples that all have the same inputs, with the label as the last column."""
    writer = None
    for x, y in samples:
        if writer is None:
            writer = csv.DictWriter(file, [*x, "class"], lineterminator="\n")
            writer.writeheader()
        writer.writerow({**x, "class": y})


if __name__ == "__main__":
    main()
