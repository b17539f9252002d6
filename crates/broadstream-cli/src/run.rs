//! `broadstream run`: test-then-train over a stream.

use std::{
    fs::{self, File},
    io::BufWriter,
    num::NonZero,
    ops::ControlFlow,
    path::{Path, PathBuf},
    thread,
    time::Instant,
};

use anyhow::{Context, Result};
use broadstream::{
    CurvePoint, Member, Observer, Outcome, PrequentialOptions, evaluate, metrics::Metrics,
};

use crate::{
    applicable,
    args::{ModelArguments, RunArguments},
    curve,
    failure::BadUsage,
    model, output, page,
    progress::Progress,
    source::{Opened, Source},
};

pub(crate) fn run(arguments: &RunArguments) -> Result<()> {
    let RunArguments { input, evaluation: options, model: model_arguments, .. } = arguments;
    let prequential = PrequentialOptions {
        block: options.block,
        limit: input.limit,
        metrics_window: options.metrics_window,
        curve_every: (options.curve.is_some() || options.report.is_some())
            .then(|| options.curve_every.unwrap_or(1000)),
        drift_confidence: options.drift_confidence,
        separate_times: options.separate_times,
        delay: options.delay,
        ..PrequentialOptions::default()
    };
    prequential.check()?;
    if options.curve_every.is_some() && prequential.curve_every.is_none() {
        let rule = "--curve-every needs --curve or --report: without them there is no curve";
        return Err(BadUsage(rule.to_owned()).into());
    }
    let source = Source::parse(&arguments.source)?;
    check_outputs(arguments, &source)?;
    let mut opened = source.open(input, model_arguments.preset)?;
    let model_arguments = use_all_cores(model_arguments);
    let mut model = model::build(&model_arguments, &source, input, &*opened.stream)?;

    let members = model.classifier.members();
    let start = Instant::now();
    let mut watcher = Watcher {
        progress: Progress::new(&opened, input.limit, options.quiet),
        start,
        predictions: options.predictions.as_deref().map(predictions_file).transpose()?,
        curve: options.curve.as_deref().map(|path| curve_file(path, &members)).transpose()?,
    };
    let Opened { stream, .. } = &mut opened;
    let clock = || start.elapsed();
    let result =
        evaluate(&mut **stream, &mut *model.classifier, &prequential, &clock, &mut watcher);
    watcher.progress.finish();
    let seconds = start.elapsed().as_secs_f64();
    // What was written so far is worth keeping, whatever became of the run.
    let written = [watcher.predictions, watcher.curve].into_iter().flatten().map(Table::finish);
    let written: Result<Vec<()>> = written.collect();
    let evaluation = result.with_context(|| source.name())?;
    written?;

    let report = output::Report {
        source: source.name(),
        schema: stream.schema(),
        model: &model,
        evaluation: &evaluation,
        metrics_window: options.metrics_window,
        delay: options.delay,
        seconds,
    };
    if let Some(path) = &options.report {
        fs::write(path, page::page(&report)?)
            .with_context(|| format!("writing {}", path.display()))?;
    }
    if options.json { report.print_json() } else { report.print_table() }
}

/// A run has the machine for itself, so that unless told otherwise a model which can makes use of its
/// cores.
fn use_all_cores(arguments: &ModelArguments) -> ModelArguments {
    const MOST: usize = 8;
    let cores = thread::available_parallelism().map_or(1, NonZero::get).min(MOST);
    let threads =
        arguments.threads.or_else(|| applicable::shares(arguments.model).then_some(cores));
    ModelArguments { threads, ..arguments.clone() }
}

/// Refuses outputs that would overwrite what is read, or each other.
fn check_outputs(arguments: &RunArguments, source: &Source) -> Result<()> {
    let source = match source {
        Source::File(path) => Some(path),
        _ => None,
    };
    let files = [
        ("SOURCE", source),
        ("--scaling-file", arguments.model.scaling_file.as_ref()),
        ("--predictions", arguments.evaluation.predictions.as_ref()),
        ("--curve", arguments.evaluation.curve.as_ref()),
        ("--report", arguments.evaluation.report.as_ref()),
    ];
    let files: Vec<(&str, PathBuf)> = files
        .into_iter()
        // A file that does not exist yet has no canonical name, and nothing to lose.
        .filter_map(|(option, path)| Some((option, path?.canonicalize().unwrap_or(path?.clone()))))
        .collect();
    for (i, (option, path)) in files.iter().enumerate() {
        for (earlier, other) in &files[..i] {
            // Devices such as the standard output may serve twice.
            if path == other && !path.starts_with("/dev") && *option != "--scaling-file" {
                let name = path.display();
                let rule = format!("{option} would overwrite {name}, which is {earlier} too");
                return Err(BadUsage(rule).into());
            }
        }
    }
    Ok(())
}

/// Shows progress and writes files while the evaluation runs.
struct Watcher {
    progress: Progress,
    start: Instant,
    predictions: Option<Table>,
    curve: Option<Table>,
}

impl Observer for Watcher {
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
        let failed = [&self.predictions, &self.curve]
            .into_iter()
            .flatten()
            .any(|table| table.failure.is_some());
        if failed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn predictions_file(path: &Path) -> Result<Table> {
    Table::create(path, ["sample", "label", "prediction", "probability"])
}

fn curve_file(path: &Path, members: &[Member]) -> Result<Table> {
    Table::create(path, curve::columns(members))
}

/// A CSV file in the making.
struct Table {
    path: PathBuf,
    writer: csv::Writer<BufWriter<File>>,
    /// The first write that failed, such as on a full disk.
    failure: Option<csv::Error>,
}

impl Table {
    fn create(path: &Path, columns: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Result<Self> {
        let file = File::create(path).with_context(|| format!("creating {}", path.display()))?;
        let mut writer = csv::Writer::from_writer(BufWriter::new(file));
        let failure = writer.write_record(columns).err();
        Ok(Table { path: path.to_owned(), writer, failure })
    }

    fn write(&mut self, row: impl IntoIterator<Item = impl AsRef<[u8]>>) {
        if self.failure.is_none() {
            self.failure = self.writer.write_record(row).err();
        }
    }

    fn finish(mut self) -> Result<()> {
        let flushed = self.failure.map_or_else(|| self.writer.flush().map_err(Into::into), Err);
        flushed.with_context(|| format!("writing {}", self.path.display()))
    }
}
