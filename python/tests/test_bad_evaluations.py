"""Invalid evaluations are refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import broadstream
from broadstream import evaluate

SOURCES = {
    "pair of a list": ([[1.0, 2.0]], {}, TypeError, r"row 1: expected a pair \(x, y\), got list"),
    "three in a pair": ([({"a": 1}, 0, 1.0)], {}, TypeError, r"row 1: expected a pair"),
    "weights of pairs": ([({"a": 1}, 0)], {"sample_weight": [1.0]}, ValueError, "sample_weight"),
    "dictionary": ({"a": 1}, {}, TypeError, "got dict"),
    "class instead of a model": ("sea", {"model": broadstream.OnlineBLS}, TypeError, "call it"),
    "target of pairs": ([({"a": 1}, 0)], {"target": "a"}, TypeError, "table of named columns"),
    "model that is none": ("sea:samples=50", {"model": 3}, TypeError, "OnlineBLS.*int"),
    "one class": (([[1.0]] * 5, [0] * 5), {}, ValueError, "only the class '0'"),
    "no rows": (([], []), {}, ValueError, "empty"),
    "fewer labels": (([[1.0]] * 5, [0] * 4), {}, ValueError, "y must have 5 entries, got 4"),
    "missing label": (([[1.0]] * 2, [0, None]), {}, ValueError, "row 2: the label is missing"),
    "no labels": (([[1.0]] * 2, None), {}, (TypeError, ValueError), "y must|labels"),
    "infinity": (([[1.0], [float("inf")]], [0, 1]), {}, ValueError, "row 2, column '0'"),
    "weights": (([[1.0]] * 2, [0, 1]), {"sample_weight": [1, -1]}, ValueError, "sample 2"),
    "fewer weights": (
        ([[1.0]] * 2, [0, 1]),
        {"sample_weight": [1]},
        ValueError,
        "2 entries, got 1",
    ),
    "weights of a stream": (
        "sea:samples=50",
        {"sample_weight": [1.0]},
        (TypeError, ValueError),
        "sample_weight",
    ),
    "table without target": (pd.DataFrame({"a": [1]}), {}, TypeError, "target="),
    "table without that target": (
        pd.DataFrame({"a": [1]}),
        {"target": "b"},
        ValueError,
        "no column 'b': the columns are a",
    ),
    "rows with target": (([[1.0]], [0]), {"target": "a"}, ValueError, "target"),
    "stream with target": (broadstream.Stream("sea"), {"target": "a"}, ValueError, "target"),
    "table not collected": (
        pl.LazyFrame({"a": [1]}),
        {"target": "a"},
        TypeError,
        r"LazyFrame: call collect\(\)",
    ),
    "series": (pd.Series([1]), {"target": "a"}, TypeError, "got pandas.Series"),
    "misspelt generator": (
        "see",
        {},
        FileNotFoundError,
        "no file 'see', and no generator.*did you mean 'sea'.*stagger.*agrawal",
    ),
    "unknown generator": ("xyzzy:samples=5", {}, FileNotFoundError, "the generators are"),
    "array": (np.ones((2, 2)), {"target": "a"}, TypeError, "ndarray"),
    "three things": (([[1.0]], [0], [1.0]), {}, TypeError, "pair"),
    "nothing": (None, {}, TypeError, "pair"),
    "no such file": ("missing.csv", {}, FileNotFoundError, "missing.csv"),
    "no such parameter": ("sea:colour=1", {}, ValueError, "no parameter 'colour'"),
    "limit of 0": ("sea", {"limit": 0}, ValueError, "limit must be at least 1"),
    "limit below 0": ("sea", {"limit": -1}, ValueError, "limit"),
    "limit that is none": ("sea", {"limit": "all"}, TypeError, "integer"),
    "delay below 0": ("sea:samples=50", {"delay": -1}, ValueError, "delay"),
    "enormous delay": ("sea:samples=50", {"delay": 2**64}, ValueError, "delay"),
    "window of 0": ("sea", {"metrics_window": 0}, ValueError, "metrics_window must be at least 1"),
    "window below 0": ("sea", {"metrics_window": -1}, ValueError, "metrics_window"),
    "curve of 0": ("sea", {"curve_every": 0}, ValueError, "curve_every must be at least 1"),
    "confidence": ("sea", {"drift_confidence": 2}, ValueError, "drift_confidence must be between"),
    "confidence of NaN": (
        "sea",
        {"drift_confidence": float("nan")},
        ValueError,
        "drift_confidence",
    ),
    "unknown option": ("sea", {"speed": 2}, TypeError, "speed"),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_invalid_evaluations_are_refused(kind, trained, new_model):
    source, options, error, message = SOURCES[kind]
    model = options.get("model", new_model())
    model = trained if model == "trained" else model
    with pytest.raises(error, match=message):
        evaluate(source, **{**options, "model": model})


def test_a_failure_leaves_the_model_as_far_as_it_has_come(numbers, new_model, saved):
    X, y = numbers[0].copy(), numbers[1].tolist()
    X[250, 2] = np.inf
    y[251:] = ["never reached"] * 49
    model, other = new_model(), new_model()
    with pytest.raises(ValueError, match="row 251, column '2'"):
        evaluate((X, y), model)
    other.learn_many(X[:250], y[:250])
    assert saved(model) == saved(other)
    model.learn_one(numbers[0][0], "new")
    assert model.labels[-1] == "new"
