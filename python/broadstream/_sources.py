"""Where the samples of an evaluation come from: anything that has rows and labels."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from broadstream import _tables
from broadstream._broadstream import OnlineBLS, Stream

# A row and its label.
Pair = tuple[Any, Any]


@dataclass(frozen=True)
class Source:
    """Samples: a `Stream`, rows with their labels, or pairs of these."""

    name: str
    stream: Stream | None = None
    rows: Any = None
    labels: Any = None
    #: Makes an iterator of pairs, from the first one on
    open: Callable[[], Iterator[Pair]] | None = None
    total: int | None = None
    #: Whether the pairs can be read only once
    once: bool = False

    def pairs(self) -> Iterator[Pair]:
        """Return the samples one after the other, rows as dictionaries."""
        if self.open is not None:
            return self.open()
        if self.stream is not None:
            return iter(self.stream)
        return iter(zip(_tables.records(self.rows), _tables.labels(self.labels)))

    def for_learned(self, model: OnlineBLS) -> Source:
        """Return the same samples for a model that has learned before.

        A file spells all labels as text, and the model may know the same ones as numbers or truth values.
        """
        if self.stream is None:
            return self
        known = {_spelt(label): label for label in model.labels}
        stream = self.stream

        def spelt() -> Iterator[Pair]:
            return ((x, known.get(_spelt(y), y)) for x, y in stream)

        return Source(self.name, open=spelt)

    def classes(self) -> list[Any] | None:
        """Return all labels that will come, if they are known."""
        if self.rows is None:
            return None
        return sorted(set(_tables.labels(self.labels)), key=lambda label: (str(type(label)), label))


def source_of(source: Any, target: str | None) -> Source:
    """Find out what kind of source a value is."""
    if isinstance(source, Stream):
        if target is not None:
            raise ValueError("a Stream has its own target: give it to the Stream instead")
        return Source(repr(source)[8:-2], stream=source)
    if isinstance(source, (str, os.PathLike)):
        return Source(os.fspath(source), stream=Stream(source, target=target))
    if isinstance(source, tuple) and len(source) == 2:
        if target is not None:
            raise ValueError("rows with labels have no column to name as target")
        return Source("rows", rows=source[0], labels=source[1])
    if target is not None:
        rows, labels = _split(source, target)
        return Source("rows", rows=rows, labels=labels)
    _tables.refuse_other_kinds(source)
    if hasattr(source, "next_instance") and hasattr(source, "has_more_instances"):
        return Source(type(source).__name__, open=lambda: _of_capymoa(source))
    table = isinstance(source, (np.ndarray, Mapping, tuple)) or hasattr(source, "columns")
    if table or not isinstance(source, Iterable):
        raise TypeError(
            "expected a pair (X, y), an iterable of pairs (x, y), a Stream, a path, a generator, or a table "
            f"with target=, got {_tables.kind_of(source)}"
        )
    total = getattr(source, "n_samples", None)
    if total is None and hasattr(source, "__len__"):
        total = len(source)  # type: ignore[arg-type]
    name = type(source).__name__
    return Source(
        "pairs" if name in ("list", "generator") else name,
        open=lambda: iter(source),
        total=total if isinstance(total, int) else None,
        once=iter(source) is source,
    )


def _split(table: Any, target: str) -> tuple[Any, Any]:
    """Split a table into its inputs and its target."""
    library = type(table).__module__.partition(".")[0]
    _tables.refuse_other_kinds(table)
    if library not in ("pandas", "polars", "pyarrow") or not hasattr(table, "columns"):
        raise TypeError(f"expected a table of named columns, got {_tables.kind_of(table)}")
    columns = table.column_names if library == "pyarrow" else table.columns
    if target not in list(columns):
        names = ", ".join(str(column) for column in columns)
        raise ValueError(f"there is no column '{target}': the columns are {names}")
    if library == "pandas":
        return table.drop(columns=[target]), table[target]
    if library == "polars":
        return table.drop(target), table[target]
    return table.drop_columns([target]), table[target]


class InstanceRow(dict):
    """A row of a CapyMOA stream, with the instance that CapyMOA's learners take."""

    instance: Any = None


def _of_capymoa(stream: Any) -> Iterator[Pair]:
    from broadstream.capymoa import row_of

    schema = stream.get_schema()
    if not schema.is_classification():
        raise ValueError("expected a stream whose target is nominal, got one for regression")
    if hasattr(stream, "restart"):
        stream.restart()
    convert = row_of(schema)
    while stream.has_more_instances():
        instance = stream.next_instance()
        # An instance without a label cannot be evaluated.
        if schema.is_y_index_in_range(instance.y_index):
            row = InstanceRow(convert(instance))
            row.instance = instance
            yield row, instance.y_label


def _spelt(label: Any) -> str:
    return str(label).lower() if str(label) in ("True", "TRUE", "False", "FALSE") else str(label)
