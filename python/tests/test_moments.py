"""Dates, times, durations and decimals as inputs."""

from __future__ import annotations

import datetime as dt
import decimal
import zoneinfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
MOMENTS = [
    dt.datetime(2024, 2, 29, 6, 30),
    None,
    dt.datetime(1969, 12, 31, 23, 59, 59, 500_000),
    dt.datetime(2024, 7, 1),
]
# What a row has in place of each moment.
PARTS = [
    {"t": 19782 + 6.5 / 24, "t.hour": 6.5, "t.weekday": "Thursday"},
    {},
    {"t": -0.5 / 86400, "t.hour": 24 - 0.5 / 3600, "t.weekday": "Wednesday"},
    {"t": 19905.0, "t.hour": 0.0, "t.weekday": "Monday"},
]
ALONE = [{"n": float(i)} for i in range(4)]


def with_numbers(parts):
    return [{**row, **part} for row, part in zip(ALONE, parts)]


FORMS = {
    "dictionaries": lambda values: [{**row, "t": value} for row, value in zip(ALONE, values)],
    "timestamps": lambda values: [
        {**row, "t": pd.Timestamp(value)} for row, value in zip(ALONE, values)
    ],
    "pandas": lambda values: pd.DataFrame(ALONE).assign(t=pd.to_datetime(pd.Series(values))),
    "objects of pandas": lambda values: pd.DataFrame(ALONE).assign(
        t=pd.Series(values, dtype=object)
    ),
    "polars": lambda values: pl.DataFrame(ALONE).with_columns(t=pl.Series(values)),
    "arrow": lambda values: pa.table({"n": [0.0, 1.0, 2.0, 3.0], "t": pa.array(values)}),
    "arrow in pandas": lambda values: pd.DataFrame(ALONE).assign(
        t=pd.array(values, dtype=pd.ArrowDtype(pa.timestamp("us")))
    ),
}


@pytest.mark.parametrize("kind", FORMS)
def test_a_moment_is_a_trend_an_hour_and_a_weekday(kind, means):
    means(FORMS[kind](MOMENTS), with_numbers(PARTS))


def test_moments_of_numpy(means):
    values = np.array([str(m) if m else "NaT" for m in MOMENTS], dtype="M8[ms]")
    expected = [{k.replace("t", "0", 1): v for k, v in part.items()} for part in PARTS]
    means(values[:, None], expected)
    means([{"0": value} for value in values], expected)


@pytest.mark.parametrize("kind", [kind for kind in FORMS if kind != "arrow in pandas"])
def test_hours_are_those_of_the_time_zone(kind, means):
    zoned = [dt.datetime(2024, 7, 1, 0, 30, tzinfo=BERLIN)] * 4
    # It is summer: 22:30 on Sunday in UTC.
    part = {"t": 19904 + 22.5 / 24, "t.hour": 0.5, "t.weekday": "Monday"}
    means(FORMS[kind](zoned), with_numbers([part] * 4))


@pytest.mark.parametrize("kind", ["dictionaries", "objects of pandas", "polars", "arrow"])
def test_dates_have_no_hour(kind, means):
    dates = [m and m.date() for m in MOMENTS]
    parts = [
        {k: np.floor(v) if k == "t" else v for k, v in part.items() if k != "t.hour"}
        for part in PARTS
    ]
    means(FORMS[kind](dates), with_numbers(parts))


@pytest.mark.parametrize("kind", ["dictionaries", "objects of pandas", "polars", "arrow"])
def test_durations_are_seconds(kind, means):
    durations = [dt.timedelta(days=1, seconds=1.5), None, dt.timedelta(0), dt.timedelta(-1)]
    parts = [{"t": 86401.5}, {}, {"t": 0.0}, {"t": -86400.0}]
    means(FORMS[kind](durations), with_numbers(parts))
    means(pd.DataFrame(ALONE).assign(t=pd.to_timedelta(pd.Series(durations))), with_numbers(parts))


@pytest.mark.parametrize("kind", ["dictionaries", "objects of pandas", "polars", "arrow"])
def test_times_of_day_are_hours(kind, means):
    times = [dt.time(6, 30), None, dt.time(0), dt.time(23, 59, 59)]
    parts = [{"t": 6.5}, {}, {"t": 0.0}, {"t": 24 - 1 / 3600}]
    means(FORMS[kind](times), with_numbers(parts))


@pytest.mark.parametrize("kind", ["dictionaries", "objects of pandas", "polars", "arrow"])
def test_decimals_are_numbers(kind, means):
    values = [decimal.Decimal("1.50"), None, decimal.Decimal(-2), decimal.Decimal("0.1")]
    parts = [{"t": 1.5}, {}, {"t": -2.0}, {"t": 0.1}]
    means(FORMS[kind](values), with_numbers(parts))


def test_missing_moments_leave_nothing_behind(new_model):
    model = new_model()
    for missing in (None, pd.NaT, np.datetime64("NaT"), np.timedelta64("NaT"), float("nan")):
        model.learn_one({"n": 1.0, "t": missing}, 0)
    assert model.inputs == ["n"]
    model.learn_one({"n": 1.0, "t": MOMENTS[0]}, 1)
    assert model.inputs == ["n", "t", "t.hour", "t.weekday=Thursday"]


def test_a_moment_beside_a_column_of_its_part_is_refused(trained, no_trace):
    with no_trace(trained), pytest.raises(ValueError, match=r"two inputs are named 't.hour'"):
        trained.learn_one({"t": MOMENTS[0], "t.hour": 3.0}, 0)
    frame = pd.DataFrame({"t": pd.to_datetime(["2024"]), "t.hour": [1.0]})
    with no_trace(trained), pytest.raises(ValueError, match=r"two columns are named 't.hour'"):
        trained.learn_many(frame, [0])


def test_a_model_learns_from_the_hour_and_the_weekday(new_model):
    moments = pd.date_range("2024-01-01", periods=1000, freq="7h")
    night = moments.hour < 6
    frame = pd.DataFrame({"when": moments})
    model = new_model(preset="default", enhancement_nodes=100)
    predictions, _, _ = model.test_then_train(frame, night)
    assert np.mean(predictions[200:] == night[200:]) > 0.95
    model = new_model(preset="default", enhancement_nodes=100)
    weekend = moments.dayofweek > 4
    predictions, _, _ = model.test_then_train(frame, weekend)
    assert np.mean(predictions[200:] == weekend[200:]) > 0.95


def test_moments_in_scikit_learn():
    from broadstream.sklearn import OnlineBLSClassifier

    moments = pd.date_range("2024-01-01", periods=400, freq="5h")
    frame = pd.DataFrame({"n": np.arange(400.0) % 3, "when": moments, "none": pd.NaT})
    y = np.where(moments.dayofweek > 4, "off", "work")
    model = OnlineBLSClassifier(enhancement_nodes=100).fit(frame, y)
    assert model.score(frame, y) > 0.95
    assert model.n_features_in_ == 3
    assert model.feature_names_in_.tolist() == ["n", "when", "none"]
    filled = frame.assign(none=moments)
    assert np.array_equal(model.predict_proba(filled), model.predict_proba(frame))
