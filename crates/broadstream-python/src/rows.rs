//! Rows as Python has them: arrays, tables of named columns, dictionaries.
//!
//! The package's `_tables` module says which of these a value is, for all the libraries that there are.
//! Numbers are read where they lie, whatever the strides; a piece whose numbers are not 64-bit floats is
//! converted on its own, so that nothing is ever copied as a whole.

use std::ops::Range;

use broadstream::{
    Sample,
    stream::{Cell, Place},
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

use crate::{columns::Columns, error::stream_error};

/// Several rows.
pub(crate) struct Rows {
    content: Content,
    length: usize,
}

enum Content {
    /// A matrix of numbers, whose columns have names or are numbered.
    Array {
        array: Py<PyAny>,
        width: usize,
        names: Option<Vec<String>>,
    },
    Table {
        names: Vec<String>,
        columns: Vec<Column>,
    },
    Dicts(Py<PyList>),
}

/// A column of a table.
enum Column {
    Numbers(Py<PyAny>),
    /// Positions among some texts; a negative one is missing.
    Categories {
        codes: Py<PyAny>,
        texts: Vec<String>,
    },
    Values(Py<PyAny>),
}

/// A column for some of the rows.
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
                let names: Vec<String> = table.get_item(1)?.extract()?;
                let length = table.get_item(3)?.extract()?;
                let columns = table.get_item(2)?;
                let columns = columns.try_iter()?.map(|column| Column::of(&column?));
                let columns = columns.collect::<PyResult<_>>()?;
                Ok(Rows { content: Content::Table { names, columns }, length })
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

    /// How many columns an array has; 0 for other rows, which bring names of their own.
    pub(crate) fn width(&self) -> usize {
        match self.content {
            Content::Array { width, .. } => width,
            Content::Table { .. } | Content::Dicts(_) => 0,
        }
    }

    /// Checks that something else has an entry for each row.
    pub(crate) fn check_length(&self, what: &str, found: usize) -> PyResult<()> {
        if found == self.length {
            return Ok(());
        }
        let message = format!("{what} must have {} entries, got {found}", self.length);
        Err(PyValueError::new_err(message))
    }

    /// Hands on each sample of a range of rows, with the row's position.
    pub(crate) fn encode(
        &self,
        py: Python<'_>,
        columns: &mut Columns,
        range: Range<usize>,
        mut each: impl FnMut(usize, Sample<'_>) -> PyResult<()>,
    ) -> PyResult<()> {
        match &self.content {
            Content::Array { array, width, names } => {
                let positions = match names {
                    Some(names) => columns.of_table(names)?,
                    None => columns.of_numbered(*width)?,
                };
                let piece: PyReadonlyArray2<'_, f64> = {
                    let piece = array.bind(py).get_item(slice(py, &range))?;
                    readable(&piece)?.try_readonly()?
                };
                for (i, row) in range.zip(piece.as_array().axis_iter(Axis(0))) {
                    let encoder = columns.encoder();
                    encoder.begin(place(i));
                    for &(position, column) in &positions {
                        let cell = Cell::Number(row[position]);
                        encoder.push(column, cell).map_err(stream_error)?;
                    }
                    each(i, encoder.sample())?;
                }
                Ok(())
            }
            Content::Table { names, columns: table } => {
                let positions = columns.of_table(names)?;
                let pieces = table.iter().map(|column| column.piece(py, &range));
                let pieces = pieces.collect::<PyResult<Vec<_>>>()?;
                for (row, i) in range.enumerate() {
                    columns.encoder().begin(place(i));
                    for &(position, column) in &positions {
                        pieces[position].push(columns, column, row, place(i))?;
                    }
                    each(i, columns.encoder().sample())?;
                }
                Ok(())
            }
            Content::Dicts(rows) => {
                for i in range {
                    let row = rows.bind(py).get_item(i)?.cast_into::<PyDict>()?;
                    columns.encode_dict(&row, place(i))?;
                    each(i, columns.encoder().sample())?;
                }
                Ok(())
            }
        }
    }
}

impl Column {
    fn of(column: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(pair) = column.cast::<PyTuple>() {
            let (codes, texts) = (pair.get_item(0)?.unbind(), pair.get_item(1)?.extract()?);
            return Ok(Column::Categories { codes, texts });
        }
        if column.cast::<PyList>().is_ok() {
            return Ok(Column::Values(column.clone().unbind()));
        }
        Ok(Column::Numbers(column.clone().unbind()))
    }

    fn piece<'py>(&self, py: Python<'py>, range: &Range<usize>) -> PyResult<Piece<'_, 'py>> {
        let piece = |values: &Py<PyAny>| values.bind(py).get_item(slice(py, range));
        Ok(match self {
            Column::Numbers(values) => {
                let piece = piece(values)?;
                Piece::Numbers(readable(&piece)?.try_readonly()?)
            }
            Column::Categories { codes, texts } => {
                let codes = piece(codes)?.call_method1("astype", ("int64",))?;
                let codes = codes.cast::<PyArray1<i64>>()?.try_readonly()?;
                Piece::Categories { codes, texts }
            }
            Column::Values(values) => Piece::Values(piece(values)?),
        })
    }
}

impl Piece<'_, '_> {
    /// Gives the cell of one of the rows to a column.
    fn push(&self, columns: &mut Columns, column: usize, row: usize, place: Place) -> PyResult<()> {
        let cell = match self {
            Piece::Numbers(values) => Cell::Number(values.as_array()[row]),
            Piece::Categories { codes, texts } => {
                let code = usize::try_from(codes.as_array()[row]).ok();
                let text = code.and_then(|code| texts.get(code));
                text.map_or(Cell::Missing, |text| Cell::Text(text.as_bytes()))
            }
            Piece::Values(values) => return columns.push(column, &values.get_item(row)?, place),
        };
        columns.encoder().push(column, cell).map_err(stream_error)
    }
}

/// Begins a row and gives it the cells of one sample, as [`row`] returns it.
pub(crate) fn encode_one(columns: &mut Columns, x: &Bound<'_, PyAny>) -> PyResult<()> {
    if let Ok(row) = x.cast::<PyDict>() {
        return columns.encode_dict(row, place(0));
    }
    let row: PyReadonlyArray1<'_, f64> = readable(x)?.try_readonly()?;
    let positions = columns.of_numbered(row.as_array().len())?;
    let encoder = columns.encoder();
    encoder.begin(place(0));
    for (position, column) in positions {
        let cell = Cell::Number(row.as_array()[position]);
        encoder.push(column, cell).map_err(stream_error)?;
    }
    Ok(())
}

/// One sample as a dictionary, or as an array of values in the order of numbered columns. That may run
/// code of Python's, so it is done before a model is locked.
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

/// Where a row stands, counted from 1.
pub(crate) fn place(row: usize) -> Place {
    Place::Row(row as u64 + 1)
}

fn slice<'py>(py: Python<'py>, range: &Range<usize>) -> Bound<'py, PySlice> {
    PySlice::new(py, range.start as isize, range.end as isize, 1)
}

/// An array as one of 64-bit floats that lie where a processor can read them; itself if it is one.
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

/// The part of the package that knows other libraries' tables.
pub(crate) fn tables(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || {
        Ok::<_, PyErr>(PyModule::import(py, "broadstream._tables")?.unbind())
    })?;
    Ok(module.bind(py).clone())
}
