//! The evaluation of a run, which writes files and checkpoints on the way.

use std::{ops::ControlFlow, path::Path, time::Instant};

use anyhow::{Context, Result};
use broadstream::{
    Costs, CurvePoint, Error, Evaluation, Evaluator, Observer, Outcome, Progress as Halt,
    metrics::Metrics, stream::StreamError,
};
use broadstream_store::LockedPath;

use super::{
    checkpoint::FileLengths,
    prepare::{Prepared, RunStart},
};
use crate::{
    args::RunArguments,
    build::{
        model::Model,
        source::{Opened, Source},
        stop,
    },
    output::{csv_file::CsvFile, curve, progress::Progress, reserved_file::ReservedFile},
};

/// A run that has come to its end.
pub(super) struct Finished {
    pub(super) arguments: RunArguments,
    pub(super) source: Source,
    pub(super) opened: Opened,
    pub(super) model: Model,
    pub(super) evaluation: Evaluation,
    /// What decisions cost, by label.
    pub(super) costs: Option<Costs>,
    /// How long the run took, with the time before it was resumed.
    pub(super) seconds: f64,
    /// Where the model goes, if it is saved.
    pub(super) save: Option<LockedPath>,
    /// Where the page goes, if there is one.
    pub(super) report: Option<ReservedFile>,
}

pub(super) fn evaluate(prepared: Prepared) -> Result<Finished> {
    let Prepared { arguments, options, source, mut opened, save, report, clock, start: run } =
        prepared;
    let start = clock;
    let RunStart { mut model, state, lengths, seconds, checkpoints } = run;
    let files = &arguments.evaluation;
    let members = model.classifier().members();
    let mut observer = RunObserver {
        progress: Progress::new(&opened, arguments.input.limit, files.quiet),
        start,
        seconds_before: seconds,
        predictions: open_table(files.predictions.as_deref(), lengths.predictions, || {
            PREDICTION_COLUMNS.map(str::to_owned).to_vec()
        })?,
        curve: open_table(files.curve.as_deref(), lengths.curve, || {
            curve::columns(&members, options.costs.is_some())
        })?,
    };
    let clock = || start.elapsed();
    let evaluator = match state {
        Some(state) => Evaluator::resume(state, &options)?,
        None => Evaluator::new(&options)?,
    };
    let mut evaluator = evaluator.with_clock(&clock);
    let stream = &mut *opened.stream;
    if checkpoints.is_some() {
        stop::watch()?;
    }
    let mut failure = None;
    let halt = loop {
        let halt = evaluator.advance(stream, model.classifier_mut(), &mut observer);
        let Some(checkpoints) = &checkpoints else { break halt };
        let stopped = stop::received().filter(|_| is_stop(&halt));
        if stopped.is_none() && !matches!(halt, Ok(Halt::Checkpoint)) {
            break halt;
        }
        let written = observer.sync_tables().and_then(|lengths| {
            let state = evaluator.state();
            checkpoints.write(&model, stream, state, lengths, observer.seconds())
        });
        match (written, stopped) {
            (Ok(()), None) => {}
            (Ok(()), Some(signal)) => {
                observer.progress.finish();
                return Err(checkpoints.stopped(signal).into());
            }
            (Err(error), _) => {
                failure = Some(error);
                break halt;
            }
        }
    };
    let result =
        halt.and_then(|_| evaluator.finish(model.classifier(), stream.schema(), &mut observer));
    observer.progress.finish();
    let seconds = observer.seconds();
    // Both tables are finished before any error is reported: what they hold is worth keeping.
    let tables = [observer.predictions, observer.curve].into_iter().flatten().map(CsvFile::finish);
    let tables: Result<Vec<()>> = tables.collect();
    if let Some(failure) = failure {
        return Err(failure);
    }
    let evaluation = result.with_context(|| source.name())?;
    tables?;
    let costs = options.costs;
    Ok(Finished { arguments, source, opened, model, evaluation, costs, seconds, save, report })
}

/// Whether an evaluation halted because of a signal: its observer broke off, or its source did not wait on.
fn is_stop(halt: &Result<Halt, Error>) -> bool {
    matches!(halt, Ok(Halt::Stopped) | Err(Error::Stream(StreamError::Read { .. })))
}

/// Creates a table that is written on the way, or opens it to continue after its first `length` bytes.
fn open_table(
    path: Option<&Path>,
    length: Option<u64>,
    columns: impl FnOnce() -> Vec<String>,
) -> Result<Option<CsvFile>> {
    path.map(|path| match length {
        Some(length) => CsvFile::reopen(path, length),
        None => CsvFile::create(path, columns()),
    })
    .transpose()
}

const PREDICTION_COLUMNS: [&str; 4] = ["sample", "label", "prediction", "probability"];

/// Shows progress, and writes predictions and the curve while the evaluation runs.
struct RunObserver {
    progress: Progress,
    start: Instant,
    /// How long the run had taken before it was resumed.
    seconds_before: f64,
    predictions: Option<CsvFile>,
    curve: Option<CsvFile>,
}

impl RunObserver {
    fn seconds(&self) -> f64 {
        self.seconds_before + self.start.elapsed().as_secs_f64()
    }

    /// Brings the tables to the disk, so that they are as long as a checkpoint says even if the machine
    /// crashes right after it.
    fn sync_tables(&mut self) -> Result<FileLengths> {
        let sync = |file: &mut Option<CsvFile>| file.as_mut().map(CsvFile::sync).transpose();
        Ok(FileLengths { predictions: sync(&mut self.predictions)?, curve: sync(&mut self.curve)? })
    }
}

impl Observer for RunObserver {
    fn sample(&mut self, outcome: Outcome<'_>) {
        let Some(predictions) = &mut self.predictions else { return };
        let labels = outcome.schema.labels();
        let (prediction, probability) = match outcome.predicted {
            Some(class) => (labels[class].as_str(), outcome.probabilities[class].to_string()),
            None => ("", String::new()),
        };
        let sample = outcome.sample.to_string();
        predictions.write([&sample, labels[outcome.truth].as_str(), prediction, &probability]);
    }

    fn curve(&mut self, point: &CurvePoint) {
        let Some(file) = &mut self.curve else { return };
        file.write(curve::row(point));
    }

    fn block(&mut self, metrics: &Metrics) -> ControlFlow<()> {
        self.progress.show(metrics, self.start.elapsed());
        let mut files = [&self.predictions, &self.curve].into_iter().flatten();
        if files.any(CsvFile::has_failed) || stop::received().is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn passed(&mut self, samples: u64) {
        self.progress.show_passed(samples);
    }
}
