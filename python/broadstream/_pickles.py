"""How pickles store models.

``pickle`` has no options of its own, and a model may lie deep within what is pickled, such as in a
pipeline. So the options are those of the code around the call.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

_EXACT = ("keep", "double")
_storage: ContextVar[tuple[str, str]] = ContextVar("broadstream_pickles", default=_EXACT)


def storage() -> tuple[str, str]:
    """Return the options ``weights`` and ``precision`` of pickles that are made now."""
    return _storage.get()


@contextmanager
def small_pickles(
    *,
    weights: Literal["keep", "omit"] = "omit",
    precision: Literal["double", "single"] = "single",
) -> Iterator[None]:
    """Make pickles of models small within a ``with`` statement.

    This holds for models inside other objects too, such as pipelines, and for whatever uses pickle, such
    as joblib. Outside, pickles are exact.

    Parameters
    ----------
    weights : {"omit", "keep"}, default="omit"
        As in :meth:`OnlineBLS.save`.
    precision : {"single", "double"}, default="single"
        As in :meth:`OnlineBLS.save`. A model from a pickle in single precision predicts nearly the same and
        learns on, but does not continue to the bit, and refuses to merge, unlearn and correct.

    Examples
    --------
    >>> import pickle
    >>> import broadstream
    >>> model = broadstream.OnlineBLS()
    >>> model.learn_one({"volts": 231.5}, "on")
    >>> exact = pickle.dumps(model)
    >>> with broadstream.small_pickles():
    ...     small = pickle.dumps(model)
    >>> len(small) < len(exact)
    True
    """
    for name, value, known in [
        ("weights", weights, ("keep", "omit")),
        ("precision", precision, ("double", "single")),
    ]:
        if value not in known:
            raise ValueError(f"{name} must be '{known[0]}' or '{known[1]}', got {value!r}")
    token = _storage.set((weights, precision))
    try:
        yield
    finally:
        _storage.reset(token)
