//! Checkpoints, by which a run survives being killed.
//!
//! A checkpoint is a model file that also holds how far the evaluation has come, the arguments of the run,
//! and how long the files were that it writes on the way. To resume a run is to read these arguments again,
//! to cut the files back to that length, to pass over the samples that were evaluated, and to continue.

use std::path::Path;

use anyhow::{Context, Result};
use broadstream::{
    EvaluationState, OnlineBls,
    model_file::{ModelFile, Saved},
    stream::Stream,
};
use broadstream_store::{LockedPath, read_model};
use serde_json::{Map, Value, json};

use super::resumed_arguments::{in_utf8, resumed_arguments};
use crate::{
    args::{BadUsage, RunArguments, SavingArguments},
    build::{
        model::Model,
        stop::{Signal, Stopped},
    },
};

/// How many samples lie between two checkpoints, unless `--every` says otherwise.
pub(super) const DEFAULT_EVERY: u64 = 10_000;

/// The note of a checkpoint that describes its run.
pub(crate) const RUN_NOTE: &str = "run";

/// The checkpoint file of a run, which is replaced again and again.
pub(super) struct Checkpoints {
    target: LockedPath,
    /// The arguments that the run began with.
    arguments: Vec<String>,
    /// Whether the random weights of the features are stored.
    feature_weights: bool,
}

/// How long the files were that a run writes on the way.
#[derive(Clone, Copy, Default)]
pub(super) struct FileLengths {
    pub(super) predictions: Option<u64>,
    pub(super) curve: Option<u64>,
}

/// A run as it was at its checkpoint.
pub(super) struct ResumedRun {
    pub(super) arguments: RunArguments,
    pub(super) model: OnlineBls,
    pub(super) state: EvaluationState,
    pub(super) lengths: FileLengths,
    /// How long the run had taken.
    pub(super) seconds: f64,
    pub(super) checkpoints: Checkpoints,
}

impl Checkpoints {
    /// The checkpoints of a new run. A file that is there may be the only trace of another run.
    pub(super) fn new(path: &Path, saving: &SavingArguments) -> Result<Self> {
        let target = LockedPath::lock(path)?;
        if path.exists() && !saving.overwrite {
            let name = path.display();
            let rule = format!(
                "{name} exists: continue its run with --resume {name}, or replace it with --overwrite"
            );
            return Err(BadUsage(rule).into());
        }
        let feature_weights = !saving.storage.omit_feature_weights;
        Ok(Checkpoints { target, arguments: in_utf8(&saving.own_arguments)?, feature_weights })
    }

    pub(super) fn write(
        &self,
        model: &Model,
        stream: &dyn Stream,
        state: &EvaluationState,
        lengths: FileLengths,
        seconds: f64,
    ) -> Result<()> {
        let run = json!({
            "arguments": self.arguments,
            "predictions": lengths.predictions,
            "curve": lengths.curve,
            "seconds": seconds,
        });
        let notes = Map::from_iter([(RUN_NOTE.to_owned(), run)]);
        self.target.write_model(&ModelFile {
            encoding: stream.encoding().as_ref(),
            evaluation: Some(state),
            costs: state.options().costs.as_ref(),
            notes: Some(&notes),
            feature_weights: self.feature_weights,
            ..ModelFile::new(savable(model)?, stream.schema())
        })?;
        Ok(())
    }
}

impl Checkpoints {
    /// How a run ends that a signal stopped after its checkpoint was written.
    pub(super) fn stopped(&self, signal: Signal) -> Stopped {
        let path = self.target.path().display();
        let saved = format!("'broadstream run --resume {path}' continues the run");
        Stopped { signal, saved }
    }
}

/// Reads the checkpoint of a run in order to continue it.
pub(super) fn resume(path: &Path, given: &SavingArguments) -> Result<ResumedRun> {
    let target = LockedPath::lock(path)?;
    let Saved { model, evaluation, notes, .. } = read_model(path)?;
    let context = || path.display().to_string();
    let run = notes.get(RUN_NOTE).and_then(Value::as_object);
    let (Some(state), Some(run)) = (evaluation, run) else {
        let rule = "this is a model and no checkpoint: there is no run to resume";
        return Err(BadUsage(rule.to_owned())).with_context(context);
    };
    let stored: Option<Vec<String>> = run.get("arguments").and_then(|arguments| {
        arguments.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
    });
    let stored = stored.context("its arguments are missing").with_context(context)?;
    let length = |file: &str| run.get(file).and_then(Value::as_u64);
    let (arguments, stored) =
        resumed_arguments(&stored, &in_utf8(&given.own_arguments)?).with_context(context)?;
    let feature_weights = !arguments.saving.storage.omit_feature_weights;
    Ok(ResumedRun {
        arguments,
        model,
        state,
        lengths: FileLengths { predictions: length("predictions"), curve: length("curve") },
        seconds: run.get("seconds").and_then(Value::as_f64).unwrap_or(0.0),
        checkpoints: Checkpoints { target, arguments: stored, feature_weights },
    })
}

/// The model as one that has a file format; arguments that would save another were refused.
pub(super) fn savable(model: &Model) -> Result<&OnlineBls> {
    model.online_bls().context("the model cannot be saved")
}
