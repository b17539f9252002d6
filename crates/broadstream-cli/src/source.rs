//! From the SOURCE argument to a stream.

use std::{
    fs::File,
    io::{self, Cursor, IsTerminal, Read, Seek},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use anyhow::{Context, Result};
use broadstream::stream::{
    Categories, ColumnCoding, ColumnOptions, MemoryStream, Stream, TextFormat, TextSource,
    csv::CsvOptions,
};
use broadstream_columnar::{ColumnarFormat, ColumnarSource, ColumnarStream};

use crate::{
    args::{CategoriesArgument, FormatArgument, InputArguments, Preset},
    failure::BadUsage,
    generator::GeneratorSpec,
};

/// Where samples come from. It can be opened more than once, but for standard input.
pub(crate) enum Source {
    File(PathBuf),
    StandardInput,
    Generator(GeneratorSpec),
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
        match GeneratorSpec::parse(text)? {
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
                open_pipe(Box::new(io::stdin()), None, input, preset).context("standard input")?
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
    let mut file = File::open(path).with_context(name)?;
    let metadata = file.metadata().with_context(name)?;
    if metadata.is_dir() {
        anyhow::bail!("{} is a directory, expected a file", path.display());
    }
    let head = read_head(&mut file).with_context(name)?;
    if metadata.is_file()
        && let Some(format) = columnar_format(&head, input.format)
    {
        file.rewind().with_context(name)?;
        let source = ColumnarSource::File(file);
        return open_columnar(format, source, input, preset).with_context(name);
    }
    let read = Arc::new(AtomicU64::new(0));
    let reader = Counted { inner: Cursor::new(head).chain(file), read: Arc::clone(&read) };
    let usual = path.file_name().and_then(|name| TextFormat::of_name(&name.to_string_lossy()));
    let opened = open_pipe(Box::new(reader), usual, input, preset).with_context(name)?;
    // A columnar source that is no regular file counts its rows itself, if it can.
    Ok(Opened { bytes: Some((metadata.len(), read)), ..opened })
}

/// Opens what can be read only once. `usual` is the format of a text that shows none.
fn open_pipe(
    mut reader: Box<dyn Read + Send>,
    usual: Option<TextFormat>,
    input: &InputArguments,
    preset: Preset,
) -> Result<Opened> {
    let head = read_head(&mut reader)?;
    let columnar = columnar_format(&head, input.format);
    let reader = Box::new(Cursor::new(head).chain(reader));
    if let Some(format) = columnar {
        return open_columnar(format, ColumnarSource::Pipe(reader), input, preset);
    }
    let mut text = TextSource::new(reader)?;
    let format = match input.format {
        Some(FormatArgument::Csv) => TextFormat::Csv,
        Some(FormatArgument::Jsonl) => TextFormat::JsonLines,
        Some(FormatArgument::Arff) => TextFormat::Arff,
        Some(FormatArgument::Libsvm) => TextFormat::Libsvm,
        Some(FormatArgument::Parquet | FormatArgument::Arrow) | None => {
            text.detect().or(usual).unwrap_or(TextFormat::Csv)
        }
    };
    match format {
        TextFormat::Csv => {}
        TextFormat::JsonLines => check_options("JSON lines", &CSV_OPTIONS, input)?,
        TextFormat::Arff => check_options("ARFF", &CSV_OPTIONS, input)?,
        TextFormat::Libsvm => check_options("LIBSVM", &LIBSVM_LACKS, input)?,
    }
    let grows = matches!(format, TextFormat::JsonLines | TextFormat::Libsvm);
    Ok(Opened::of(text.stream(format, csv_options(input, preset))?, grows))
}

fn open_columnar(
    format: ColumnarFormat,
    source: ColumnarSource,
    input: &InputArguments,
    preset: Preset,
) -> Result<Opened> {
    let name = if format == ColumnarFormat::Parquet { "Parquet" } else { "Arrow" };
    check_options(name, &CSV_OPTIONS, input)?;
    let CsvOptions { target, drop, categorical, numeric, categories, .. } =
        csv_options(input, preset);
    let options = ColumnOptions { target, drop, categorical, numeric, categories };
    Ok(Opened::of(Box::new(ColumnarStream::new(format, source, options)?), false))
}

/// The columnar format of a source, as it is given or as its first bytes show.
fn columnar_format(head: &[u8], given: Option<FormatArgument>) -> Option<ColumnarFormat> {
    let found = ColumnarFormat::detect(head);
    match given {
        None => found,
        Some(FormatArgument::Parquet) => Some(ColumnarFormat::Parquet),
        Some(FormatArgument::Arrow) if found == Some(ColumnarFormat::ArrowFile) => found,
        Some(FormatArgument::Arrow) => Some(ColumnarFormat::ArrowStream),
        Some(_) => None,
    }
}

/// The first bytes, which tell binary formats; a pipe may give them one by one.
fn read_head(reader: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(ColumnarFormat::HEAD);
    reader.take(ColumnarFormat::HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
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
    let categories = match (input.categories, preset) {
        (Some(CategoriesArgument::OneHot), _) | (None, Preset::Default | Preset::Single) => {
            Categories::OneHot
        }
        (Some(CategoriesArgument::IntegerCodes), _)
        | (None, Preset::Paper | Preset::PaperDrift) => Categories::IntegerCodes,
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

/// Counts the bytes that pass.
struct Counted<R> {
    inner: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.read.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}
