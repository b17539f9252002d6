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


def river_hoeffding_tree(_seed):
    from river.tree import HoeffdingTreeClassifier

    return HoeffdingTreeClassifier()


def river_adaptive_random_forest(seed):
    from river.forest import ARFClassifier

    return ARFClassifier(n_models=TREES, seed=seed)


def river_leveraging_bagging(seed):
    from river.ensemble import LeveragingBaggingClassifier
    from river.tree import HoeffdingTreeClassifier

    return LeveragingBaggingClassifier(model=HoeffdingTreeClassifier(), n_models=TREES, seed=seed)


def capymoa_hoeffding_tree(schema, seed):
    from capymoa.classifier import HoeffdingTree

    return HoeffdingTree(schema=schema, random_seed=seed)


def capymoa_adaptive_random_forest(schema, seed):
    from capymoa.classifier import AdaptiveRandomForestClassifier

    return AdaptiveRandomForestClassifier(schema=schema, random_seed=seed, ensemble_size=TREES)


def capymoa_leveraging_bagging(schema, seed):
    from capymoa.classifier import LeveragingBagging

    return LeveragingBagging(schema=schema, random_seed=seed, ensemble_size=TREES)


def capymoa_streaming_random_patches(schema, seed):
    from capymoa.classifier import StreamingRandomPatches

    return StreamingRandomPatches(schema=schema, random_seed=seed, ensemble_size=TREES)


# By name: what makes the model, what differs from its library's defaults, and a description.
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
    "capymoa-streaming-random-patches": (
        capymoa_streaming_random_patches,
        {"trees": TREES, "labels_known_in_advance": True},
        "MOA's streaming random patches of 10 Hoeffding trees",
    ),
}


def make_learner(method, table, seed):
    """Make a learner for the samples of a table."""
    make_model = METHODS[method][0]
    if method.startswith("river-"):
        return River(table, make_model(seed))
    return CapyMoa(table, lambda schema: make_model(schema, seed))


def library_of(method):
    """Return the library of a method with its version, such as 'river 0.26.1'."""
    library = method.split("-")[0]
    return f"{library} {version(library)}"
