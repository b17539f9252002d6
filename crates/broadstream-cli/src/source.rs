//! From the SOURCE argument to a stream.

use std::{
    fs::File,
    io::{self, IsTerminal, Read},
    path::{Path, PathBuf},
    str::FromStr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use anyhow::{Context, Result};
use broadstream::stream::{
    MemoryStream, Stream,
    csv::{Categories, CsvOptions, CsvStream},
    synth::{Generator, Hyperplane, HyperplaneOptions, Sea},
};

use crate::{
    args::{CategoriesArgument, InputArguments, Preset},
    failure::BadUsage,
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
        (Some(CategoriesArgument::OneHot), _) | (None, Preset::Default) => Categories::OneHot,
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

/// A generator and its parameters, from 'name' or 'name:key=value,key=value'.
pub(crate) struct GeneratorSpec {
    text: String,
    pub(crate) samples: u64,
    kind: GeneratorKind,
}

enum GeneratorKind {
    Sea { variant: Option<usize>, noise: f64, seed: u64, width: Option<u64> },
    Hyperplane(HyperplaneOptions),
}

impl GeneratorSpec {
    /// The generator that `text` names; `None` when it names none.
    pub(crate) fn parse(text: &str) -> Result<Option<Self>> {
        let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
        let kind = match name {
            "sea" => GeneratorKind::Sea { variant: None, noise: 0.1, seed: 42, width: None },
            "hyperplane" => GeneratorKind::Hyperplane(HyperplaneOptions::default()),
            _ => return Ok(None),
        };
        let mut spec = GeneratorSpec { text: text.to_owned(), samples: 100_000, kind };
        for parameter in parameters.split(',').filter(|parameter| !parameter.is_empty()) {
            let Some((key, value)) = parameter.split_once('=') else {
                let rule = format!("{name}: expected parameters as key=value, got '{parameter}'");
                return Err(BadUsage(rule).into());
            };
            spec.set(name, key.trim(), value.trim())?;
        }
        Ok(Some(spec))
    }

    /// The generator at its start.
    pub(crate) fn open(&self) -> Result<Box<dyn Generator>> {
        Ok(match self.kind {
            GeneratorKind::Sea { variant: Some(_), width: Some(_), .. } => {
                let rule = "sea: a variant does not drift, so it has no width";
                return Err(BadUsage(rule.to_owned()).into());
            }
            GeneratorKind::Sea { variant: Some(variant), noise, seed, .. } => {
                Box::new(Sea::new(variant, noise, seed)?)
            }
            GeneratorKind::Sea { variant: None, noise, seed, width } => {
                Box::new(Sea::drifting(noise, seed, self.samples, width.unwrap_or(1))?)
            }
            GeneratorKind::Hyperplane(options) => Box::new(Hyperplane::new(options)?),
        })
    }

    fn set(&mut self, name: &str, key: &str, value: &str) -> Result<()> {
        let place = || format!("{name}: {key}");
        match (&mut self.kind, key) {
            (_, "samples") => self.samples = number(value).with_context(place)?,
            (GeneratorKind::Sea { variant, .. }, "variant") => {
                *variant = Some(number(value).with_context(place)?);
            }
            (GeneratorKind::Sea { noise, .. }, "noise") => {
                *noise = number(value).with_context(place)?;
            }
            (GeneratorKind::Sea { seed, .. }, "seed") => {
                *seed = number(value).with_context(place)?;
            }
            (GeneratorKind::Sea { width, .. }, "width") => {
                *width = Some(number(value).with_context(place)?);
            }
            (GeneratorKind::Hyperplane(options), _) => match key {
                "inputs" => options.inputs = number(value).with_context(place)?,
                "drifting_inputs" => options.drifting_inputs = number(value).with_context(place)?,
                "magnitude" => options.magnitude = number(value).with_context(place)?,
                "noise" => options.noise = number(value).with_context(place)?,
                "sigma" => options.sigma = number(value).with_context(place)?,
                "seed" => options.seed = number(value).with_context(place)?,
                _ => return Err(unknown_parameter(name, key)),
            },
            _ => return Err(unknown_parameter(name, key)),
        }
        Ok(())
    }
}

fn number<T: FromStr>(value: &str) -> Result<T> {
    value.parse().map_err(|_| BadUsage(format!("expected a number, got '{value}'")).into())
}

fn unknown_parameter(name: &str, key: &str) -> anyhow::Error {
    let hint = "'broadstream generate --help' lists the parameters";
    BadUsage(format!("{name} has no parameter '{key}': {hint}")).into()
}
