//! Rows for saved models, from a file or from standard input.

use std::{
    fs::File,
    io::{self, IsTerminal, Read},
    path::Path,
};

use anyhow::{Context, Result, bail};
use broadstream::{
    model_file::Saved,
    stream::{self, LiveFormat, LiveOptions, LiveRows, RowEncoding, RowPurpose},
};

use crate::{
    args::{RowArguments, RowFormat, UnknownColumns, choice},
    build::stop,
    output::printable::note,
};

/// Opens rows for a model. `max_categories` is the most inputs that the categories of a column may have, if it
/// is not to be as it was in training.
pub(super) fn open<T>(
    arguments: &RowArguments,
    saved: &Saved<T>,
    purpose: RowPurpose,
    max_categories: Option<usize>,
) -> Result<LiveRows> {
    let RowArguments { source, rows_format, delimiter, drop, unknown, .. } = arguments;
    let reader: Box<dyn Read + Send> = if is_standard_input(source) {
        if io::stdin().is_terminal() {
            note("reading rows from standard input; end them with Ctrl-D");
        }
        stop::standard_input().with_context(|| name(arguments))?
    } else {
        let file = File::open(source).with_context(|| name(arguments))?;
        if file.metadata()?.is_dir() {
            bail!("{} is a directory, expected a file", name(arguments));
        }
        stop::stoppable(file)
    };
    let options = LiveOptions {
        format: rows_format.map(|format| match format {
            RowFormat::Csv => LiveFormat::Csv,
            RowFormat::Jsonl => LiveFormat::JsonLines,
        }),
        delimiter: *delimiter,
        header: choice(arguments.header, arguments.no_header),
        decimal_comma: choice(arguments.decimal_comma, arguments.no_decimal_comma),
        max_categories,
        purpose,
        drop: drop.clone(),
        unknown: match unknown {
            UnknownColumns::Refuse => stream::UnknownColumns::Refuse,
            UnknownColumns::Ignore => stream::UnknownColumns::Ignore,
            UnknownColumns::Learn => stream::UnknownColumns::Learn,
        },
    };
    let schema = saved.schema.clone();
    let encoding = saved.encoding.clone().unwrap_or_else(|| RowEncoding::of_schema(&schema));
    LiveRows::new(reader, options, schema, encoding).with_context(|| name(arguments))
}

/// Whether the rows are in a file, which has an end, rather than in a pipe.
pub(super) fn is_regular_file(arguments: &RowArguments) -> bool {
    let path = match is_standard_input(&arguments.source) {
        true => Path::new("/dev/stdin"),
        false => &arguments.source,
    };
    path.metadata().is_ok_and(|metadata| metadata.is_file())
}

/// What the source of the rows is called in messages.
pub(super) fn name(arguments: &RowArguments) -> String {
    match is_standard_input(&arguments.source) {
        true => "standard input".to_owned(),
        false => arguments.source.display().to_string(),
    }
}

/// A number of rows in words.
pub(super) fn counted(rows: u64) -> String {
    if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") }
}

fn is_standard_input(source: &Path) -> bool {
    source == Path::new("-")
}
