"""Generators with their parameters as arguments."""

from __future__ import annotations

from broadstream._broadstream import Stream, generators


def generate(name: str, *, samples: int = 100_000, seed: int = 42, **parameters: object) -> Stream:
    """A stream that is made by a generator, sample by sample that of River.

    The parameters are those of ``broadstream generate --help``. Lists of variants are written as the
    command line has them, ``variants="0-3-7"``.

    >>> from broadstream import generate
    >>> generate("sea", samples=500, noise=0.1, variant=2)
    Stream("sea:samples=500,seed=42,noise=0.1,variant=2")
    """
    if name not in generators():
        known = ", ".join(generators())
        raise ValueError(f"there is no generator '{name}': expected one of {known}")
    given = {"samples": samples, "seed": seed, **parameters}
    text = ",".join(f"{key}={_text(value)}" for key, value in given.items())
    return Stream(f"{name}:{text}")


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
