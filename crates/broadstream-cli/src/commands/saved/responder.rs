//! Predicts rows as they arrive, and learns those with a label.

use std::{
    io::{self, BufWriter, StdoutLock, Write},
    ops::AddAssign,
};

use anyhow::Result;
use broadstream::{
    Block, ClassCosts, Classifier, Costs, Error, OnlineBls, Predictor, Reason, Schema, Scores,
    stream::{LiveFormat, LiveRows, StreamError},
};
use serde_json::json;

use super::{journal::RowJournal, reasons};
use crate::{
    build::stop,
    output::failure::{is_closed, to_stdout},
};

/// The most rows that are predicted or learned together.
const BLOCK: usize = 64;

/// Lets a model respond to rows. Those that have already arrived are gathered in a block, which is faster
/// and gives the same predictions; nobody waits for a prediction until more rows come.
pub(super) struct Responder<'a> {
    pub(super) model: &'a mut OnlineBls,
    /// Whether rows with a label are learned.
    learns: bool,
    /// What decisions cost, if they are made for the least cost.
    costs: Option<&'a Costs>,
    /// The same by the classes known so far.
    class_costs: Option<ClassCosts>,
    /// How many reasons of each prediction are written; 0 for none.
    explained: usize,
    /// What predictions are explained from. Only a model that learns nothing explains.
    predictor: Option<Predictor>,
    /// Where the predictions go, if anywhere.
    predictions: Option<PredictionWriter>,
    /// Whether nothing more is to be done once nobody reads the predictions.
    needs_output: bool,
    /// Where rows go before they are answered, if anywhere.
    pub(super) journal: Option<RowJournal>,
    /// The rows that were gathered. All of them are to be learned, or none.
    block: Block,
    /// The lines of these rows.
    lines: Vec<u64>,
    /// Whether these rows are to be learned.
    is_labelled: bool,
    /// How many inputs the model had before the first row.
    inputs: usize,
    pub(super) counts: RowCounts,
}

/// What becomes of the predictions.
#[derive(Clone, Copy)]
pub(super) enum Output {
    /// They are not written.
    None,
    /// They are written as long as somebody reads them; the rows are learned in any case.
    WhileOpen,
    /// They are written, and it is an error if nobody reads them any more.
    Needed,
}

/// Why a responder stopped reading.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Halt {
    /// It has read as many rows as it was asked to, and there may be more.
    Paused,
    /// There are no more rows.
    Ended,
    /// A signal asked the program to end. All rows before that were answered.
    Stopped,
}

/// How many rows were predicted, and how many of these were learned.
#[derive(Clone, Copy, Default)]
pub(super) struct RowCounts {
    pub(super) rows: u64,
    pub(super) learned: u64,
}

impl AddAssign for RowCounts {
    fn add_assign(&mut self, other: Self) {
        self.rows += other.rows;
        self.learned += other.learned;
    }
}

impl<'a> Responder<'a> {
    pub(super) fn new(model: &'a mut OnlineBls, learns: bool, output: Output) -> Self {
        Responder {
            inputs: model.inputs(),
            model,
            learns,
            costs: None,
            class_costs: None,
            explained: 0,
            predictor: None,
            predictions: (!matches!(output, Output::None)).then(PredictionWriter::new),
            needs_output: matches!(output, Output::Needed),
            journal: None,
            block: Block::new(),
            lines: Vec::new(),
            is_labelled: false,
            counts: RowCounts::default(),
        }
    }

    /// Decides for the least cost, if there are costs.
    pub(super) fn deciding_by(self, costs: Option<&'a Costs>) -> Self {
        Responder { costs, ..self }
    }

    /// Writes as many reasons of each prediction. The model must learn nothing.
    pub(super) fn explaining(self, explained: usize) -> Self {
        Responder { explained, ..self }
    }

    /// Learns rows and writes nothing.
    pub(super) fn learning(model: &'a mut OnlineBls) -> Self {
        Responder::new(model, true, Output::None)
    }

    /// Responds to up to `most` rows.
    pub(super) fn read(&mut self, rows: &mut LiveRows, most: u64) -> Result<Halt> {
        let end = self.counts.rows.saturating_add(most);
        while self.counts.rows + (self.block.len() as u64) < end {
            if stop::received().is_some() {
                self.flush(rows)?;
                return Ok(Halt::Stopped);
            }
            let row = match rows.next() {
                Ok(Some(row)) => row,
                Ok(None) => {
                    self.flush(rows)?;
                    return Ok(Halt::Ended);
                }
                Err(error) => {
                    // The rows before a faulty one are good, and get their predictions.
                    self.flush(rows)?;
                    let is_of_source = matches!(error, Error::Stream(StreamError::Read { .. }));
                    let is_stopped = is_of_source && stop::received().is_some();
                    return if is_stopped { Ok(Halt::Stopped) } else { Err(error.into()) };
                }
            };
            let class = row.class.filter(|_| self.learns);
            // The row borrows `rows`, which `flush` needs too, so it is copied first.
            let mut next = Block::new();
            next.push(row.sample, class.unwrap_or(0), 1.0)?;
            let (line, text) = (row.line, self.journal.is_some().then(|| row.text.to_vec()));
            if let Err(error) = self.find_costs(rows.schema().labels()) {
                self.flush(rows)?;
                return Err(anyhow::Error::from(error).context(format!("line {line}")));
            }
            if class.is_some() != self.is_labelled {
                self.flush(rows)?;
            }
            self.is_labelled = class.is_some();
            self.block.push(next.sample(0), next.class(0), 1.0)?;
            self.lines.push(line);
            if let (Some(journal), Some(text)) = (&mut self.journal, text) {
                journal.push(&text);
            }
            if self.block.len() == BLOCK || !rows.is_ready() {
                self.flush(rows)?;
            }
        }
        self.flush(rows)?;
        Ok(Halt::Paused)
    }

    /// Finds the costs of the classes with these labels.
    fn find_costs(&mut self, labels: &[String]) -> Result<(), Error> {
        let Some(costs) = self.costs else { return Ok(()) };
        if self.class_costs.as_ref().is_none_or(|known| known.classes() < labels.len()) {
            self.class_costs = Some(costs.by_class(labels)?);
        }
        Ok(())
    }

    /// Predicts the rows that were gathered, learns them if they have labels, and writes the predictions once
    /// the journal has the rows.
    ///
    /// Rows that are only predicted leave nothing behind: a pipe that never ends may bring new categories all
    /// the time, and each would take the memory of an input.
    fn flush(&mut self, rows: &mut LiveRows) -> Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let schema = rows.schema();
        for input in &schema.inputs()[self.model.inputs()..] {
            self.model.declare_input(&input.name, input.kind)?;
        }
        let (scores, leverages) = self.respond().map_err(|error| self.with_line(error))?;
        let decided: Vec<Option<usize>> =
            (0..scores.len()).map(|i| self.decide(&scores, i)).collect();
        let reasons = self.explain(&decided)?;
        if let Some(journal) = &mut self.journal {
            journal.commit(rows)?;
        }
        self.counts.rows += self.block.len() as u64;
        self.counts.learned += if self.is_labelled { self.block.len() as u64 } else { 0 };
        self.block.clear();
        self.lines.clear();
        let written = self.write(&scores, &leverages, &decided, &reasons, rows.format(), schema);
        if !self.learns {
            self.model.withdraw_inputs(self.inputs);
            rows.undo();
        }
        written
    }

    /// The scores and leverages of the block, which is learned if it has labels.
    fn respond(&mut self) -> Result<(Scores, Vec<f64>), Error> {
        if !self.is_labelled {
            return self.model.scores_many(&self.block);
        }
        let (mut scores, mut leverages) = (Scores::new(), Vec::new());
        self.model.test_then_train_with_leverages(&self.block, &mut scores, &mut leverages)?;
        Ok((scores, leverages))
    }

    /// What is decided for a row of the block; `None` where abstaining costs least, and before the first label.
    fn decide(&self, scores: &Scores, row: usize) -> Option<usize> {
        match &self.class_costs {
            Some(costs) => costs.decide(&self.model.probabilities(scores.row(row))),
            None => scores.decisions(row).of(self.model.config().objective),
        }
    }

    /// The reasons of what was decided for each row of the block, if they are wanted.
    fn explain(&mut self, decided: &[Option<usize>]) -> Result<Vec<Vec<Reason>>, Error> {
        if self.explained == 0 {
            return Ok(Vec::new());
        }
        // Inputs that are new are withdrawn after the block. Only what was made with them knows them.
        let with_new;
        let predictor = match self.model.inputs() > self.inputs {
            true => {
                with_new = self.model.predictor();
                &with_new
            }
            false => self.predictor.get_or_insert_with(|| self.model.predictor()),
        };
        let explain = |(row, class): (usize, &Option<usize>)| {
            let Some(class) = *class else { return Ok(Vec::new()) };
            let mut reasons = predictor.explain_class(self.block.sample(row), class)?.reasons;
            reasons.truncate(self.explained);
            Ok(reasons)
        };
        decided.iter().enumerate().map(explain).collect()
    }

    fn write(
        &mut self,
        scores: &Scores,
        leverages: &[f64],
        decided: &[Option<usize>],
        reasons: &[Vec<Reason>],
        format: Option<LiveFormat>,
        schema: &Schema,
    ) -> Result<()> {
        let Some(predictions) = &mut self.predictions else { return Ok(()) };
        let mut write = || {
            for (i, (scores, leverage)) in scores.iter().zip(leverages).enumerate() {
                let probabilities = self.model.probabilities(scores);
                let reasons = reasons.get(i).map(Vec::as_slice);
                predictions.write(
                    format,
                    schema,
                    decided[i],
                    &probabilities,
                    *leverage,
                    reasons,
                )?;
            }
            to_stdout(predictions.writer.flush())
        };
        match write() {
            // Whoever closes the pipe has read enough predictions, but the rows of a file are still to be
            // learned.
            Err(error) if !self.needs_output && is_closed(&error) => self.predictions = None,
            written => written?,
        }
        Ok(())
    }

    /// Adds the line of the row that an error is about: the first that the model refuses.
    fn with_line(&self, error: Error) -> anyhow::Error {
        let is_refused = |i: &usize| self.model.features_one(self.block.sample(*i)).is_err();
        match (0..self.block.len()).find(is_refused) {
            Some(i) => anyhow::Error::from(error).context(format!("line {}", self.lines[i])),
            None => error.into(),
        }
    }
}

/// Predictions on standard output, in the format of the rows.
struct PredictionWriter {
    writer: BufWriter<StdoutLock<'static>>,
    has_header: bool,
}

impl PredictionWriter {
    fn new() -> Self {
        PredictionWriter { writer: BufWriter::new(io::stdout().lock()), has_header: false }
    }

    fn write(
        &mut self,
        format: Option<LiveFormat>,
        schema: &Schema,
        prediction: Option<usize>,
        probabilities: &[f64],
        leverage: f64,
        reasons: Option<&[Reason]>,
    ) -> Result<()> {
        let label = prediction.map(|class| match schema.labels().get(class) {
            Some(label) => label.clone(),
            None => class.to_string(),
        });
        let probability = prediction.and_then(|class| probabilities.get(class).copied());
        if format == Some(LiveFormat::JsonLines) {
            let mut line = json!({
                "prediction": label,
                "probability": probability,
                "leverage": leverage,
            });
            if let Some(reasons) = reasons {
                line["reasons"] = reasons::json(reasons);
            }
            return to_stdout(writeln!(self.writer, "{line}"));
        }
        let mut csv = csv::Writer::from_writer(Vec::new());
        if !self.has_header {
            self.has_header = true;
            let names = ["prediction", "probability", "leverage"].into_iter();
            csv.write_record(names.chain(reasons.map(|_| "reasons")))?;
        }
        let probability = probability.map_or_else(String::new, |p| p.to_string());
        let cells = [label.unwrap_or_default(), probability, leverage.to_string()].into_iter();
        csv.write_record(cells.chain(reasons.map(reasons::text)))?;
        let text = csv.into_inner().map_err(|error| error.into_error())?;
        to_stdout(self.writer.write_all(&text))
    }
}
