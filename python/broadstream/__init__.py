"""Online classification of data streams, exact after every sample.

:class:`OnlineBLS` learns one sample at a time and can predict at any time. :func:`evaluate` tests and then
trains it on a stream: arrays, a table, a file or a generator. ``broadstream.river``,
``broadstream.sklearn`` and ``broadstream.capymoa`` provide it as a native estimator of these libraries.

>>> import broadstream
>>> model = broadstream.OnlineBLS(preset="single")
>>> result = broadstream.evaluate("sea:samples=2000", model)
>>> round(result.accuracy, 2)
0.85
"""

from __future__ import annotations

from broadstream import datasets
from broadstream._broadstream import VERSION as __version__
from broadstream._broadstream import (
    Certificate,
    LateLabels,
    LatePrediction,
    OnlineBLS,
    Stream,
    generators,
    options,
)
from broadstream._comparison import Comparison, compare
from broadstream._evaluation import Evaluation, evaluate
from broadstream._options import document as _document
from broadstream._pickles import small_pickles
from broadstream._streams import generate

__all__ = [
    "Certificate",
    "Comparison",
    "Evaluation",
    "LateLabels",
    "LatePrediction",
    "OnlineBLS",
    "Stream",
    "__version__",
    "compare",
    "datasets",
    "evaluate",
    "generate",
    "generators",
    "options",
    "small_pickles",
]

_document(OnlineBLS)
