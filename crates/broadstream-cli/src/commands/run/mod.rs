//! `broadstream run`: test-then-train over a stream.

pub(crate) mod checkpoint;

use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::{Context, Result};
use broadstream::{
    Checkpoint, CurvePoint, EvaluationState, Observer, Outcome, PrequentialOptions, evaluate,
    metrics::Metrics, resume,
};
use broadstream_store::{LockedPath, write_bytes};

use crate::{
    args::{ModelArguments, ModelName, RunArguments, SavingArguments},
    build::{
        applicable,
        model::{self, Model},
        source::{Opened, Source},
    },
    commands::{
        run::checkpoint::{Checkpoints, Lengths, Resumed},
        saved::rows,
    },
    output::{
        csv_file::CsvFile, curve, failure::BadUsage, page, progress::Progress, run as output,
    },
};

pub(crate) fn run(given: &RunArguments) -> Result<()> {
    let resumed = given.saving.resume.as_deref().map(checkpoint::resume).transpose()?;
    let arguments = resumed.as_ref().map_or(given, |resumed| &resumed.arguments).clone();
    let RunArguments { input, evaluation: options, saving, .. } = &arguments;
    let mut prequential = prequential_options(&arguments)?;
    let source = Source::parse(&arguments.source)?;
    check_outputs(&arguments, &source)?;
    check_saving(&arguments)?;
    // Before the source is opened, which may have to be waited for.
    let checkpoints = match (&resumed, &saving.checkpoint) {
        (None, Some(path)) => Some(Checkpoints::new(path, !saving.omit_feature_weights)?),
        _ => None,
    };
    let save = saving.save.as_deref().map(LockedPath::lock).transpose()?;
    let mut opened = source.open(input, arguments.model.preset)?;
    let model_arguments = use_all_cores(&arguments.model);

    let start = Instant::now();
    let begun = match resumed {
        Some(resumed) => Begun::again(resumed, &model_arguments)?,
        None => Begun {
            model: model::build(&model_arguments, &source, input, &*opened.stream)?,
            state: None,
            lengths: Lengths::default(),
            seconds: 0.0,
            checkpoints,
        },
    };
    let Begun { mut model, state, lengths, seconds: before, checkpoints } = begun;
    prequential.checkpoint_every =
        checkpoints.is_some().then(|| saving.every.unwrap_or(checkpoint::EVERY));
    let members = model.classifier.members();
    let mut watcher = Watcher {
        progress: Progress::new(&opened, input.limit, options.quiet),
        start,
        before,
        predictions: open_table(options.predictions.as_deref(), lengths.predictions, || {
            PREDICTION_COLUMNS.map(str::to_owned).to_vec()
        })?,
        curve: open_table(options.curve.as_deref(), lengths.curve, || curve::columns(&members))?,
        checkpoints,
        failure: None,
    };
    let Opened { stream, .. } = &mut opened;
    let (stream, classifier) = (&mut **stream, &mut *model.classifier);
    let clock = || start.elapsed();
    let result = match state {
        Some(state) => resume(stream, classifier, state, &prequential, &clock, &mut watcher),
        None => evaluate(stream, classifier, &prequential, &clock, &mut watcher),
    };
    watcher.progress.finish();
    let seconds = watcher.seconds();
    // What was written so far is worth keeping, whatever became of the run.
    let written = [watcher.predictions, watcher.curve].into_iter().flatten().map(CsvFile::finish);
    let written: Result<Vec<()>> = written.collect();
    if let Some(failure) = watcher.failure {
        return Err(failure);
    }
    let evaluation = result.with_context(|| source.name())?;
    written?;
    if let Some(place) = &save {
        let (schema, encoding) = (stream.schema(), stream.encoding());
        let feature_weights = !saving.omit_feature_weights;
        checkpoint::save(place, &*model.classifier, schema, encoding.as_ref(), feature_weights)?;
    }

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
        write_bytes(path, page::page(&report)?.as_bytes())?;
    }
    if options.json { report.print_json() } else { report.print_table() }
}

/// What a run starts from.
struct Begun {
    model: Model,
    /// How far it had come, if it was resumed.
    state: Option<EvaluationState>,
    lengths: Lengths,
    seconds: f64,
    checkpoints: Option<Checkpoints>,
}

impl Begun {
    fn again(resumed: Resumed, arguments: &ModelArguments) -> Result<Self> {
        let Resumed { mut model, state, lengths, seconds, checkpoints, .. } = resumed;
        model.set_threads(arguments.threads.unwrap_or(1))?;
        let model = model::describe_model(model);
        Ok(Begun { model, state: Some(state), lengths, seconds, checkpoints: Some(checkpoints) })
    }
}

fn prequential_options(arguments: &RunArguments) -> Result<PrequentialOptions> {
    let RunArguments { input, evaluation: options, saving, .. } = arguments;
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
    let rule = if options.curve_every.is_some() && prequential.curve_every.is_none() {
        "--curve-every needs --curve or --report: without them there is no curve"
    } else if saving.every.is_some() && saving.checkpoint.is_none() && saving.resume.is_none() {
        "--every needs --checkpoint or --resume: without them there are no checkpoints"
    } else {
        return Ok(prequential);
    };
    Err(BadUsage(rule.to_owned()).into())
}

/// Refuses to save what cannot be.
fn check_saving(arguments: &RunArguments) -> Result<()> {
    let SavingArguments { save, checkpoint, .. } = &arguments.saving;
    let saves = save.is_some() || checkpoint.is_some();
    if saves && !matches!(arguments.model.model, ModelName::OnlineBls) {
        let name = applicable::name(arguments.model.model);
        return Err(BadUsage(format!("the model {name} cannot be saved, online-bls can")).into());
    }
    Ok(())
}

/// Opens a file that is written on the way, or goes on with it.
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

/// A run has the machine for itself, so that unless told otherwise a model which can makes use of its
/// cores.
pub(crate) fn use_all_cores(arguments: &ModelArguments) -> ModelArguments {
    let cores = || applicable::shares(arguments.model).then(|| rows::threads(None));
    let threads = arguments.threads.or_else(cores);
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
        ("--like", arguments.model.like.as_ref()),
        ("--resume", arguments.saving.resume.as_ref()),
        ("--predictions", arguments.evaluation.predictions.as_ref()),
        ("--curve", arguments.evaluation.curve.as_ref()),
        ("--report", arguments.evaluation.report.as_ref()),
        ("--save", arguments.saving.save.as_ref()),
        ("--checkpoint", arguments.saving.checkpoint.as_ref()),
    ];
    let files: Vec<(&str, PathBuf)> =
        files.into_iter().filter_map(|(option, path)| Some((option, canonical(path?)))).collect();
    for (i, (option, path)) in files.iter().enumerate() {
        for (earlier, other) in &files[..i] {
            // Devices such as the standard output may serve twice.
            let is_read = ["--scaling-file", "--like", "--resume"].contains(option);
            let is_resumed = *option == "--checkpoint" && *earlier == "--resume";
            if path == other && !path.starts_with("/dev") && !is_read && !is_resumed {
                let name = path.display();
                let rule = format!("{option} would overwrite {name}, which is {earlier} too");
                return Err(BadUsage(rule).into());
            }
        }
    }
    Ok(())
}

/// One name for a file, whether it exists yet or not.
fn canonical(path: &Path) -> PathBuf {
    let beside = || {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = parent.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    };
    path.canonicalize().ok().or_else(beside).unwrap_or_else(|| path.to_owned())
}

/// Shows progress and writes files while the evaluation runs.
struct Watcher {
    progress: Progress,
    start: Instant,
    /// How long the run had taken before it was resumed.
    before: f64,
    predictions: Option<CsvFile>,
    curve: Option<CsvFile>,
    checkpoints: Option<Checkpoints>,
    /// Why a checkpoint could not be written.
    failure: Option<anyhow::Error>,
}

impl Watcher {
    fn seconds(&self) -> f64 {
        self.before + self.start.elapsed().as_secs_f64()
    }

    fn write_checkpoint(&mut self, checkpoint: &Checkpoint<'_>) -> Result<()> {
        let seconds = self.seconds();
        let Some(checkpoints) = &self.checkpoints else { return Ok(()) };
        // Whatever the checkpoint says of the files must be true after a crash of the machine too.
        let sync = |file: &mut Option<CsvFile>| file.as_mut().map(CsvFile::sync).transpose();
        let lengths =
            Lengths { predictions: sync(&mut self.predictions)?, curve: sync(&mut self.curve)? };
        checkpoints.write(checkpoint, lengths, seconds)
    }
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

const PREDICTION_COLUMNS: [&str; 4] = ["sample", "label", "prediction", "probability"];
