//! ARFF files, as Weka and MOA write them, read row by row in bounded memory.
//!
//! Lines are cut into words, quotations and braces (`tokens`). The lines above `@data` declare the
//! attributes and their types (`header`), each line below is a row of their values, dense or sparse
//! (`row`), and a [`RowEncoder`] makes samples of them.

mod header;
mod row;
#[cfg(test)]
mod tests;
mod tokens;

use std::{collections::HashSet, io::Read};

use self::{
    header::{Attribute, Values, read_header},
    row::Row,
};
use super::{
    Cell, ColumnKind, ColumnRoles, EncodedRow, Place, RowEncoder, RowReader, RowStream,
    StreamError, TableOptions, TextFormat,
    cell::excerpt,
    column_roles::list,
    lines::{LONGEST_LINE, Lines},
};
use crate::error::Error;

/// The samples of an ARFF file, plain or compressed by gzip or zstd.
///
/// Attributes that are numeric, real or integer are numbers; nominal ones and strings are categories. An
/// attribute of another type, such as a date, must be dropped or declared categorical. A value that a
/// nominal attribute does not declare is an error. `?` is missing: the sample lacks that input.
///
/// In a sparse row `{1 5, 3 x}` a numeric attribute that is not mentioned is absent, so that sparse
/// rows stay sparse. A nominal one has its first value, as the format specifies, and so has the target;
/// a numeric target is 0. A number in braces at the end of a row is the weight of its sample.
///
/// The number of inputs per sample is that of the attributes without the target or, if rows are sparse,
/// the mean number of attributes that the first rows mention.
///
/// ```
/// use broadstream::{
///     Block,
///     stream::{Stream, TableOptions, arff::ArffStream},
/// };
///
/// let text = "@relation shop
/// @attribute age numeric
/// @attribute job {clerk, baker}
/// @attribute buys {yes, no}
/// @data
/// 31, clerk, yes
/// ?, baker, no, {0.5}";
/// let mut stream = ArffStream::new(Box::new(text.as_bytes()), TableOptions::default())?;
/// let mut block = Block::new();
/// assert_eq!(stream.read_block(&mut block, 100)?, 2);
///
/// let names: Vec<_> = stream.schema().inputs().iter().map(|input| &input.name).collect();
/// assert_eq!(names, ["age", "job=clerk", "job=baker"]);
/// assert_eq!(block.sample(1).iter().collect::<Vec<_>>(), [(2, 1.0)]);
/// assert_eq!(block.weight(1), 0.5);
/// # Ok::<(), broadstream::Error>(())
/// ```
pub type ArffStream = RowStream<ArffReader>;

/// Reads the rows of an ARFF file; see [`ArffStream`].
pub struct ArffReader {
    lines: Lines,
    /// The row read last, kept for its memory.
    row: Row,
    attributes: Attributes,
    inputs_per_sample: usize,
}

impl ArffStream {
    /// Reads the header of a file, and up to 1000 rows to see whether they are sparse.
    ///
    /// A fault in a row is not reported here but when that row is read.
    #[expect(clippy::needless_pass_by_value, reason = "options are given away, as to any `new`")]
    pub fn new(reader: Box<dyn Read + Send>, options: TableOptions) -> Result<Self, Error> {
        options.check(TextFormat::Arff)?;
        Self::of_lines(Lines::open(reader)?, &options)
    }

    /// Reads the beginning of a file from its first line.
    pub(super) fn of_lines(mut lines: Lines, options: &TableOptions) -> Result<Self, Error> {
        let declared = read_header(&mut lines)?;
        let place = Place::Line(lines.line());
        let (attributes, encoder) = Attributes::new(declared, options, place)?;
        let inputs_per_sample = survey(&mut lines, &attributes)?;
        let reader = ArffReader { lines, row: Row::default(), attributes, inputs_per_sample };
        Ok(RowStream::of(reader, encoder))
    }
}

impl RowReader for ArffReader {
    fn next_row<'e>(
        &mut self,
        encoder: &'e mut RowEncoder,
    ) -> Result<Option<EncodedRow<'e>>, Error> {
        while let Some(range) = self.lines.peek()? {
            let line = self.lines.line();
            self.lines.pass();
            if self.row.parse(self.lines.text(range), line, self.attributes.len())? {
                return Ok(Some(self.attributes.encode(&self.row, line, encoder)?));
            }
        }
        Ok(None)
    }

    fn is_ready(&mut self) -> bool {
        self.lines.is_row_ready(|line| !matches!(line.trim_ascii_start(), [] | [b'%', ..]))
    }

    fn inputs_per_sample(&self, _: &RowEncoder) -> usize {
        self.inputs_per_sample
    }
}

/// The attributes of a file and their columns.
struct Attributes {
    attributes: Vec<Attribute>,
    /// By attribute, the values that a nominal one declares.
    declared: Vec<HashSet<Box<[u8]>>>,
    /// By attribute, its column in the encoder; `None` for the target and those left out.
    columns: Vec<Option<usize>>,
    /// The nominal attributes among the inputs, in order: a sparse row has them even if it does not
    /// mention them.
    nominal: Vec<usize>,
    target: usize,
}

impl Attributes {
    fn new(
        attributes: Vec<Attribute>,
        options: &TableOptions,
        place: Place,
    ) -> Result<(Self, RowEncoder), StreamError> {
        let names = attributes.iter().map(|attribute| attribute.name.clone()).collect();
        let roles = ColumnRoles::new(names, options)?;
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

    /// Encodes a row.
    fn encode<'e>(
        &self,
        row: &Row,
        line: u64,
        encoder: &'e mut RowEncoder,
    ) -> Result<EncodedRow<'e>, StreamError> {
        encoder.begin(Place::Line(line));
        let mut label = match row.is_sparse() {
            true => self.unmentioned(self.target),
            false => Cell::Missing,
        };
        // Attributes are pushed in their order. So before each value that a sparse row mentions come the
        // nominal attributes between it and the one before, which have their first value.
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
        Ok(EncodedRow { sample, class, weight: row.weight() })
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

    /// The value of an attribute in a sparse row that does not mention it.
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

/// How many inputs the next rows have on average, 1000 or fewer if these are huge. Leaves the lines where
/// they were. Stops at a faulty row, which is reported when it is read for its sample.
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
