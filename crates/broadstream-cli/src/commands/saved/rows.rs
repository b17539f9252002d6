//! Rows for saved models, and answers to them.

use std::{
    fs::File,
    io::{self, BufWriter, IsTerminal, Read, StdoutLock, Write},
    num::NonZero,
    path::Path,
    thread,
};

use anyhow::{Context, Result, bail};
use broadstream::{
    Block, Classifier, Error, OnlineBls, Schema, Scores, arg_max,
    model_file::Saved,
    stream::{LiveFormat, LiveOptions, LiveRows, RowEncoding, Unknown},
};
use serde_json::json;

use crate::{
    args::{RowArguments, RowFormat, UnknownColumns},
    output::failure::{is_closed, to_stdout},
};

/// Rows that are learned or predicted together, if they are there together.
const BLOCK: usize = 64;

/// Opens rows for a model.
pub(crate) fn open<T>(arguments: &RowArguments, saved: &Saved<T>) -> Result<LiveRows> {
    let RowArguments { source, rows_format, delimiter, header, no_header, drop, unknown } =
        arguments;
    let reader: Box<dyn Read + Send> = if is_standard_input(source) {
        if io::stdin().is_terminal() {
            eprintln!("reading rows from standard input; end them with Ctrl-D");
        }
        Box::new(io::stdin())
    } else {
        let file = File::open(source).with_context(|| name(arguments))?;
        if file.metadata()?.is_dir() {
            bail!("{} is a directory, expected a file", name(arguments));
        }
        Box::new(file)
    };
    let options = LiveOptions {
        format: rows_format.map(|format| match format {
            RowFormat::Csv => LiveFormat::Csv,
            RowFormat::Jsonl => LiveFormat::JsonLines,
        }),
        delimiter: *delimiter,
        header: match (header, no_header) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        },
        drop: drop.clone(),
        unknown: match unknown {
            UnknownColumns::Refuse => Unknown::Refuse,
            UnknownColumns::Ignore => Unknown::Ignore,
            UnknownColumns::Learn => Unknown::Learn,
        },
    };
    let schema = saved.schema.clone();
    let encoding = saved.encoding.clone().unwrap_or_else(|| RowEncoding::of_schema(&schema));
    LiveRows::new(reader, options, schema, encoding).with_context(|| name(arguments))
}

/// What the rows are called in messages.
pub(crate) fn name(arguments: &RowArguments) -> String {
    match is_standard_input(&arguments.source) {
        true => "standard input".to_owned(),
        false => arguments.source.display().to_string(),
    }
}

/// A number of rows, in words.
pub(crate) fn counted(rows: u64) -> String {
    if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") }
}

fn is_standard_input(source: &Path) -> bool {
    source == Path::new("-")
}

/// As many threads as a model can use here, unless told otherwise.
pub(crate) fn threads(given: Option<usize>) -> usize {
    const MOST: usize = 8;
    given.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZero::get).min(MOST))
}

/// Has a model answer rows, one by one or as many at a time as are there.
pub(crate) struct Answering<'a> {
    pub(crate) model: &'a mut OnlineBls,
    /// Whether rows with a label are learned.
    pub(crate) learns: bool,
    /// Where the answers go, if anywhere.
    pub(crate) answers: Option<Answers>,
    block: Block,
    lines: Vec<u64>,
    labelled: bool,
    pub(crate) counts: Counts,
}

/// How many rows there were.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) rows: u64,
    pub(crate) learned: u64,
}

impl<'a> Answering<'a> {
    pub(crate) fn new(model: &'a mut OnlineBls, learns: bool, answers: Option<Answers>) -> Self {
        let (block, lines, counts) = (Block::new(), Vec::new(), Counts::default());
        Answering { model, learns, answers, block, lines, labelled: false, counts }
    }

    /// Reads up to `most` rows, and returns whether there may be more.
    pub(crate) fn read(&mut self, rows: &mut LiveRows, most: u64) -> Result<bool> {
        let end = self.counts.rows.saturating_add(most);
        while self.counts.rows + (self.block.len() as u64) < end {
            let row = match rows.next() {
                Ok(Some(row)) => row,
                Ok(None) => {
                    self.flush(rows)?;
                    return Ok(false);
                }
                Err(error) => {
                    // What came before a faulty row was answered for its own sake.
                    self.flush(rows)?;
                    return Err(error.into());
                }
            };
            let class = row.class.filter(|_| self.learns);
            let mut next = Block::new();
            next.push(row.sample, class.unwrap_or(0), 1.0)?;
            let line = row.line;
            if class.is_some() != self.labelled || self.block.len() == BLOCK {
                self.flush(rows)?;
            }
            self.labelled = class.is_some();
            self.block.push(next.sample(0), next.class(0), 1.0)?;
            self.lines.push(line);
            // Nobody should have to wait for an answer until more rows come.
            if !rows.is_ready() {
                self.flush(rows)?;
            }
        }
        self.flush(rows)?;
        Ok(true)
    }

    /// Answers and learns the rows that were gathered.
    fn flush(&mut self, rows: &LiveRows) -> Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let schema = rows.schema();
        for input in &schema.inputs()[self.model.inputs()..] {
            self.model.declare_input(&input.name, input.kind)?;
        }
        let (mut scores, mut leverages) = (Scores::new(), Vec::new());
        let judged = if self.labelled {
            let learned =
                self.model.test_then_train_with_leverages(&self.block, &mut scores, &mut leverages);
            learned.map_err(|error| self.place(error))
        } else {
            match self.model.scores_many(&self.block) {
                Ok(judged) => {
                    (scores, leverages) = judged;
                    Ok(())
                }
                Err(error) => Err(self.place(error)),
            }
        };
        judged?;
        self.counts.rows += self.block.len() as u64;
        self.counts.learned += if self.labelled { self.block.len() as u64 } else { 0 };
        if let Some(answers) = &mut self.answers {
            let mut write = || {
                for (scores, leverage) in scores.iter().zip(&leverages) {
                    let probabilities = self.model.probabilities(scores);
                    let prediction = arg_max(scores);
                    answers.write(rows.format(), schema, prediction, &probabilities, *leverage)?;
                }
                to_stdout(answers.writer.flush())
            };
            match write() {
                // Whoever has read enough answers has not said that nothing more is to be learned.
                Err(error) if self.learns && is_closed(&error) => self.answers = None,
                written => written?,
            }
        }
        self.block.clear();
        self.lines.clear();
        Ok(())
    }

    /// Says of which row an error is: the first that the model does not take.
    fn place(&self, error: Error) -> anyhow::Error {
        let refused = |i: &usize| self.model.features_one(self.block.sample(*i)).is_err();
        match (0..self.block.len()).find(refused) {
            Some(i) => anyhow::Error::from(error).context(format!("line {}", self.lines[i])),
            None => error.into(),
        }
    }
}

/// Predictions on standard output, written as the rows were.
pub(crate) struct Answers {
    writer: BufWriter<StdoutLock<'static>>,
    has_header: bool,
}

impl Answers {
    pub(crate) fn new() -> Self {
        Answers { writer: BufWriter::new(io::stdout().lock()), has_header: false }
    }

    fn write(
        &mut self,
        format: Option<LiveFormat>,
        schema: &Schema,
        prediction: Option<usize>,
        probabilities: &[f64],
        leverage: f64,
    ) -> Result<()> {
        let label = prediction.map(|class| match schema.labels().get(class) {
            Some(label) => label.clone(),
            None => class.to_string(),
        });
        let probability = prediction.and_then(|class| probabilities.get(class).copied());
        if format == Some(LiveFormat::JsonLines) {
            let answer = json!({
                "prediction": label,
                "probability": probability,
                "leverage": leverage,
            });
            return to_stdout(writeln!(self.writer, "{answer}"));
        }
        let mut csv = csv::Writer::from_writer(Vec::new());
        if !self.has_header {
            self.has_header = true;
            csv.write_record(["prediction", "probability", "leverage"])?;
        }
        let probability = probability.map_or_else(String::new, |p| p.to_string());
        csv.write_record([label.unwrap_or_default(), probability, leverage.to_string()])?;
        let text = csv.into_inner().map_err(|error| error.into_error())?;
        to_stdout(self.writer.write_all(&text))
    }
}
