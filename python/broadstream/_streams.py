"""Streams of generators, with their parameters as keyword arguments."""

from __future__ import annotations

from broadstream._broadstream import Stream, generators


def generate(name: str, *, samples: int = 100_000, seed: int = 42, **parameters: object) -> Stream:
    """Return the stream of a generator, which gives exactly the samples of River's.

    Parameters
    ----------
    name : str
        One of :func:`generators`.
    samples : int, default=100_000
        The number of samples.
    seed : int, default=42
        The seed of the generator.
    **parameters
        The parameters listed by ``broadstream generate --help``. Lists of variants are written as on the
        command line, ``variants="0-3-7"``.

    Examples
    --------
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
