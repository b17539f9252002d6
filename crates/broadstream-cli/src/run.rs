//! `broadstream run`: test-then-train over a stream.

use std::{
    fs::File,
    io::BufWriter,
    ops::ControlFlow,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use broadstream::{CurvePoint, Observer, Outcome, PrequentialOptions, evaluate, metrics::Metrics};

use crate::{
    args::RunArguments,
    model, output,
    progress::Progress,
    source::{Opened, Source},
};

pub(crate) fn run(arguments: &RunArguments) -> Result<()> {
    let RunArguments { input, evaluation: options, model: model_arguments, .. } = arguments;
    let source = Source::parse(&arguments.source)?;
    // Files are created first: better to fail at once than after an hour.
    let predictions = options.predictions.as_deref().map(create).transpose()?;
    let curve = options.curve.as_deref().map(create).transpose()?;
    let mut opened = source.open(input, model_arguments.preset)?;
    let mut model = model::build(model_arguments, &source, input, &*opened.stream)?;

    let start = Instant::now();
    let mut watcher = Watcher {
        progress: Progress::new(&opened, input.limit, options.quiet),
        start,
        predictions: predictions.map(Predictions::new).transpose()?,
    };
    let prequential = PrequentialOptions {
        block: options.block,
        limit: input.limit,
        window: options.window,
        curve_every: curve.is_some().then_some(options.curve_every),
        separate_times: options.separate_times,
    };
    let Opened { stream, .. } = &mut opened;
    let clock = || start.elapsed();
    let result =
        evaluate(&mut **stream, &mut *model.classifier, &prequential, &clock, &mut watcher);
    watcher.progress.finish();
    let evaluation = result.with_context(|| source.name())?;
    let seconds = start.elapsed().as_secs_f64();

    if let Some(predictions) = watcher.predictions {
        predictions.finish().context("writing the predictions")?;
    }
    if let Some(curve) = curve {
        write_curve(curve, &evaluation.curve).context("writing the curve")?;
    }
    let report = output::Report {
        source: source.name(),
        schema: stream.schema(),
        model: &model,
        evaluation: &evaluation,
        window: options.window,
        seconds,
    };
    if options.json { report.print_json() } else { report.print_table() }
}

fn create(path: &Path) -> Result<File> {
    File::create(path).with_context(|| format!("creating {}", path.display()))
}

/// Shows progress and writes predictions while the evaluation runs.
struct Watcher {
    progress: Progress,
    start: Instant,
    predictions: Option<Predictions>,
}

impl Observer for Watcher {
    fn sample(&mut self, outcome: Outcome<'_>) {
        if let Some(predictions) = &mut self.predictions {
            predictions.write(outcome);
        }
    }

    fn block(&mut self, metrics: &Metrics) -> ControlFlow<()> {
        let elapsed: Duration = self.start.elapsed();
        self.progress.show(metrics, elapsed);
        let failed = self.predictions.as_ref().is_some_and(|p| p.failure.is_some());
        if failed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// The predictions file.
struct Predictions {
    writer: csv::Writer<BufWriter<File>>,
    /// The first write that failed, such as on a full disk.
    failure: Option<csv::Error>,
}

impl Predictions {
    fn new(file: File) -> Result<Self> {
        let mut writer = csv::Writer::from_writer(BufWriter::new(file));
        writer.write_record(["sample", "label", "prediction", "probability"])?;
        Ok(Predictions { writer, failure: None })
    }

    fn write(&mut self, outcome: Outcome<'_>) {
        let labels = outcome.schema.labels();
        let sample = outcome.sample.to_string();
        let (prediction, probability) = match outcome.predicted {
            Some(class) => (labels[class].as_str(), outcome.probabilities[class].to_string()),
            None => ("", String::new()),
        };
        let row = [&sample, labels[outcome.truth].as_str(), prediction, &probability];
        if self.failure.is_none() {
            self.failure = self.writer.write_record(row).err();
        }
    }

    fn finish(mut self) -> Result<()> {
        match self.failure {
            Some(failure) => Err(failure.into()),
            None => Ok(self.writer.flush()?),
        }
    }
}

fn write_curve(file: File, curve: &[CurvePoint]) -> Result<()> {
    let mut writer = csv::Writer::from_writer(BufWriter::new(file));
    writer.write_record([
        "sample",
        "oca",
        "bacc",
        "avrbacc",
        "f1",
        "mcc",
        "kappa",
        "log_loss",
        "brier",
        "window_oca",
        "window_bacc",
        "window_f1",
        "window_mcc",
        "window_kappa",
        "window_log_loss",
        "window_brier",
    ])?;
    for CurvePoint { cumulative: c, window: w } in curve {
        let values = [
            c.oca, c.bacc, c.avrbacc, c.f1, c.mcc, c.kappa, c.log_loss, c.brier, w.oca, w.bacc,
            w.f1, w.mcc, w.kappa, w.log_loss, w.brier,
        ];
        let cells = values.iter().map(f64::to_string);
        writer.write_record(std::iter::once(c.samples.to_string()).chain(cells))?;
    }
    Ok(writer.flush()?)
}
