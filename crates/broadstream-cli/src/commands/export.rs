//! `broadstream export`: a stream as CSV, in the order in which it would be learned.
//!
//! A column of categories reaches this program as one input `column=value` per category. Each
//! input is traced back to its column, so that the output has the columns of the file that was read.

use std::io::{self, BufWriter, Write};

use anyhow::{Context, Result};
use broadstream::Preset;
use broadstream::{Block, Input, InputKind, Sample, Schema, stream::Stream};

use crate::{
    args::{ExportArguments, InputArguments},
    build::source::Source,
    output::failure::to_stdout,
};

pub(crate) fn export(arguments: &ExportArguments) -> Result<()> {
    let ExportArguments { source, input } = arguments;
    let source = Source::parse(source)?;
    let mut opened = source.open_table(&of_cells(input, &source), Preset::Default)?;
    opened.warn(&source);
    let stdout = io::stdout().lock();
    let written = write_stream(&mut *opened.stream, opened.columns, input.limit, stdout);
    match written {
        // An error of the stream is neither of these.
        Err(error) if error.is::<csv::Error>() || error.is::<io::Error>() => to_stdout(Err(error)),
        written => written.with_context(|| source.name()),
    }
}

/// The same options with a category for every text, so that the output has what the cells say.
fn of_cells(input: &InputArguments, source: &Source) -> InputArguments {
    let mut input = input.clone();
    if !matches!(source, Source::Generator(_)) {
        let texts = std::mem::take(&mut input.text);
        input.categorical.extend(texts);
        input.max_categories = Some(usize::MAX);
    }
    input
}

/// Writes up to `limit` samples of a stream as CSV, with the columns of its file or, if it has none, a
/// column for each input.
pub(crate) fn write_stream(
    stream: &mut dyn Stream,
    columns: Option<Vec<String>>,
    limit: Option<u64>,
    to: impl Write,
) -> Result<()> {
    let all_inputs = || stream.schema().inputs().iter().map(|input| input.name.clone()).collect();
    let mut table = Table::new(columns.unwrap_or_else(all_inputs));
    let mut writer = csv::Writer::from_writer(BufWriter::new(to));
    let target = stream.schema().target().to_owned();
    writer.write_record(table.columns.iter().chain([&target]))?;
    let mut block = Block::new();
    let mut left = limit.unwrap_or(u64::MAX);
    loop {
        block.clear();
        // If reading fails, the samples before the fault are in the block, and are written too.
        let read = stream.read_block(&mut block, left.min(1024) as usize);
        left -= block.len() as u64;
        for i in 0..block.len() {
            let label = &stream.schema().labels()[block.class(i)];
            let cells = table.row(block.sample(i), stream.schema())?;
            writer.write_record(cells.iter().chain([label]))?;
        }
        if !matches!(read, Ok(1..)) || left == 0 {
            writer.flush()?;
            return Ok(read.map(|_| ())?);
        }
    }
}

/// The columns of the output.
struct Table {
    columns: Vec<String>,
    /// For each input its column and, if the input stands for a category, the category.
    places: Vec<(usize, Option<String>)>,
    row: Vec<String>,
}

impl Table {
    fn new(columns: Vec<String>) -> Self {
        let row = vec![String::new(); columns.len()];
        Table { columns, places: Vec::new(), row }
    }

    /// The cells of a sample without its label; a missing one is empty.
    fn row(&mut self, sample: Sample<'_>, schema: &Schema) -> Result<&[String]> {
        for input in &schema.inputs()[self.places.len()..] {
            self.places.push(self.place_of(input)?);
        }
        self.row.iter_mut().for_each(String::clear);
        for (input, value) in sample.iter() {
            let (column, category) = &self.places[input];
            match category {
                Some(category) => self.row[*column].push_str(category),
                None => self.row[*column] = value.to_string(),
            }
        }
        Ok(&self.row)
    }

    fn place_of(&self, input: &Input) -> Result<(usize, Option<String>)> {
        let name = &input.name;
        let mut places =
            self.columns.iter().enumerate().filter_map(|(place, column)| match input.kind {
                InputKind::Numeric => (column == name).then_some((place, None)),
                InputKind::Indicator => {
                    let category = name.strip_prefix(column)?.strip_prefix('=')?;
                    Some((place, Some(category.to_owned())))
                }
            });
        match (places.next(), places.next()) {
            (Some(place), None) => Ok(place),
            // 'a=b=c' may be 'b=c' in column 'a', or 'c' in column 'a=b'.
            (Some(_), Some(_)) => anyhow::bail!(
                "category '{name}' may belong to more than one column: rename or drop one of them"
            ),
            (None, _) => anyhow::bail!("input '{name}' belongs to no column"),
        }
    }
}
