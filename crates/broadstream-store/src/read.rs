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

use crate::error::StoreError;

/// Reads a file with a model.
pub fn read_model(path: &Path) -> Result<Saved, StoreError> {
    read(path, model_file::read)
}

/// Reads a file with a model, or with the sums of one.
pub fn read_model_or_sums(path: &Path) -> Result<Loaded, StoreError> {
    read(path, model_file::read_any)
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
