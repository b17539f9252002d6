"""A prediction for columns that look misspelt warns, once for a model."""

from __future__ import annotations

import warnings

import pandas as pd
import pytest

ROWS = [{"age": 30.0, "city": "Rome"}, {"age": 50.0, "city": "Oslo"}] * 10


@pytest.fixture
def model(new_model):
    model = new_model()
    model.learn_many(ROWS, [0, 1] * 10)
    return model


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"age": 30.0, "City": "Rome"}, r"'City' \(known: 'city'\)"),
        ({"age": 30.0, " city": "Rome"}, r"' city' \(known: 'city'\)"),
        ({"age": 30.0, "ctiy": "Rome"}, r"'ctiy' \(known: 'city'\)"),
        ({"Age": 30.0, "City": "Rome"}, r"'Age' \(known: 'age'\), 'City' \(known: 'city'\)"),
    ],
    ids=str,
)
@pytest.mark.parametrize("many", [False, True], ids=["one", "many"])
def test_a_prediction_warns_once(row, message, many, model):
    def predict():
        return model.predict_many(pd.DataFrame([row])) if many else model.predict_one(row)

    with pytest.warns(UserWarning, match=message):
        predict()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predict()
    assert set(model.inputs) == {"age", "city=Rome", "city=Oslo"}


@pytest.mark.parametrize(
    "row",
    [
        {"age": 30.0, "city": "Rome", "City": "Rome"},
        {"age": 30.0, "height": 1.8},
        {"city": "Rome"},
        {},
        {"age": 30.0, "wealth": 2.0},
    ],
    ids=str,
)
def test_new_and_missing_columns_are_no_mistakes(row, model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict_one(row)
        model.predict_many([row])


def test_columns_that_differ_in_a_number_are_different(new_model):
    model = new_model()
    model.learn_many([{"x1": 1.0, "x2": 2.0}, {"x1": 2.0, "x2": 1.0}], [0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict_one({"x1": 1.0, "x3": 2.0})


def test_learning_new_columns_does_not_warn(model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.learn_one({"age": 30.0, "City": "Rome"}, 0)
        model.predict_one({"age": 30.0, "City": "Rome"})
