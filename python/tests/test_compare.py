"""Models of several libraries on the same samples."""

from __future__ import annotations

import matplotlib
import pytest
from river import dummy, evaluate, linear_model, metrics, naive_bayes, preprocessing, tree
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

import broadstream
from broadstream import compare
from broadstream.sklearn import OnlineBLSClassifier


def river_models():
    return {
        "tree": tree.HoeffdingTreeClassifier(),
        "bayes": naive_bayes.GaussianNB(),
        "pipeline": preprocessing.StandardScaler() | linear_model.LogisticRegression(),
        "no change": dummy.NoChangeClassifier(),
        "perceptron": linear_model.PAClassifier(),
    }


@pytest.mark.parametrize("delay", [0, 40])
def test_models_of_river_get_the_accuracy_that_river_gives_them(delay):
    stream = [(x, y == "true") for x, y in broadstream.generate("sea", samples=500)]
    found = compare(stream, river_models(), delay=delay)
    for name, model in river_models().items():
        if delay and name in ("pipeline", "perceptron"):
            continue  # River's linear models answer before they have seen a label
        accuracy = metrics.Accuracy()
        evaluate.progressive_val_score(stream, model, accuracy, delay=delay or None)
        result = found[name]
        # River leaves out samples without an answer; without delay they count here, as errors.
        counted = result.samples - (0 if delay else sum(p is None for p in result.predictions))
        right = result.confusion.trace()
        assert right / counted == pytest.approx(accuracy.get(), abs=0.003), name
    assert list(found) == list(river_models())


def test_models_of_scikit_learn(flower_rows, numbers):
    found = compare(
        numbers,
        {
            "bayes": GaussianNB(),
            "linear": SGDClassifier(random_state=0),
            "single": OnlineBLSClassifier(enhancement_nodes=20),
            "own": broadstream.OnlineBLS(preset="single"),
        },
    )
    assert all(result.samples == 300 for result in found.values())
    assert found["bayes"].accuracy > 0.6 and found["single"].accuracy > 0.6
    text = compare(flower_rows, [OnlineBLSClassifier(enhancement_nodes=20)], limit=200)
    assert next(iter(text.values())).accuracy > 0.5
    pairs = [({"a": float(i % 3)}, i % 3) for i in range(50)]
    with pytest.raises(ValueError, match="must know all classes before the first sample"):
        compare(pairs, {"linear": SGDClassifier()})


def test_models_of_capymoa():
    from capymoa.classifier import HoeffdingTree
    from capymoa.evaluation import prequential_evaluation
    from capymoa.stream.generator import SEA

    stream = SEA()
    models = {"tree": HoeffdingTree(stream.get_schema()), "own": broadstream.OnlineBLS()}
    found = compare(stream, models, limit=500)
    theirs = prequential_evaluation(stream, HoeffdingTree(stream.get_schema()), max_instances=500)
    assert 100 * found["tree"].accuracy == pytest.approx(theirs["cumulative"].accuracy(), abs=0.3)
    assert found["own"].samples == 500
    with pytest.raises(TypeError, match="evaluate it on a stream of CapyMOA"):
        compare("sea:samples=50", {"tree": HoeffdingTree(stream.get_schema())})


def test_an_iterator_is_read_once_for_all():
    pairs = (({"a": float(i % 5)}, i % 5 > 2) for i in range(400))
    found = compare(pairs, [broadstream.OnlineBLS(preset="single") for _ in range(2)], limit=300)
    assert list(found) == ["OnlineBLS(preset='single')", "OnlineBLS(preset='single') #2"]
    assert [result.samples for result in found.values()] == [300, 300]
    assert len({result.accuracy for result in found.values()}) == 1


def test_results_are_a_table_and_a_plot():
    matplotlib.use("agg")
    models = {
        "<one>": broadstream.OnlineBLS(preset="single"),
        "tree": tree.HoeffdingTreeClassifier(),
    }
    found = compare("sea:samples=500", models, metrics_window=100)
    lines = str(found).splitlines()
    assert lines[0] == "sea:samples=500" and lines[2].startswith("<one>")
    assert f"{found['tree'].accuracy:.4f}" in lines[3]
    assert "&lt;one&gt;" in found._repr_html_() and "<one>" not in found._repr_html_()
    frame = found.to_pandas()
    assert frame.index.tolist() == ["<one>", "tree"]
    assert frame.loc["tree", "oca"] == found["tree"].accuracy
    assert found.best() == frame["oca"].idxmax() and found.best("oce") == frame["oce"].idxmin()
    axes = found.plot()
    assert len(axes.lines) == 2 and axes.get_title() == "sea:samples=500, last 100 samples"
    assert list(axes.lines[1].get_ydata()) == found["tree"].curve["window_oca"].tolist()
    assert found.plot("ece", ax=axes) is axes
    with pytest.raises(ValueError, match="metric must be one of"):
        found.best("speed")
    with pytest.raises(ValueError, match="at least one model"):
        compare("sea", [])


def test_a_failing_model_raises_its_own_error():
    class Broken:
        def learn_one(self, x, y):
            raise LookupError("cannot learn")

        def predict_one(self, x):
            return None

    with pytest.raises(LookupError, match="cannot learn"):
        compare("sea:samples=50", {"broken": Broken()})
    with pytest.raises(TypeError, match=r"learn_one.*partial_fit.*got int"):
        compare("sea:samples=50", {"three": 3})
