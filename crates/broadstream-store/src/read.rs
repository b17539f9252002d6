//! Models from files.

use std::{
    fs::File,
    io::{BufReader, Read},
    path::Path,
};

use broadstream::{
    Error,
    model_file::{self, Loaded, Saved},
};

use crate::{
    error::StoreError,
    journal::{self, JournalEntries, journal_path},
};

/// Reads a file with a model.
pub fn read_model(path: &Path) -> Result<Saved, StoreError> {
    read(path, model_file::read)
}

/// Reads a file with a model, or with the sums of one.
pub fn read_model_or_sums(path: &Path) -> Result<Loaded, StoreError> {
    read(path, model_file::read_any)
}

/// What the journal of a model file holds that the file does not. Nothing is changed, so this may be asked
/// while another program learns.
pub fn read_journal(path: &Path) -> Result<JournalEntries, StoreError> {
    // A link to a model has its journal beside the model.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let journal = journal_path(&target);
    if !journal.exists() {
        return Ok(JournalEntries::default());
    }
    let identity = || {
        journal::identity(&target)
            .map_err(|source| StoreError::Read { path: path.to_owned(), source })
    };
    let mut model = identity()?;
    loop {
        match journal::read(&journal_path(path), &journal, &model) {
            // A program that learns may have written both files in between.
            Err(error @ StoreError::OtherJournal { .. }) => {
                let now = identity()?;
                if now == model {
                    return Err(error);
                }
                model = now;
            }
            content => return Ok(content?.map(|content| content.entries).unwrap_or_default()),
        }
    }
}

fn read<T>(
    path: &Path,
    parse: impl FnOnce(&mut dyn Read) -> Result<T, Error>,
) -> Result<T, StoreError> {
    let failed = |source| StoreError::Read { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(StoreError::Directory { path: path.to_owned() });
    }
    parse(&mut BufReader::new(file)).map_err(|error| StoreError::reading(path.to_owned(), error))
}
