//! ARFF files, as Weka and MOA write them, read row by row in bounded memory.
//!
//! Lines are cut into words, quotations and braces (`tokens`). The lines above `@data` say which
//! attributes there are and what they hold (`header`), each line below is a row of their values,
//! dense or sparse (`rows`), and a [`RowEncoder`] makes samples of them.

mod header;
mod rows;
#[cfg(test)]
mod tests;
mod tokens;

use std::{collections::HashSet, fmt, io::Read};

use self::{
    header::{Attribute, Values, read_header},
    rows::Row,
};
use super::{
    Cell, ColumnKind, ColumnOptions, Columns, Place, RowEncoder, RowEncoding, Stream, StreamError,
    cell::excerpt,
    columns::list,
    lines::{LONGEST_LINE, Lines},
};
use crate::{
    data::{Block, Schema},
    error::Error,
};

/// The samples of an ARFF file, plain or compressed by gzip or zstd.
///
/// Attributes that are numeric, real or integer are numbers, nominal ones and strings are
/// categories; an attribute of another type, such as a date, must be dropped or declared
/// categorical. A value that a nominal attribute does not declare is an error. `?` is missing: the
/// sample lacks that input. The target is the last attribute unless the options name another.
///
/// In a sparse row `{1 5, 3 x}` a numeric attribute that is not mentioned is absent, so that sparse
/// rows stay sparse; a nominal one has its first value, as the format says, and so does the target;
/// a numeric target is 0. A number in braces at the end of a row is the weight of its sample.
///
/// ```
/// use broadstream::{
///     Block,
///     stream::{ColumnOptions, Stream, arff::ArffStream},
/// };
///
/// let text = "@relation shop
/// @attribute age numeric
/// @attribute job {clerk, baker}
/// @attribute buys {yes, no}
/// @data
/// 31, clerk, yes
/// ?, baker, no, {0.5}";
/// let mut stream = ArffStream::new(Box::new(text.as_bytes()), ColumnOptions::default())?;
/// let mut block = Block::new();
/// assert_eq!(stream.read_block(&mut block, 100)?, 2);
///
/// let names: Vec<_> = stream.schema().inputs().iter().map(|input| &input.name).collect();
/// assert_eq!(names, ["age", "job=clerk", "job=baker"]);
/// assert_eq!(block.sample(1).iter().collect::<Vec<_>>(), [(2, 1.0)]);
/// assert_eq!(block.weight(1), 0.5);
/// # Ok::<(), broadstream::Error>(())
/// ```
pub struct ArffStream {
    lines: Lines,
    row: Row,
    attributes: Attributes,
    encoder: RowEncoder,
    inputs_per_sample: usize,
    line: u64,
    ended: bool,
}

impl ArffStream {
    /// Reads the header of a file, and up to 1000 rows to see whether they are sparse.
    ///
    /// A fault in a row is not reported here but when that row is read.
    #[expect(clippy::needless_pass_by_value, reason = "options are given away, as to any `new`")]
    pub fn new(reader: Box<dyn Read + Send>, options: ColumnOptions) -> Result<Self, Error> {
        Self::of_lines(Lines::open(reader)?, &options)
    }

    /// Reads the beginning of a file of which no line has been taken yet.
    pub(super) fn of_lines(mut lines: Lines, options: &ColumnOptions) -> Result<Self, Error> {
        let declared = read_header(&mut lines)?;
        let place = Place::Line(lines.line());
        let (attributes, encoder) = Attributes::new(declared, options, place)?;
        let inputs_per_sample = survey(&mut lines, &attributes)?;
        let row = Row::default();
        Ok(ArffStream { lines, row, attributes, encoder, inputs_per_sample, line: 0, ended: false })
    }

    /// The line of the row read last; 0 before the first row.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The names of the attributes that are learned from, in the order of the file.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.encoder.columns()
    }

    /// Appends the next sample to `block`; `false` at the end.
    fn read_sample(&mut self, block: &mut Block) -> Result<bool, Error> {
        while let Some(range) = self.lines.peek()? {
            self.line = self.lines.line();
            self.lines.pass();
            let text = self.lines.text(range);
            if self.row.parse(text, self.line, self.attributes.len())? {
                self.attributes.encode(&self.row, self.line, &mut self.encoder, block)?;
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Stream for ArffStream {
    fn schema(&self) -> &Schema {
        self.encoder.schema()
    }

    /// The number of attributes without the target, or the mean number of those that the first rows
    /// mention if they are sparse.
    fn inputs_per_sample(&self) -> usize {
        self.inputs_per_sample
    }

    fn encoding(&self) -> Option<RowEncoding> {
        Some(self.encoder.encoding())
    }

    fn read_block(&mut self, block: &mut Block, most: usize) -> Result<usize, Error> {
        let mut read = 0;
        while read < most && !self.ended {
            let outcome = self.read_sample(block);
            self.ended = !matches!(outcome, Ok(true));
            read += usize::from(outcome?);
        }
        Ok(read)
    }
}

impl fmt::Debug for ArffStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArffStream")
            .field("line", &self.line)
            .field("ended", &self.ended)
            .field("schema", self.schema())
            .finish_non_exhaustive()
    }
}

/// The attributes of a file and what is made of them.
struct Attributes {
    attributes: Vec<Attribute>,
    /// By attribute, the values that a nominal one declares.
    declared: Vec<HashSet<Box<[u8]>>>,
    /// By attribute, its column in the encoder; `None` for the target and those left out.
    columns: Vec<Option<usize>>,
    /// The nominal attributes among the inputs, which sparse rows have without mention.
    nominal: Vec<usize>,
    target: usize,
}

impl Attributes {
    fn new(
        attributes: Vec<Attribute>,
        options: &ColumnOptions,
        place: Place,
    ) -> Result<(Self, RowEncoder), StreamError> {
        let names = attributes.iter().map(|attribute| attribute.name.clone()).collect();
        let roles = Columns::new(names, options)?;
        let mut columns = vec![None; attributes.len()];
        let mut kinds = Vec::with_capacity(roles.inputs().len());
        for (column, input) in roles.inputs().iter().enumerate() {
            columns[input.position] = Some(column);
            kinds.push(Some(match (input.declared, &attributes[input.position].values) {
                (Some(kind), _) => kind,
                (None, Values::Numbers) => ColumnKind::Numeric,
                (None, Values::Nominal(_) | Values::Texts) => ColumnKind::Categorical,
                (None, Values::Other(kind)) => {
                    let column = attributes[input.position].name.clone();
                    return Err(StreamError::UnsupportedType { column, kind: kind.to_string() });
                }
            }));
        }
        let encoder = roles.encoder(&kinds, options, place)?;
        let is_nominal = |k: &usize| matches!(attributes[*k].values, Values::Nominal(_));
        let nominal = roles.inputs().iter().map(|input| input.position).filter(is_nominal);
        let attributes = Attributes {
            nominal: nominal.collect(),
            declared: attributes.iter().map(declared_values).collect(),
            target: roles.target(),
            columns,
            attributes,
        };
        Ok((attributes, encoder))
    }

    fn len(&self) -> usize {
        self.attributes.len()
    }

    /// Appends the sample of a row to `block`.
    fn encode(
        &self,
        row: &Row,
        line: u64,
        encoder: &mut RowEncoder,
        block: &mut Block,
    ) -> Result<(), Error> {
        encoder.begin(Place::Line(line));
        let mut label = match row.is_sparse() {
            true => self.unmentioned(self.target),
            false => Cell::Missing,
        };
        let mut unmentioned = if row.is_sparse() { &self.nominal[..] } else { &[] };
        for (k, text) in row.values() {
            while let Some((&nominal, later)) = unmentioned.split_first().filter(|(n, _)| **n <= k)
            {
                if nominal < k {
                    self.push_unmentioned(nominal, encoder)?;
                }
                unmentioned = later;
            }
            let cell = match text {
                Some(text) => self.cell(k, text, line)?,
                None => Cell::Missing,
            };
            match self.columns[k] {
                Some(column) => encoder.push(column, cell)?,
                None if k == self.target => label = cell,
                None => {}
            }
        }
        for &nominal in unmentioned {
            self.push_unmentioned(nominal, encoder)?;
        }
        let (sample, class) = encoder.finish(label)?;
        block.push(sample, class, row.weight())
    }

    /// The cell of an attribute that has that text.
    fn cell<'t>(&self, k: usize, text: &'t [u8], line: u64) -> Result<Cell<'t>, StreamError> {
        match &self.attributes[k].values {
            Values::Nominal(values) if !self.declared[k].contains(text.trim_ascii()) => {
                Err(StreamError::Undeclared {
                    place: Place::Line(line),
                    column: self.attributes[k].name.clone(),
                    declared: list(values),
                    cell: excerpt(text),
                })
            }
            Values::Numbers => Ok(Cell::Raw(text)),
            Values::Nominal(_) | Values::Texts | Values::Other(_) => Ok(Cell::Text(text)),
        }
    }

    /// What an attribute has in a sparse row that does not mention it.
    fn unmentioned(&self, k: usize) -> Cell<'_> {
        match &self.attributes[k].values {
            Values::Nominal(values) => {
                values.first().map_or(Cell::Missing, |first| Cell::Text(first.as_bytes()))
            }
            Values::Numbers => Cell::Raw(b"0"),
            Values::Texts | Values::Other(_) => Cell::Missing,
        }
    }

    fn push_unmentioned(&self, k: usize, encoder: &mut RowEncoder) -> Result<(), StreamError> {
        match self.columns[k] {
            Some(column) => encoder.push(column, self.unmentioned(k)),
            None => Ok(()),
        }
    }
}

fn declared_values(attribute: &Attribute) -> HashSet<Box<[u8]>> {
    match &attribute.values {
        Values::Nominal(values) => values.iter().map(|value| value.as_bytes().into()).collect(),
        _ => HashSet::new(),
    }
}

/// How many inputs the next rows have on average, 1000 or fewer if these are huge. The lines are then
/// where they were before. A faulty row is the last one looked at.
fn survey(lines: &mut Lines, attributes: &Attributes) -> Result<usize, StreamError> {
    const ROWS: usize = 1000;
    let (mut rows, mut inputs) = (0, 0);
    let mut row = Row::default();
    lines.mark();
    while rows < ROWS && lines.kept() <= LONGEST_LINE {
        let range = match lines.peek() {
            Ok(Some(range)) => range,
            Ok(None) if rows == 0 => return Err(StreamError::Empty),
            Ok(None) | Err(_) => break,
        };
        let line = lines.line();
        lines.pass();
        match row.parse(lines.text(range), line, attributes.len()) {
            Ok(true) => {
                let among = |k: &usize| attributes.columns[*k].is_some();
                let mentioned = row.values().map(|(k, _)| k).filter(among);
                let is_nominal = |k: &usize| attributes.nominal.binary_search(k).is_ok();
                inputs += if row.is_sparse() {
                    attributes.nominal.len() + mentioned.filter(|k| !is_nominal(k)).count()
                } else {
                    mentioned.count()
                };
                rows += 1;
            }
            Ok(false) => {}
            Err(_) => break,
        }
    }
    lines.rewind();
    lines.forget_mark();
    Ok(((inputs + rows / 2) / rows.max(1)).max(1))
}

/// A text of the file, which must be UTF-8.
fn text_of(text: &[u8], line: u64) -> Result<&str, StreamError> {
    std::str::from_utf8(text)
        .map_err(|_| StreamError::NotText { place: Place::Line(line), reason: "invalid UTF-8" })
}

/// The beginning of a text, for a message.
fn quoted(text: &[u8]) -> String {
    format!("'{}'", excerpt(text))
}
