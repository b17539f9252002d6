"""Invalid labels and weights are refused and leave the model unchanged."""

from __future__ import annotations

import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

NAN, INF = float("nan"), float("inf")


HUGE = 10**400


TWO = [[1.0, 2.0, 3.0, 4.0]] * 2


MISSING_LABELS = [
    None,
    NAN,
    np.float64("nan"),
    np.float32("nan"),
    np.float16("nan"),
    np.datetime64("NaT"),
    np.timedelta64("NaT"),
    pd.NA,
    pd.NaT,
]


@pytest.mark.parametrize(
    "label", MISSING_LABELS, ids=lambda label: f"{type(label).__name__} {label}"
)
def test_missing_labels_are_refused(label, trained, no_trace):
    with no_trace(trained):
        with pytest.raises(ValueError, match="row 1: the label is missing"):
            trained.learn_one(TWO[0], label)
        with pytest.raises(ValueError, match="row 2: the label is missing"):
            trained.learn_many(TWO, ["new", label])
        with pytest.raises(ValueError, match="row 2: the label is missing"):
            trained.test_then_train(TWO, ["new", label])


@pytest.mark.parametrize(
    "y",
    [
        np.array([1.0, NAN], dtype="f4"),
        np.array([1, None], dtype=object),
        pd.Series([1, None]),
        pd.Series(["a", None], dtype="string"),
        pd.Series([1, None], dtype="Int64"),
        pd.Series(["a", None], dtype="category"),
        pl.Series(["a", None]),
        pa.array([1, None]),
    ],
    ids=lambda y: f"{type(y).__module__} {y.dtype if hasattr(y, 'dtype') else y.type}",
)
def test_missing_labels_of_libraries_are_refused(y, trained, no_trace):
    with no_trace(trained), pytest.raises(ValueError, match="row 2: the label is missing"):
        trained.learn_many(TWO, y)


@pytest.mark.parametrize("label", [[1], {}, {1}, np.array([1]), np.array(1), (1, [2])], ids=repr)
def test_labels_that_cannot_be_told_apart_are_refused(label, trained, no_trace):
    with no_trace(trained):
        with pytest.raises(TypeError, match="row 1: a label must be hashable"):
            trained.learn_one(TWO[0], label)
        with pytest.raises(TypeError, match="row 2: a label must be hashable"):
            trained.learn_many(TWO, ["new", label])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0], "y must have 2 entries, got 1"),
        ([0, 1, 0], "y must have 2 entries, got 3"),
        (np.zeros((2, 1)), r"shape \(2, 1\)"),
        (pd.DataFrame({"y": [0, 1]}), r"shape \(2, 1\)"),
        (np.array(0), r"shape \(\)"),
        ("ab", "got str"),
        (b"ab", "got bytes"),
        (None, "got NoneType"),
        (1, "got int"),
    ],
    ids=str,
)
@pytest.mark.parametrize("method", ["learn_many", "test_then_train", "unlearn_many"])
def test_labels_must_be_as_many_as_rows(y, message, method, frozen, no_trace):
    with no_trace(frozen), pytest.raises((ValueError, TypeError), match=message):
        getattr(frozen, method)(TWO, y)


WEIGHTS = [
    ([1.0, -1.0], "sample 2.*-1"),
    ([1.0, NAN], "sample 2.*NaN"),
    ([1.0, INF], "sample 2.*inf"),
    ([1.0, 1e-200], "sample 2.*weight"),
    ([1.0, 1e200], "sample 2.*weight"),
    ([1.0], "sample_weight must have 2 entries, got 1"),
    ([1.0] * 3, "sample_weight must have 2 entries, got 3"),
    ([[1.0], [1.0]], r"shape \(2, 1\)"),
    (1.0, r"shape \(\)"),
    (["1", "2"], "U1"),
    ([1.0, None], "object"),
    ([1.0, 1j], "complex"),
    ([1.0, HUGE], "object"),
    ("12", "sample_weight"),
    ({0: 1.0, 1: 1.0}, "sample_weight"),
]


@pytest.mark.parametrize(("weights", "message"), WEIGHTS, ids=[str(w)[:20] for w, _ in WEIGHTS])
@pytest.mark.parametrize("method", ["learn_many", "test_then_train", "unlearn_many", "fit_scaling"])
def test_weights_must_be_weights(weights, message, method, frozen, new_model, no_trace):
    model = new_model() if method == "fit_scaling" else frozen
    labels = () if method == "fit_scaling" else ([0, 1],)
    with no_trace(model), pytest.raises((ValueError, TypeError), match=message):
        getattr(model, method)(TWO, *labels, weights)


@pytest.mark.parametrize(
    "weight", [-1, NAN, INF, 1e200, HUGE, "1", None, 1j, [1.0]], ids=lambda w: str(w)[:9]
)
def test_one_weight_must_be_a_weight(weight, frozen, no_trace, numbers):
    x, y = numbers[0][0], numbers[1][0]
    with no_trace(frozen):
        for call in (
            lambda: frozen.learn_one(x, y, weight),
            lambda: frozen.unlearn_one(x, y, weight),
            lambda: frozen.correct_one(x, y, 1 - y, weight),
        ):
            with pytest.raises((ValueError, TypeError)):
                call()


def test_decimal_labels_that_are_nan_are_refused(trained, no_trace):
    with no_trace(trained), pytest.raises((ValueError, TypeError)):
        trained.learn_one(TWO[0], decimal.Decimal("sNaN"))
