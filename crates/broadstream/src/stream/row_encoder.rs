//! Rows turned into samples, whatever format they come from.
//!
//! A column of numbers is one input. A column of categories is, by choice, one input per category
//! or one input that numbers them. A column of which no cell was seen yet is undecided and becomes
//! one or the other by its first cell.

use std::collections::{HashMap, HashSet};

use super::{
    Categories, Cell, ColumnKind, InputColumn, Place, StreamError,
    additions::Addition,
    cell::{Reading, excerpt, kind_of, read_number, read_text},
};
use crate::data::{InputKind, Sample, Schema};

/// Turns rows of named columns into labelled samples and keeps the schema that they need.
///
/// A format gives a row cell by cell: [`begin`](Self::begin), then [`push`](Self::push) for each
/// cell in any order, then [`finish`](Self::finish) with the label. A column that is not given is
/// missing in that row. Columns may be added while rows come.
///
/// After an error the row is lost, and the next one may begin. Categories that were new in it stay
/// known; its label does not.
///
/// ```
/// use broadstream::stream::{Categories, Cell, ColumnKind, Place, RowEncoder};
///
/// let mut encoder = RowEncoder::new("buys", Categories::OneHot);
/// let age = encoder.add_column("age", Some(ColumnKind::Numeric), Place::Row(1))?;
/// let job = encoder.add_column("job", None, Place::Row(1))?;
///
/// encoder.begin(Place::Row(1));
/// encoder.push(age, Cell::Number(31.0))?;
/// encoder.push(job, Cell::Text(b"clerk"))?;
/// let (sample, class) = encoder.finish(Cell::Flag(true))?;
/// assert_eq!(sample.iter().collect::<Vec<_>>(), [(0, 31.0), (1, 1.0)]);
/// assert_eq!(class, 0);
///
/// let names: Vec<_> = encoder.schema().inputs().iter().map(|input| &input.name).collect();
/// assert_eq!(names, ["age", "job=clerk"]);
/// assert_eq!(encoder.schema().labels(), ["true"]);
/// # Ok::<(), broadstream::stream::StreamError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RowEncoder {
    pub(super) schema: Schema,
    pub(super) categories: Categories,
    pub(super) columns: Vec<Column>,
    /// One per column, and apart from them: the loop over a row of numbers needs nothing else.
    pub(super) codings: Vec<Coding>,
    /// The columns by their names.
    pub(super) positions: HashMap<String, usize>,
    /// The names of all inputs, each of which is given once.
    pub(super) names: HashSet<String>,
    /// What else stands among the columns: how many columns stand before it, and the name of a
    /// column that is left out.
    pub(super) left_out: Vec<(usize, String)>,
    /// How many columns, those left out among them, stand before the target.
    pub(super) target: Option<usize>,
    /// What came since the encoder was settled, in its order.
    pub(super) additions: Vec<Addition>,
    /// The row in the making: where it stands, and a number that no row before had.
    place: Place,
    row: u64,
    inputs: Vec<u32>,
    values: Vec<f64>,
    unsorted: Vec<(u32, f64)>,
}

/// A column that is learned from.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    /// The categories seen, with their input or code: found by the bytes of a cell, so that only a
    /// new category needs its text.
    pub(super) known: HashMap<Box<[u8]>, u32>,
    /// The last row that had a cell for the column.
    row: u64,
}

/// How the cells of a column are encoded.
#[derive(Clone, Copy, Debug)]
pub(super) enum Coding {
    Undecided,
    Numeric { input: u32 },
    OneHot,
    Codes { input: u32 },
}

/// The longest text that is kept for good: a category, a label or the name of a column that a row
/// may bring.
pub(super) const LONGEST_TEXT: usize = 4096;

impl RowEncoder {
    /// An encoder without columns, for labels under the name `target`.
    pub fn new(target: impl Into<String>, categories: Categories) -> Self {
        RowEncoder {
            schema: Schema::new(target),
            categories,
            columns: Vec::new(),
            codings: Vec::new(),
            positions: HashMap::new(),
            names: HashSet::new(),
            left_out: Vec::new(),
            target: None,
            additions: Vec::new(),
            place: Place::Row(0),
            row: 0,
            inputs: Vec::new(),
            values: Vec::new(),
            unsorted: Vec::new(),
        }
    }

    /// Adds a column behind those that there are and returns its position among them. `None` leaves
    /// the kind to the column's first cell. `place` is where the column was found.
    pub fn add_column(
        &mut self,
        name: impl Into<String>,
        kind: Option<ColumnKind>,
        place: Place,
    ) -> Result<usize, StreamError> {
        let name = name.into();
        if self.positions.contains_key(&name) {
            return Err(StreamError::DuplicateColumn { place, column: name });
        }
        let k = self.columns.len();
        let coding = match kind {
            Some(kind) => self.coding(&name, kind, place)?,
            None => Coding::Undecided,
        };
        self.insert_column(name, coding);
        Ok(k)
    }

    /// Says that the next column of the source is left out: it gets no position, but rows like these
    /// have it.
    pub fn leave_out(&mut self, name: impl Into<String>) {
        self.left_out.push((self.columns.len(), name.into()));
    }

    /// Says that the next column of the source is the target, which otherwise follows all others.
    pub fn target_here(&mut self) {
        self.target = Some(self.columns.len() + self.left_out.len());
    }

    /// The position of the column of that name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }

    /// Whether rows have a column of that name which is left out.
    pub fn leaves_out(&self, name: &str) -> bool {
        self.left_out.iter().any(|(_, left_out)| left_out == name)
    }

    /// As [`column`](Self::column), faster if the column is at the position expected.
    pub(super) fn find_column(&self, name: &str, expected: usize) -> Option<usize> {
        match self.columns.get(expected) {
            Some(column) if column.name == name => Some(expected),
            _ => self.column(name),
        }
    }

    /// The names of the columns in the order of their positions.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// The inputs and labels of all rows so far.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Begins a row.
    pub fn begin(&mut self, place: Place) {
        self.place = place;
        self.row += 1;
        self.inputs.clear();
        self.values.clear();
    }

    /// Adds a cell to the row that was begun. Panics when there is no such column, as a slice would.
    pub fn push(&mut self, column: usize, cell: Cell<'_>) -> Result<(), StreamError> {
        let seen = std::mem::replace(&mut self.columns[column].row, self.row);
        if seen == self.row {
            let column = self.columns[column].name.clone();
            return Err(StreamError::DuplicateCell { place: self.place, column });
        }
        if let Some((input, value)) = self.encode_cell(column, cell)? {
            self.inputs.push(input);
            self.values.push(value);
        }
        Ok(())
    }

    /// The sample and the class of the row that was begun.
    pub fn finish(&mut self, label: Cell<'_>) -> Result<(Sample<'_>, usize), StreamError> {
        match self.class(label)? {
            Some(class) => Ok((self.sample(), class)),
            None => Err(self.missing_label(self.place)),
        }
    }

    /// The class of a label, which may be missing.
    pub(super) fn class(&mut self, label: Cell<'_>) -> Result<Option<usize>, StreamError> {
        let place = self.place;
        let text: &[u8] = match label {
            Cell::Missing => return Ok(None),
            Cell::Number(value) if value.is_nan() => return Ok(None),
            Cell::Number(value) if value.is_infinite() => {
                let (column, cell) = (self.schema.target().to_owned(), value.to_string());
                return Err(StreamError::NotFinite { place, column, cell });
            }
            Cell::Number(value) => return Ok(Some(self.schema.class_of(&value.to_string()))),
            Cell::Integer(value) => return Ok(Some(self.schema.class_of(&value.to_string()))),
            Cell::Flag(value) => return Ok(Some(self.schema.class_of(flag(value)))),
            Cell::Text(text) => text.trim_ascii(),
            Cell::Raw(text) => read_text(text).unwrap_or_default(),
        };
        if text.is_empty() {
            return Ok(None);
        }
        check_length(text, place, self.schema.target())?;
        Ok(Some(self.schema.class_of(utf8(text, place)?)))
    }

    /// The sample of the row that was begun, whose label may come later or never.
    pub fn sample(&mut self) -> Sample<'_> {
        if !self.inputs.is_sorted() {
            self.sort();
        }
        // As many increasing inputs as there are in all can only be all of them.
        if self.inputs.len() == self.schema.inputs().len() {
            Sample::dense(&self.values)
        } else {
            Sample::sparse_unchecked(&self.inputs, &self.values)
        }
    }

    /// The sample and the class of a row of raw texts, of which `cell` gives the one at a position of
    /// `columns`; these are all the columns of the encoder.
    pub(super) fn encode_raw<'c>(
        &mut self,
        place: Place,
        label: &'c [u8],
        columns: &[InputColumn],
        cell: impl Fn(usize) -> &'c [u8] + Copy,
    ) -> Result<(Sample<'_>, usize), StreamError> {
        let label = read_text(label).ok_or_else(|| self.missing_label(place))?;
        check_length(label, place, self.schema.target())?;
        let label = utf8(label, place)?;
        self.push_raw(place, columns, cell)?;
        let class = self.schema.class_of(label);
        Ok((self.sample(), class))
    }

    /// Fills `inputs` and `values` in the order of the columns.
    fn push_raw<'c>(
        &mut self,
        place: Place,
        columns: &[InputColumn],
        cell: impl Fn(usize) -> &'c [u8] + Copy,
    ) -> Result<(), StreamError> {
        self.place = place;
        self.inputs.resize(columns.len(), 0);
        self.values.resize(columns.len(), 0.0);
        let (mut k, mut present) = (0, 0);
        loop {
            let read = read_numbers(
                cell,
                &columns[k..],
                &self.codings[k..],
                &mut self.inputs[present..],
                &mut self.values[present..],
            );
            k += read;
            present += read;
            if k == columns.len() {
                break;
            }
            if let Some(text) = read_text(cell(columns[k].position)) {
                let (input, value) = self.encode_text(k, text, kind_of)?;
                self.inputs[present] = input;
                self.values[present] = value;
                present += 1;
            }
            k += 1;
        }
        self.inputs.truncate(present);
        self.values.truncate(present);
        Ok(())
    }

    /// The input and the value that a cell of column `k` stands for.
    fn encode_cell(&mut self, k: usize, cell: Cell<'_>) -> Result<Option<(u32, f64)>, StreamError> {
        let (number, text) = match cell {
            Cell::Missing => return Ok(None),
            Cell::Number(value) if value.is_nan() => return Ok(None),
            Cell::Number(value) if value.is_infinite() => {
                let (column, cell) = (self.columns[k].name.clone(), value.to_string());
                return Err(StreamError::NotFinite { place: self.place, column, cell });
            }
            Cell::Number(value) => (value, None),
            Cell::Integer(value) => (value as f64, None),
            Cell::Flag(value) => (f64::from(u8::from(value)), None),
            Cell::Text(text) if !matches!(self.codings[k], Coding::Numeric { .. }) => {
                let text = text.trim_ascii();
                (0.0, Some((!text.is_empty()).then_some((text, ColumnKind::Categorical))))
            }
            Cell::Text(text) | Cell::Raw(text) => {
                (0.0, Some(read_text(text).map(|text| (text, kind_of(text)))))
            }
        };
        match text {
            Some(None) => Ok(None),
            Some(Some((text, kind))) => self.encode_text(k, text, |_| kind).map(Some),
            None => self.encode_number(k, number, cell).map(Some),
        }
    }

    /// As [`encode_text`](Self::encode_text), of a cell that is a number and no text.
    fn encode_number(
        &mut self,
        k: usize,
        number: f64,
        cell: Cell<'_>,
    ) -> Result<(u32, f64), StreamError> {
        if let Coding::Undecided = self.codings[k] {
            self.decide(k, ColumnKind::Numeric)?;
        }
        if let Coding::Numeric { input } = self.codings[k] {
            return Ok((input, number));
        }
        let text = match cell {
            Cell::Flag(value) => flag(value).to_owned(),
            Cell::Integer(value) => value.to_string(),
            _ => number.to_string(),
        };
        self.encode_text(k, text.as_bytes(), |_| ColumnKind::Categorical)
    }

    /// The input and the value that the text of a cell of column `k` stands for. `kind` is asked if
    /// the column is undecided.
    fn encode_text(
        &mut self,
        k: usize,
        text: &[u8],
        kind: impl Fn(&[u8]) -> ColumnKind,
    ) -> Result<(u32, f64), StreamError> {
        if let Coding::Undecided = self.codings[k] {
            self.decide(k, kind(text))?;
        }
        match self.codings[k] {
            Coding::Numeric { input } => Ok((input, self.number(k, text)?)),
            Coding::Codes { input } => {
                let code = match self.columns[k].known.get(text) {
                    Some(&code) => code,
                    None => self.new_code(k, text)?,
                };
                Ok((input, f64::from(code)))
            }
            Coding::OneHot | Coding::Undecided => {
                let input = match self.columns[k].known.get(text) {
                    Some(&input) => input,
                    None => self.new_indicator(k, text)?,
                };
                Ok((input, 1.0))
            }
        }
    }

    fn number(&self, k: usize, text: &[u8]) -> Result<f64, StreamError> {
        let (place, column) = (self.place, || self.columns[k].name.clone());
        match read_number(text) {
            Reading::Number(value) => Ok(value),
            Reading::NotFinite => {
                Err(StreamError::NotFinite { place, column: column(), cell: excerpt(text) })
            }
            Reading::Missing | Reading::Text => {
                Err(StreamError::NotANumber { place, column: column(), cell: excerpt(text) })
            }
        }
    }

    fn new_indicator(&mut self, k: usize, text: &[u8]) -> Result<u32, StreamError> {
        let column = &self.columns[k].name;
        let name = format!("{column}={}", category(text, self.place, column)?);
        let column = column.clone();
        let input = self.declare(&column, name, InputKind::Indicator, self.place)?;
        self.columns[k].known.insert(text.into(), input);
        self.additions.push(Addition::Category { column: k, number: input });
        Ok(input)
    }

    fn new_code(&mut self, k: usize, text: &[u8]) -> Result<u32, StreamError> {
        let Column { name, known, .. } = &mut self.columns[k];
        category(text, self.place, name)?;
        let code = known.len() as u32;
        known.insert(text.into(), code);
        self.additions.push(Addition::Category { column: k, number: code });
        Ok(code)
    }

    /// Settles how column `k` is encoded.
    fn decide(&mut self, k: usize, kind: ColumnKind) -> Result<(), StreamError> {
        let name = self.columns[k].name.clone();
        self.codings[k] = self.coding(&name, kind, self.place)?;
        self.additions.push(Addition::Decision { column: k });
        Ok(())
    }

    /// How a column of that name and kind is encoded.
    fn coding(
        &mut self,
        column: &str,
        kind: ColumnKind,
        place: Place,
    ) -> Result<Coding, StreamError> {
        if (kind, self.categories) == (ColumnKind::Categorical, Categories::OneHot) {
            return Ok(Coding::OneHot);
        }
        let input = self.declare(column, column.to_owned(), InputKind::Numeric, place)?;
        Ok(match kind {
            ColumnKind::Numeric => Coding::Numeric { input },
            ColumnKind::Categorical => Coding::Codes { input },
        })
    }

    /// Declares an input that a column needs.
    fn declare(
        &mut self,
        column: &str,
        name: String,
        kind: InputKind,
        place: Place,
    ) -> Result<u32, StreamError> {
        if !self.names.insert(name.clone()) {
            let column = column.to_owned();
            return Err(StreamError::InputNameTaken { place, column, name });
        }
        self.additions.push(Addition::Input);
        Ok(self.schema.push_input(name, kind) as u32)
    }

    pub(super) fn insert_column(&mut self, name: String, coding: Coding) {
        self.positions.insert(name.clone(), self.columns.len());
        self.columns.push(Column { name, known: HashMap::new(), row: 0 });
        self.codings.push(coding);
        self.additions.push(Addition::Column);
    }

    fn missing_label(&self, place: Place) -> StreamError {
        StreamError::MissingLabel { place, column: self.schema.target().to_owned() }
    }

    /// Puts the sample into the order of its inputs: categories were discovered in another order
    /// than that of their columns.
    fn sort(&mut self) {
        self.unsorted.clear();
        self.unsorted.extend(self.inputs.iter().copied().zip(self.values.iter().copied()));
        self.unsorted.sort_unstable_by_key(|&(input, _)| input);
        for (k, &(input, value)) in self.unsorted.iter().enumerate() {
            self.inputs[k] = input;
            self.values[k] = value;
        }
    }
}

fn flag(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

/// The text of a new category.
fn category<'t>(text: &'t [u8], place: Place, column: &str) -> Result<&'t str, StreamError> {
    check_length(text, place, column)?;
    utf8(text, place)
}

/// Categories and labels are kept for good, so their length is bounded.
fn check_length(text: &[u8], place: Place, column: &str) -> Result<(), StreamError> {
    if text.len() <= LONGEST_TEXT {
        return Ok(());
    }
    let (column, limit) = (column.to_owned(), LONGEST_TEXT);
    Err(StreamError::CellTooLong { place, column, limit })
}

fn utf8(text: &[u8], place: Place) -> Result<&str, StreamError> {
    std::str::from_utf8(text).map_err(|_| StreamError::NotText { place, reason: "invalid UTF-8" })
}

/// Writes the inputs and values of the first columns, up to one that is not numeric or whose cell
/// is not a number, and returns how many these are.
///
/// Whole rows of most files go through this loop, so it stands alone and holds nothing else.
#[inline(never)] // within its caller it is slower
fn read_numbers<'c>(
    cell: impl Fn(usize) -> &'c [u8],
    columns: &[InputColumn],
    codings: &[Coding],
    inputs: &mut [u32],
    values: &mut [f64],
) -> usize {
    let slots = inputs.iter_mut().zip(values);
    let mut read = 0;
    for ((column, coding), (input_slot, value_slot)) in columns.iter().zip(codings).zip(slots) {
        let Coding::Numeric { input } = *coding else { break };
        let Reading::Number(value) = read_number(cell(column.position)) else { break };
        *input_slot = input;
        *value_slot = value;
        read += 1;
    }
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = Place::Row(7);

    /// What a fresh column of that kind makes of cells that follow each other: names and values.
    fn encode(
        kind: Option<ColumnKind>,
        categories: Categories,
        cells: &[Cell<'_>],
    ) -> Result<Vec<(String, f64)>, String> {
        let mut encoder = RowEncoder::new("y", categories);
        let k = encoder.add_column("a", kind, PLACE).unwrap();
        let mut encoded = Vec::new();
        for &cell in cells {
            encoder.begin(PLACE);
            encoder.push(k, cell).map_err(|error| error.to_string())?;
            let (sample, _) = encoder.finish(Cell::Text(b"x")).unwrap();
            let pairs: Vec<_> = sample.iter().collect();
            let inputs = encoder.schema().inputs();
            let named = |(input, value): (usize, f64)| (inputs[input].name.clone(), value);
            encoded.extend(pairs.into_iter().map(named));
        }
        Ok(encoded)
    }

    #[test]
    fn a_column_is_what_its_first_cell_is() {
        use Cell::*;
        let one_hot = Categories::OneHot;
        let numbers = [Missing, Number(f64::NAN), Text(b" "), Flag(true), Number(2.5), Integer(-3)];
        let encoded = encode(None, one_hot, &numbers).unwrap();
        assert_eq!(encoded, [1.0, 2.5, -3.0].map(|value| ("a".to_owned(), value)));
        let texts = [Text(b" 7 "), Integer(i64::MAX), Flag(false), Number(0.5), Raw(b"NA")];
        let encoded = encode(None, one_hot, &texts).unwrap();
        let names = ["a=7", "a=9223372036854775807", "a=false", "a=0.5"];
        assert_eq!(encoded, names.map(|name| (name.to_owned(), 1.0)));
        assert_eq!(encode(None, one_hot, &[Raw(b"7")]).unwrap(), [("a".to_owned(), 7.0)]);
        let codes = encode(None, Categories::IntegerCodes, &[Text(b"u"), Text(b"v"), Text(b"u")]);
        assert_eq!(codes.unwrap(), [0.0, 1.0, 0.0].map(|code| ("a".to_owned(), code)));
    }

    #[test]
    fn a_numeric_column_reads_texts_as_numbers_or_refuses_them() {
        let encode = |cell| encode(Some(ColumnKind::Numeric), Categories::OneHot, &[cell]);
        assert_eq!(encode(Cell::Text(b"1e3")).unwrap(), [("a".to_owned(), 1000.0)]);
        assert_eq!(encode(Cell::Text(b"NA")).unwrap(), []);
        let expected = "row 7, column 'a': expected a number, found 'u' \
                        (declare the column categorical if it holds categories)";
        assert_eq!(encode(Cell::Text(b"u")).unwrap_err(), expected);
        let expected = "row 7, column 'a': expected a finite number, found 'inf'";
        assert_eq!(encode(Cell::Number(f64::INFINITY)).unwrap_err(), expected);
    }

    #[test]
    fn a_row_that_fails_leaves_the_next_one_alone() {
        let mut encoder = RowEncoder::new("y", Categories::OneHot);
        let a = encoder.add_column("a", None, PLACE).unwrap();
        let b = encoder.add_column("b", Some(ColumnKind::Numeric), PLACE).unwrap();
        assert!(matches!(
            encoder.add_column("a", None, PLACE),
            Err(StreamError::DuplicateColumn { .. })
        ));
        encoder.begin(PLACE);
        encoder.push(b, Cell::Number(1.0)).unwrap();
        let twice = encoder.push(b, Cell::Missing).unwrap_err().to_string();
        assert_eq!(twice, "row 7, column 'b': expected one value per row, found two");
        encoder.begin(PLACE);
        encoder.push(a, Cell::Number(2.0)).unwrap();
        let missing = encoder.finish(Cell::Missing).unwrap_err().to_string();
        assert_eq!(missing, "row 7, column 'y': the label is missing");

        encoder.begin(PLACE);
        let c = encoder.add_column("c", None, PLACE).unwrap();
        encoder.push(c, Cell::Text(b"u")).unwrap();
        encoder.push(a, Cell::Number(3.0)).unwrap();
        let (sample, class) = encoder.finish(Cell::Integer(5)).unwrap();
        assert_eq!(sample.iter().collect::<Vec<_>>(), [(1, 3.0), (2, 1.0)]);
        assert_eq!(encoder.schema().labels()[class], "5");
    }
}
