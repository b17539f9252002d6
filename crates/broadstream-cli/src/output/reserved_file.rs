//! A file that belongs to this program from before its work begins until the file is written.

use std::path::{Path, PathBuf};

use broadstream_store::{LockedPath, StoreError, write_bytes};

/// The path of a file that no other program writes to meanwhile. A pipe or a device can be shared.
pub(crate) struct ReservedFile {
    path: PathBuf,
    lock: Option<LockedPath>,
}

impl ReservedFile {
    pub(crate) fn new(path: &Path) -> Result<Self, StoreError> {
        let lock = match LockedPath::lock(path) {
            Err(StoreError::NotReplaceable { .. }) => None,
            lock => Some(lock?),
        };
        Ok(ReservedFile { path: path.to_owned(), lock })
    }

    /// Replaces the file by one with these bytes.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<(), StoreError> {
        match &self.lock {
            Some(lock) => lock.write_bytes(bytes),
            None => write_bytes(&self.path, bytes),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}
