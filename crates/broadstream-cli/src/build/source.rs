//! From the SOURCE argument to a stream.

use std::{
    fs::File,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicU64},
};

use anyhow::{Context, Result, bail};
use broadstream::{
    Error, Preset,
    stream::{
        ColumnCoding, MemoryStream, Stream, TableFormat, TableOptions, synth::NamedGenerator,
    },
};
use broadstream_columnar::TableSource;

use super::stop;
use crate::args::InputArguments;

/// Where samples come from. All but standard input can be opened more than once.
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
    /// What its reader has assumed that a user may not expect.
    warnings: Vec<String>,
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
        let mut options = input.table_options();
        if let Source::Generator(_) = self {
            options.check_generator()?;
        }
        // A preset's choice counts only now, since it is not an option that was given.
        options.categories.get_or_insert(preset.categories());
        let mut opened = match self {
            Source::Generator(spec) => {
                let stream = Box::new(spec.open()?.take(spec.samples));
                Opened { stream, columns: None, bytes: None, warnings: Vec::new(), grows: false }
            }
            Source::StandardInput => open_standard_input(options)?,
            Source::File(path) => open_file(path, options)?,
        };
        if let Some(seed) = input.shuffle {
            let mut stream =
                MemoryStream::read(&mut *opened.stream, None).with_context(|| self.name())?;
            stream.shuffle(seed);
            opened = opened.in_memory(stream);
        }
        Ok(opened)
    }

    /// Opens a stream whose columns are all known: if rows may bring new ones, the samples up to the
    /// limit are read first.
    pub(crate) fn open_table(&self, input: &InputArguments, preset: Preset) -> Result<Opened> {
        let mut opened = self.open(input, preset)?;
        if opened.grows {
            let stream = MemoryStream::read(&mut *opened.stream, input.limit)
                .with_context(|| self.name())?;
            opened = opened.in_memory(stream);
        }
        Ok(opened)
    }

    /// Whether a second pass can read the same samples again, which a pipe does not allow.
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
    fn of(source: TableSource) -> Result<Self, Error> {
        let grows = source.format().grows();
        let stream = source.stream()?;
        let columns = columns(&*stream);
        let warnings = stream.warnings().to_vec();
        Ok(Opened { stream, columns, bytes: None, warnings, grows })
    }

    /// Shows what its reader has assumed. A command calls it once, however often it opens its source.
    pub(crate) fn warn(&self, source: &Source) {
        for warning in &self.warnings {
            eprintln!("warning: {}: {warning}", source.name());
        }
    }

    /// The same stream once all its samples have been read.
    fn in_memory(self, stream: MemoryStream) -> Self {
        let columns = self.columns.is_some().then(|| columns(&stream)).flatten();
        Opened { stream: Box::new(stream), columns, bytes: None, grows: false, ..self }
    }
}

/// The columns that a stream has learned from so far.
fn columns(stream: &dyn Stream) -> Option<Vec<String>> {
    let columns = stream.encoding()?.columns.into_iter();
    let learned = columns.filter(|column| column.coding != ColumnCoding::LeftOut);
    Some(learned.map(|column| column.name).collect())
}

fn open_file(path: &Path, options: TableOptions) -> Result<Opened> {
    let name = || path.display().to_string();
    let file = File::open(path).with_context(name)?;
    let metadata = file.metadata().with_context(name)?;
    if metadata.is_dir() {
        bail!("{} is a directory, expected a file", path.display());
    }
    let file_name = path.file_name().unwrap_or_default().to_string_lossy();
    let source = match metadata.is_file() {
        true => TableSource::file(file, &file_name, options),
        // A pipe may be silent for long, and a signal should not have to wait.
        false => TableSource::pipe(stop::stoppable(file), options),
    };
    let source = source.with_context(name)?;
    // A columnar source counts its rows itself, if it can.
    let is_text = matches!(source.format(), TableFormat::Text(_));
    let bytes = is_text.then(|| (metadata.len(), source.bytes_read()));
    Ok(Opened { bytes, ..Opened::of(source).with_context(name)? })
}

fn open_standard_input(options: TableOptions) -> Result<Opened> {
    if io::stdin().is_terminal() {
        // If this fails, there is nobody to be told.
        let _ = writeln!(io::stderr(), "reading standard input; end it with Ctrl-D");
    }
    let reader = stop::standard_input().context("standard input")?;
    TableSource::pipe(reader, options).and_then(Opened::of).context("standard input")
}
