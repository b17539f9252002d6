"""Test-then-train evaluation and its results."""

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

# The names of the metrics in tables and figures, as on the command line.
METRICS = {
    "oca": "accuracy (OCA)",
    "oce": "error (OCE)",
    "bacc": "balanced accuracy (BACC)",
    "avrbacc": "average balanced accuracy",
    "f1": "macro F1",
    "mcc": "Matthews correlation (MCC)",
    "gmean": "G-mean of recalls",
    "kappa": "Cohen's kappa",
    "kappa_m": "kappa M",
    "kappa_t": "temporal kappa",
    "auc": "ROC AUC",
    "auprc": "area under PR (AUPRC)",
    "recall_at_alarms": "recall at 5 % alarms",
    "log_loss": "log loss",
    "brier": "Brier score",
    "ece": "calibration error (ECE)",
    "ece_by_class": "ECE by class",
    "cost": "mean cost",
    "coverage": "coverage",
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
    """Evaluate a model on a stream: predict each sample, then learn it.

    Ctrl-C stops the evaluation; the model keeps what it has learned until then.

    Parameters
    ----------
    source : tuple, table, Stream, path or str
        A pair ``(X, y)`` of rows and labels, a table with the column ``target``, a :class:`Stream`, or the
        path or generator to make one from.
    model : OnlineBLS, optional
        A new model, which is trained in place. The default model if omitted.
    target : str, optional
        The column to predict, for tables, paths and generators.
    sample_weight : array-like, optional
        The weight of each row of ``X``.
    limit : int, optional
        The maximum number of samples.
    metrics_window : int, default=1000
        The number of samples in the window of recent metrics.
    curve_every : int, optional
        The number of samples between two points of the curve, by default about 1 % of the stream.
    delay : int, default=0
        The number of samples by which labels arrive late.
    drift_confidence : float, default=0.002
        The confidence parameter of the drift detector (ADWIN); smaller values detect fewer drifts.
    progress : bool, optional
        Whether to show progress, by default in terminals and notebooks only.

    Returns
    -------
    Evaluation

    Examples
    --------
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
    """Return the rows or the stream, the labels of rows, and the name of the source."""
    if isinstance(source, Stream):
        if target is not None:
            raise ValueError("a Stream has its own target: give it to the Stream instead")
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
    """Split a table into its inputs and its target."""
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
    """The results of an evaluation."""

    #: The name of the source
    source: str
    #: The ``repr`` of the model
    model: str
    #: The metrics over all samples, by name: oca, oce, bacc, avrbacc, f1, mcc, kappa, log_loss, brier, ece,
    #: gmean, kappa_m, kappa_t, auc, auprc, recall_at_alarms, ece_by_class, coverage, and cost if the model has
    #: costs
    metrics: dict[str, float]
    #: The metrics over the last ``metrics_window`` samples
    window: dict[str, float]
    #: The metrics of the same predictions, decided for each objective, by its name
    objectives: dict[str, dict[str, float]] = field(repr=False)
    #: The reliability of the probability of each label: mean probability, share and count of samples
    class_reliability: dict[Any, list[tuple[float, float, int]]] = field(repr=False)
    #: The metrics over time, one array by name each; those of the window are called ``window_...``,
    #: and for each member there are ``weight:NAME`` and ``features:NAME``, which is 0 while it rests
    curve: dict[str, np.ndarray] = field(repr=False)
    #: The samples, counted from 1, at which drift was detected in the errors of the model
    drifts: list[int]
    #: The numbers of samples after which a regression of the model restarted because of drift
    restarts: list[int]
    #: The members of the model at the end: ``name``, ``weight``, number of ``features``, kind of ``nodes``,
    #: and whether it ``rests``
    members: list[dict[str, Any]] = field(repr=False)
    #: How the members have changed: after how many ``learned`` samples, which ``member``, its
    #: ``features_before`` and its ``features`` from then on, the kind of its ``nodes``, the ``event`` and its
    #: ``reason``; only the last 1000
    changes: list[dict[str, Any]] = field(repr=False)
    #: The labels, in the order of the confusion matrix
    labels: list[Any] = field(repr=False)
    #: The confusion counts: true and predicted class, as positions in ``labels``, and the number of
    #: samples; the predicted class is None where there was no prediction
    counts: list[tuple[int, int | None, int]] = field(repr=False)
    #: The reliability diagram: mean confidence, accuracy and count of predictions, by confidence
    reliability: list[tuple[float, float, int]] = field(repr=False)
    #: The prediction for each sample; None before any label was known
    predictions: np.ndarray = field(repr=False)
    #: The seconds spent on reading samples, and on predicting and learning them
    seconds_reading: float = field(repr=False)
    seconds_learning: float = field(repr=False)

    @property
    def samples(self) -> int:
        """The number of evaluated samples."""
        return int(self.metrics["samples"])

    @property
    def accuracy(self) -> float:
        """The share of correct predictions (OCA)."""
        return self.metrics["oca"]

    @property
    def confusion(self) -> np.ndarray:
        """The confusion matrix, with a row per true label and a column per predicted label."""
        table = np.zeros((len(self.labels), len(self.labels)), dtype=np.int64)
        for truth, predicted, count in self.counts:
            if predicted is not None:
                table[truth, predicted] = count
        return table

    @property
    def samples_per_second(self) -> float:
        """The number of samples read, predicted and learned per second."""
        seconds = self.seconds_reading + self.seconds_learning
        return self.samples / seconds if seconds > 0 else float("inf")

    def plot(self, metric: str = "oca", *, figure: Figure | None = None) -> Figure:
        """Plot a metric over time, over all samples so far and over the window, with drifts.

        Needs matplotlib: ``pip install broadstream[plot]``.
        """
        from broadstream._plot import plot

        return plot(self, metric, figure)

    def to_pandas(self) -> Any:
        """Return the curve as a pandas DataFrame indexed by sample."""
        import pandas

        return pandas.DataFrame(self.curve).set_index("sample")

    def _shown(self) -> list[tuple[str, str]]:
        """Return the names and titles of the metrics to show: coverage only where the model may abstain."""
        own = [(name, title) for name, title in METRICS.items() if name in self.metrics]
        return [(name, title) for name, title in own if name != "coverage" or "cost" in self.metrics]

    def _drift_notes(self) -> list[str]:
        """Return one line for each kind of drift event that occurred."""
        events = [("drift detected at", self.drifts), ("restarts after drift", self.restarts)]
        return [f"{name}: {', '.join(map(str, samples))}" for name, samples in events if samples]

    def __str__(self) -> str:
        lines = [
            f"{self.source}: {self.samples} samples, {len(self.labels)} classes",
            self.model,
            "",
            f"{'':28}{'all':>10}{'last ' + str(self.window['samples']):>14}",
        ]
        for name, title in self._shown():
            last = f"{self.window[name]:14.4f}" if name in self.window else ""
            lines.append(f"{title:28}{self.metrics[name]:10.4f}{last}")
        notes = self._drift_notes()
        if notes:
            lines += ["", *notes]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(title)}</th><td>{self.metrics[name]:.4f}</td>"
            f"<td>{format(self.window[name], '.4f') if name in self.window else ''}</td></tr>"
            for name, title in self._shown()
        )
        notes = "".join(f"<p>{note}</p>" for note in self._drift_notes())
        return (
            f"<div><p><b>{escape(self.source)}</b>: {self.samples} samples, "
            f"{len(self.labels)} classes<br><code>{escape(self.model)}</code></p>"
            "<table><thead><tr><th></th><th>all</th>"
            f"<th>last {self.window['samples']}</th></tr></thead><tbody>{rows}</tbody></table>"
            f"{notes}</div>"
        )
