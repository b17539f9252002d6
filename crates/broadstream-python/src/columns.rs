//! The columns that a model has seen, and which of them the values of a row belong to.
//!
//! Columns are told apart by their names, and the values of a row are encoded in the order of the names,
//! so that a model does not depend on the order of a dictionary. Names that are numbers are ordered as
//! numbers. The encoder does the rest: the first value of a column decides whether it holds numbers or
//! categories.

use broadstream::{
    Input, Schema,
    stream::{Categories, ColumnCoding, Place, RowEncoder, RowEncoding, TableOptions},
};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyDict, PyInt, PyString},
};

use crate::{
    cells::{is_moment, is_plain},
    error::{stream_error, to_python},
    numbers::Whole,
    rows::tables,
};

/// The columns of a model.
pub(crate) struct Columns {
    encoder: RowEncoder,
    /// The position of the column for each key of a dictionary, a text or an integer, that was seen since
    /// the last refusal; −1 for a column that is left out.
    known: Py<PyDict>,
    /// For each column the rank of its name among the names of all columns.
    ranks: Vec<usize>,
    /// How many columns the last array had, and the columns of the model that they belong to.
    numbered: Option<(usize, Vec<(usize, usize)>)>,
    /// The name of the target, if the rows that the model was first trained on had one.
    target: Option<String>,
    /// Columns of rows that are only predicted.
    unknown: Unknown,
}

/// Columns of rows that are only predicted: those that the model does not know, and those that it knows and
/// the row lacks. The former may be misspelt.
#[derive(Clone, Default)]
struct Unknown {
    /// How many columns are known, while rows are predicted.
    known: Option<usize>,
    /// Whether there was a warning before.
    warned: bool,
    names: Vec<String>,
    absent: Vec<String>,
}

/// The most columns that may be unknown in a row that looks misspelt. With more, as where each word of a text
/// is a column, others are to be expected.
const MOST_UNKNOWN: usize = 20;

impl Columns {
    pub(crate) fn new(py: Python<'_>) -> Self {
        let mut encoder = RowEncoder::new("", Categories::OneHot);
        encoder.read_flags();
        encoder.read_days();
        Columns {
            encoder,
            known: PyDict::new(py).unbind(),
            ranks: Vec::new(),
            numbered: None,
            target: None,
            unknown: Unknown::default(),
        }
    }

    /// The same with the options that are about columns, which are taken out of `options`.
    pub(crate) fn with_options(py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let take = |name: &str| -> PyResult<Option<Bound<'_, PyAny>>> {
            let value = options.get_item(name)?;
            if value.is_some() {
                options.del_item(name)?;
            }
            Ok(value.filter(|value| !value.is_none()))
        };
        let (most, text) = (take("max_categories")?, take("text")?);
        let mut table = TableOptions::default();
        if let Some(most) = most {
            let Whole(most) = most.extract()?;
            table.max_categories = Some(usize::try_from(most).unwrap_or(usize::MAX));
        }
        if let Some(text) = text {
            let rule = |_| {
                let found = text.repr().map(|text| text.to_string()).unwrap_or_default();
                PyTypeError::new_err(format!(
                    "text must be a list of names of columns, got {found}"
                ))
            };
            table.text = text.extract().map_err(rule)?;
        }
        let mut columns = Columns::new(py);
        let encoder = columns.encoder.clone().with_options(&table).map_err(to_python)?;
        columns.encoder = encoder;
        Ok(columns)
    }

    /// The columns of a model that has these inputs and was saved, trained elsewhere, or merged. A
    /// column whose input the model lacks counts as one without any cell so far.
    pub(crate) fn resume(
        py: Python<'_>,
        inputs: &[Input],
        mut encoding: RowEncoding,
        target: Option<String>,
    ) -> PyResult<Self> {
        let has_input = |name: &str| inputs.iter().any(|input| input.name == name);
        for column in &mut encoding.columns {
            let needs_input =
                matches!(column.coding, ColumnCoding::Numeric | ColumnCoding::IntegerCodes(_));
            if needs_input && !has_input(&column.name) {
                column.coding = ColumnCoding::Undecided;
            }
        }
        encoding.target = target.clone().unwrap_or_else(|| unused_name(&encoding));
        let mut schema = Schema::new(encoding.target.as_str());
        for input in inputs {
            schema.push_input(&input.name, input.kind);
        }
        let mut encoder = RowEncoder::resume(schema, &encoding).map_err(stream_error)?;
        encoder.read_flags();
        encoder.read_days();
        Ok(Columns {
            encoder,
            known: PyDict::new(py).unbind(),
            ranks: Vec::new(),
            numbered: None,
            target,
            unknown: Unknown::default(),
        })
    }

    pub(crate) fn copy(&self, py: Python<'_>) -> Self {
        let (encoder, target) = (self.encoder.clone(), self.target.clone());
        Columns {
            encoder,
            known: PyDict::new(py).unbind(),
            ranks: Vec::new(),
            numbered: None,
            target,
            unknown: Unknown::default(),
        }
    }

    pub(crate) fn encoder(&mut self) -> &mut RowEncoder {
        &mut self.encoder
    }

    /// The inputs of all rows so far.
    pub(crate) fn inputs(&self) -> &[Input] {
        self.encoder.schema().inputs()
    }

    /// How rows are encoded, with a name for the target that none of their columns has.
    pub(crate) fn encoding(&self) -> RowEncoding {
        let mut encoding = self.encoder.encoding();
        if let Some(target) = &self.target {
            encoding.target.clone_from(target);
        } else {
            encoding.target = unused_name(&encoding);
            encoding.target_position = encoding.columns.len();
        }
        encoding
    }

    /// The name of the target, if there is one.
    pub(crate) fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// Keeps what rows have added.
    pub(crate) fn settle(&mut self) {
        self.encoder.settle();
    }

    /// Begins to predict rows, whose columns may be misspelt.
    pub(crate) fn begin_look(&mut self) {
        let known = self.encoder.columns().len();
        self.unknown.known = (known > 0 && !self.unknown.warned).then_some(known);
    }

    /// Ends to predict rows, and warns of columns that seem to be misspelt, once for a model.
    pub(crate) fn end_look(&mut self, py: Python<'_>) -> PyResult<()> {
        self.unknown.known = None;
        if self.unknown.names.is_empty() {
            return Ok(());
        }
        let names = std::mem::take(&mut self.unknown.names);
        let absent = std::mem::take(&mut self.unknown.absent);
        self.unknown.warned = true;
        let warned = tables(py)?.call_method1("warn_of_misspelt", (names, absent))?;
        self.unknown.warned = warned.extract()?;
        Ok(())
    }

    /// Looks for misspelt columns in a row that has these names.
    fn compare_names<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        let Some(known) = self.unknown.known else { return };
        let mut unknown = Vec::new();
        let mut present = vec![false; known];
        for name in names {
            match self.encoder.column(name) {
                Some(column) if column < known => present[column] = true,
                _ if unknown.len() < MOST_UNKNOWN => unknown.push(name.to_owned()),
                _ => return,
            }
        }
        let absent = || self.encoder.columns().zip(&present).filter(|(_, present)| !**present);
        if !(1..=unknown.len()).contains(&absent().take(unknown.len() + 1).count()) {
            return;
        }
        self.unknown.absent = absent().map(|(name, _)| name.to_owned()).collect();
        self.unknown.names = unknown;
    }

    /// How much rows have added since the columns were last settled.
    pub(crate) fn unsettled(&self) -> usize {
        self.encoder.unsettled()
    }

    /// Removes what rows have added since [`unsettled`](Self::unsettled) returned this number.
    pub(crate) fn undo(&mut self, py: Python<'_>, unsettled: usize) {
        if self.encoder.undo_to(unsettled) {
            self.known.bind(py).clear();
            self.ranks.clear();
            self.numbered = None;
        }
    }

    /// The values of a dictionary, each with the position of its column, in the order in which they are
    /// encoded. Those of columns that are left out are not among them.
    pub(crate) fn of_dict<'py>(
        &mut self,
        row: &Bound<'py, PyDict>,
        place: Place,
    ) -> PyResult<Vec<(usize, Bound<'py, PyAny>)>> {
        let known = self.known.bind(row.py()).clone();
        let mut values = Vec::with_capacity(row.len());
        for (key, value) in row {
            // Python code that runs while a value is read could change the dictionary meanwhile.
            if !is_exact(&key) || !is_plain(&value) {
                return self.of_items(row, place);
            }
            match known.get_item(&key)? {
                Some(position) => values.push((position.extract::<i64>()?, value)),
                None => return self.of_items(row, place),
            }
        }
        Ok(self.in_order(values))
    }

    /// Same as [`of_dict`](Self::of_dict) for a row with keys that are not in `known`, or with values of
    /// types other than Python's own.
    fn of_items<'py>(
        &mut self,
        row: &Bound<'py, PyDict>,
        place: Place,
    ) -> PyResult<Vec<(usize, Bound<'py, PyAny>)>> {
        let mut items = Vec::with_capacity(row.len());
        for item in row.items() {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            let name = name(&key)?;
            if is_moment(&value)? {
                // A date is several columns, each with a name of its own.
                let parts = tables(row.py())?.call_method1("parts_of", (&value,))?;
                for part in parts.try_iter()? {
                    let (suffix, value): (String, Bound<'_, PyAny>) = part?.extract()?;
                    items.push((format!("{name}{suffix}"), None, value));
                }
            } else {
                items.push((name, Some(key), value));
            }
        }
        self.compare_names(items.iter().map(|(name, ..)| name.as_str()));
        // New columns are added in the order of their names, not in that of the dictionary.
        items.sort_by(|(a, ..), (b, ..)| a.cmp(b));
        if let Some(pair) = items.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let message = format!("{place}: two inputs are named '{}'", pair[0].0);
            return Err(PyValueError::new_err(message));
        }
        let mut values = Vec::with_capacity(items.len());
        for (name, key, value) in items {
            let position = self.column(&name, place)?.map_or(-1, |column| column as i64);
            if let Some(key) = key.filter(is_exact) {
                self.known.bind(row.py()).set_item(key, position)?;
            }
            values.push((position, value));
        }
        Ok(self.in_order(values))
    }

    /// Values in the order of the names of their columns, without those of columns that are left out.
    fn in_order<'py>(
        &mut self,
        values: Vec<(i64, Bound<'py, PyAny>)>,
    ) -> Vec<(usize, Bound<'py, PyAny>)> {
        self.rank();
        let column = |(column, value)| Some((usize::try_from(column).ok()?, value));
        let mut values: Vec<_> = values.into_iter().filter_map(column).collect();
        if !values.is_sorted_by_key(|(column, _)| self.ranks[*column]) {
            values.sort_by_key(|(column, _)| self.ranks[*column]);
        }
        values
    }

    /// Ranks the names of the columns again, if their number has changed.
    fn rank(&mut self) {
        if self.ranks.len() == self.encoder.columns().len() {
            return;
        }
        let names: Vec<&str> = self.encoder.columns().collect();
        let mut ordered: Vec<usize> = (0..names.len()).collect();
        ordered.sort_by_key(|column| order(names[*column]));
        self.ranks.resize(names.len(), 0);
        for (rank, column) in ordered.into_iter().enumerate() {
            self.ranks[column] = rank;
        }
    }

    /// The columns of rows that have these names, or that many columns without names; see
    /// [`of_table`](Self::of_table).
    pub(crate) fn of_row(
        &mut self,
        names: Option<&[String]>,
        width: usize,
    ) -> PyResult<Vec<(usize, usize)>> {
        match names {
            Some(names) => self.of_table(names),
            None => self.of_numbered(width),
        }
    }

    /// For the columns of a table, pairs of the position in the table and the position in the encoder, in
    /// the order in which values are encoded. Columns that are left out are not among them.
    fn of_table(&mut self, names: &[String]) -> PyResult<Vec<(usize, usize)>> {
        let mut ordered: Vec<usize> = (0..names.len()).collect();
        ordered.sort_by_key(|position| &names[*position]);
        if let Some(pair) = ordered.windows(2).find(|pair| names[pair[0]] == names[pair[1]]) {
            let message = format!("two columns are named '{}'", names[pair[0]]);
            return Err(PyValueError::new_err(message));
        }
        self.compare_names(names.iter().map(String::as_str));
        let mut columns = Vec::with_capacity(names.len());
        for position in ordered {
            if let Some(column) = self.column(&names[position], Place::Row(1))? {
                columns.push((position, column));
            }
        }
        self.rank();
        columns.sort_by_key(|(_, column)| self.ranks[*column]);
        Ok(columns)
    }

    /// The same for an array, whose columns are named 0, 1, 2, …; or 1, 2, 3, … for a model that was
    /// trained on a file without a header, where columns have these names.
    fn of_numbered(&mut self, width: usize) -> PyResult<Vec<(usize, usize)>> {
        match &self.numbered {
            Some((known, columns)) if *known == width => return Ok(columns.clone()),
            _ => {}
        }
        let known =
            |name: &str| self.encoder.column(name).is_some() || self.encoder.leaves_out(name);
        let first = usize::from(!known("0") && known("1"));
        let names: Vec<String> = (first..first + width).map(|column| column.to_string()).collect();
        let mut columns = self.encoder.columns();
        if let Some(example) = columns.next()
            && width > 0
            && !names.iter().any(|name| known(name))
        {
            let message = format!(
                "the model knows its inputs by names such as '{example}', which an array or a tuple \
                 does not have: give dictionaries or a table"
            );
            return Err(PyValueError::new_err(message));
        }
        drop(columns);
        let columns = self.of_table(&names)?;
        self.numbered = Some((width, columns.clone()));
        Ok(columns)
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
}

/// The name of a column: a key of a dictionary, usually a text.
fn name(key: &Bound<'_, PyAny>) -> PyResult<String> {
    match key.cast::<PyString>() {
        Ok(text) => Ok(text.to_str()?.to_owned()),
        Err(_) => Ok(key.str()?.to_str()?.to_owned()),
    }
}

/// Whether a key can be looked up without running Python code, and stands for one name only: 1 and `True`
/// are the same key of a dictionary.
fn is_exact(key: &Bound<'_, PyAny>) -> bool {
    key.cast_exact::<PyString>().is_ok() || key.cast_exact::<PyInt>().is_ok()
}

/// The order of names: numbers come before texts, and are compared as numbers.
fn order(name: &str) -> (bool, u64, &str) {
    let number = name.parse::<u64>().ok();
    (number.is_none(), number.unwrap_or(0), name)
}

/// A name that no column has.
fn unused_name(encoding: &RowEncoding) -> String {
    let mut name = "y".to_owned();
    while encoding.columns.iter().any(|column| column.name == name) {
        name.push('_');
    }
    name
}
