"""Time one learner over a stream, and print what it did as JSON.

    timed_learner.py river-adaptive-random-forest stream.csv --limit 5000 --budget 120
    timed_learner.py capymoa-hoeffding-tree stream.csv --arff stream.arff --warm-up 5
    timed_learner.py lightgbm stream.csv

Each sample is predicted and then learned. Only that is timed: the samples of River, LightGBM and
broadstream's Python package are in memory before. CapyMOA reads its ARFF file in its own loop in Java.
A learner is a process of its own, so that its memory and its processor time are known.
"""

import argparse
import json
import sys

from arff import rows
from budgeted_loops import Stopwatch, in_chunks, one_by_one, refitted
from learners import METHODS, River
from table import read_table

# What most of CapyMOA's learners have by default.
SEED = 1


def main():
    arguments = parse_arguments()
    outcome = LEARNERS[arguments.method](arguments)
    json.dump(outcome.record(), sys.stdout)
    print()


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "method", choices=LEARNERS, metavar="METHOD", help=f"one of {', '.join(LEARNERS)}"
    )
    parser.add_argument("csv", help="the stream, with the target as its last column")
    parser.add_argument("--arff", help="the same as ARFF, which CapyMOA reads")
    parser.add_argument("--limit", type=int, metavar="N", help="stop after N samples")
    parser.add_argument(
        "--budget",
        type=float,
        default=float("inf"),
        metavar="SECONDS",
        help="begin nothing more after this time [default: no limit]",
    )
    parser.add_argument(
        "--warm-up",
        type=float,
        default=0,
        metavar="SECONDS",
        help="let CapyMOA's virtual machine compile for this time before [default: 0]",
    )
    parser.add_argument(
        "--refit-every",
        type=int,
        default=1000,
        metavar="N",
        help="the samples between two refits of LightGBM [default: 1000]",
    )
    return parser.parse_args()


def river(arguments):
    table = read(arguments)
    model = METHODS[arguments.method][0](SEED)
    return one_by_one(model, dictionaries(table), arguments.budget)


def broadstream(arguments):
    """The default model of the Python package."""
    import broadstream

    table = read(arguments)
    return one_by_one(broadstream.OnlineBLS(), dictionaries(table), arguments.budget)


def capymoa(arguments):
    """A learner of MOA, in MOA's own loop over an ARFF file."""
    from capymoa.evaluation import prequential_evaluation
    from capymoa.stream import ARFFStream

    total = arguments.limit or rows(arguments.arff)
    stream = ARFFStream(arguments.arff)

    def learn(budget):
        """Learn the stream from its beginning with a new model."""
        stream.restart()
        model = METHODS[arguments.method][0](stream.get_schema(), SEED)

        def learn_chunk(samples):
            result = prequential_evaluation(
                stream, model, max_instances=samples, window_size=samples, restart_stream=False
            )
            return round(result["cumulative"].accuracy() / 100 * samples)

        return in_chunks(learn_chunk, total, budget)

    watch = Stopwatch()
    while watch.seconds() < arguments.warm_up:
        learn(arguments.warm_up - watch.seconds())
    return learn(arguments.budget)


def lightgbm(arguments):
    import numpy
    from lightgbm import LGBMClassifier

    table = read(arguments)

    def fit(x, y):
        model = LGBMClassifier(random_state=SEED, verbose=-1)
        return model.fit(x, y, categorical_feature=list(table.categories)).predict

    y = numpy.array(table.y)
    return refitted(fit, table.x, y, arguments.refit_every, arguments.budget)


LEARNERS = {
    **{name: river if name.startswith("river-") else capymoa for name in METHODS},
    "lightgbm": lightgbm,
    "broadstream": broadstream,
}


def read(arguments):
    with open(arguments.csv, newline="", encoding="utf-8") as file:
        return read_table(file, limit=arguments.limit)


def dictionaries(table):
    """The samples as River takes them, with their labels."""
    samples, reader = [], River(table, model=None)
    for i, label in enumerate(table.y):
        reader.prepare(i)
        samples.append((reader.sample, label))
    return samples


if __name__ == "__main__":
    main()
