//! The evaluation of a run, which writes files and checkpoints on the way.

use std::{ops::ControlFlow, path::Path, time::Instant};

use anyhow::{Context, Result};
use broadstream::{
    Checkpoint, CurvePoint, Evaluation, Observer, Outcome, evaluate as evaluate_stream,
    metrics::Metrics, resume,
};
use broadstream_store::LockedPath;

use super::{
    checkpoint::{Checkpoints, FileLengths},
    prepare::{Prepared, RunStart},
};
use crate::{
    args::RunArguments,
    build::{
        model::Model,
        source::{Opened, Source},
    },
    output::{csv_file::CsvFile, curve, progress::Progress},
};

/// A run that has come to its end.
pub(super) struct Finished {
    pub(super) arguments: RunArguments,
    pub(super) source: Source,
    pub(super) opened: Opened,
    pub(super) model: Model,
    pub(super) evaluation: Evaluation,
    /// How long the run took, with the time before it was resumed.
    pub(super) seconds: f64,
    /// Where the model goes, if it is saved.
    pub(super) save: Option<LockedPath>,
}

pub(super) fn evaluate(prepared: Prepared) -> Result<Finished> {
    let Prepared { arguments, options, source, mut opened, save, clock: start, start: run } =
        prepared;
    let RunStart { mut model, state, lengths, seconds, checkpoints } = run;
    let files = &arguments.evaluation;
    let members = model.classifier.members();
    let mut observer = RunObserver {
        progress: Progress::new(&opened, arguments.input.limit, files.quiet),
        start,
        seconds_before: seconds,
        predictions: open_table(files.predictions.as_deref(), lengths.predictions, || {
            PREDICTION_COLUMNS.map(str::to_owned).to_vec()
        })?,
        curve: open_table(files.curve.as_deref(), lengths.curve, || curve::columns(&members))?,
        checkpoints,
        failure: None,
    };
    let (stream, classifier) = (&mut *opened.stream, &mut *model.classifier);
    let clock = || start.elapsed();
    let result = match state {
        Some(state) => resume(stream, classifier, state, &options, &clock, &mut observer),
        None => evaluate_stream(stream, classifier, &options, &clock, &mut observer),
    };
    observer.progress.finish();
    let seconds = observer.seconds();
    // Both tables are finished before any error is reported: what they hold is worth keeping.
    let tables = [observer.predictions, observer.curve].into_iter().flatten().map(CsvFile::finish);
    let tables: Result<Vec<()>> = tables.collect();
    if let Some(failure) = observer.failure {
        return Err(failure);
    }
    let evaluation = result.with_context(|| source.name())?;
    tables?;
    Ok(Finished { arguments, source, opened, model, evaluation, seconds, save })
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

/// Shows progress, and writes predictions, the curve and checkpoints while the evaluation runs.
struct RunObserver {
    progress: Progress,
    start: Instant,
    /// How long the run had taken before it was resumed.
    seconds_before: f64,
    predictions: Option<CsvFile>,
    curve: Option<CsvFile>,
    checkpoints: Option<Checkpoints>,
    /// Why a checkpoint could not be written, which ends the run.
    failure: Option<anyhow::Error>,
}

impl RunObserver {
    fn seconds(&self) -> f64 {
        self.seconds_before + self.start.elapsed().as_secs_f64()
    }

    fn write_checkpoint(&mut self, checkpoint: &Checkpoint<'_>) -> Result<()> {
        let seconds = self.seconds();
        let Some(checkpoints) = &self.checkpoints else { return Ok(()) };
        // The tables go to the disk first, so that they are as long as the checkpoint says even if the
        // machine crashes right after it.
        let sync = |file: &mut Option<CsvFile>| file.as_mut().map(CsvFile::sync).transpose();
        let lengths = FileLengths {
            predictions: sync(&mut self.predictions)?,
            curve: sync(&mut self.curve)?,
        };
        checkpoints.write(checkpoint, lengths, seconds)
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
        if files.any(CsvFile::has_failed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn checkpoint(&mut self, checkpoint: Checkpoint<'_>) -> ControlFlow<()> {
        self.failure = self.write_checkpoint(&checkpoint).err();
        if self.failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn passed(&mut self, samples: u64) {
        self.progress.show_passed(samples);
    }
}
