//! Rows turned into samples.
//!
//! A column of numbers is one input. A column of categories is, by choice, one input per category
//! or one input that numbers them. A column of which no cell was seen yet is undecided and becomes
//! one or the other by its first cell.

use std::collections::{HashMap, HashSet};

use super::{
    cell::{Reading, excerpt, read_number, read_text},
    columns::{Columns, InputColumn},
    kinds::Kind,
    options::Categories,
    rows::Row,
};
use crate::{
    sample::Sample,
    schema::{InputKind, Schema},
    stream::StreamError,
};

/// Turns the rows of a file into labelled samples and keeps the schema that they need.
pub(super) struct Encoder {
    columns: Columns,
    categories: Categories,
    schema: Schema,
    /// The names of all inputs, each of which is given once.
    names: HashSet<String>,
    /// One per input column.
    codings: Vec<Coding>,
    /// Per input column the categories seen, with their input or code: found by the bytes of a
    /// cell, so that only a new category needs its text.
    known: Vec<HashMap<Box<[u8]>, u32>>,
    /// The sample in the making.
    inputs: Vec<u32>,
    values: Vec<f64>,
    unsorted: Vec<(u32, f64)>,
}

/// How the cells of a column are encoded.
#[derive(Clone, Copy)]
enum Coding {
    Undecided,
    Numeric { input: u32 },
    OneHot,
    Codes { input: u32 },
}

impl Encoder {
    /// An encoder for input columns of those kinds, where `None` is undecided. `line` is where the
    /// kinds were found.
    pub(super) fn new(
        columns: Columns,
        kinds: &[Option<Kind>],
        categories: Categories,
        line: u64,
    ) -> Result<Self, StreamError> {
        let mut encoder = Encoder {
            schema: Schema::new(columns.name(columns.target())),
            columns,
            categories,
            names: HashSet::new(),
            codings: vec![Coding::Undecided; kinds.len()],
            known: vec![HashMap::new(); kinds.len()],
            inputs: Vec::new(),
            values: Vec::new(),
            unsorted: Vec::new(),
        };
        for (k, kind) in kinds.iter().enumerate() {
            if let Some(kind) = kind {
                encoder.decide(k, *kind, line)?;
            }
        }
        Ok(encoder)
    }

    /// The inputs and labels of all rows so far.
    pub(super) fn schema(&self) -> &Schema {
        &self.schema
    }

    pub(super) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The sample and the class that a row holds.
    pub(super) fn encode(&mut self, row: Row<'_>) -> Result<(Sample<'_>, usize), StreamError> {
        let line = row.line();
        if row.len() != self.columns.len() {
            let (expected, found) = (self.columns.len(), row.len());
            return Err(StreamError::Ragged { line, expected, found });
        }
        let target = self.columns.target();
        let label = read_text(row.cell(target)).ok_or_else(|| StreamError::MissingLabel {
            line,
            column: self.columns.name(target).to_owned(),
        })?;
        check_length(label, line, self.columns.name(target))?;
        let label = utf8(label, line)?;
        self.encode_inputs(row)?;
        if !self.inputs.is_sorted() {
            self.sort();
        }
        // As many increasing inputs as there are in all can only be all of them.
        let sample = if self.inputs.len() == self.schema.inputs().len() {
            Sample::dense(&self.values)
        } else {
            Sample::sparse_unchecked(&self.inputs, &self.values)
        };
        Ok((sample, self.schema.class_of(label)))
    }

    /// Fills `inputs` and `values` in the order of the columns.
    fn encode_inputs(&mut self, row: Row<'_>) -> Result<(), StreamError> {
        let columns = self.codings.len();
        self.inputs.resize(columns, 0);
        self.values.resize(columns, 0.0);
        let (mut k, mut present) = (0, 0);
        loop {
            let read = read_numbers(
                row,
                &self.columns.inputs()[k..],
                &self.codings[k..],
                &mut self.inputs[present..],
                &mut self.values[present..],
            );
            k += read;
            present += read;
            if k == columns {
                break;
            }
            if let Some(text) = read_text(row.cell(self.columns.inputs()[k].position)) {
                let (input, value) = self.encode_text(k, text, row.line())?;
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

    /// The input and the value that a cell of input column `k` stands for.
    fn encode_text(&mut self, k: usize, text: &[u8], line: u64) -> Result<(u32, f64), StreamError> {
        match self.codings[k] {
            Coding::Numeric { input } => Ok((input, self.number(k, text, line)?)),
            Coding::OneHot => {
                let input = match self.known[k].get(text) {
                    Some(&input) => input,
                    None => self.new_indicator(k, text, line)?,
                };
                Ok((input, 1.0))
            }
            Coding::Codes { input } => {
                let code = match self.known[k].get(text) {
                    Some(&code) => code,
                    None => self.new_code(k, text, line)?,
                };
                Ok((input, f64::from(code)))
            }
            Coding::Undecided => {
                self.decide(k, Kind::of(text), line)?;
                self.encode_text(k, text, line)
            }
        }
    }

    fn number(&self, k: usize, text: &[u8], line: u64) -> Result<f64, StreamError> {
        match read_number(text) {
            Reading::Number(value) => Ok(value),
            Reading::NotFinite => Err(StreamError::NotFinite {
                line,
                column: self.name(k).to_owned(),
                cell: excerpt(text),
            }),
            Reading::Missing | Reading::Text => Err(StreamError::NotANumber {
                line,
                column: self.name(k).to_owned(),
                cell: excerpt(text),
            }),
        }
    }

    fn new_indicator(&mut self, k: usize, text: &[u8], line: u64) -> Result<u32, StreamError> {
        let name = format!("{}={}", self.name(k), self.category(k, text, line)?);
        let input = self.declare(k, name, InputKind::Indicator, line)?;
        self.known[k].insert(text.into(), input);
        Ok(input)
    }

    fn new_code(&mut self, k: usize, text: &[u8], line: u64) -> Result<u32, StreamError> {
        self.category(k, text, line)?;
        let code = self.known[k].len() as u32;
        self.known[k].insert(text.into(), code);
        Ok(code)
    }

    /// The text of a new category of input column `k`.
    fn category<'t>(&self, k: usize, text: &'t [u8], line: u64) -> Result<&'t str, StreamError> {
        check_length(text, line, self.name(k))?;
        utf8(text, line)
    }

    /// Settles how input column `k` is encoded.
    fn decide(&mut self, k: usize, kind: Kind, line: u64) -> Result<(), StreamError> {
        self.codings[k] = match (kind, self.categories) {
            (Kind::Numeric, _) => Coding::Numeric { input: self.declare_column(k, line)? },
            (Kind::Categorical, Categories::OneHot) => Coding::OneHot,
            (Kind::Categorical, Categories::IntegerCodes) => {
                Coding::Codes { input: self.declare_column(k, line)? }
            }
        };
        Ok(())
    }

    fn declare_column(&mut self, k: usize, line: u64) -> Result<u32, StreamError> {
        self.declare(k, self.name(k).to_owned(), InputKind::Numeric, line)
    }

    /// Declares an input that column `k` needs.
    fn declare(
        &mut self,
        k: usize,
        name: String,
        kind: InputKind,
        line: u64,
    ) -> Result<u32, StreamError> {
        if !self.names.insert(name.clone()) {
            let column = self.name(k).to_owned();
            return Err(StreamError::InputNameTaken { line, column, name });
        }
        Ok(self.schema.push_input(name, kind) as u32)
    }

    /// The name of input column `k`.
    fn name(&self, k: usize) -> &str {
        self.columns.name(self.columns.inputs()[k].position)
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

/// Categories and labels are kept for good, so their length is bounded.
fn check_length(text: &[u8], line: u64, column: &str) -> Result<(), StreamError> {
    const LONGEST: usize = 4096;
    if text.len() <= LONGEST {
        return Ok(());
    }
    let (column, limit) = (column.to_owned(), LONGEST);
    Err(StreamError::CellTooLong { line, column, limit })
}

fn utf8(text: &[u8], line: u64) -> Result<&str, StreamError> {
    std::str::from_utf8(text).map_err(|_| StreamError::NotText { line, reason: "invalid UTF-8" })
}

/// Appends the inputs and values of the columns that begin `columns`, up to the first that is not
/// numeric or whose cell is not a number, and returns how many these are.
///
/// Whole rows of most files go through this loop, so it stands alone and holds nothing else.
fn read_numbers(
    row: Row<'_>,
    columns: &[InputColumn],
    codings: &[Coding],
    inputs: &mut [u32],
    values: &mut [f64],
) -> usize {
    let slots = inputs.iter_mut().zip(values);
    let mut read = 0;
    for ((column, coding), (input_slot, value_slot)) in columns.iter().zip(codings).zip(slots) {
        let Coding::Numeric { input } = *coding else { break };
        let Reading::Number(value) = read_number(row.cell(column.position)) else { break };
        *input_slot = input;
        *value_slot = value;
        read += 1;
    }
    read
}
