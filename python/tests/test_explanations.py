"""Explanations are compared with their definition: the row is predicted again without each column."""

import numpy as np
import pytest

import broadstream
from broadstream.river import OnlineBLSClassifier as River
from broadstream.sklearn import OnlineBLSClassifier as Sklearn


def row(i):
    x = {"amount": (37 * i) % 101, "hour": (7 * i) % 24, "city": ["Rome", "Oslo", "Bonn"][i % 3]}
    if i % 11 == 0:
        del x["hour"]
    return x


def label(x):
    return "fraud" if x["amount"] > 60 and x["city"] == "Oslo" else "ok"


@pytest.fixture(scope="module", params=["default", "single"])
def model(request):
    model = broadstream.OnlineBLS(preset=request.param, enhancement_nodes=80)
    rows = [row(i) for i in range(400)]
    model.learn_many(rows, [label(x) for x in rows])
    return model


@pytest.mark.parametrize("wanted", [None, "ok", "fraud"])
def test_a_change_is_the_difference_of_two_predictions(model, wanted, no_trace):
    rows = [row(i) for i in range(1000, 1012)] + [{"amount": 80, "city": "new"}]
    with no_trace(model):
        explained = model.explain_many(rows, label=wanted)
    for x, changes in zip(rows, explained):
        explained_label = model.predict_one(x) if wanted is None else wanted
        assert set(changes) == set(x)
        probability = model.predict_proba_one(x)[explained_label]
        for column, change in changes.items():
            rest = {name: value for name, value in x.items() if name != column}
            expected = probability - model.predict_proba_one(rest)[explained_label]
            assert change == pytest.approx(expected, abs=1e-9)
        sizes = [abs(change) for change in changes.values()]
        assert sizes == sorted(sizes, reverse=True)
        alone = model.explain_one(x, label=wanted)
        assert list(alone) == list(changes)
        assert list(alone.values()) == pytest.approx(list(changes.values()), abs=1e-12)


def test_at_most_k_columns_are_returned(model):
    x = row(1)
    everything = list(model.explain_one(x).items())
    for k in [1, 2, 3, 100, 10**30]:
        assert list(model.explain_one(x, k=k).items()) == everything[:k]
        assert list(model.explain_many([x], k)[0]) == [name for name, _ in everything[:k]]
    assert model.explain_one({}) == {}
    assert model.explain_many([]) == []


def test_what_cannot_be_explained_is_refused(model, no_trace):
    x = row(1)
    with no_trace(model):
        for k in [0, -1]:
            with pytest.raises(ValueError, match=f"k must be at least 1, got {k}"):
                model.explain_one(x, k)
        for k in ["three", 2.5]:
            with pytest.raises(TypeError, match="k must be a whole number"):
                model.explain_many([x], k)
        with pytest.raises(ValueError, match="'unheard' was never learned"):
            model.explain_one(x, label="unheard")
        with pytest.raises(ValueError, match="finite"):
            model.explain_one({"amount": float("inf")})


def test_nothing_predicted_is_nothing_explained():
    model = broadstream.OnlineBLS()
    assert model.explain_one(row(0)) == {}
    assert model.explain_many([row(0), row(1)], k=2) == [{}, {}]
    assert model.importance == {}
    costs = {
        "ok": {"ok": 5, "fraud": 5, "abstain": 1},
        "fraud": {"ok": 5, "fraud": 5, "abstain": 1},
    }
    model = broadstream.OnlineBLS(preset="single", costs=costs)
    for i in range(50):
        model.learn_one(row(i), label(row(i)))
    assert model.predict_one(row(1)) is None
    assert model.explain_one(row(1)) == {}
    assert model.explain_many([row(1)]) == [{}]
    assert model.explain_one(row(1), label="ok") != {}


def test_importance_ranks_columns_and_is_saved(model, saved, tmp_path):
    importance = model.importance
    assert set(importance) == {"amount", "city", "hour"}
    assert list(importance.values()) == sorted(importance.values(), reverse=True)
    assert list(importance)[-1] == "hour"
    path = tmp_path / "model.bsm"
    model.save(path)
    assert broadstream.OnlineBLS.load(path).importance == importance
    assert model.copy().importance == importance


def test_other_libraries_models_explain_too():
    river = River(preset="single")
    for i in range(200):
        river.learn_one(row(i), label(row(i)))
    assert river.explain_one(row(5), k=2) == river.model.explain_one(row(5), k=2)
    assert len(river.explain_one(row(5), k=2)) == 2

    X = np.random.default_rng(1).normal(size=(300, 4))
    estimator = Sklearn().fit(X, X[:, 2] > 0)
    importances = estimator.feature_importances_
    assert importances.shape == (4,)
    assert np.argmax(importances) == 2
    assert (importances >= 0).all()
