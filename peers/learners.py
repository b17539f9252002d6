"""Third-party stream learners behind one interface.

`prepare(i)` converts a row of the table into a sample of the library's own kind; `predict()` and
`learn(label)` use that sample. The conversion is thus not part of what is timed.
"""

import math
from importlib.metadata import version

TREES = 10


class River:
    """A River classifier. Samples are dictionaries without the missing inputs."""

    def __init__(self, table, model):
        self.table = table
        self.model = model
        self.sample = {}

    def prepare(self, i):
        self.sample = {}
        for j, value in enumerate(self.table.x[i].tolist()):
            if not math.isnan(value):
                categories = self.table.categories.get(j)
                self.sample[self.table.inputs[j]] = categories[int(value)] if categories else value

    def predict(self):
        return self.model.predict_one(self.sample)

    def learn(self, label):
        self.model.learn_one(self.sample, label)


class CapyMoa:
    """A classifier of MOA through CapyMOA. Its schema lists all labels and categories in advance."""

    def __init__(self, table, make_model):
        from capymoa.core import LabeledInstance
        from capymoa.stream import Schema

        self.make_instance = LabeledInstance.from_array
        self.table = table
        categories = {table.inputs[j]: texts for j, texts in table.categories.items()}
        self.schema = Schema.from_custom(
            features=[*table.inputs, table.target],
            target=table.target,
            categories={**categories, table.target: table.labels},
        )
        self.model = make_model(self.schema)
        self.sample = None

    def prepare(self, i):
        self.sample = self.make_instance(self.schema, self.table.x[i], self.table.y[i])

    def predict(self):
        return self.model.predict(self.sample)

    def learn(self, _label):
        self.model.train(self.sample)


def river_hoeffding_tree(table, _seed):
    from river.tree import HoeffdingTreeClassifier

    return River(table, HoeffdingTreeClassifier())


def river_adaptive_random_forest(table, seed):
    from river.forest import ARFClassifier

    return River(table, ARFClassifier(n_models=TREES, seed=seed))


def river_leveraging_bagging(table, seed):
    from river.ensemble import LeveragingBaggingClassifier
    from river.tree import HoeffdingTreeClassifier

    tree = HoeffdingTreeClassifier()
    return River(table, LeveragingBaggingClassifier(model=tree, n_models=TREES, seed=seed))


def capymoa_hoeffding_tree(table, seed):
    from capymoa.classifier import HoeffdingTree

    return CapyMoa(table, lambda schema: HoeffdingTree(schema=schema, random_seed=seed))


def capymoa_adaptive_random_forest(table, seed):
    from capymoa.classifier import AdaptiveRandomForestClassifier as Forest

    return CapyMoa(
        table, lambda schema: Forest(schema=schema, random_seed=seed, ensemble_size=TREES)
    )


def capymoa_leveraging_bagging(table, seed):
    from capymoa.classifier import LeveragingBagging as Bagging

    return CapyMoa(
        table, lambda schema: Bagging(schema=schema, random_seed=seed, ensemble_size=TREES)
    )


# By name: its constructor, what differs from its library's defaults, and a description.
METHODS = {
    "river-hoeffding-tree": (river_hoeffding_tree, {}, "one Hoeffding tree; takes no seed"),
    "river-adaptive-random-forest": (
        river_adaptive_random_forest,
        {"trees": TREES},
        "adaptive random forest of 10 trees",
    ),
    "river-leveraging-bagging": (
        river_leveraging_bagging,
        {"trees": TREES},
        "leveraging bagging of 10 Hoeffding trees",
    ),
    "capymoa-hoeffding-tree": (
        capymoa_hoeffding_tree,
        {"labels_known_in_advance": True},
        "MOA's Hoeffding tree",
    ),
    "capymoa-adaptive-random-forest": (
        capymoa_adaptive_random_forest,
        {"trees": TREES, "labels_known_in_advance": True},
        "MOA's adaptive random forest of 10 trees",
    ),
    "capymoa-leveraging-bagging": (
        capymoa_leveraging_bagging,
        {"trees": TREES, "labels_known_in_advance": True},
        "MOA's leveraging bagging of 10 Hoeffding trees",
    ),
}


def library_of(method):
    """Return the library of a method with its version, such as 'river 0.26.1'."""
    library = method.split("-")[0]
    return f"{library} {version(library)}"
