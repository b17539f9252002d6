//! Rows encoded as samples, whatever format they come from.
//!
//! A column of numbers is one input. A column of categories is, by choice, one input per category
//! or one input that numbers them; if it has too many, rare ones share inputs or numbers. A column of texts is
//! many inputs, of which a cell has several. A column of dates becomes up to three columns. A column without any cell so far is undecided: its first cell
//! decides which of these it becomes.
//!
//! This file has the columns of a [`RowEncoder`] and the steps of a row: begin, push, finish. `cells`
//! encodes one cell, `new_categories` finds an input for a category, `texts` the inputs of a text, `moments` those of a date, `raw` a whole row of raw texts at once, `undo_log` withdraws what rows brought, and
//! `resume` continues from a [`RowEncoding`](super::RowEncoding).

mod cells;
mod moments;
mod new_categories;
mod raw;
mod resume;
mod texts;
mod undo_log;

use std::collections::{HashMap, HashSet};

use self::{
    cells::{check_length, utf8},
    undo_log::Change,
};
use super::{
    Categories, Cell, ColumnKind, Place, RareCategories, StreamError, TableOptions,
    cell::{read_flag, read_text, spellings},
    decimal::Decimal,
    rare_categories::CategoryLimits,
    text_features::{TEXT_INPUTS, TextFeatures},
};
use crate::{
    data::{Sample, Schema},
    error::Error,
};

/// Encodes rows of named columns as labelled samples and keeps the schema that they need.
///
/// A format passes a row cell by cell: [`begin`](Self::begin), then [`push`](Self::push) for each
/// cell in any order, then [`finish`](Self::finish) with the label. A column that is not pushed is
/// missing in that row. Columns may be added between rows and within one.
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
    schema: Schema,
    categories: Categories,
    /// How many inputs a column of categories may have.
    limits: CategoryLimits,
    purpose: RowPurpose,
    /// The decimal sign of raw texts.
    decimal: Decimal,
    /// Whether a text that spells a truth value is a number in a numeric column.
    reads_flags: bool,
    columns: Vec<ColumnState>,
    /// One per column. They are kept apart from the columns because the loop over a row of numbers
    /// needs nothing else of a column, and this way it reads consecutive memory.
    codings: Vec<Coding>,
    /// The position of each column by its name.
    positions: HashMap<String, usize>,
    /// The names of all inputs. A column `a=b` and category `b` of column `a` would share a name,
    /// so every new name is checked against this set.
    input_names: HashSet<String>,
    /// Columns of the source that are left out: how many columns precede each, and its name.
    left_out: Vec<(usize, String)>,
    /// How many columns, including those left out, precede the target.
    target: Option<usize>,
    /// What rows have added since the encoder was last settled, in order.
    undo_log: Vec<Change>,
    /// Columns to read as texts once they appear.
    texts: Vec<String>,
    /// Columns of moments, whose numbers are seconds since 1970.
    dates: Vec<String>,
    /// Whether the numbers of all columns of moments are days since 1970.
    reads_days: bool,
    /// Memory for reading them.
    text_features: TextFeatures,
    /// The place of the current row.
    place: Place,
    /// The number of the current row. Columns remember the last number that they saw, so a second cell
    /// for one column is noticed without clearing anything between rows.
    row: u64,
    /// The inputs of the current row and their values, in the order in which cells were pushed.
    inputs: Vec<u32>,
    values: Vec<f64>,
    /// Memory for sorting them, kept between rows.
    unsorted: Vec<(u32, f64)>,
    /// The inputs of cells that are several.
    several: Vec<(u32, f64)>,
}

/// A column that is learned from, and what its cells have shown so far.
#[derive(Clone, Debug)]
struct ColumnState {
    name: String,
    /// The input or the code of each category seen. The key is the bytes of the cell, so only a new
    /// category has to be decoded as text. Inputs that rare categories share are among them.
    categories: HashMap<Box<[u8]>, u32>,
    /// How many of them are not shared.
    own: usize,
    /// The categories that came when there was no input left for them.
    rare: Option<Box<RareCategories>>,
    /// The inputs of a column of texts, by the number that a hash gives them; [`NO_INPUT`] until there is a text
    /// that has it.
    words: Vec<u32>,
    /// Whether it is a part of a column of dates.
    part: bool,
    /// The number of the last row that had a cell for the column.
    row: u64,
}

/// What becomes of the samples that rows are encoded as.
///
/// A column with many categories counts the rare ones, to find those that are frequent. Rows that are not
/// learned must not count.
///
/// ```
/// use broadstream::stream::{Categories, Cell, ColumnKind, Place, RowEncoder, RowPurpose};
///
/// let mut encoder = RowEncoder::new("y", Categories::OneHot).with_max_categories(4);
/// let user = encoder.add_column("user", Some(ColumnKind::Categorical), Place::Row(1))?;
/// for name in ["ann", "bob", "cid", "dan"] {
///     encoder.begin(Place::Row(1));
///     encoder.push(user, Cell::Text(name.as_bytes()))?;
/// }
/// let names: Vec<_> = encoder.schema().inputs().iter().map(|input| &input.name).collect();
/// assert_eq!(names, ["user=ann", "user=bob", "user=other#0"]);
///
/// let before = encoder.encoding();
/// encoder.set_purpose(RowPurpose::Predict);
/// encoder.begin(Place::Row(5));
/// encoder.push(user, Cell::Text(b"dan"))?;
/// assert_eq!(encoder.encoding(), before);
/// # Ok::<(), broadstream::stream::StreamError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowPurpose {
    /// They are learned, possibly after they were predicted.
    #[default]
    Learn,
    /// They are only predicted.
    Predict,
    /// They were learned before, and are unlearned or corrected. A category that has shared an input until it
    /// got one of its own is refused, since nobody knows with which of them its rows were learned.
    Unlearn,
}

/// How the cells of a column are encoded.
#[derive(Clone, Copy, Debug)]
enum Coding {
    Undecided,
    Numeric {
        input: u32,
    },
    OneHot,
    Codes {
        input: u32,
    },
    Text,
    /// The input is the days since 1970. Other columns have the hour and the weekday.
    Moment {
        input: u32,
        epoch: bool,
    },
}

const NO_INPUT: u32 = u32::MAX;

/// The longest text that is kept for good: a category, a label or the name of a column that a row
/// may bring.
pub(super) const LONGEST_TEXT: usize = 4096;

impl RowEncoder {
    /// An encoder without columns, for labels under the name `target`.
    pub fn new(target: impl Into<String>, categories: Categories) -> Self {
        RowEncoder {
            schema: Schema::new(target),
            categories,
            limits: CategoryLimits::of(TableOptions::MAX_CATEGORIES),
            purpose: RowPurpose::Learn,
            decimal: Decimal::Point,
            reads_flags: false,
            columns: Vec::new(),
            codings: Vec::new(),
            positions: HashMap::new(),
            input_names: HashSet::new(),
            left_out: Vec::new(),
            target: None,
            undo_log: Vec::new(),
            texts: Vec::new(),
            dates: Vec::new(),
            reads_days: false,
            text_features: TextFeatures::default(),
            place: Place::Row(0),
            row: 0,
            inputs: Vec::new(),
            values: Vec::new(),
            unsorted: Vec::new(),
            several: Vec::new(),
        }
    }

    /// The same encoder with another limit than [`TableOptions::MAX_CATEGORIES`]: see
    /// [`TableOptions::max_categories`].
    pub fn with_max_categories(self, max_categories: usize) -> Self {
        RowEncoder { limits: CategoryLimits::of(max_categories), ..self }
    }

    /// The same encoder, which reads columns of these names as texts. A model may be told so before they appear.
    pub fn with_texts(self, names: &[String]) -> Self {
        RowEncoder { texts: names.to_vec(), ..self }
    }

    /// The same encoder, which reads columns of these names as dates and times.
    pub fn with_dates(self, names: &[String]) -> Self {
        RowEncoder { dates: names.to_vec(), ..self }
    }

    /// Reads the numbers of all columns of dates as days since 1970, as a caller gives them who takes dates apart
    /// before.
    pub fn read_days(&mut self) {
        self.reads_days = true;
        for coding in &mut self.codings {
            if let Coding::Moment { epoch, .. } = coding {
                *epoch = false;
            }
        }
    }

    /// The same encoder with the options that say how columns are encoded, where they are about columns that
    /// appear later: [`max_categories`](TableOptions::max_categories) and [`text`](TableOptions::text).
    pub fn with_options(self, options: &TableOptions) -> Result<Self, Error> {
        options.check_values()?;
        let most = options.max_categories.unwrap_or(TableOptions::MAX_CATEGORIES);
        Ok(self.with_max_categories(most).with_texts(&options.text))
    }

    /// Says what the rows to come are for.
    pub fn set_purpose(&mut self, purpose: RowPurpose) {
        self.purpose = purpose;
    }

    /// Reads raw texts with that decimal sign.
    pub(super) fn set_decimal(&mut self, decimal: Decimal) {
        self.decimal = decimal;
    }

    /// Reads texts such as `true` as 1 and 0 in numeric columns. Those of a saved model may have been learned
    /// from the truth values of another format, and refuse them otherwise.
    pub fn read_flags(&mut self) {
        self.reads_flags = true;
    }

    /// Adds a column after the existing ones and returns its position among them. `None` leaves the kind
    /// to the column's first cell. `place` is where the column was found.
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
        let is_text = || self.texts.contains(&name).then_some(ColumnKind::Text);
        let is_date = || self.dates.contains(&name).then_some(ColumnKind::Moment);
        let coding = match kind.or_else(is_text).or_else(is_date) {
            Some(kind) => self.coding(&name, kind, place)?,
            None => Coding::Undecided,
        };
        self.insert_column(name, coding);
        Ok(k)
    }

    /// Records that the next column of the source is left out. It gets no position, but the
    /// [encoding](Self::encoding) keeps its name and place, so that later rows may have it too.
    pub fn leave_out(&mut self, name: impl Into<String>) {
        self.left_out.push((self.columns.len(), name.into()));
    }

    /// Records that the next column of the source is the target, which otherwise follows all others.
    pub fn target_here(&mut self) {
        self.target = Some(self.columns.len() + self.left_out.len());
    }

    /// The position of the column of that name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }

    /// Whether a column of that name is left out.
    pub fn leaves_out(&self, name: &str) -> bool {
        self.left_out.iter().any(|(_, left_out)| left_out == name)
    }

    /// Same as [`column`](Self::column), but faster if the column is at the position expected.
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

    /// The place of the row that was begun last; row 0 before the first.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Begins a row.
    pub fn begin(&mut self, place: Place) {
        self.place = place;
        self.row += 1;
        self.inputs.clear();
        self.values.clear();
        self.several.clear();
    }

    /// Adds a cell to the current row. Panics if there is no such column, as indexing a slice does.
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
        self.push_several();
        Ok(())
    }

    /// Adds the inputs of cells that are several to the current row.
    fn push_several(&mut self) {
        for (input, value) in self.several.drain(..) {
            self.inputs.push(input);
            self.values.push(value);
        }
    }

    /// The sample and the class of the current row.
    pub fn finish(&mut self, label: Cell<'_>) -> Result<(Sample<'_>, usize), StreamError> {
        match self.class(label)? {
            Some(class) => Ok((self.sample(), class)),
            None => Err(self.missing_label(self.place)),
        }
    }

    /// The sample of the current row, whose label may come later or never.
    pub fn sample(&mut self) -> Sample<'_> {
        // Cells come in the order of columns, inputs were numbered in the order of appearance. Only a
        // category that appeared after a later column's input puts the two out of step.
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

    /// The class of a label; `None` if the label is missing.
    pub(super) fn class(&mut self, label: Cell<'_>) -> Result<Option<usize>, StreamError> {
        let place = self.place;
        let text: &[u8] = match label {
            Cell::Missing => return Ok(None),
            Cell::Number(value) if value.is_nan() => return Ok(None),
            Cell::Number(value) if value.is_infinite() => {
                let (column, cell) = (self.schema.target().to_owned(), value.to_string());
                return Err(StreamError::NotFinite { place, column, cell });
            }
            Cell::Number(value) => return Ok(Some(self.class_of(&value.to_string()))),
            Cell::Integer(value) => return Ok(Some(self.class_of(&value.to_string()))),
            Cell::Flag(value) => return Ok(Some(self.class_of(spellings(value)[0]))),
            // A typed text may be the label "NA"; in a raw text that spelling means a missing label.
            Cell::Text(text) => text.trim_ascii(),
            Cell::Raw(text) => read_text(text).unwrap_or_default(),
        };
        if text.is_empty() {
            return Ok(None);
        }
        check_length(text, place, self.schema.target())?;
        Ok(Some(self.class_of(utf8(text, place)?)))
    }

    /// The class of a label, a new one if the label is new. The spellings of a truth value are one label, as
    /// they are one category.
    fn class_of(&mut self, label: &str) -> usize {
        let spelt = || {
            let spellings = spellings(read_flag(label.as_bytes())?);
            spellings.iter().find_map(|spelling| self.schema.find_class(spelling))
        };
        match self.schema.find_class(label).or_else(spelt) {
            Some(class) => class,
            None => {
                self.undo_log.push(Change::Label);
                self.schema.class_of(label)
            }
        }
    }

    fn insert_column(&mut self, name: String, coding: Coding) {
        self.positions.insert(name.clone(), self.columns.len());
        let categories = HashMap::new();
        let words = match coding {
            Coding::Text => vec![NO_INPUT; TEXT_INPUTS],
            _ => Vec::new(),
        };
        let (own, rare, part, row) = (0, None, false, 0);
        self.columns.push(ColumnState { name, categories, own, rare, words, part, row });
        self.codings.push(coding);
        self.undo_log.push(Change::Column);
    }

    fn missing_label(&self, place: Place) -> StreamError {
        StreamError::MissingLabel { place, column: self.schema.target().to_owned() }
    }

    /// Sorts the current row by input.
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
