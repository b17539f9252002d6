//! A saved model that a command changes and writes back.

use std::path::Path;

use anyhow::{Context, Result, bail};
use broadstream::{Classifier, model_file::Saved};
use broadstream_store::{LockedPath, read_model};

use crate::{args::BadUsage, commands::run::RUN_NOTE};

/// Reads a model, having locked the file that it will be written to: `output`, or else its own. What other
/// programs noted beside the model is kept. What a run noted there is not, since it does not go on.
pub(super) fn open(file: &Path, output: Option<&Path>) -> Result<(LockedPath, Saved)> {
    let target = LockedPath::lock(output.unwrap_or(file))?;
    let mut saved = read_model(file)?;
    if saved.schema.labels().len() < saved.model.classes() {
        bail!("{}: this model has no labels that could name the classes of rows", file.display());
    }
    if saved.evaluation.is_some() && output.is_none() {
        let rule = "this is the checkpoint of a run, which could not be resumed any more: write the \
                    model to another file with --output";
        return Err(BadUsage(rule.to_owned())).with_context(|| file.display().to_string());
    }
    saved.notes.remove(RUN_NOTE);
    Ok((target, saved))
}
