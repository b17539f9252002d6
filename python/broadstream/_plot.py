"""Plots of an evaluation with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from broadstream._evaluation import Evaluation


def plot(evaluation: Evaluation, metric: str, ax: Axes | None) -> Axes:
    """Plot a metric over time."""
    from broadstream._evaluation import METRICS

    if metric not in METRICS:
        raise ValueError(f"metric must be one of {', '.join(METRICS)}, got '{metric}'")
    ax = new_axes() if ax is None else ax
    samples = evaluation.curve["sample"]
    ax.plot(samples, evaluation.curve[metric], label="all samples so far", color="#1f5fa8")
    window = evaluation.curve.get(f"window_{metric}")
    if window is not None:
        label = f"last {evaluation.window['samples']}"
        ax.plot(samples, window, label=label, color="#d1782a", linewidth=1, linestyle="--")
    events = [
        (evaluation.drifts, "drift detected", ":", "#555555"),
        (evaluation.restarts, "restart after drift", "-.", "#3a8f5c"),
    ]
    for places, label, style, colour in events:
        for i, place in enumerate(places):
            ax.axvline(
                place, label=label if i == 0 else None, linestyle=style, color=colour, linewidth=1
            )
    ax.set_ylabel(METRICS[metric])
    ax.set_title(f"{evaluation.source}: {METRICS[metric]} {evaluation.metrics[metric]:.4f}")
    finish(ax)
    return ax


def new_axes() -> Axes:
    """Return the axes of a new figure of pyplot, which notebooks and `plt.show()` display."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plot() needs matplotlib: pip install broadstream[plot]") from None
    _, ax = plt.subplots(figsize=(8, 4), layout="constrained")
    return ax


def finish(ax: Axes, *, columns: int = 3) -> None:
    """Add what every plot over time has."""
    ax.set_xlabel("samples")
    ax.grid(alpha=0.3)
    # The legend is below the axes, where it covers no curve.
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=columns, frameon=False)
