"""The ten benchmark streams of the paper: their descriptions, and the files on this machine.

>>> from broadstream import datasets
>>> electricity = datasets.dataset("electricity")
>>> electricity.rows, electricity.inputs, electricity.classes
(45312, 6, 2)
>>> datasets.dataset("sea").stream()
Stream("sea")
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from broadstream import _broadstream
from broadstream._broadstream import Stream

__all__ = ["Dataset", "catalogue", "dataset"]


@dataclass(frozen=True)
class Dataset:
    """The description of a dataset in the catalogue."""

    name: str
    title: str
    #: ``stationary`` if the order of samples does not matter, else ``drifting``
    kind: str
    rows: int
    inputs: int
    classes: int
    target: str
    #: The columns that the paper drops
    drop: tuple[str, ...]
    page: str
    licence: str
    citation: str
    #: The generator that produces it, if it has no file
    generator: str | None

    def find(self, data: str | os.PathLike[str] | None = None) -> Path:
        """Find the file in the folder ``data``, in that named by BROADSTREAM_DATA, or in the user's cache.

        :meth:`fetch` downloads it there, as ``broadstream datasets fetch`` does on the command line.
        """
        return Path(_broadstream.find_dataset(self.name, data))

    def fetch(
        self,
        data: str | os.PathLike[str] | None = None,
        *,
        mirror: str | None = None,
        progress: Callable[[str, int, int | None], None] | None = None,
    ) -> Path:
        """Download the file from its publisher, prepare it and compare its checksum, and return its path.

        An intact file is left alone, and a download that was interrupted continues.

        Parameters
        ----------
        data : path, optional
            The folder to store it in, by default as for :meth:`find`.
        mirror : str, optional
            The address to download from instead of the publisher's.
        progress : callable, optional
            Called now and then with the name of the file that is downloaded, the bytes so far, and the total
            number or None if it is unknown.
        """
        if self.generator is not None:
            raise ValueError(f"{self.name} is made by a generator and has no file: use stream()")
        path = _broadstream.fetch_dataset(self.name, data, mirror=mirror, progress=progress)
        return Path(path)

    def stream(
        self,
        data: str | os.PathLike[str] | None = None,
        *,
        shuffle: int | None = None,
        limit: int | None = None,
    ) -> Stream:
        """Return the samples in the paper's setup.

        Parameters
        ----------
        data : path, optional
            The folder that has the file; see :meth:`find`.
        shuffle : int, optional
            The seed to shuffle the samples with. Do this if the dataset is stationary.
        limit : int, optional
            The maximum number of samples.
        """
        if self.generator is not None:
            return Stream(self.generator, shuffle=shuffle, limit=limit)
        file = self.find(data)
        return Stream(file, target=self.target, drop=list(self.drop), shuffle=shuffle, limit=limit)


def catalogue() -> list[Dataset]:
    """Return all datasets."""
    return [Dataset(**{**entry, "drop": tuple(entry["drop"])}) for entry in _broadstream.datasets()]


def dataset(name: str) -> Dataset:
    """Return the dataset with that name."""
    known = {entry.name: entry for entry in catalogue()}
    if name not in known:
        raise ValueError(f"there is no dataset '{name}': expected one of {', '.join(known)}")
    return known[name]
