"""Several models side by side on one stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any

from broadstream._evaluation import METRICS, Evaluation, evaluate
from broadstream._models import title_of
from broadstream._sources import source_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The columns of the table, besides the speed.
SHOWN = ("oca", "bacc", "f1", "kappa", "log_loss")


def compare(
    source: Any, models: Any, *, progress: bool | None = None, **options: Any
) -> Comparison:
    """Evaluate several models on the same samples, one after the other.

    Parameters
    ----------
    source
        As for :func:`evaluate`. An iterator, which can be read only once, is kept in memory.
    models : dict or sequence
        The models, by name or in a sequence; see :func:`evaluate`. Each is trained in place.
    progress : bool, optional
        Whether to show progress, by default in terminals and notebooks only.
    **options
        The options of :func:`evaluate`, such as ``target``, ``limit`` and ``delay``.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import broadstream
    >>> models = {"one": broadstream.OnlineBLS(preset="single"), "several": broadstream.OnlineBLS()}
    >>> found = broadstream.compare("stagger:samples=500", models)
    >>> found.best() in found
    True
    >>> found["one"].samples
    500
    """
    named = _named(models)
    if source_of(source, options.get("target")).once:
        source = list(islice(source, options.get("limit")))
    results = {
        name: evaluate(source, model, progress=progress, **options) for name, model in named.items()
    }
    return Comparison(results)


def _named(models: Any) -> dict[str, Any]:
    if isinstance(models, Mapping):
        named = {str(name): model for name, model in models.items()}
    else:
        named = {}
        for model in models:
            name = title_of(model)
            count = sum(known.partition(" #")[0] == name for known in named)
            named[f"{name} #{count + 1}" if count else name] = model
    if not named:
        raise ValueError("expected at least one model, got none")
    return named


@dataclass(frozen=True)
class Comparison(Mapping[str, Evaluation]):
    """The results of several models on the same samples, by the names of the models."""

    results: dict[str, Evaluation]

    def __getitem__(self, name: str) -> Evaluation:
        return self.results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def best(self, metric: str = "oca") -> str:
        """Return the name of the model with the best value of a metric."""
        _check(metric)
        lower = metric in ("oce", "log_loss", "brier", "ece")
        sign = -1.0 if lower else 1.0
        return max(self.results, key=lambda name: sign * self.results[name].metrics[metric])

    def to_pandas(self) -> Any:
        """Return all metrics as a pandas DataFrame with a row for each model."""
        import pandas

        rows = {
            name: {
                **{metric: result.metrics.get(metric) for metric in METRICS},
                "samples_per_second": result.samples_per_second,
            }
            for name, result in self.results.items()
        }
        return pandas.DataFrame.from_dict(rows, orient="index")

    def plot(self, metric: str = "oca", *, ax: Axes | None = None) -> Axes:
        """Plot a metric of all models over time, over the window if it is known there.

        Needs matplotlib: ``pip install broadstream[plot]``. See :meth:`Evaluation.plot` for ``ax``.
        """
        from broadstream._plot import finish, new_axes

        _check(metric)
        ax = new_axes() if ax is None else ax
        windowed = all(f"window_{metric}" in result.curve for result in self.results.values())
        for name, result in self.results.items():
            curve = result.curve[f"window_{metric}" if windowed else metric]
            ax.plot(result.curve["sample"], curve, label=f"{name}: {result.metrics[metric]:.4f}")
        size = max(result.window["samples"] for result in self.results.values())
        ax.set_ylabel(METRICS[metric])
        ax.set_title(f"{self._source()}" + (f", last {size} samples" if windowed else ""))
        finish(ax, columns=1)
        return ax

    def _source(self) -> str:
        return next(iter(self.results.values())).source

    def __str__(self) -> str:
        width = max(len(name) for name in self.results)
        heads = "".join(f"{metric:>10}" for metric in SHOWN)
        lines = [self._source(), f"{'':{width}}{heads}{'samples/s':>12}"]
        for name, result in self.results.items():
            values = "".join(f"{result.metrics[metric]:10.4f}" for metric in SHOWN)
            lines.append(f"{name:{width}}{values}{result.samples_per_second:12,.0f}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Comparison({list(self.results)})"

    def _repr_html_(self) -> str:
        heads = "".join(f"<th>{escape(METRICS[metric])}</th>" for metric in SHOWN)
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th>"
            + "".join(f"<td>{result.metrics[metric]:.4f}</td>" for metric in SHOWN)
            + f"<td>{result.samples_per_second:,.0f}</td></tr>"
            for name, result in self.results.items()
        )
        return (
            f"<div><p><b>{escape(self._source())}</b></p><table><thead><tr><th></th>{heads}"
            f"<th>samples/s</th></tr></thead><tbody>{rows}</tbody></table></div>"
        )


def _check(metric: str) -> None:
    if metric not in METRICS:
        raise ValueError(f"metric must be one of {', '.join(METRICS)}, got '{metric}'")
