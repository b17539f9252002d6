//! From the SOURCE argument to a stream.

use std::{
    fs::File,
    io::{self, IsTerminal, Read},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use anyhow::{Context, Result};
use broadstream::stream::{
    MemoryStream, Stream,
    csv::{Categories, CsvOptions, CsvStream},
};

use crate::{
    args::{CategoriesArgument, InputArguments, Preset},
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
                check_no_options(input)?;
                let stream = Box::new(spec.open()?.take(spec.samples));
                Opened { stream, columns: None, bytes: None }
            }
            Source::StandardInput => {
                if io::stdin().is_terminal() {
                    eprintln!("reading standard input; end it with Ctrl-D");
                }
                let stream = CsvStream::new(Box::new(io::stdin()), csv_options(input, preset))
                    .context("standard input")?;
                let columns = Some(stream.columns().map(str::to_owned).collect());
                Opened { stream: Box::new(stream), columns, bytes: None }
            }
            Source::File(path) => open_file(path, csv_options(input, preset))?,
        };
        if let Some(seed) = input.shuffle {
            let mut stream =
                MemoryStream::read(&mut *opened.stream, None).with_context(|| self.name())?;
            stream.shuffle(seed);
            opened = Opened { stream: Box::new(stream), bytes: None, ..opened };
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

/// Refuses the options of files for a generator, which has its own parameters.
fn check_no_options(input: &InputArguments) -> Result<()> {
    let given = [
        ("--target", input.target.is_some()),
        ("--drop", !input.drop.is_empty()),
        ("--categorical", !input.categorical.is_empty()),
        ("--numeric", !input.numeric.is_empty()),
        ("--categories", input.categories.is_some()),
        ("--delimiter", input.delimiter.is_some()),
        ("--header", input.header),
        ("--no-header", input.no_header),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(BadUsage(format!("a generator has no {option}")).into()),
        None => Ok(()),
    }
}

fn open_file(path: &Path, options: CsvOptions) -> Result<Opened> {
    let name = || path.display().to_string();
    let file = File::open(path).with_context(name)?;
    let metadata = file.metadata().with_context(name)?;
    if metadata.is_dir() {
        anyhow::bail!("{} is a directory, expected a file", path.display());
    }
    let read = Arc::new(AtomicU64::new(0));
    let reader = Counted { inner: file, read: Arc::clone(&read) };
    let stream = CsvStream::new(Box::new(reader), options).with_context(name)?;
    let columns = Some(stream.columns().map(str::to_owned).collect());
    Ok(Opened { stream: Box::new(stream), columns, bytes: Some((metadata.len(), read)) })
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
