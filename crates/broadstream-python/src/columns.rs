//! The columns that a model has met, and how Python's rows become samples of their inputs.
//!
//! Columns are told apart by their names. New ones that come together are taken in the order of their
//! names, so that a model does not depend on the order of a dictionary; names that are numbers count as
//! such. The rest is the encoder's: the first value of a column decides whether it holds numbers or
//! categories.

use broadstream::{
    Input, Schema,
    stream::{Categories, Place, RowEncoder, RowEncoding},
};
use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    types::{PyDict, PyString},
};

use crate::{cells::cell, error::stream_error};

pub(crate) struct Columns {
    encoder: RowEncoder,
    /// By the key of a dictionary the position of its column, for those that were met since the last
    /// refusal; −1 for a column that is left out.
    known: Py<PyDict>,
    /// The positions of the columns that are named 0, 1, 2, …, as far as they were met.
    numbered: Vec<(usize, usize)>,
    /// The name of the target, if the rows that the model was first trained on had one.
    target: Option<String>,
}

impl Columns {
    pub(crate) fn new(py: Python<'_>) -> Self {
        let encoder = RowEncoder::new("", Categories::OneHot);
        Columns { encoder, known: PyDict::new(py).unbind(), numbered: Vec::new(), target: None }
    }

    /// The columns of a model that was saved or trained elsewhere.
    pub(crate) fn resume(
        py: Python<'_>,
        schema: Schema,
        encoding: &RowEncoding,
        target: Option<String>,
    ) -> PyResult<Self> {
        let encoder = RowEncoder::resume(schema, encoding).map_err(stream_error)?;
        Ok(Columns { encoder, known: PyDict::new(py).unbind(), numbered: Vec::new(), target })
    }

    pub(crate) fn copy(&self, py: Python<'_>) -> Self {
        let (encoder, target) = (self.encoder.clone(), self.target.clone());
        Columns { encoder, known: PyDict::new(py).unbind(), numbered: Vec::new(), target }
    }

    pub(crate) fn encoder(&mut self) -> &mut RowEncoder {
        &mut self.encoder
    }

    /// The inputs of all rows so far.
    pub(crate) fn inputs(&self) -> &[Input] {
        self.encoder.schema().inputs()
    }

    pub(crate) fn encoding(&self) -> RowEncoding {
        self.encoder.encoding()
    }

    /// The name of the target, if there is one.
    pub(crate) fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// Keeps what rows have brought.
    pub(crate) fn settle(&mut self) {
        self.encoder.settle();
    }

    /// Takes back what rows have brought since.
    pub(crate) fn undo(&mut self, py: Python<'_>) {
        if self.encoder.undo() {
            self.known.bind(py).clear();
            self.numbered.clear();
        }
    }

    /// Begins a row and gives it the cells of a dictionary.
    pub(crate) fn encode_dict(&mut self, row: &Bound<'_, PyDict>, place: Place) -> PyResult<()> {
        let py = row.py();
        let known = self.known.bind(py).clone();
        self.encoder.begin(place);
        for (key, value) in row {
            let Some(position) = known.get_item(&key)? else {
                return self.encode_new(row, place);
            };
            if let Ok(column) = position.extract::<usize>() {
                self.push(column, &value, place)?;
            }
        }
        Ok(())
    }

    /// The same for a row with keys that were not met since the last refusal.
    fn encode_new(&mut self, row: &Bound<'_, PyDict>, place: Place) -> PyResult<()> {
        let py = row.py();
        let mut cells = Vec::with_capacity(row.len());
        for (key, value) in row {
            cells.push((name(&key)?, key, value));
        }
        cells.sort_by(|(a, ..), (b, ..)| order(a).cmp(&order(b)));
        if let Some(pair) = cells.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let message = format!("{place}: two inputs are named '{}'", pair[0].0);
            return Err(PyValueError::new_err(message));
        }
        self.encoder.begin(place);
        for (name, key, value) in &cells {
            let column = self.column(name, place)?;
            let position = column.map_or(-1, |column| column as i64);
            self.known.bind(py).set_item(key, position)?;
            if let Some(column) = column {
                self.push(column, value, place)?;
            }
        }
        Ok(())
    }

    /// The positions of the columns of a table; those that are left out have none. They come in the
    /// order in which their cells are to be given.
    pub(crate) fn of_table(&mut self, names: &[String]) -> PyResult<Vec<(usize, usize)>> {
        let mut ordered: Vec<usize> = (0..names.len()).collect();
        ordered.sort_by(|a, b| order(&names[*a]).cmp(&order(&names[*b])));
        if let Some(pair) = ordered.windows(2).find(|pair| names[pair[0]] == names[pair[1]]) {
            let message = format!("two columns are named '{}'", names[pair[0]]);
            return Err(PyValueError::new_err(message));
        }
        let mut columns = Vec::with_capacity(names.len());
        for position in ordered {
            if let Some(column) = self.column(&names[position], Place::Row(1))? {
                columns.push((position, column));
            }
        }
        // Inputs then come in the order of their numbers, or nearly so.
        columns.sort_by_key(|(_, column)| *column);
        Ok(columns)
    }

    /// The same for an array, whose columns are named 0, 1, 2, ….
    pub(crate) fn of_numbered(&mut self, width: usize) -> PyResult<Vec<(usize, usize)>> {
        if self.numbered.len() != width {
            let names: Vec<String> = (0..width).map(|column| column.to_string()).collect();
            self.numbered = self.of_table(&names)?;
        }
        Ok(self.numbered.clone())
    }

    /// The position of the column of that name, which may be new; `None` if it is left out.
    fn column(&mut self, name: &str, place: Place) -> PyResult<Option<usize>> {
        if let Some(column) = self.encoder.column(name) {
            return Ok(Some(column));
        }
        if self.encoder.leaves_out(name) {
            return Ok(None);
        }
        if self.target.as_deref() == Some(name) {
            let message = format!("{place}: '{name}' is what the model predicts, not an input");
            return Err(PyValueError::new_err(message));
        }
        self.encoder.add_column(name, None, place).map(Some).map_err(stream_error)
    }

    /// Gives a value to the row that was begun.
    pub(crate) fn push(
        &mut self,
        column: usize,
        value: &Bound<'_, PyAny>,
        place: Place,
    ) -> PyResult<()> {
        let cell = {
            let encoder = &self.encoder;
            let name = || encoder.columns().nth(column).unwrap_or_default().to_owned();
            cell(value, place, &name)?
        };
        self.encoder.push(column, cell).map_err(stream_error)
    }
}

/// The name of a column: a key of a dictionary, usually a text.
fn name(key: &Bound<'_, PyAny>) -> PyResult<String> {
    match key.cast::<PyString>() {
        Ok(text) => Ok(text.to_str()?.to_owned()),
        Err(_) => Ok(key.str()?.to_str()?.to_owned()),
    }
}

/// By what names are ordered: numbers before texts, and as numbers.
fn order(name: &str) -> (bool, u64, &str) {
    let number = name.parse::<u64>().ok();
    (number.is_none(), number.unwrap_or(0), name)
}
