"""scikit-learn's estimator with text, categories, class weights and ordered data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from broadstream.sklearn import OnlineBLSClassifier


def small(**options):
    return OnlineBLSClassifier(**{"enhancement_nodes": 50, **options})


@pytest.fixture
def houses():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=200)})
    frame["site"] = rng.choice(["field", "wood", "town"], size=200)
    frame["age"] = rng.integers(0, 50, size=200)
    return frame, np.where((frame["site"] == "wood") ^ (frame["size"] > 0), "dear", "cheap")


FORMS = {
    "text": lambda frame: frame,
    "categories": lambda frame: frame.astype({"site": "category"}),
    "texts of arrow": lambda frame: frame.astype({"site": "string"}),
    "objects": lambda frame: frame.to_numpy(dtype=object),
    "lists": lambda frame: frame.to_numpy(dtype=object).tolist(),
    "polars": pl.from_pandas,
    "arrow": pa.Table.from_pandas,
}


@pytest.mark.parametrize("kind", FORMS)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("preset", ["single", "default"])
def test_text_is_categorical(preset, method, kind, houses):
    frame, y = houses
    X = FORMS[kind](frame)
    model = getattr(small(preset=preset), method)(X, y)
    expected = getattr(small(preset=preset), method)(frame, y)
    assert np.array_equal(model.predict_proba(X), expected.predict_proba(frame))
    assert model.score(X, y) > 0.9
    assert model.n_features_in_ == 3
    if kind not in ("objects", "lists", "arrow"):
        assert model.feature_names_in_.tolist() == ["size", "site", "age"]


def test_numbers_are_the_same_beside_text_and_alone(houses):
    frame, y = houses
    numbers = frame[["size", "age"]]
    alone = small().fit(numbers, y).predict_proba(numbers)
    as_objects = small().fit(numbers.astype(object), y).predict_proba(numbers)
    assert np.array_equal(alone, as_objects)


def test_columns_are_those_of_fit(houses):
    frame, y = houses
    model = small().fit(frame, y)
    for call in (model.predict, lambda X: model.partial_fit(X, y)):
        with pytest.raises(ValueError, match="feature names should match"):
            call(frame.rename(columns={"site": "place"}))
        with pytest.raises(ValueError, match=r"feature names should match|3 features"):
            call(frame.assign(more=1.0))
        with pytest.raises(ValueError, match=r"feature names should match|3 features"):
            call(frame[["size", "site"]])
    assert np.isfinite(model.predict_proba(frame.assign(site="never seen"))).all()


BAD = {
    "a text among numbers": lambda frame: frame.assign(size=[*frame["size"][:-1], "x"]),
    "a list": lambda frame: frame.assign(site=[[1], *frame["site"][1:]]),
    "infinity": lambda frame: frame.assign(size=np.inf),
    "too few rows": lambda frame: frame[:10],
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_failed_call_leaves_the_estimator_as_it_was(method, kind, houses):
    frame, y = houses
    model = small().fit(frame[["age", "site"]].rename(columns={"age": "size"}).assign(age=1), y)
    X = frame[["size", "site", "age"]]
    before, state = model.predict_proba(X), dict(vars(model))
    with pytest.raises((ValueError, TypeError)):
        getattr(model, method)(BAD[kind](X), np.where(y == "dear", "very dear", y))
    assert vars(model) == state
    assert np.array_equal(model.predict_proba(X), before)
    new = small()
    with pytest.raises((ValueError, TypeError)):
        getattr(new, method)(BAD[kind](X), y)
    assert vars(new) == vars(clone(new)), "nothing was fitted"


def test_columns_without_a_value_stay_blank(houses):
    frame, y = houses
    empty = frame.assign(note=None, count=np.nan)
    model = small().fit(empty, y)
    filled = frame.assign(note="text", count=3.0)
    assert np.array_equal(model.predict_proba(filled), model.predict_proba(empty))
    assert np.array_equal(
        model.partial_fit(filled, y).predict_proba(filled), model.predict_proba(empty)
    )


def test_class_weights_are_those_of_scikit_learn():
    X, y = load_iris(return_X_y=True)
    X, y = X[:, :2], np.minimum(y, 1)

    def probabilities(weight, labels=y, sample_weight=None):
        return small(class_weight=weight).fit(X, labels, sample_weight).predict_proba(X)

    by_hand = probabilities(None, sample_weight=np.where(y == 1, 9.0, 2.0))
    assert np.array_equal(probabilities({0: 2.0, 1: 9.0}), by_hand)
    assert np.array_equal(probabilities({0: 2, 1: np.float32(9)}), by_hand)
    assert np.array_equal(probabilities({np.int64(0): 2.0, 1: 9.0, 5: 1.0}), by_hand)
    assert np.array_equal(
        probabilities({"no": 2.0, "yes": 9.0}, np.array(["no", "yes"])[y]), by_hand
    )
    # A class that is left out has weight 1.
    half = probabilities(None, sample_weight=np.where(y == 1, 9.0, 1.0))
    assert np.array_equal(probabilities({1: 9.0}), half)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 100], r"class_weight must be a dict.*got \[1, 100\]"),
        (3.0, "class_weight must be a dict"),
        ("balance", "class_weight"),
        ({"0": 1.0}, r"weights for \['0'\], which are no classes"),
        ({0: -1.0}, "weights of at least 0"),
        ({0: "heavy"}, "weights of at least 0"),
        ({0: np.nan}, "weights of at least 0"),
    ],
    ids=str,
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_other_class_weights_are_refused(method, weight, message, houses):
    X, y = load_iris(return_X_y=True)
    if method == "partial_fit" and weight == {"0": 1.0}:
        pytest.skip("classes may come later")
    with pytest.raises((TypeError, ValueError), match=message):
        getattr(small(class_weight=weight), method)(X, y)


def test_fit_does_not_depend_on_the_order_of_classes():
    X, y = load_iris(return_X_y=True)
    assert (np.diff(y) >= 0).all(), "sorted by class"
    model = OnlineBLSClassifier(preset="default", enhancement_nodes=100)
    assert model.fit(X, y).score(X, y) > 0.9
    assert cross_val_score(model, X, y, cv=3).mean() > 0.9
    assert np.array_equal(model.fit(X, y).predict_proba(X), clone(model).fit(X, y).predict_proba(X))
    kept = clone(model).set_params(shuffle=False)
    assert np.array_equal(kept.fit(X, y).predict_proba(X), kept.fit(X, y).predict_proba(X))
    # In order, it has just seen many samples of the last class.
    assert kept.fit(X, y).score(X, y) < model.fit(X, y).score(X, y)
    by_rows = clone(kept).partial_fit(X, y)
    assert np.array_equal(by_rows.model_.labels, kept.model_.labels)


def test_tables_are_shuffled_like_arrays(houses):
    frame, y = houses
    order = np.argsort(y, kind="stable")
    frame, y = frame.iloc[order], y[order]
    assert small(preset="default").fit(frame, y).score(frame, y) > 0.8
    assert small(preset="default").fit(frame.astype({"site": "category"}), y).score(frame, y) > 0.8


def test_warm_start_continues():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    one, other = order[:75], order[75:]
    model = small(warm_start=True).fit(X[one], y[one])
    assert model.fit(X[other], y[other]).model_.learned == 150
    parts = small().fit(X[one], y[one]).partial_fit(X[other], y[other])
    assert np.array_equal(model.predict_proba(X), parts.predict_proba(X))
    assert small().fit(X[one], y[one]).fit(X[other], y[other]).model_.learned == 75
    with pytest.raises(ValueError, match="4 features"):
        model.fit(X[:, :2], y)
    assert np.array_equal(model.predict_proba(X), parts.predict_proba(X))


@pytest.mark.parametrize("classes", [2, 3])
def test_decision_function_agrees_with_the_prediction(classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < classes], y[y < classes]
    model = small().fit(X, y)
    decision = model.decision_function(X)
    if classes == 2:
        assert decision.shape == (len(X),)
        assert np.array_equal(model.classes_[(decision > 0).astype(int)], model.predict(X))
    else:
        assert decision.shape == (len(X), 3)
        assert np.array_equal(model.classes_[decision.argmax(axis=1)], model.predict(X))
    assert np.isfinite(small().partial_fit(X, y, classes=[0, 1, 2, 3]).decision_function(X)).all()


def test_pipelines_that_return_tables_work(houses):
    frame, y = houses
    encoder = OneHotEncoder(sparse_output=False)
    columns = make_column_transformer((StandardScaler(), ["size", "age"]), (encoder, ["site"]))
    pipeline = make_pipeline(columns, small()).set_output(transform="pandas")
    assert pipeline.fit(frame, y).score(frame, y) > 0.9
    assert pipeline[-1].feature_names_in_.tolist()[-1].endswith("site_wood")
