"""Convert rows, labels and weights of any supported library to a common form.

No library is imported for this: a value can only be a pandas table if pandas is already imported. The
compiled module calls these functions. Rows become one of:

- ``("array", array, names)``: a matrix of numbers; with None for names its columns are numbered
- ``("columns", names, columns, rows)``: columns that are arrays of numbers, pairs of codes and categories,
  or lists of values; with None for names they are numbered
- ``("dicts", rows)``: a list of dictionaries
- ``("sparse", starts, columns, values, rows, width)``: a matrix of scipy in its CSR form

A value that cannot be read raises a TypeError or ValueError that says what to give instead, also where the
library that the value comes from raised an error of its own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast

import numpy as np

from broadstream import _moments

# The kinds of numpy dtypes that are numeric: booleans, integers and floats.
NUMERIC_KINDS = "biuf"

# Without booleans. In a table these stay what they are, since a column of categories, such as a file may have
# had, takes them for "true" and "false" rather than for "1" and "0".
NUMBER_KINDS = "iuf"


Function = TypeVar("Function", bound=Callable[[Any], Any])


class Table(tuple):
    """Rows in the common form, which need no second conversion."""

    __slots__ = ()


def translated(function: Function) -> Function:
    """Turn errors of other libraries into a TypeError that names the kind of value."""

    @functools.wraps(function)
    def convert(x: Any) -> Any:
        try:
            return function(x)
        except Exception as error:
            # The exceptions of Python itself are those of this module, or of the value's own methods.
            if type(error).__module__ == "builtins":
                raise
            advice = "give a numpy array, a DataFrame or dictionaries"
            message = f"cannot read {_kind(x)}: {error}; {advice}"
            raise TypeError(message) from error

    return cast(Function, convert)


@translated
def table(x: Any) -> tuple:
    """Convert a value to rows."""
    if isinstance(x, np.ndarray):
        return _of_array(_plain(x))
    if isinstance(x, Table):
        return x
    refuse_other_kinds(x)
    library = type(x).__module__.partition(".")[0]
    if library == "pandas" and hasattr(x, "columns"):
        return _of_pandas(x)
    if library == "polars" and hasattr(x, "get_columns"):
        return _of_polars(x)
    if library == "pyarrow" and hasattr(x, "column_names"):
        return _of_arrow(x)
    if library == "scipy" and hasattr(x, "tocsr"):
        return _of_sparse(x)
    if isinstance(x, Mapping):
        raise TypeError(
            "expected rows, got one dictionary: give it to learn_one, or give a list of dictionaries"
        )
    if hasattr(x, "__arrow_c_stream__"):
        return _of_arrow(_pyarrow().table(x))
    if hasattr(x, "__array__"):
        return _of_array(_plain(np.asarray(x)))
    if isinstance(x, (str, bytes)) or not isinstance(x, Iterable):
        raise TypeError(f"expected rows (an array, a table or dictionaries), got {_kind(x)}")
    return _of_rows(list(x))


@translated
def row(x: Any) -> dict | list | np.ndarray:
    """Convert a value to one sample: a dictionary, or its values in the order of numbered columns."""
    if isinstance(x, dict):
        return x
    if isinstance(x, Mapping):
        return dict(x)
    if hasattr(x, "to_dict"):
        if len(getattr(x, "shape", ())) > 1:
            raise ValueError(f"expected one sample, got a table of shape {x.shape}")
        return list(x) if _is_numbered(getattr(x, "index", None)) else dict(x.to_dict())
    if isinstance(x, (str, bytes)) or not (hasattr(x, "__array__") or isinstance(x, Iterable)):
        raise TypeError(f"expected a sample (a dictionary or its values), got {_kind(x)}")
    if hasattr(x, "tocsr"):
        x = x.toarray().reshape(-1) if min(x.shape) == 1 or len(x.shape) == 1 else x.toarray()
    values = _plain(x) if isinstance(x, np.ndarray) else np.asarray(x)
    if values.ndim != 1:
        raise ValueError(f"expected one sample, got an array of shape {values.shape}")
    if values.dtype.kind in NUMERIC_KINDS:
        return values.astype(np.float64, copy=False)
    if values.dtype.kind in "OUS":
        return list(x)
    raise TypeError(f"expected numbers, got an array of {values.dtype}")


@translated
def labels(y: Any) -> list:
    """Convert the labels of rows to a list of Python values."""
    if isinstance(y, list):
        # A copy, which other code cannot change during the call.
        return list(y)
    if isinstance(y, np.ndarray) or hasattr(y, "__array__"):
        shape = np.shape(y)
        if len(shape) != 1:
            raise ValueError(f"y must have one label for each row, got an array of shape {shape}")
    if isinstance(y, np.ndarray) and y.dtype.kind in "mM":
        # tolist() would turn dates into numbers.
        return list(y)
    for method in ("tolist", "to_list", "to_pylist"):
        if hasattr(y, method):
            return list(getattr(y, method)())
    if isinstance(y, (str, bytes)) or not isinstance(y, Iterable):
        raise TypeError(f"expected labels, got {_kind(y)}")
    return list(y)


def weights(sample_weight: Any) -> np.ndarray:
    """Convert the weights of rows to an array of floats."""
    if isinstance(sample_weight, np.ma.MaskedArray):
        raise TypeError("sample_weight must be numbers, got a masked array")
    values = np.asarray(sample_weight)
    if values.ndim != 1:
        raise ValueError(
            f"sample_weight must have one number for each row, got an array of shape {values.shape}"
        )
    if values.dtype.kind not in NUMERIC_KINDS and values.size:
        raise TypeError(f"sample_weight must be numbers, got an array of {values.dtype}")
    return np.require(values, np.float64, ["C", "A"])[:]


def label_array(labels: list, classes: np.ndarray) -> np.ndarray:
    """Return the labels of classes as an array, with None for −1.

    If all labels have the same type, the array has it too.
    """
    kinds = {type(label) for label in labels}
    if len(kinds) == 1 and kinds <= {bool, int, float, str} and (classes >= 0).all():
        known = np.asarray(labels)
        # Large integers and strings that end in NUL would change in such an array.
        if known.dtype.kind != "O" and known.tolist() == labels and type(known[0].item()) in kinds:
            return known[classes]
    known = np.empty(len(labels) + 1, dtype=object)
    known[: len(labels)] = labels
    return known[classes]


def warn_of_misspelt(unknown: list[str], absent: list[str]) -> bool:
    """Warn if columns that a model does not know look like columns that the row lacks.

    Returns whether there was a warning.
    """
    import difflib
    import warnings

    folded = {name.casefold().strip(): name for name in absent}
    pairs = []
    for name in unknown:
        # Names that differ in digits alone, such as x1 and x11, are usually different columns.
        without = {key: known for key, known in folded.items() if _letters(key) != _letters(name)}
        without |= {key: known for key, known in folded.items() if key == name.casefold().strip()}
        for key in difflib.get_close_matches(name.casefold().strip(), list(without), 1, 0.75):
            pairs.append((name, folded[key]))
    if pairs:
        names = ", ".join(f"'{name}' (known: '{meant}')" for name, meant in pairs)
        message = f"the model has never learned a column of that name: {names}"
        warnings.warn(message, UserWarning, stacklevel=2)
    return bool(pairs)


def _letters(name: str) -> str:
    return "".join(character for character in name.casefold() if not character.isdigit())


def _plain(array: np.ndarray) -> np.ndarray:
    """Return a plain ndarray view, whose shape other code cannot change."""
    if isinstance(array, np.ma.MaskedArray):
        array = np.ma.filled(array.astype(np.float64), np.nan)
    return array.view(np.ndarray)


def _of_array(array: np.ndarray) -> tuple:
    if array.ndim != 2:
        raise ValueError(
            f"expected rows and columns, got an array of shape {array.shape}: "
            "reshape(1, -1) turns it into one row"
        )
    if array.dtype.kind in NUMBER_KINDS:
        return "array", array, None
    if array.dtype.kind in "OUb":
        return "columns", None, [array[:, j].tolist() for j in range(array.shape[1])], len(array)
    if array.dtype.kind in "mM":
        moments = [(str(j), _moments.of_numpy(array[:, j])) for j in range(array.shape[1])]
        return _of_parts(moments, len(array))
    raise TypeError(f"expected numbers or text, got an array of {array.dtype}")


def has_categories(x: Any) -> bool:
    """Whether a table of pandas, polars or Arrow has a column other than numbers and truth values."""
    library = type(x).__module__.partition(".")[0]
    if library == "pandas" and hasattr(x, "dtypes") and hasattr(x, "columns"):
        return any(getattr(kind, "kind", "O") not in NUMERIC_KINDS for kind in x.dtypes)
    if library == "polars" and hasattr(x, "get_columns"):
        return any(not (kind.is_numeric() or str(kind) == "Boolean") for kind in x.dtypes)
    if library == "pyarrow" and hasattr(x, "column_names"):
        texts = [str(kind) for kind in x.schema.types]
        return any(
            not text.startswith(("int", "uint", "half", "float", "double", "bool"))
            for text in texts
        )
    return False


def numbered(x: Any) -> Table:
    """Convert a table, whose columns then go by their numbers instead of their names."""
    library = type(x).__module__.partition(".")[0]
    if library == "pandas":
        x = x.set_axis([str(position) for position in range(x.shape[1])], axis=1)
    elif library == "polars":
        x = x.clone()
        x.columns = [str(position) for position in range(x.width)]
    elif library == "pyarrow":
        x = x.rename_columns([str(position) for position in range(x.num_columns)])
    return Table(table(x))


def take(x: Any, order: np.ndarray) -> Any:
    """Return the rows of an array or a table in another order."""
    if not isinstance(x, Table):
        return x[order]
    kind, names, columns, rows = x
    return Table((kind, names, [_take_column(column, order) for column in columns], rows))


def blank(x: Table, counted: np.ndarray, features: int) -> np.ndarray:
    """Return which features of a table with numbered columns have no value in the counted rows."""
    found = np.ones(features, dtype=bool)
    for feature, column in zip(_features(x), x[2]):
        found[feature] &= _is_blank(_take_column(column, np.flatnonzero(counted)))
    return found


def without(x: Table, blank: np.ndarray) -> Table:
    """Return a table with numbered columns without the values of these features."""
    kind, names, columns, rows = x
    pairs = zip(_features(x), columns)
    kept = [[None] * rows if blank[feature] else column for feature, column in pairs]
    return Table((kind, names, kept, rows))


def _features(x: Table) -> list[int]:
    """Return for each column the number of the feature that it is, or is a part of."""
    names = range(len(x[2])) if x[1] is None else x[1]
    return [int(str(name).partition(".")[0]) for name in names]


def _take_column(column: Any, order: np.ndarray) -> Any:
    if isinstance(column, tuple):
        return column[0][order], column[1]
    if isinstance(column, list):
        return [column[i] for i in order.tolist()]
    return column[order]


def _is_blank(column: Any) -> bool:
    if isinstance(column, tuple):
        return bool((column[0] < 0).all())
    if isinstance(column, list):
        return all(_is_missing(value) for value in column)
    return bool(np.isnan(column).all())


def _is_missing(value: Any) -> bool:
    return (
        value is None
        or (isinstance(value, float) and value != value)
        or type(value).__name__ in ("NAType", "NaTType")
    )


def refuse_other_kinds(x: Any) -> None:
    """Refuse what is no table of pandas, polars or Arrow, and say how to make one of it."""
    library, kind = type(x).__module__.partition(".")[0], type(x).__name__
    if library not in ("pandas", "polars", "pyarrow"):
        return
    if kind == "LazyFrame":
        raise TypeError("expected rows (a DataFrame), got polars.LazyFrame: call collect() on it")
    if kind == "Series" or kind.endswith(("Array", "Index")):
        raise TypeError(
            f"expected rows (a DataFrame), got {library}.{kind}, which is one column or one row: "
            "give learn_one or predict_one one row, or make a table of one column"
        )


def _is_numbered(index: Any) -> bool:
    """Whether an index of pandas has the numbers 0, 1, 2, …, which say nothing but the position."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def _of_pandas(frame: Any) -> tuple:
    names = [str(name) for name in frame.columns]
    kind, *rest = _of_named_columns(frame, names)
    # The parts of a date have names of their own, which an array would not have.
    if _is_numbered(frame.columns) and len(rest[1 if kind == "array" else 0] or ()) == len(names):
        rest[1 if kind == "array" else 0] = None
    return kind, *rest


def _of_named_columns(frame: Any, names: list[str]) -> tuple:
    if len(names) and all(
        isinstance(kind, np.dtype) and kind.kind in NUMBER_KINDS for kind in frame.dtypes
    ):
        return "array", frame.to_numpy(), names
    parts = []
    for j, name in enumerate(names):
        series = frame.iloc[:, j]
        parts.append((name, _moments.of_pandas(series) or [("", _of_series(series, name))]))
    return _of_parts(parts, len(frame))


def parts_of(value: Any) -> _moments.Parts:
    """Return the cells that a date, a time or a duration stands for, with the suffixes of their names."""
    return _moments.of_value(value)


def _of_parts(parts: list[tuple[str, _moments.Parts]], rows: int) -> tuple:
    """Return rows whose columns may have become several."""
    names = [name + suffix for name, columns in parts for suffix, _ in columns]
    return "columns", names, [column for _, columns in parts for _, column in columns], rows


def _of_sparse(x: Any) -> tuple:
    if len(x.shape) != 2:
        raise ValueError(f"expected rows and columns, got a sparse array of shape {x.shape}")
    if x.dtype.kind not in NUMERIC_KINDS:
        raise TypeError(f"expected numbers, got a sparse array of {x.dtype}")
    compressed = x.tocsr()
    values = compressed.data.astype(np.float64, copy=False)
    return "sparse", compressed.indptr, compressed.indices, values, *compressed.shape


def _of_series(series: Any, name: str) -> Any:
    kind = series.dtype
    if isinstance(kind, np.dtype):
        if kind.kind in NUMBER_KINDS:
            return series.to_numpy()
        if kind.kind in "Ob":
            return series.tolist()
    elif hasattr(kind, "pyarrow_dtype"):
        return _of_arrow_column(_pyarrow().array(series), name)
    elif hasattr(series, "cat"):
        return _coded(series.cat.codes.to_numpy(), series.cat.categories)
    elif getattr(kind, "kind", "O") in NUMBER_KINDS:
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    elif getattr(kind, "kind", "O") == "b" or str(kind).startswith(("string", "str")):
        return series.astype(object).where(series.notna(), None).tolist()
    raise TypeError(f"column '{name}': expected numbers or text, got {kind}")


def _of_polars(frame: Any) -> tuple:
    names = list(frame.columns)
    parts = []
    for name, column in zip(names, frame.get_columns()):
        parts.append((name, _moments.of_polars(column) or [("", _of_polars_series(column, name))]))
    return _of_parts(parts, frame.height)


def _of_polars_series(series: Any, name: str) -> Any:
    kind = series.dtype
    if kind.is_numeric():
        return series.cast(_of_module(series, "Float64")).to_numpy()
    text = str(kind)
    if text in ("String", "Utf8", "Null", "Boolean") or text.startswith(("Categorical", "Enum")):
        return series.to_list()
    raise TypeError(f"column '{name}': expected numbers or text, got {kind}")


def _of_module(series: Any, name: str) -> Any:
    import sys

    return getattr(sys.modules[type(series).__module__.partition(".")[0]], name)


def _of_arrow(arrow: Any) -> tuple:
    names = [str(name) for name in arrow.column_names]
    parts = []
    for name, column in zip(names, arrow.columns):
        parts.append((name, _moments.of_arrow(column) or [("", _of_arrow_column(column, name))]))
    return _of_parts(parts, arrow.num_rows)


def _of_arrow_column(column: Any, name: str) -> Any:
    types, kind = _pyarrow().types, column.type
    if types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        # Integers beyond 2^53 are rounded, as everywhere else.
        return column.cast("float64", safe=False).to_numpy(zero_copy_only=False)
    if str(kind) in ("string", "large_string", "string_view", "null", "bool"):
        return column.to_pylist()
    raise TypeError(f"column '{name}': expected numbers or text, got {kind}")


def _of_rows(rows: list) -> tuple:
    if not rows or all(isinstance(row, dict) for row in rows):
        return "dicts", rows
    if all(isinstance(row, Mapping) for row in rows):
        return "dicts", [dict(row) for row in rows]
    if all(hasattr(row, "to_dict") for row in rows):
        if all(_is_numbered(getattr(row, "index", None)) for row in rows):
            return _of_rows([list(row) for row in rows])
        return "dicts", [dict(row.to_dict()) for row in rows]
    if any(isinstance(row, Mapping) for row in rows):
        raise TypeError("expected rows of one kind, got dictionaries mixed with others")
    try:
        array = np.asarray(rows)
    except ValueError:
        array = np.asarray(rows, dtype=object)
    if array.ndim != 2:
        lengths = sorted({len(row) for row in rows if hasattr(row, "__len__")})
        found = f"rows of {lengths[0]} to {lengths[-1]} values" if lengths else _kind(rows[0])
        raise ValueError(f"expected rows of the same length, got {found}")
    if array.dtype.kind == "U":
        # numpy has turned the numbers among the strings into strings.
        array = np.asarray(rows, dtype=object)
    return _of_array(array)


def _coded(codes: np.ndarray, categories: Iterable) -> tuple[np.ndarray, list[str]]:
    return codes, [_category(category) for category in categories]


def _category(value: Any) -> str:
    """Return the name of a category, as for a single value."""
    if isinstance(value, (bool, np.bool_)):
        return str(value).lower()
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise TypeError("reading this table needs pyarrow: pip install pyarrow") from None
    return pyarrow


def records(x: Any) -> Iterable[dict]:
    """Return rows as dictionaries, which other libraries learn from."""
    library = type(x).__module__.partition(".")[0]
    refuse_other_kinds(x)
    if library == "pandas":
        return x.to_dict(orient="records")
    if library == "polars":
        return x.iter_rows(named=True)
    if library == "pyarrow":
        return x.to_pylist()
    if hasattr(x, "tocsr"):
        compressed = x.tocsr()
        rows = (compressed[[i]].toarray()[0] for i in range(compressed.shape[0]))
        return (dict(enumerate(row.tolist())) for row in rows)
    if isinstance(x, np.ndarray) or hasattr(x, "__array__"):
        return (dict(enumerate(row)) for row in np.asarray(x).tolist())
    return (row if isinstance(row, Mapping) else dict(enumerate(row)) for row in x)  # type: ignore[misc]


def kind_of(x: Any) -> str:
    """Return what the type of a value is called in messages."""
    return _kind(x)


def _kind(x: Any) -> str:
    return f"{type(x).__module__}.{type(x).__qualname__}".removeprefix("builtins.")
