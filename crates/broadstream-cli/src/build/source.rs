//! From the SOURCE argument to a stream.

use std::{
    fs::File,
    io::{self, IsTerminal},
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicU64},
};

use anyhow::{Context, Result};
use broadstream::Preset;
use broadstream::stream::{
    Categories, ColumnCoding, MemoryStream, Stream, TextFormat, csv::CsvOptions,
    synth::NamedGenerator,
};
use broadstream_columnar::{TableFormat, TableSource};

use crate::args::{BadUsage, CategoriesArgument, FormatArgument, InputArguments};

/// Where samples come from. It can be opened more than once, but for standard input.
pub(crate) enum Source {
    File(PathBuf),
    StandardInput,
    Generator(NamedGenerator),
}

/// A stream that was opened.
pub(crate) struct Opened {
    pub(crate) stream: Box<dyn Stream>,
    /// For a file the columns that are learned from, in its order; otherwise they are the inputs.
    pub(crate) columns: Option<Vec<String>>,
    /// For a file its size and the bytes read so far: the progress of streams of unknown length.
    pub(crate) bytes: Option<(u64, Arc<AtomicU64>)>,
    /// Whether rows may bring columns that are not known yet.
    grows: bool,
}

impl Source {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        if text == "-" {
            return Ok(Source::StandardInput);
        }
        match NamedGenerator::find(text)? {
            Some(spec) => Ok(Source::Generator(spec)),
            None => Ok(Source::File(PathBuf::from(text))),
        }
    }

    pub(crate) fn open(&self, input: &InputArguments, preset: Preset) -> Result<Opened> {
        let mut opened = match self {
            Source::Generator(spec) => {
                check_options("a generator", &ALL_OPTIONS, input)?;
                let stream = Box::new(spec.open()?.take(spec.samples));
                Opened { stream, columns: None, bytes: None, grows: false }
            }
            Source::StandardInput => {
                if io::stdin().is_terminal() {
                    eprintln!("reading standard input; end it with Ctrl-D");
                }
                TableSource::pipe(Box::new(io::stdin()), input.format.map(table_format))
                    .map_err(anyhow::Error::from)
                    .and_then(|source| open_table_source(source, input, preset))
                    .context("standard input")?
            }
            Source::File(path) => open_file(path, input, preset)?,
        };
        if let Some(seed) = input.shuffle {
            let mut stream =
                MemoryStream::read(&mut *opened.stream, None).with_context(|| self.name())?;
            stream.shuffle(seed);
            opened = opened.in_memory(stream);
        }
        Ok(opened)
    }

    /// Opens a stream of which all columns are known: where rows may bring new ones, up to the
    /// limit is read first.
    pub(crate) fn open_table(&self, input: &InputArguments, preset: Preset) -> Result<Opened> {
        let mut opened = self.open(input, preset)?;
        if opened.grows {
            let stream = MemoryStream::read(&mut *opened.stream, input.limit)
                .with_context(|| self.name())?;
            opened = opened.in_memory(stream);
        }
        Ok(opened)
    }

    /// Whether a second pass can read the same samples again; a pipe has let go of them.
    pub(crate) fn can_reopen(&self) -> bool {
        match self {
            Source::File(path) => path.is_file(),
            Source::StandardInput => false,
            Source::Generator(_) => true,
        }
    }

    /// What the source is called in messages and results.
    pub(crate) fn name(&self) -> String {
        match self {
            Source::File(path) => path.display().to_string(),
            Source::StandardInput => "standard input".to_owned(),
            Source::Generator(spec) => spec.text.clone(),
        }
    }
}

impl Opened {
    fn of(stream: Box<dyn Stream>, grows: bool) -> Self {
        let columns = columns(&*stream);
        Opened { stream, columns, bytes: None, grows }
    }

    /// The same when all samples have been read.
    fn in_memory(self, stream: MemoryStream) -> Self {
        let columns = self.columns.is_some().then(|| columns(&stream)).flatten();
        Opened { stream: Box::new(stream), columns, bytes: None, grows: false }
    }
}

/// The columns that a stream has learned from so far.
fn columns(stream: &dyn Stream) -> Option<Vec<String>> {
    let columns = stream.encoding()?.columns.into_iter();
    let learned = columns.filter(|column| column.coding != ColumnCoding::LeftOut);
    Some(learned.map(|column| column.name).collect())
}

fn open_file(path: &Path, input: &InputArguments, preset: Preset) -> Result<Opened> {
    let name = || path.display().to_string();
    let file = File::open(path).with_context(name)?;
    let metadata = file.metadata().with_context(name)?;
    if metadata.is_dir() {
        anyhow::bail!("{} is a directory, expected a file", path.display());
    }
    let format = input.format.map(table_format);
    let source = if metadata.is_file() {
        let file_name = path.file_name().unwrap_or_default().to_string_lossy();
        TableSource::file(file, &file_name, format)
    } else {
        TableSource::pipe(Box::new(file), format)
    }
    .with_context(name)?;
    // A columnar source counts its rows itself, if it can.
    let is_text = matches!(source.format(), TableFormat::Text(_));
    let bytes = is_text.then(|| (metadata.len(), source.bytes_read()));
    let opened = open_table_source(source, input, preset).with_context(name)?;
    Ok(Opened { bytes, ..opened })
}

fn open_table_source(
    source: TableSource,
    input: &InputArguments,
    preset: Preset,
) -> Result<Opened> {
    let format = source.format();
    match format {
        TableFormat::Text(TextFormat::Csv) => {}
        TableFormat::Text(TextFormat::JsonLines) => {
            check_options("JSON lines", &CSV_OPTIONS, input)?;
        }
        TableFormat::Text(TextFormat::Arff) => check_options("ARFF", &CSV_OPTIONS, input)?,
        TableFormat::Text(TextFormat::Libsvm) => check_options("LIBSVM", &LIBSVM_LACKS, input)?,
        TableFormat::Parquet => check_options("Parquet", &CSV_OPTIONS, input)?,
        TableFormat::Arrow => check_options("Arrow", &CSV_OPTIONS, input)?,
    }
    Ok(Opened::of(source.stream(csv_options(input, preset))?, format.grows()))
}

fn table_format(argument: FormatArgument) -> TableFormat {
    match argument {
        FormatArgument::Csv => TableFormat::Text(TextFormat::Csv),
        FormatArgument::Jsonl => TableFormat::Text(TextFormat::JsonLines),
        FormatArgument::Arff => TableFormat::Text(TextFormat::Arff),
        FormatArgument::Libsvm => TableFormat::Text(TextFormat::Libsvm),
        FormatArgument::Parquet => TableFormat::Parquet,
        FormatArgument::Arrow => TableFormat::Arrow,
    }
}

/// The options that only CSV has.
const CSV_OPTIONS: [&str; 3] = ["--delimiter", "--header", "--no-header"];

/// LIBSVM has its label in one place only.
const LIBSVM_LACKS: [&str; 4] = ["--delimiter", "--header", "--no-header", "--target"];

/// All options of files.
const ALL_OPTIONS: [&str; 9] = [
    "--target",
    "--drop",
    "--categorical",
    "--numeric",
    "--categories",
    "--format",
    "--delimiter",
    "--header",
    "--no-header",
];

/// Refuses options that a kind of source does not have.
fn check_options(kind: &str, lacking: &[&str], input: &InputArguments) -> Result<()> {
    let given = [
        ("--target", input.target.is_some()),
        ("--drop", !input.drop.is_empty()),
        ("--categorical", !input.categorical.is_empty()),
        ("--numeric", !input.numeric.is_empty()),
        ("--categories", input.categories.is_some()),
        ("--format", input.format.is_some()),
        ("--delimiter", input.delimiter.is_some()),
        ("--header", input.header),
        ("--no-header", input.no_header),
    ];
    match given.into_iter().find(|(option, given)| *given && lacking.contains(option)) {
        Some((option, _)) => Err(BadUsage(format!("{kind} has no {option}")).into()),
        None => Ok(()),
    }
}

fn csv_options(input: &InputArguments, preset: Preset) -> CsvOptions {
    let categories = match input.categories {
        Some(CategoriesArgument::OneHot) => Categories::OneHot,
        Some(CategoriesArgument::IntegerCodes) => Categories::IntegerCodes,
        None => preset.categories(),
    };
    let header = match (input.header, input.no_header) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    CsvOptions {
        delimiter: input.delimiter,
        header,
        target: input.target.clone(),
        drop: input.drop.clone(),
        categorical: input.categorical.clone(),
        numeric: input.numeric.clone(),
        categories,
    }
}
