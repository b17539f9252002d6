//! From the arguments of a run to everything that its evaluation needs.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::Result;
use broadstream::{EvaluationState, PrequentialOptions};
use broadstream_store::LockedPath;

use super::checkpoint::{self, Checkpoints, FileLengths, ResumedRun};
use crate::{
    args::{BadUsage, ModelArguments, ModelName, PrecisionName, RunArguments, SavingArguments},
    build::{
        decisions::read_costs,
        like::input_like,
        model::{self, Model},
        source::{Opened, Source},
        threads::use_all_cores,
    },
    output::reserved_file::ReservedFile,
};

/// A run that can begin.
pub(super) struct Prepared {
    /// The arguments; if the run is resumed, mostly those that it began with.
    pub(super) arguments: RunArguments,
    pub(super) options: PrequentialOptions,
    pub(super) source: Source,
    pub(super) opened: Opened,
    /// Where the model goes in the end, if it is saved.
    pub(super) save: Option<LockedPath>,
    /// Where the page goes in the end, if there is one.
    pub(super) report: Option<ReservedFile>,
    /// When this program began with the run.
    pub(super) clock: Instant,
    pub(super) start: RunStart,
}

/// What a run starts from: a new model, or that of a checkpoint.
pub(super) struct RunStart {
    pub(super) model: Model,
    /// How far the run had come, if it is resumed.
    pub(super) state: Option<EvaluationState>,
    pub(super) lengths: FileLengths,
    /// How long the run had taken before it was resumed.
    pub(super) seconds: f64,
    pub(super) checkpoints: Option<Checkpoints>,
}

pub(super) fn prepare(given: &RunArguments) -> Result<Prepared> {
    let resume = |path| checkpoint::resume(path, &given.saving);
    let resumed = given.saving.resume.as_deref().map(resume).transpose()?;
    let arguments = resumed.as_ref().map_or(given, |resumed| &resumed.arguments).clone();
    let RunArguments { saving, .. } = &arguments;
    let mut options = prequential_options(&arguments)?;
    options.costs = arguments.evaluation.costs.as_deref().map(read_costs).transpose()?;
    let source = Source::parse(&arguments.source)?;
    check_outputs(&arguments, &source)?;
    check_saving(&arguments)?;
    // Before the source is opened: that may take a while, and a file in use should be refused at once.
    let checkpoints = match (&resumed, &saving.checkpoint) {
        (None, Some(path)) => Some(Checkpoints::new(path, saving)?),
        _ => None,
    };
    let save = saving.save.as_deref().map(LockedPath::lock).transpose()?;
    let report = arguments.evaluation.report.as_deref().map(ReservedFile::new).transpose()?;
    let input = &input_like(&arguments.input, &source, arguments.model.like.as_deref())?;
    let opened = source.open(input, arguments.model.preset)?;
    opened.warn(&source);
    let model_arguments = use_all_cores(&arguments.model);
    let clock = Instant::now();
    let start = match resumed {
        Some(resumed) => RunStart::resume(resumed, &model_arguments)?,
        None => RunStart {
            model: model::build(&model_arguments, &source, input, &*opened.stream)?,
            state: None,
            lengths: FileLengths::default(),
            seconds: 0.0,
            checkpoints,
        },
    };
    options.checkpoint_every =
        start.checkpoints.is_some().then(|| saving.every.unwrap_or(checkpoint::DEFAULT_EVERY));
    Ok(Prepared { arguments, options, source, opened, save, report, clock, start })
}

impl RunStart {
    fn resume(resumed: ResumedRun, arguments: &ModelArguments) -> Result<Self> {
        let ResumedRun { mut model, state, lengths, seconds, checkpoints, .. } = resumed;
        model.set_threads(arguments.options.threads().unwrap_or(1))?;
        let model = model::describe_model(model);
        Ok(RunStart { model, state: Some(state), lengths, seconds, checkpoints: Some(checkpoints) })
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
    } else if saving.overwrite && saving.checkpoint.is_none() {
        "--overwrite needs --checkpoint: without it there is nothing to overwrite"
    } else if saving.storage.precision == PrecisionName::Single && saving.save.is_none() {
        "--precision single needs --save: checkpoints are always in double precision"
    } else {
        return Ok(prequential);
    };
    Err(BadUsage(rule.to_owned()).into())
}

/// Refuses to save a model that has no file format.
fn check_saving(arguments: &RunArguments) -> Result<()> {
    let SavingArguments { save, checkpoint, .. } = &arguments.saving;
    let saves = save.is_some() || checkpoint.is_some();
    if saves && !matches!(arguments.model.model, ModelName::OnlineBls) {
        let name = arguments.model.model.name();
        return Err(BadUsage(format!("the model {name} cannot be saved, online-bls can")).into());
    }
    Ok(())
}

/// Refuses outputs that would overwrite an input, or each other.
fn check_outputs(arguments: &RunArguments, source: &Source) -> Result<()> {
    let source = match source {
        Source::File(path) => Some(path),
        _ => None,
    };
    let files = [
        ("SOURCE", source),
        ("--scaling-file", arguments.model.scaling_file.as_ref()),
        ("--like", arguments.model.like.as_ref()),
        ("--costs", arguments.evaluation.costs.as_ref()),
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
            let is_read = ["--scaling-file", "--like", "--costs", "--resume"].contains(option);
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
    let in_folder = || {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = parent.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    };
    path.canonicalize().ok().or_else(in_folder).unwrap_or_else(|| path.to_owned())
}
