//! Runs that survive being killed.
//!
//! A checkpoint is a model file that also holds how far the evaluation has come, the arguments of the run,
//! and how long the files were that it writes on the way. To resume is to read the arguments again, cut
//! those files back, pass over the samples of before and go on.

use std::{any::Any, env, path::Path};

use anyhow::{Context, Result, bail};
use broadstream::{
    Checkpoint, EvaluationState, OnlineBls, Schema,
    model_file::{Content, ModelFile, Saved},
    stream::RowEncoding,
};
use broadstream_store::{LockedPath, read_model};
use clap::{ArgMatches, CommandFactory, FromArgMatches, parser::ValueSource};
use serde_json::{Map, Value, json};

use crate::{
    args::{Arguments, RunArguments},
    output::failure::{BadUsage, first_paragraph},
};

/// How many samples lie between two checkpoints unless told otherwise.
pub(crate) const EVERY: u64 = 10_000;

/// Options that may differ when a run is resumed: none of them changes a result.
const FREE: [&str; 9] =
    ["resume", "every", "save", "limit", "json", "quiet", "threads", "block", "report"];

/// Of these, the ones that hold for what is resumed after this too.
const KEPT: [&str; 4] = ["every", "save", "limit", "report"];

/// Where the notes of a checkpoint have what is about the run.
pub(crate) const RUN: &str = "run";

/// A checkpoint file that is written while a run goes on.
pub(crate) struct Checkpoints {
    place: LockedPath,
    /// The arguments that the run began with.
    arguments: Vec<String>,
    /// Whether the files have the random weights of the features.
    feature_weights: bool,
}

/// How long the files were that a run writes on the way.
#[derive(Clone, Copy, Default)]
pub(crate) struct Lengths {
    pub(crate) predictions: Option<u64>,
    pub(crate) curve: Option<u64>,
}

/// A run as it was at its checkpoint.
pub(crate) struct Resumed {
    pub(crate) arguments: RunArguments,
    pub(crate) model: OnlineBls,
    pub(crate) state: EvaluationState,
    pub(crate) lengths: Lengths,
    /// How long the run had taken.
    pub(crate) seconds: f64,
    pub(crate) checkpoints: Checkpoints,
}

impl Checkpoints {
    /// For a run that begins.
    pub(crate) fn new(path: &Path, feature_weights: bool) -> Result<Self> {
        let place = LockedPath::lock(path)?;
        Ok(Checkpoints { place, arguments: own_arguments()?, feature_weights })
    }

    pub(crate) fn write(
        &self,
        checkpoint: &Checkpoint<'_>,
        lengths: Lengths,
        seconds: f64,
    ) -> Result<()> {
        let model: &dyn Any = checkpoint.model;
        let Some(model) = model.downcast_ref::<OnlineBls>() else {
            bail!("the model cannot be saved");
        };
        let run = json!({
            "arguments": self.arguments,
            "predictions": lengths.predictions,
            "curve": lengths.curve,
            "seconds": seconds,
        });
        let notes = Map::from_iter([(RUN.to_owned(), run)]);
        Ok(self.place.write_model(&ModelFile {
            encoding: checkpoint.encoding.as_ref(),
            evaluation: Some(checkpoint.state),
            notes: Some(&notes),
            feature_weights: self.feature_weights,
            ..ModelFile::of(Content::Model(model), checkpoint.schema)
        })?)
    }
}

/// Reads the checkpoint of a run, to go on with it.
pub(crate) fn resume(path: &Path) -> Result<Resumed> {
    let place = LockedPath::lock(path)?;
    let Saved { model, evaluation, notes, .. } = read_model(path)?;
    let context = || path.display().to_string();
    let run = notes.get(RUN).and_then(Value::as_object);
    let (Some(state), Some(run)) = (evaluation, run) else {
        let rule = "this is the file of a model and no checkpoint: nothing is there to be resumed";
        return Err(BadUsage(rule.to_owned())).with_context(context);
    };
    let stored: Option<Vec<String>> = run.get("arguments").and_then(|arguments| {
        arguments.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
    });
    let stored = stored.context("its arguments are missing").with_context(context)?;
    let length = |file: &str| run.get(file).and_then(Value::as_u64);
    let (arguments, stored) = arguments(&stored).with_context(context)?;
    let feature_weights = !arguments.saving.omit_feature_weights;
    Ok(Resumed {
        arguments,
        model,
        state,
        lengths: Lengths { predictions: length("predictions"), curve: length("curve") },
        seconds: run.get("seconds").and_then(Value::as_f64).unwrap_or(0.0),
        checkpoints: Checkpoints { place, arguments: stored, feature_weights },
    })
}

/// What this program was called with, after the name of the command.
fn own_arguments() -> Result<Vec<String>> {
    let texts = env::args_os().skip(2).map(|argument| argument.into_string());
    let texts: Result<Vec<String>, _> = texts.collect();
    texts.map_err(|argument| {
        let rule = format!("a checkpoint needs arguments in UTF-8, got {}", argument.display());
        BadUsage(rule).into()
    })
}

/// The arguments of a run that is resumed: those that it began with, and of those given now the ones that
/// may differ.
fn arguments(begun_with: &[String]) -> Result<(RunArguments, Vec<String>)> {
    let stored = run_matches(begun_with)?;
    let given = run_matches(&own_arguments()?)?;
    let is_given = |id: &str| given.value_source(id) == Some(ValueSource::CommandLine);
    let command = Arguments::command();
    let options = command.find_subcommand("run").into_iter().flat_map(|run| run.get_arguments());
    for option in options.filter(|option| is_given(option.get_id().as_str())) {
        let id = option.get_id().as_str();
        let [now, then] = [&given, &stored].map(|matches| values(matches, id));
        if now != then && !FREE.contains(&id) {
            let name = option.get_long().map_or("SOURCE".to_owned(), |long| format!("--{long}"));
            let rule = format!("{name} must be that of the run, {then}, got {now}");
            return Err(BadUsage(rule).into());
        }
    }
    let (mut run, now) = (run_arguments(&stored)?, run_arguments(&given)?);
    run.saving.resume = now.saving.resume;
    run.saving.save = now.saving.save.or(run.saving.save);
    run.saving.every = now.saving.every.or(run.saving.every);
    run.input.limit = now.input.limit.or(run.input.limit);
    run.model.threads = now.model.threads.or(run.model.threads);
    run.evaluation.report = now.evaluation.report.or(run.evaluation.report);
    run.evaluation.json |= now.evaluation.json;
    run.evaluation.quiet |= now.evaluation.quiet;
    if is_given("block") {
        run.evaluation.block = now.evaluation.block;
    }
    if is_given("report") && values(&stored, "report") == NONE && values(&stored, "curve") == NONE {
        let rule = "--report needs a curve, and the run was begun without --curve or --report";
        return Err(BadUsage(rule.to_owned()).into());
    }
    let kept = KEPT.iter().filter(|option| is_given(option));
    let arguments = kept.fold(begun_with.to_vec(), |arguments, option| {
        replaced(arguments, option, values(&given, option))
    });
    Ok((run, arguments))
}

/// Arguments with another value of an option.
fn replaced(arguments: Vec<String>, option: &str, value: String) -> Vec<String> {
    let (option, mut replaced) = (format!("--{option}"), Vec::new());
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        if argument == option {
            arguments.next();
        } else if !argument.starts_with(&format!("{option}=")) {
            replaced.push(argument);
        }
    }
    replaced.extend([option, value]);
    replaced
}

/// What stands for an option that was not given.
const NONE: &str = "not given";

/// The values of an option, for comparison and messages.
fn values(matches: &ArgMatches, id: &str) -> String {
    let values = matches.get_raw(id).map(|values| {
        let texts = values.map(|value| value.to_string_lossy().into_owned());
        texts.collect::<Vec<String>>().join(",")
    });
    values.unwrap_or_else(|| NONE.to_owned())
}

fn run_matches(arguments: &[String]) -> Result<ArgMatches> {
    let line = ["broadstream", "run"].into_iter().chain(arguments.iter().map(String::as_str));
    let mut matches =
        Arguments::command().try_get_matches_from(line).map_err(|error| first_paragraph(&error))?;
    let (_, run) = matches.remove_subcommand().context("it is no run")?;
    Ok(run)
}

fn run_arguments(matches: &ArgMatches) -> Result<RunArguments> {
    RunArguments::from_arg_matches(matches).map_err(|error| first_paragraph(&error))
}

/// A model without an evaluation, as it is saved in the end.
pub(crate) fn save(
    place: &LockedPath,
    model: &dyn Any,
    schema: &Schema,
    encoding: Option<&RowEncoding>,
    feature_weights: bool,
) -> Result<()> {
    let Some(model) = model.downcast_ref::<OnlineBls>() else { bail!("the model cannot be saved") };
    let file = ModelFile { encoding, feature_weights, ..ModelFile::new(model, schema) };
    Ok(place.write_model(&file)?)
}
