"""Dates, times and durations as columns that a model can learn from.

A column of moments becomes several: the days since 1970, which is what trends and ages follow, the hour of
the day with its fractions, and the weekday as a category. Hour and weekday are those of the clock on the
wall, in the time zone of the column. A date has no hour. A duration is its seconds, and a time of day its
hours.
"""

from __future__ import annotations

import datetime
import sys
from typing import Any

import numpy as np

WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

# A column and what follows the name of the original one.
Parts = list[tuple[str, Any]]

_DAY = 86_400_000_000


def of_numpy(moments: np.ndarray, wall: np.ndarray | None = None, *, dates: bool = False) -> Parts:
    """Return the columns for an array of datetime64 or timedelta64.

    `wall` are the same moments as the clock on the wall shows them, if that is not UTC.
    """
    if moments.dtype.kind == "m":
        return [("", _microseconds(moments) / 1e6)]
    wall = moments if wall is None else wall
    absent = np.isnat(moments)
    shown = wall.astype("M8[us]").astype(np.int64)
    # The first of January 1970 was a Thursday.
    weekdays = np.where(absent, -1, (shown // _DAY + 3) % 7)
    parts: Parts = [("", _microseconds(moments) / _DAY)]
    if not dates:
        parts.append((".hour", np.where(absent, np.nan, shown % _DAY / 3.6e9)))
    return [*parts, (".weekday", (weekdays, WEEKDAYS))]


def of_pandas(series: Any) -> Parts | None:
    """Return the columns for a series of pandas that holds moments or durations."""
    kind = series.dtype
    if hasattr(kind, "pyarrow_dtype"):
        import pyarrow

        return of_arrow(pyarrow.array(series))
    if getattr(kind, "tz", None) is not None:
        universal = series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
        return of_numpy(universal, series.dt.tz_localize(None).to_numpy())
    if isinstance(kind, np.dtype) and kind.kind in "mM":
        return of_numpy(series.to_numpy())
    if isinstance(kind, np.dtype) and kind.kind == "O":
        return of_values(series.tolist())
    if str(kind).startswith("period"):
        return of_numpy(series.dt.to_timestamp().to_numpy())
    return None


def of_polars(series: Any) -> Parts | None:
    """Return the columns for a series of polars that holds moments or durations."""
    kind = str(series.dtype).partition("(")[0]
    if kind == "Datetime":
        if series.dtype.time_zone is None:
            return of_numpy(series.to_numpy())
        wall = series.dt.replace_time_zone(None).to_numpy()
        return of_numpy(
            series.dt.convert_time_zone("UTC").dt.replace_time_zone(None).to_numpy(), wall
        )
    if kind == "Date":
        return of_numpy(series.to_numpy(), dates=True)
    if kind == "Duration":
        return of_numpy(series.to_numpy())
    if kind == "Time":
        nanoseconds = series.to_physical().to_list()
        return [("", np.array([np.nan if n is None else n / 3.6e12 for n in nanoseconds]))]
    return None


def of_arrow(column: Any) -> Parts | None:
    """Return the columns for a column of Arrow that holds moments or durations."""
    import pyarrow

    kind, types = column.type, pyarrow.types
    if types.is_timestamp(kind):
        universal = column.cast(pyarrow.timestamp("us", kind.tz), safe=False)
        moments = universal.cast(pyarrow.timestamp("us")).to_numpy(zero_copy_only=False)
        if kind.tz is None:
            return of_numpy(moments)
        import pyarrow.compute

        wall = pyarrow.compute.local_timestamp(universal)
        return of_numpy(moments, wall.to_numpy(zero_copy_only=False))
    if types.is_date(kind):
        days = column.cast(pyarrow.timestamp("ms")).cast(pyarrow.timestamp("us"))
        return of_numpy(days.to_numpy(zero_copy_only=False), dates=True)
    if types.is_duration(kind):
        return of_numpy(column.to_numpy(zero_copy_only=False))
    if types.is_time(kind):
        return of_values(column.to_pylist())
    return None


def of_values(values: list[Any]) -> Parts | None:
    """Return the columns for a list of Python's values, if all that are present are of one such kind."""
    kinds = {_kind(value) for value in values} - {"missing"}
    if len(kinds) != 1 or kinds == {"other"}:
        return None
    kind = kinds.pop()
    if kind == "time":
        return [("", np.array([_hours(value) for value in values]))]
    if kind == "duration":
        return of_numpy(np.array([_duration(value) for value in values]))
    pairs = [_moment(value) for value in values]
    moments, wall = (np.array(column, dtype="M8[us]") for column in zip(*pairs))
    return of_numpy(moments, wall, dates=kind == "date")


def of_value(value: Any) -> Parts:
    """Return the cells for one value, with what follows the name of its column."""
    if _kind(value) == "missing":
        return [("", None)]
    parts = of_values([value])
    if parts is None:
        raise TypeError(f"expected a date, a time or a duration, got {type(value).__name__}")
    cells: Parts = []
    for suffix, column in parts:
        if isinstance(column, tuple):
            codes, names = column
            cells.append((suffix, names[codes[0]]))
        else:
            cells.append((suffix, float(column[0])))
    return cells


def _microseconds(values: np.ndarray) -> np.ndarray:
    """Return the microseconds of moments since 1970, or of durations."""
    absent = np.isnat(values)
    fine = values.astype("m8[us]" if values.dtype.kind == "m" else "M8[us]").astype(np.int64)
    return np.where(absent, np.nan, fine.astype(np.float64))


def _kind(value: Any) -> str:
    if value is None or type(value).__name__ in ("NaTType", "NAType"):
        return "missing"
    if isinstance(value, float) and value != value:
        return "missing"
    if isinstance(value, (np.datetime64, np.timedelta64)):
        if np.isnat(value):
            return "missing"
        return "moment" if isinstance(value, np.datetime64) else "duration"
    if isinstance(value, datetime.datetime):
        return "moment"
    for kind, name in (
        (datetime.date, "date"),
        (datetime.time, "time"),
        (datetime.timedelta, "duration"),
    ):
        if isinstance(value, kind):
            return name
    return "other"


def _moment(value: Any) -> tuple[Any, Any]:
    """Return a moment in UTC and as the clock on the wall shows it."""
    if _kind(value) == "missing":
        return np.datetime64("NaT"), np.datetime64("NaT")
    if isinstance(value, np.datetime64):
        return value, value
    wall = value
    offset = value.utcoffset() if isinstance(value, datetime.datetime) else None
    if offset is not None:
        wall = value.replace(tzinfo=None)
        value = wall - offset
    return _exact(value), _exact(wall)


def _exact(value: Any) -> np.datetime64:
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(value, pandas.Timestamp):
        return value.to_datetime64().astype("M8[us]")
    return np.datetime64(value, "us")


def _duration(value: Any) -> np.timedelta64:
    if _kind(value) == "missing":
        return np.timedelta64("NaT")
    if hasattr(value, "to_timedelta64"):
        return value.to_timedelta64().astype("m8[us]")
    return np.timedelta64(value, "us")


def _hours(value: Any) -> float:
    if _kind(value) == "missing":
        return float("nan")
    seconds = value.hour * 3600 + value.minute * 60 + value.second
    return float((seconds * 1_000_000 + value.microsecond) / 3.6e9)
