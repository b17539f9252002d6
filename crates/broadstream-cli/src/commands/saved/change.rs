//! A saved model that a command changes and writes back.

use std::path::Path;

use anyhow::{Context, Result, bail};
use broadstream::{
    Classifier,
    model_file::{ModelFile, Saved},
};
use broadstream_store::{JournalEntries, LockedPath, read_journal, read_model};

use super::{journal, rows};
use crate::{args::BadUsage, commands::run::RUN_NOTE, output::printable::note};

/// Reads a model, having locked the file that it will be written to: `output`, or else its own. What other
/// programs noted beside the model is kept. What a run noted there is not, since it does not go on.
///
/// Rows that a killed `learn` left in the journal of the model are part of it. In its own file they are
/// saved before anything else happens.
pub(super) fn open(file: &Path, output: Option<&Path>) -> Result<(LockedPath, Saved)> {
    let is_in_place = output.is_none_or(|output| is_same(file, output));
    let target = LockedPath::lock(output.unwrap_or(file))?;
    let mut saved = read_model(file)?;
    if saved.schema.labels().len() < saved.model.classes() {
        bail!("{}: this model has no labels that could name the classes of rows", file.display());
    }
    if saved.evaluation.is_some() && is_in_place {
        let rule = "this is the checkpoint of a run, which could not be resumed any more: write the \
                    model to another file with --output";
        return Err(BadUsage(rule.to_owned())).with_context(|| file.display().to_string());
    }
    saved.notes.remove(RUN_NOTE);
    if is_in_place {
        save_journal(file, &target, &mut saved)?;
    } else {
        replay(file, &read_journal(file)?, &mut saved)?;
        refuse_journal(&target)?;
    }
    Ok((target, saved))
}

/// Saves the model with the rows of its journal, if it has one, and removes the journal.
fn save_journal(file: &Path, target: &LockedPath, saved: &mut Saved) -> Result<()> {
    let Some((mut journal, content)) = target.open_journal()? else { return Ok(()) };
    if replay(file, &content, saved)? {
        let file = ModelFile {
            encoding: saved.encoding.as_ref(),
            notes: Some(&saved.notes),
            costs: saved.costs.as_ref(),
            ..ModelFile::new(&saved.model, &saved.schema)
        };
        target.write_model_and_restart(&file, &mut journal)?;
    }
    Ok(target.remove_journal(journal)?)
}

/// Learns the rows of a journal and says so; `false` if there are none.
fn replay(file: &Path, content: &JournalEntries, saved: &mut Saved) -> Result<bool> {
    let name = || format!("{}.journal", file.display());
    if content.torn > 0 {
        let name = name();
        let torn = content.torn;
        note(&format!("{name}: the last {torn} bytes are part of rows that were not answered"));
    }
    if content.entries.is_empty() {
        return Ok(false);
    }
    let counts = journal::replay(content, saved).with_context(name)?;
    note(&format!("{}: {} learned that were not saved", name(), rows::counted(counts.rows)));
    Ok(true)
}

/// Refuses to overwrite a model whose journal has rows that no file has.
fn refuse_journal(target: &LockedPath) -> Result<()> {
    let Some((journal, content)) = target.open_journal()? else { return Ok(()) };
    if !content.entries.is_empty() {
        let (name, rows) = (journal.path().display(), rows::counted(journal::count(&content)));
        bail!("{name}: {rows} would be lost, which are not in the model beside it");
    }
    Ok(target.remove_journal(journal)?)
}

/// Whether two paths lead to one file.
fn is_same(path: &Path, other: &Path) -> bool {
    path == other || path.canonicalize().is_ok_and(|path| other.canonicalize().ok() == Some(path))
}
