"""Test-then-train evaluation, and what comes of it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from broadstream import _broadstream, _tables
from broadstream._broadstream import OnlineBLS, Stream
from broadstream._progress import Progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What the metrics are called for people, as the command line has it.
METRICS = {
    "oca": "accuracy (OCA)",
    "oce": "error (OCE)",
    "bacc": "balanced accuracy (BACC)",
    "avrbacc": "its average (AVRBACC)",
    "f1": "macro F1",
    "mcc": "Matthews correlation (MCC)",
    "kappa": "Cohen's kappa",
    "log_loss": "log loss",
    "brier": "Brier score",
    "ece": "calibration error (ECE)",
}


def evaluate(
    source: Any,
    model: OnlineBLS | None = None,
    *,
    target: str | None = None,
    sample_weight: Any = None,
    limit: int | None = None,
    metrics_window: int = 1000,
    curve_every: int | None = None,
    delay: int = 0,
    drift_confidence: float = 0.002,
    progress: bool | None = None,
) -> Evaluation:
    """Predict each sample of a stream and then learn it; say how well that went.

    ``source`` is a pair ``(X, y)`` of rows and labels, a table of which ``target`` names a column, a
    :class:`Stream`, or what one is made of: a path or a generator. ``model`` must be new; without it the
    default is evaluated. It is trained on the way, and can go on afterwards.

    ``curve_every`` is after how many samples the curve has a point, by default about a hundredth of them.
    ``delay`` is by how many samples labels come late. ``progress`` is shown in terminals and notebooks
    unless it is False. Ctrl-C stops the evaluation and leaves the model as far as it has come.

    >>> import numpy as np, broadstream
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> result = broadstream.evaluate((X, X[:, 0] > X[:, 1]), broadstream.OnlineBLS(preset="single"))
    >>> result.samples, result.accuracy > 0.9
    (1000, True)
    """
    model = OnlineBLS() if model is None else model
    if not isinstance(model, OnlineBLS):
        raise TypeError(f"expected an OnlineBLS as model, got {type(model).__name__}")
    rows, y, name = _source(source, target)
    with Progress(progress, name) as shown:
        result = _broadstream.evaluate_stream(
            model,
            rows,
            y,
            sample_weight,
            limit=limit,
            metrics_window=metrics_window,
            curve_every=curve_every,
            drift_confidence=drift_confidence,
            delay=delay,
            progress=shown,
        )
    predicted = result.pop("predicted")
    predictions = _tables.label_array(result["labels"], predicted)
    return Evaluation(source=name, model=repr(model), predictions=predictions, **result)


def _source(source: Any, target: str | None) -> tuple[Any, Any, str]:
    """The rows or the stream, the labels of rows, and what the source is called."""
    if isinstance(source, Stream):
        if target is not None:
            raise ValueError("a Stream has its target already: give it to the Stream")
        return source, None, repr(source)[8:-2]
    if isinstance(source, (str, os.PathLike)):
        return Stream(source, target=target), None, os.fspath(source)
    if isinstance(source, tuple) and len(source) == 2:
        if target is not None:
            raise ValueError("rows with labels have no column to name as target")
        return source[0], source[1], "rows"
    if target is None:
        raise TypeError(
            "expected a pair (X, y), a Stream, a path, a generator, or a table with target="
        )
    rows, y = _split(source, target)
    return rows, y, "rows"


def _split(table: Any, target: str) -> tuple[Any, Any]:
    """A table without its target, and the target."""
    library = type(table).__module__.partition(".")[0]
    if library not in ("pandas", "polars", "pyarrow") or not hasattr(table, "columns"):
        raise TypeError(f"expected a table of named columns, got {type(table).__name__}")
    columns = table.column_names if library == "pyarrow" else table.columns
    if target not in list(columns):
        names = ", ".join(str(column) for column in columns)
        raise ValueError(f"there is no column '{target}': the columns are {names}")
    if library == "pandas":
        return table.drop(columns=[target]), table[target]
    if library == "polars":
        return table.drop(target), table[target]
    return table.drop_columns([target]), table[target]


@dataclass(frozen=True)
class Evaluation:
    """What came of an evaluation."""

    #: What was evaluated on, and the model as it is written
    source: str
    model: str
    #: The metrics of all samples, by name: oca, oce, bacc, avrbacc, f1, mcc, kappa, log_loss, brier, ece
    metrics: dict[str, float]
    #: The same of the last samples
    window: dict[str, float]
    #: The metrics over time: an array for each by name, those of the window with ``window_`` before it
    curve: dict[str, np.ndarray] = field(repr=False)
    #: The samples, from 1, at which the model was seen to err more than before
    drifts: list[int]
    #: After how many samples a part of the model began anew, since it saw a drift itself
    restarts: list[int]
    #: The parts of the model in the end, and what each was worth
    members: list[tuple[str, float]] = field(repr=False)
    #: The labels in the order of the confusion matrix
    labels: list[Any] = field(repr=False)
    #: Classes that occurred and were predicted, as positions in labels, and how often; None is nothing
    counts: list[tuple[int, int | None, int]] = field(repr=False)
    #: Confidence, accuracy and count of the predictions made with similar confidence
    reliability: list[tuple[float, float, int]] = field(repr=False)
    #: What was predicted of each sample; None before any label was known
    predictions: np.ndarray = field(repr=False)
    #: Where the time went
    seconds_reading: float = field(repr=False)
    seconds_learning: float = field(repr=False)

    @property
    def samples(self) -> int:
        """How many samples there were."""
        return int(self.metrics["samples"])

    @property
    def accuracy(self) -> float:
        """The share of predictions that were right (OCA)."""
        return self.metrics["oca"]

    @property
    def confusion(self) -> np.ndarray:
        """How many samples of each label, by row, were predicted as which, by column."""
        table = np.zeros((len(self.labels), len(self.labels)), dtype=np.int64)
        for truth, predicted, count in self.counts:
            if predicted is not None:
                table[truth, predicted] = count
        return table

    @property
    def samples_per_second(self) -> float:
        """How fast samples were predicted and learned."""
        seconds = self.seconds_reading + self.seconds_learning
        return self.samples / seconds if seconds > 0 else float("inf")

    def plot(self, metric: str = "oca", *, figure: Figure | None = None) -> Figure:
        """The metric over time, of all samples so far and of the last ones, with drifts.

        Needs matplotlib: ``pip install broadstream[plot]``.
        """
        from broadstream._plot import plot

        return plot(self, metric, figure)

    def to_pandas(self) -> Any:
        """The curve as a table of pandas, by sample."""
        import pandas

        return pandas.DataFrame(self.curve).set_index("sample")

    def __str__(self) -> str:
        lines = [
            f"{self.source}: {self.samples} samples, {len(self.labels)} classes",
            self.model,
            "",
            f"{'':28}{'all':>10}{'last ' + str(self.window['samples']):>14}",
        ]
        for name, title in METRICS.items():
            last = f"{self.window[name]:14.4f}" if name in self.window else ""
            lines.append(f"{title:28}{self.metrics[name]:10.4f}{last}")
        if self.drifts:
            lines += ["", "drifts seen at " + ", ".join(map(str, self.drifts))]
        if self.restarts:
            lines.append(
                "drifts answered by beginning anew at " + ", ".join(map(str, self.restarts))
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(title)}</th><td>{self.metrics[name]:.4f}</td>"
            f"<td>{format(self.window[name], '.4f') if name in self.window else ''}</td></tr>"
            for name, title in METRICS.items()
        )
        notes = ""
        if self.drifts:
            notes += f"<p>drifts seen at {', '.join(map(str, self.drifts))}</p>"
        if self.restarts:
            anew = ", ".join(map(str, self.restarts))
            notes += f"<p>drifts answered by beginning anew at {anew}</p>"
        return (
            f"<div><p><b>{escape(self.source)}</b>: {self.samples} samples, "
            f"{len(self.labels)} classes<br><code>{escape(self.model)}</code></p>"
            "<table><thead><tr><th></th><th>all</th>"
            f"<th>last {self.window['samples']}</th></tr></thead><tbody>{rows}</tbody></table>"
            f"{notes}</div>"
        )
