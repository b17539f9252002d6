//! The class `Stream`: files and generators.

use std::{
    collections::HashSet,
    ffi::CString,
    fs::File,
    io::ErrorKind,
    path::Path,
    time::{Duration, Instant},
};

use broadstream::{
    Block, Error, InputKind, Schema,
    stream::{
        Categories, ColumnCoding, MemoryStream, Place, RowEncoding, StreamError, TableFormat,
        TableOptions, synth::NamedGenerator,
    },
};
use broadstream_columnar::TableSource;
use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::{
    exceptions::{PyIsADirectoryError, PyUserWarning, PyValueError},
    prelude::*,
    types::{PyDict, PyString, PyTuple},
};

use crate::{
    error::to_python,
    guarded::{Forked, Guarded},
    interrupt::in_pieces,
    numbers::Whole,
};

/// A stream of labelled samples: a file, or a generator by its name.
///
/// Files are CSV, TSV, JSON lines, ARFF or LIBSVM, plain or compressed by gzip or zstd, or Parquet or
/// Arrow; the format is detected. Generators are those of ``broadstream.generators()``, with parameters
/// after a colon. A stream starts from its beginning each time that it is iterated over or evaluated.
///
/// A file has these options. ``target`` is the column of the labels, by default the last one. ``drop``
/// leaves columns out; ``categorical`` and ``numeric`` fix the kind of columns. ``categories`` is "one-hot",
/// the default, or "integer-codes", and ``max_categories`` the most inputs that those of a column may have, by default 2000.
/// ``format``, ``delimiter``, ``header`` and ``decimal_comma`` are detected unless given. An option that the
/// format does not have is refused, and a generator has none of them.
///
/// ``shuffle`` is a seed: all samples are read into memory and shuffled. ``limit`` is the most samples that
/// are read.
///
/// >>> import broadstream
/// >>> stream = broadstream.Stream("sea:noise=0,samples=1000")
/// >>> x, y = next(iter(stream))
/// >>> y, round(x["0"], 3)
/// ('false', 6.394)
/// >>> X, y = stream.arrays()
/// >>> X.shape
/// (1000, 3)
#[pyclass(frozen, module = "broadstream")]
#[derive(Clone)]
pub(crate) struct Stream {
    origin: Origin,
    options: TableOptions,
    shuffle: Option<u64>,
    limit: Option<u64>,
}

/// Where samples come from.
#[derive(Clone)]
enum Origin {
    Generator(NamedGenerator),
    File(String),
}

#[pymethods]
impl Stream {
    #[new]
    #[pyo3(signature = (
        source,
        *,
        target = None,
        drop = None,
        categorical = None,
        numeric = None,
        text = None,
        dates = None,
        categories = None,
        format = None,
        delimiter = None,
        header = None,
        max_categories = None,
        decimal_comma = None,
        shuffle = None,
        limit = None,
    ))]
    #[expect(clippy::too_many_arguments, reason = "as many as a file has options")]
    fn new(
        source: &Bound<'_, PyAny>,
        target: Option<String>,
        drop: Option<Vec<String>>,
        categorical: Option<Vec<String>>,
        numeric: Option<Vec<String>>,
        text: Option<Vec<String>>,
        dates: Option<Vec<String>>,
        categories: Option<&str>,
        format: Option<&str>,
        delimiter: Option<&str>,
        header: Option<bool>,
        max_categories: Option<Whole>,
        decimal_comma: Option<bool>,
        shuffle: Option<Whole>,
        limit: Option<Whole>,
    ) -> PyResult<Self> {
        let path = source.py().import("os")?.call_method1("fspath", (source,))?;
        let path: String = path.extract()?;
        let named = source.cast::<PyString>().is_ok();
        let generator = if named { NamedGenerator::find(&path).map_err(to_python)? } else { None };
        let options = TableOptions {
            format: format.map(TableFormat::parse).transpose().map_err(to_python)?,
            delimiter: delimiter.map(one_byte).transpose()?,
            header,
            target,
            drop: drop.unwrap_or_default(),
            categorical: categorical.unwrap_or_default(),
            numeric: numeric.unwrap_or_default(),
            text: text.unwrap_or_default(),
            dates: dates.unwrap_or_default(),
            categories: categories.map(Categories::parse).transpose().map_err(to_python)?,
            max_categories: max_categories
                .map(|most| usize::try_from(most.0).unwrap_or(usize::MAX)),
            decimal_comma,
        };
        if generator.is_some() {
            options.check_generator().map_err(to_python)?;
        }
        let origin = generator.map_or(Origin::File(path), Origin::Generator);
        let [shuffle, limit] = [shuffle, limit].map(|number| number.map(|number| number.0));
        Ok(Stream { origin, options, shuffle, limit })
    }

    /// The names of the inputs that are known before the first sample is read.
    #[getter]
    fn inputs(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let stream = py.detach(|| self.open())?;
        Ok(stream.schema().inputs().iter().map(|input| input.name.clone()).collect())
    }

    /// The name of what is predicted.
    #[getter]
    fn target(&self, py: Python<'_>) -> PyResult<String> {
        Ok(py.detach(|| self.open())?.schema().target().to_owned())
    }

    /// All samples as an array of numbers, with NaN where one is missing, and a list of labels.
    ///
    /// This needs a stream whose inputs are all numbers. Iterate over a stream that has categories.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyArray2<f64>>, Vec<String>)> {
        let mut stream = py.detach(|| self.open())?;
        let (mut blocks, mut left) = (Vec::new(), self.limit.unwrap_or(u64::MAX));
        let mut ended = false;
        // The number of samples is not known before the end, so pieces of unlimited work are cut into
        // rounds of 4096 samples, between which signals are checked.
        while !ended {
            in_pieces(py, 4096, |range| {
                let mut block = Block::new();
                let most = left.min(range.len() as u64) as usize;
                let read = py.detach(|| stream.read_block(&mut block, most)).map_err(to_python)?;
                left -= read as u64;
                ended |= read == 0;
                blocks.push(block);
                Ok(())
            })?;
        }
        let schema = stream.schema();
        let categories = schema.inputs().iter().find(|input| input.kind == InputKind::Indicator);
        if let Some(input) = categories {
            let message = format!("the stream has categories, such as '{}'", input.name);
            return Err(PyValueError::new_err(format!("{message}: iterate over it instead")));
        }
        let (width, rows) = (schema.inputs().len(), blocks.iter().map(Block::len).sum());
        let mut values = vec![f64::NAN; rows * width];
        let mut labels = Vec::with_capacity(rows);
        for block in &blocks {
            for i in 0..block.len() {
                let start = labels.len() * width;
                block.sample(i).iter().for_each(|(input, value)| values[start + input] = value);
                labels.push(schema.labels()[block.class(i)].clone());
            }
        }
        Ok((values.into_pyarray(py).reshape([rows, width])?, labels))
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<Samples> {
        let samples = Reading {
            stream: py.detach(|| self.of_cells().open())?,
            block: Block::new(),
            next: 0,
            left: self.limit.unwrap_or(u64::MAX),
            fault: None,
            cells: Vec::new(),
        };
        Ok(Samples(Guarded::new(samples)))
    }

    fn __repr__(&self) -> String {
        match &self.origin {
            Origin::Generator(generator) => format!("Stream({:?})", generator.text),
            Origin::File(path) => format!("Stream({path:?})"),
        }
    }
}

impl Stream {
    /// The same stream, whose columns become inputs as the model says, where the options of the stream do not.
    pub(crate) fn for_model(&self, model: Option<&RowEncoding>) -> Self {
        let mut stream = self.clone();
        if let (Origin::File(_), Some(encoding)) = (&self.origin, model) {
            if stream.options.text.is_empty() {
                stream.options.text.clone_from(&encoding.text);
            }
            stream.options.max_categories.get_or_insert(encoding.max_categories);
        }
        stream
    }

    /// The same stream with a category for every text, so that samples have what the cells say.
    fn of_cells(&self) -> Self {
        let mut stream = self.clone();
        if let Origin::File(_) = self.origin {
            let texts = std::mem::take(&mut stream.options.text);
            stream.options.categorical.extend(texts);
            stream.options.max_categories = Some(usize::MAX);
        }
        stream
    }

    /// The samples from the first one on.
    pub(crate) fn open(&self) -> PyResult<Box<dyn broadstream::stream::Stream>> {
        let stream = match &self.origin {
            Origin::Generator(generator) => {
                let samples = generator.open().map_err(to_python)?.take(generator.samples);
                Box::new(samples) as Box<dyn broadstream::stream::Stream>
            }
            Origin::File(path) => self.open_file(path)?,
        };
        let Some(seed) = self.shuffle else { return Ok(stream) };
        let mut stream = Interruptible { stream, last: Instant::now(), raised: None };
        let read = MemoryStream::read(&mut stream, None);
        let mut shuffled = match stream.raised {
            Some(error) => return Err(error),
            None => read.map_err(to_python)?,
        };
        shuffled.shuffle(seed);
        Ok(Box::new(shuffled))
    }

    fn open_file(&self, path: &str) -> PyResult<Box<dyn broadstream::stream::Stream>> {
        let file = File::open(path).map_err(|error| not_there(path, &error))?;
        let metadata = file.metadata().map_err(|error| not_there(path, &error))?;
        if metadata.is_dir() {
            let message = format!("{path} is a directory, expected a file");
            return Err(PyIsADirectoryError::new_err(message));
        }
        let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
        let stream = TableSource::file(file, &name, self.options.clone())
            .and_then(TableSource::stream)
            .map_err(to_python)?;
        for warning in stream.warnings() {
            warn(&format!("{path}: {warning}"))?;
        }
        Ok(stream)
    }

    /// The most samples that are read.
    pub(crate) fn limit(&self) -> Option<u64> {
        self.limit
    }
}

/// Warns as Python does: once for each line of a program, or as the user has chosen.
fn warn(message: &str) -> PyResult<()> {
    // A name in a warning may contain any character, and a text of C ends at the first NUL.
    let message = CString::new(message.replace('\0', "\u{fffd}"))?;
    Python::attach(|py| PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, 1))
}

/// A stream that is read as a whole, unless Python handles a signal by an exception, such as Ctrl-C.
struct Interruptible {
    stream: Box<dyn broadstream::stream::Stream>,
    last: Instant,
    raised: Option<PyErr>,
}

impl broadstream::stream::Stream for Interruptible {
    fn schema(&self) -> &Schema {
        self.stream.schema()
    }

    fn inputs_per_sample(&self) -> usize {
        self.stream.inputs_per_sample()
    }

    fn encoding(&self) -> Option<RowEncoding> {
        self.stream.encoding()
    }

    fn read_block(&mut self, block: &mut Block, most: usize) -> Result<usize, Error> {
        const PAUSE: Duration = Duration::from_millis(100);
        if self.last.elapsed() > PAUSE {
            self.last = Instant::now();
            if let Err(error) = Python::attach(|py| py.check_signals()) {
                self.raised = Some(error);
                return Err(failed(0));
            }
        }
        self.stream.read_block(block, most)
    }
}

/// The samples of a stream, one after the other: a dictionary of inputs and a label.
#[pyclass(frozen, module = "broadstream", name = "_Samples")]
pub(crate) struct Samples(Guarded<Reading>);

struct Reading {
    stream: Box<dyn broadstream::stream::Stream>,
    block: Block,
    next: usize,
    left: u64,
    /// The error that follows the samples in the block.
    fault: Option<Error>,
    /// For each input its column, and its category if it stands for one.
    cells: Vec<(String, Option<String>)>,
}

impl Forked for Reading {
    /// A stream has no threads.
    fn forked(&mut self) -> PyResult<()> {
        Ok(())
    }
}

#[pymethods]
impl Samples {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let mut reading = self.0.lock(py)?;
        let Reading { stream, block, next, left, fault, cells } = &mut *reading;
        if *next == block.len() {
            if let Some(fault) = fault.take() {
                return Err(to_python(fault));
            }
            block.clear();
            *next = 0;
            let most = (*left).min(256) as usize;
            match py.detach(|| stream.read_block(block, most)) {
                Err(error) if block.is_empty() => return Err(to_python(error)),
                Err(error) => *fault = Some(error),
                Ok(_) => {}
            }
            *left -= block.len() as u64;
            if block.is_empty() {
                return Ok(None);
            }
            name_cells(&**stream, cells);
        }
        let x = PyDict::new(py);
        for (input, value) in block.sample(*next).iter() {
            match &cells[input] {
                (column, None) => x.set_item(column, value)?,
                (column, Some(category)) => x.set_item(column, category)?,
            }
        }
        let label = &stream.schema().labels()[block.class(*next)];
        *next += 1;
        (x, label).into_pyobject(py).map(Some)
    }
}

/// Adds to `cells` which cell each new input stands for.
fn name_cells(stream: &dyn broadstream::stream::Stream, cells: &mut Vec<(String, Option<String>)>) {
    let inputs = &stream.schema().inputs()[cells.len()..];
    if inputs.is_empty() {
        return;
    }
    let columns = stream.encoding().map(|encoding| encoding.columns).unwrap_or_default();
    let categorical: HashSet<&str> = columns
        .iter()
        .filter(|column| column.coding == ColumnCoding::OneHot)
        .map(|column| column.name.as_str())
        .collect();
    for input in inputs {
        let splits = input.name.match_indices('=').map(|(at, _)| input.name.split_at(at));
        // There may be columns 'a' and 'a=b'. The longer name is more likely to be meant.
        let split = splits.into_iter().rfind(|(column, _)| categorical.contains(column));
        cells.push(match split.filter(|_| input.kind == InputKind::Indicator) {
            Some((column, category)) => (column.to_owned(), Some(category[1..].to_owned())),
            None => (input.name.clone(), None),
        });
    }
}

/// The system's own error, which is a FileNotFoundError or the like. A name that no path would have may be
/// meant as that of a generator.
fn not_there(path: &str, error: &std::io::Error) -> PyErr {
    let name = path.split(':').next().unwrap_or_default();
    if error.kind() == ErrorKind::NotFound && !name.contains(['/', '.']) {
        let generators = NamedGenerator::NAMES.join(", ");
        let meant = Python::attach(|py| similar(py, name)).ok().flatten();
        let meant = meant.map(|meant| format!("did you mean '{meant}'? ")).unwrap_or_default();
        let message = format!(
            "there is no file '{path}', and no generator of that name: {meant}the generators are \
             {generators}"
        );
        return std::io::Error::new(ErrorKind::NotFound, message).into();
    }
    std::io::Error::new(error.kind(), format!("{path}: {error}")).into()
}

/// The generator whose name is most like this one.
fn similar(py: Python<'_>, name: &str) -> PyResult<Option<String>> {
    let matches = py.import("difflib")?.getattr("get_close_matches")?;
    let found: Vec<String> = matches.call1((name, NamedGenerator::NAMES.to_vec(), 1))?.extract()?;
    Ok(found.into_iter().next())
}

/// The delimiter that a text spells.
fn one_byte(text: &str) -> PyResult<u8> {
    match text.as_bytes() {
        [byte] => Ok(*byte),
        _ => {
            let (option, rule, value) = ("delimiter", "one byte", format!("'{text}'"));
            Err(to_python(Error::Config { option, rule, value }))
        }
    }
}

/// The error of a stream whose reading was ended by a Python exception.
pub(crate) fn failed(row: usize) -> Error {
    let source = std::io::Error::other("Python raised an exception");
    StreamError::Read { place: Place::Row(row as u64 + 1), source }.into()
}
