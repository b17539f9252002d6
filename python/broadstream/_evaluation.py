"""Test-then-train evaluation and its results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from broadstream import _broadstream, _tables
from broadstream._broadstream import OnlineBLS
from broadstream._models import model_of, title_of
from broadstream._progress import Progress
from broadstream._sources import source_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    model: Any = None,
    *,
    target: str | None = None,
    sample_weight: Any = None,
    limit: int | None = None,
    metrics_window: int = 1000,
    curve_every: int | None = None,
    delay: int = 0,
    drift_confidence: float = 0.002,
    progress: bool | None = None,
    callback: Callable[[dict[str, float]], object] | None = None,
) -> Evaluation:
    """Evaluate a model on a stream: predict each sample, then learn it.

    Ctrl-C stops the evaluation; the model keeps what it has learned until then.

    Parameters
    ----------
    source : tuple, table, iterable, Stream, path or str
        A pair ``(X, y)`` of rows and labels, a table with the column ``target``, an iterable of pairs
        ``(x, y)`` such as a dataset of River, a stream of CapyMOA, a :class:`Stream`, or the path or
        generator to make one from.
    model : OnlineBLS or classifier, optional
        A model, which is trained in place and may have learned before. Classifiers of River, those of
        scikit-learn that have ``partial_fit``, and on its own streams those of CapyMOA are evaluated by the
        same rules. The default model if omitted.
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
        The number of samples by which labels arrive late. Samples that come before the first label arrives
        cannot be answered and are not counted, as in River; ``unanswered`` of the result is their number. The
        command line counts them as errors. Without delay the first sample counts as an error in both.
    drift_confidence : float, default=0.002
        The confidence parameter of the drift detector (ADWIN); smaller values detect fewer drifts.
    progress : bool, optional
        Whether to show progress, by default in terminals and notebooks only.
    callback : callable, optional
        Called with each point of the curve, a dictionary of ``sample``, the metrics so far and those of the
        window (``window_...``). If it returns False, the evaluation ends there.

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
    >>> samples = (({"volts": i % 7}, "high" if i % 7 > 3 else "low") for i in range(500))
    >>> broadstream.evaluate(samples, callback=lambda point: point["oca"] < 0.9).accuracy > 0.8
    True
    """
    found = source_of(source, target)
    model = OnlineBLS() if model is None else model
    learner = model_of(model, found.classes())
    data: dict[str, Any] = {"stream": found.stream}
    if found.rows is not None:
        data = {"stream": found.rows, "y": found.labels, "sample_weight": sample_weight}
    elif sample_weight is not None:
        raise ValueError("sample_weight belongs to the rows of a pair (X, y), and there are none")
    if not isinstance(learner, OnlineBLS):
        if sample_weight is not None:
            raise ValueError("sample_weight is for models of broadstream alone")
        total = found.total if found.rows is None else len(_tables.labels(found.labels))
        data = {"pairs": found.pairs(), "total": total}
    elif found.stream is not None and (learner.inputs or learner.labels):
        data = {"pairs": found.for_learned(learner).pairs()}
    elif found.open is not None:
        data = {"pairs": found.pairs(), "total": found.total}
    with Progress(progress, found.name) as shown:
        result = _broadstream.evaluate_stream(
            learner,
            **data,
            limit=limit,
            metrics_window=metrics_window,
            curve_every=curve_every,
            drift_confidence=drift_confidence,
            delay=delay,
            progress=shown,
            callback=callback,
        )
    predicted = result.pop("predicted")
    predictions = _tables.label_array(result["labels"], predicted)
    return Evaluation(source=found.name, model=title_of(model), predictions=predictions, **result)


@dataclass(frozen=True)
class Evaluation:
    """The results of an evaluation."""

    #: The name of the source
    source: str
    #: The ``repr`` of the model
    model: str
    #: The metrics over all samples, by name: oca, oce, bacc, avrbacc, f1, mcc, kappa, log_loss, brier, ece,
    #: gmean, kappa_m, kappa_t, auc, auprc, recall_at_alarms, ece_by_class, coverage, and cost if the model
    #: has costs
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
    #: The number of samples that are not counted, since they came before the first label arrived
    unanswered: int = field(repr=False)
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

    def plot(self, metric: str = "oca", *, ax: Axes | None = None) -> Axes:
        """Plot a metric over time, over all samples so far and over the window, with drifts.

        Without ``ax`` this makes a new figure of pyplot, which a notebook shows at the end of the cell and
        a program with ``plt.show()``. Needs matplotlib: ``pip install broadstream[plot]``.

        Parameters
        ----------
        metric : str, default="oca"
            The name of a metric, such as ``kappa``.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from broadstream._plot import plot

        return plot(self, metric, ax)

    def to_pandas(self) -> Any:
        """Return the curve as a pandas DataFrame indexed by sample."""
        import pandas

        return pandas.DataFrame(self.curve).set_index("sample")

    def _shown(self) -> list[tuple[str, str]]:
        """Return the names and titles of the metrics to show: coverage only where the model may abstain."""
        own = [(name, title) for name, title in METRICS.items() if name in self.metrics]
        return [
            (name, title) for name, title in own if name != "coverage" or "cost" in self.metrics
        ]

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
