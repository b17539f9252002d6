"""Plots of an evaluation with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from broadstream._evaluation import Evaluation


def plot(evaluation: Evaluation, metric: str, figure: Figure | None) -> Figure:
    """Plot a metric over time."""
    from broadstream._evaluation import METRICS

    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("plot() needs matplotlib: pip install broadstream[plot]") from None
    if metric not in METRICS:
        raise ValueError(f"metric must be one of {', '.join(METRICS)}, got '{metric}'")
    figure = Figure(figsize=(8, 4), layout="constrained") if figure is None else figure
    axes = figure.add_subplot()
    samples = evaluation.curve["sample"]
    axes.plot(samples, evaluation.curve[metric], label="all samples so far", color="#1f5fa8")
    window = evaluation.curve.get(f"window_{metric}")
    if window is not None:
        label = f"last {evaluation.window['samples']}"
        axes.plot(samples, window, label=label, color="#d1782a", linewidth=1, linestyle="--")
    events = [
        (evaluation.drifts, "drift detected", ":", "#555555"),
        (evaluation.restarts, "restart after drift", "-.", "#3a8f5c"),
    ]
    for places, label, style, colour in events:
        for i, place in enumerate(places):
            axes.axvline(
                place, label=label if i == 0 else None, linestyle=style, color=colour, linewidth=1
            )
    axes.set_xlabel("samples")
    axes.set_ylabel(METRICS[metric])
    axes.set_title(f"{evaluation.source}: {METRICS[metric]} {evaluation.metrics[metric]:.4f}")
    axes.grid(alpha=0.3)
    # The legend is below the axes, where it covers no curve.
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return figure
