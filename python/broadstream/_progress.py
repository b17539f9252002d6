"""Progress of long calls: a line in a terminal or a notebook, nothing elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any


class Progress:
    """Show the number of samples, their share, the accuracy so far and the speed of a long call.

    Parameters
    ----------
    show : bool or None
        None shows progress in terminals and notebooks only.
    label : str
        The text at the beginning of the line.
    """

    def __init__(self, show: bool | None, label: str) -> None:
        self.label = label
        self.start = time.monotonic()
        self.length = 0
        self.display: Any = None
        notebook = _notebook() if show is not False else None
        if notebook is not None:
            self.display = notebook
        self.shown = show if show is not None else notebook is not None or _is_terminal()

    def __enter__(self) -> Progress | None:
        return self if self.shown else None

    def __call__(self, samples: int, total: int | None, accuracy: float) -> None:
        seconds = time.monotonic() - self.start
        share = f" of {total:,} ({samples / total:.0%})" if total else ""
        bar = f"{_bar(samples / total)} " if total else ""
        speed = samples / seconds if seconds > 0 else 0.0
        left = f", {_duration((total - samples) / speed)} left" if total and speed else ""
        self._write(
            f"{self.label}: {bar}{samples:,}{share} samples, accuracy {accuracy:.4f}, "
            f"{speed:,.0f}/s{left}"
        )

    def _write(self, text: str) -> None:
        if self.display is not None:
            self.display.update(text)
            return
        sys.stderr.write("\r" + text.ljust(self.length))
        sys.stderr.flush()
        self.length = len(text)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.display is not None:
            self.display.clear()
        elif self.length:
            sys.stderr.write("\r" + " " * self.length + "\r")
            sys.stderr.flush()


class _NotebookLine:
    """A line in the output of a notebook cell that can be overwritten."""

    def __init__(self, display: Any) -> None:
        self.display = display
        self.handle: Any = None

    def update(self, text: str) -> None:
        shown = {"text/plain": text}
        if self.handle is None:
            self.handle = self.display(shown, raw=True, display_id=True)
        else:
            self.handle.update(shown, raw=True)

    def clear(self) -> None:
        if self.handle is not None:
            self.handle.update({"text/plain": ""}, raw=True)


def _notebook() -> _NotebookLine | None:
    """Return a line to write to if this runs in a notebook, else None."""
    interactive = sys.modules.get("IPython")
    shell = interactive.get_ipython() if interactive is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    return _NotebookLine(sys.modules["IPython"].display.display)


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _bar(share: float) -> str:
    """Return a bar of 20 characters, in eighths of which it grows."""
    eighths = min(160, int(share * 160))
    full = "█" * (eighths // 8)
    part = " ▏▎▍▌▋▊▉"[eighths % 8] if eighths % 8 else ""
    return (full + part).ljust(20)


def _duration(seconds: float) -> str:
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
