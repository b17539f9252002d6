//! The way of a row from Python to a sample.
//!
//! Rows come as arrays, as tables of named columns or as dictionaries; the package's `_tables` module says
//! which of these a value is, for all the libraries that it supports. [`Columns`] says which column of the
//! model each value belongs to, and in which order to take them. `encode_row` then begins a row, feeds it
//! and returns its sample: every row goes through it.
//!
//! Numbers are read in place, whatever their strides. A piece whose numbers are not 64-bit floats is
//! converted by itself, so that a batch is never copied as a whole.

use std::ops::Range;

use broadstream::{
    Sample,
    stream::{Cell, Place, RowEncoder},
};
use numpy::{
    PyArray, PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
    ndarray::{Axis, Dimension},
};
use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    sync::PyOnceLock,
    types::{PyDict, PyList, PySlice, PyTuple},
};

use crate::{cells::cell, columns::Columns, error::stream_error};

/// A batch of rows.
pub(crate) struct Rows {
    content: Content,
    length: usize,
}

enum Content {
    /// A matrix of numbers, whose columns are named or numbered.
    Array {
        array: Py<PyAny>,
        width: usize,
        names: Option<Vec<String>>,
    },
    /// Columns of any values, which are named or numbered.
    Table {
        names: Option<Vec<String>>,
        columns: Vec<TableColumn>,
    },
    Dicts(Py<PyList>),
    /// A matrix of numbers that stores those other than 0: where each row starts, and the column and the value
    /// of each number.
    Sparse {
        starts: Py<PyAny>,
        indices: Py<PyAny>,
        values: Py<PyAny>,
        width: usize,
    },
}

/// A column of a table.
enum TableColumn {
    Numbers(Py<PyAny>),
    /// Positions in a list of texts; a negative one is missing.
    Categories {
        codes: Py<PyAny>,
        texts: Vec<String>,
    },
    Values(Py<PyAny>),
}

/// A part of a column, for some of the rows.
enum Piece<'a, 'py> {
    Numbers(PyReadonlyArray1<'py, f64>),
    Categories { codes: PyReadonlyArray1<'py, i64>, texts: &'a [String] },
    Values(Bound<'py, PyAny>),
}

impl Rows {
    /// The rows that a value stands for.
    pub(crate) fn of(x: &Bound<'_, PyAny>) -> PyResult<Self> {
        let table = tables(x.py())?.call_method1("table", (x,))?.cast_into::<PyTuple>()?;
        let kind: String = table.get_item(0)?.extract()?;
        match kind.as_str() {
            "array" => {
                let array = table.get_item(1)?;
                let (length, width) = array.getattr("shape")?.extract()?;
                let names = table.get_item(2)?.extract()?;
                let array = array.unbind();
                Ok(Rows { content: Content::Array { array, width, names }, length })
            }
            "columns" => {
                let names = table.get_item(1)?.extract()?;
                let length = table.get_item(3)?.extract()?;
                let columns = table.get_item(2)?;
                let columns = columns.try_iter()?.map(|column| TableColumn::of(&column?));
                let columns = columns.collect::<PyResult<_>>()?;
                Ok(Rows { content: Content::Table { names, columns }, length })
            }
            "sparse" => {
                let [starts, indices, values] =
                    [1, 2, 3].map(|k| table.get_item(k).map(Bound::unbind));
                let (length, width) =
                    (table.get_item(4)?.extract()?, table.get_item(5)?.extract()?);
                let (starts, indices, values) = (starts?, indices?, values?);
                Ok(Rows { content: Content::Sparse { starts, indices, values, width }, length })
            }
            _ => {
                let rows = table.get_item(1)?.cast_into::<PyList>()?;
                Ok(Rows { length: rows.len(), content: Content::Dicts(rows.unbind()) })
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// How many columns an array has; 0 for other rows, whose columns have names of their own.
    pub(crate) fn width(&self) -> usize {
        match &self.content {
            Content::Array { width, .. } | Content::Sparse { width, .. } => *width,
            Content::Table { names: None, columns } => columns.len(),
            Content::Table { .. } | Content::Dicts(_) => 0,
        }
    }

    /// Checks that labels or weights have an entry for each row.
    pub(crate) fn check_length(&self, what: &str, found: usize) -> PyResult<()> {
        if found == self.length {
            return Ok(());
        }
        let message = format!("{what} must have {} entries, got {found}", self.length);
        Err(PyValueError::new_err(message))
    }

    /// Encodes a range of rows, and calls `each` with the position and the sample of each.
    pub(crate) fn encode(
        &self,
        py: Python<'_>,
        columns: &mut Columns,
        range: Range<usize>,
        mut each: impl FnMut(usize, Sample<'_>) -> PyResult<()>,
    ) -> PyResult<()> {
        match &self.content {
            Content::Array { array, width, names } => {
                let positions = columns.of_row(names.as_deref(), *width)?;
                let piece: PyReadonlyArray2<'_, f64> = {
                    let piece = array.bind(py).get_item(slice(py, &range))?;
                    readable(&piece)?.try_readonly()?
                };
                for (i, row) in range.zip(piece.as_array().axis_iter(Axis(0))) {
                    let number = |position: usize| Value::Cell(Cell::Number(row[position]));
                    let values = positions.iter().map(|&(position, k)| Ok((k, number(position))));
                    each(i, encode_row(columns.encoder(), place(i), values)?)?;
                }
            }
            Content::Table { names, columns: table } => {
                let positions = columns.of_row(names.as_deref(), table.len())?;
                let pieces = table.iter().map(|column| column.piece(py, &range));
                let pieces = pieces.collect::<PyResult<Vec<_>>>()?;
                for (row, i) in range.enumerate() {
                    let value = |position: usize| pieces[position].value(row);
                    let values = positions.iter().map(|&(position, k)| Ok((k, value(position)?)));
                    each(i, encode_row(columns.encoder(), place(i), values)?)?;
                }
            }
            Content::Sparse { starts, indices, values, width } => {
                let positions = columns.of_row(None, *width)?;
                let bounds = range.start..range.end + 1;
                let starts = whole(&starts.bind(py).get_item(slice(py, &bounds))?)?;
                let (Some(&first), Some(&last)) = (starts.first(), starts.last()) else {
                    return Ok(());
                };
                let stored = first..last;
                let indices = whole(&indices.bind(py).get_item(slice(py, &stored))?)?;
                let values = values.bind(py).get_item(slice(py, &stored))?;
                let values: PyReadonlyArray1<'_, f64> = readable(&values)?.try_readonly()?;
                let values = values.as_array();
                let mut row = vec![0.0; *width];
                for (i, ends) in range.zip(starts.windows(2)) {
                    row.fill(0.0);
                    let entries =
                        ends[0].wrapping_sub(stored.start)..ends[1].wrapping_sub(stored.start);
                    for entry in entries {
                        // A matrix may store several numbers for one cell, which stand for their sum.
                        match (indices.get(entry), values.get(entry)) {
                            (Some(column), Some(value)) if *column < *width => {
                                row[*column] += value;
                            }
                            _ => return Err(broken_matrix(i)),
                        }
                    }
                    let number = |position: usize| Value::Cell(Cell::Number(row[position]));
                    let cells = positions.iter().map(|&(position, k)| Ok((k, number(position))));
                    each(i, encode_row(columns.encoder(), place(i), cells)?)?;
                }
            }
            Content::Dicts(rows) => {
                for i in range {
                    let row = rows.bind(py).get_item(i)?.cast_into::<PyDict>()?;
                    each(i, encode_dict(columns, &row, place(i))?)?;
                }
            }
        }
        Ok(())
    }
}

/// One value of a row: a cell, or something of Python's that is one when its turn comes.
enum Value<'a, 'py> {
    Cell(Cell<'a>),
    Python(Bound<'py, PyAny>),
}

/// Encodes one row, whatever it came from: begins it, pushes its values in the order given, which is that
/// of [`Columns`], and returns the sample. Each value comes with the position of its column.
fn encode_row<'e, 'a, 'py>(
    encoder: &'e mut RowEncoder,
    place: Place,
    values: impl IntoIterator<Item = PyResult<(usize, Value<'a, 'py>)>>,
) -> PyResult<Sample<'e>> {
    encoder.begin(place);
    for value in values {
        let (column, value) = value?;
        let cell = match &value {
            Value::Cell(cell) => *cell,
            Value::Python(value) => {
                let name = || encoder.columns().nth(column).unwrap_or_default().to_owned();
                cell(value, place, &name)?
            }
        };
        encoder.push(column, cell).map_err(stream_error)?;
    }
    Ok(encoder.sample())
}

/// Encodes one row that is a dictionary.
fn encode_dict<'e>(
    columns: &'e mut Columns,
    row: &Bound<'_, PyDict>,
    place: Place,
) -> PyResult<Sample<'e>> {
    let values = columns.of_dict(row, place)?;
    let values = values.into_iter().map(|(column, value)| Ok((column, Value::Python(value))));
    encode_row(columns.encoder(), place, values)
}

/// Encodes one sample, as [`row`] returns it.
pub(crate) fn encode_one<'e>(
    columns: &'e mut Columns,
    x: &Bound<'_, PyAny>,
    place: Place,
) -> PyResult<Sample<'e>> {
    if let Ok(row) = x.cast::<PyDict>() {
        return encode_dict(columns, row, place);
    }
    if let Ok(row) = x.cast::<PyList>() {
        let positions = columns.of_row(None, row.len())?;
        let value = |(position, k)| Ok((k, Value::Python(row.get_item(position)?)));
        let values = positions.into_iter().map(value);
        return encode_row(columns.encoder(), place, values);
    }
    let row: PyReadonlyArray1<'_, f64> = readable(x)?.try_readonly()?;
    let row = row.as_array();
    let number = |position: usize| Value::Cell(Cell::Number(row[position]));
    let positions = columns.of_row(None, row.len())?;
    let values = positions.into_iter().map(|(position, k)| Ok((k, number(position))));
    encode_row(columns.encoder(), place, values)
}

impl TableColumn {
    fn of(column: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(pair) = column.cast::<PyTuple>() {
            let (codes, texts) = (pair.get_item(0)?.unbind(), pair.get_item(1)?.extract()?);
            return Ok(TableColumn::Categories { codes, texts });
        }
        if column.cast::<PyList>().is_ok() {
            return Ok(TableColumn::Values(column.clone().unbind()));
        }
        Ok(TableColumn::Numbers(column.clone().unbind()))
    }

    fn piece<'py>(&self, py: Python<'py>, range: &Range<usize>) -> PyResult<Piece<'_, 'py>> {
        let piece = |values: &Py<PyAny>| values.bind(py).get_item(slice(py, range));
        Ok(match self {
            TableColumn::Numbers(values) => {
                let piece = piece(values)?;
                Piece::Numbers(readable(&piece)?.try_readonly()?)
            }
            TableColumn::Categories { codes, texts } => {
                let codes = piece(codes)?.call_method1("astype", ("int64",))?;
                let codes = codes.cast::<PyArray1<i64>>()?.try_readonly()?;
                Piece::Categories { codes, texts }
            }
            TableColumn::Values(values) => Piece::Values(piece(values)?),
        })
    }
}

impl<'py> Piece<'_, 'py> {
    /// The value in one of the rows.
    fn value(&self, row: usize) -> PyResult<Value<'_, 'py>> {
        Ok(match self {
            Piece::Numbers(values) => Value::Cell(Cell::Number(values.as_array()[row])),
            Piece::Categories { codes, texts } => {
                let code = usize::try_from(codes.as_array()[row]).ok();
                let text = code.and_then(|code| texts.get(code));
                Value::Cell(text.map_or(Cell::Missing, |text| Cell::Text(text.as_bytes())))
            }
            Piece::Values(values) => Value::Python(values.get_item(row)?),
        })
    }
}

/// One sample as a dictionary, or as a list or an array of values in the order of numbered columns. This may
/// run Python code, so it is done before a model is locked.
pub(crate) fn row<'py>(x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if x.cast::<PyDict>().is_ok() || x.cast::<PyArray1<f64>>().is_ok() {
        return Ok(x.clone());
    }
    tables(x.py())?.call_method1("row", (x,))
}

/// The labels of rows as a list.
pub(crate) fn labels<'py>(y: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    Ok(tables(y.py())?.call_method1("labels", (y,))?.cast_into::<PyList>()?)
}

/// The weights of rows, if there are any.
pub(crate) fn weights<'py>(
    py: Python<'py>,
    weights: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<PyReadonlyArray1<'py, f64>>> {
    let Some(weights) = weights else { return Ok(None) };
    let weights = tables(py)?.call_method1("weights", (weights,))?;
    Ok(Some(weights.cast::<PyArray1<f64>>()?.try_readonly()?))
}

/// The place of a row, counted from 1.
pub(crate) fn place(row: usize) -> Place {
    Place::Row(row as u64 + 1)
}

fn broken_matrix(row: usize) -> PyErr {
    let message = format!("{}: the sparse matrix has an entry outside of its columns", place(row));
    PyValueError::new_err(message)
}

/// An array of whole numbers that are not negative. A negative one becomes one that no array has.
fn whole(values: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let values = values.call_method1("astype", ("int64",))?;
    let values = values.cast::<PyArray1<i64>>()?.try_readonly()?;
    Ok(values
        .as_array()
        .iter()
        .map(|&value| usize::try_from(value).unwrap_or(usize::MAX))
        .collect())
}

fn slice<'py>(py: Python<'py>, range: &Range<usize>) -> Bound<'py, PySlice> {
    PySlice::new(py, range.start as isize, range.end as isize, 1)
}

/// The array as aligned 64-bit floats; the same array if that is what it holds.
fn readable<'py, D: Dimension>(
    values: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArray<f64, D>>> {
    const SIZE: usize = size_of::<f64>();
    if let Ok(array) = values.cast::<PyArray<f64, D>>() {
        let whole = array.strides().iter().all(|stride| stride % SIZE as isize == 0);
        if whole && (array.data() as usize).is_multiple_of(SIZE) {
            return Ok(array.clone());
        }
    }
    Ok(values.call_method1("astype", ("float64",))?.cast_into::<PyArray<f64, D>>()?)
}

/// The module of the package that knows the tables of other libraries.
pub(crate) fn tables(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || {
        Ok::<_, PyErr>(PyModule::import(py, "broadstream._tables")?.unbind())
    })?;
    Ok(module.bind(py).clone())
}
