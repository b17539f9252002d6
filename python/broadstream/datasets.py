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

        ``broadstream datasets fetch`` on the command line downloads it there.
        """
        return Path(_broadstream.find_dataset(self.name, data))

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
