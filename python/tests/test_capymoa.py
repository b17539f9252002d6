"""The contract of CapyMOA."""

import numpy as np
import pytest
from capymoa.core import LabeledInstance
from capymoa.evaluation import prequential_evaluation, prequential_evaluation_multiple_learners
from capymoa.evaluation.visualization import plot_windowed_results
from capymoa.stream import NumpyStream, Schema
from capymoa.stream.generator import SEA, AgrawalGenerator

from broadstream.capymoa import OnlineBLS


def learner(schema, **options):
    return OnlineBLS(schema, preset="single", enhancement_nodes=100, **options)


def test_prequential_evaluation_and_its_plots_work(tmp_path):
    stream = SEA()
    results = prequential_evaluation(
        stream, learner(stream.get_schema()), max_instances=1500, window_size=500
    )
    assert results["cumulative"].accuracy() > 80
    assert len(results["windowed"].accuracy()) == 3
    plot_windowed_results(
        results, metric="accuracy", figure_path=f"{tmp_path}/", figure_name="windows.png"
    )
    assert (tmp_path / "windows.png").stat().st_size > 1000


def test_learners_side_by_side():
    stream = SEA()
    learners = {
        "ours": learner(stream.get_schema()),
        "seed 2": learner(stream.get_schema(), random_seed=2),
    }
    results = prequential_evaluation_multiple_learners(stream, learners, max_instances=500)
    assert results["ours"]["cumulative"].accuracy() > 75
    probabilities = [one.predict_proba(next(stream)) for one in learners.values()]
    assert not np.array_equal(*probabilities)


def test_nominal_attributes_are_categories():
    stream = AgrawalGenerator()
    model = learner(stream.get_schema())
    for _ in range(200):
        model.train(stream.next_instance())
    nominal = stream.get_schema().get_nominal_attributes()
    categories = {f"{name}={value}" for name, values in nominal.items() for value in values}
    assert len(categories & set(model.model.inputs)) > 10
    assert set(stream.get_schema().get_numeric_attributes()) <= set(model.model.inputs)


def test_missing_values_are_absent():
    schema = Schema.from_custom(
        ["size", "colour", "class"],
        target="class",
        categories={"colour": ["red", "blue"], "class": ["a", "b"]},
    )
    model = learner(schema)
    for x, y in [([1.0, 0.0], 0), ([np.nan, 1.0], 1), ([2.0, np.nan], 1)]:
        model.train(LabeledInstance.from_array(schema, np.array(x), y))
    assert set(model.model.inputs) == {"size", "colour=red", "colour=blue"}
    assert model.model.learned == 3


def test_answers_are_what_the_library_expects():
    schema = Schema.from_custom(
        ["x", "class"], target="class", categories={"class": ["a", "b", "c"]}
    )
    model = learner(schema)
    instance = LabeledInstance.from_array(schema, np.array([1.0]), 2)
    assert model.predict_proba(instance) is None
    assert model.predict(instance) is None
    model.train(instance)
    assert model.predict_proba(instance).tolist() == [0, 0, 1]
    assert model.predict(instance) == 2 and isinstance(model.predict(instance), int)
    assert str(model) == "OnlineBLS"


def test_arrays_as_streams():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    stream = NumpyStream(X, (X[:, 0] > 0).astype(int), target_type="categorical")
    results = prequential_evaluation(stream, learner(stream.get_schema()))
    assert results["cumulative"].accuracy() > 85


def test_a_regression_is_refused():
    schema = Schema.from_custom(["x", "y"], target="y")
    with pytest.raises(ValueError, match="expected a schema whose target is nominal"):
        OnlineBLS(schema)
