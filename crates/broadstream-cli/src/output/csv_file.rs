//! A CSV file that grows during a run, and that a resumed run cuts back to its length at the checkpoint.

use std::{
    fs::{File, OpenOptions},
    io::{BufWriter, Seek, SeekFrom},
    path::Path,
};

use anyhow::{Context, Result, bail};

use super::reserved_file::ReservedFile;

/// A CSV file that is being written. Errors are kept until [`CsvFile::sync`] or [`CsvFile::finish`], since
/// the evaluation that calls [`CsvFile::write`] has no use for them.
pub(crate) struct CsvFile {
    reserved: ReservedFile,
    writer: csv::Writer<BufWriter<File>>,
    /// The first write that failed, such as on a full disk.
    failure: Option<csv::Error>,
}

impl CsvFile {
    pub(crate) fn create(
        path: &Path,
        columns: impl IntoIterator<Item = impl AsRef<[u8]>>,
    ) -> Result<Self> {
        // Before the file is emptied, since another program may be writing to it.
        let reserved = ReservedFile::new(path)?;
        let file = File::create(path).with_context(|| format!("creating {}", path.display()))?;
        let mut file = CsvFile::of(reserved, file);
        file.write(columns);
        Ok(file)
    }

    /// Opens a file and cuts off what follows its first `length` bytes, to continue there.
    pub(crate) fn reopen(path: &Path, length: u64) -> Result<Self> {
        let reserved = ReservedFile::new(path)?;
        let reopen = || {
            let mut file = OpenOptions::new().write(true).open(path)?;
            let found = file.metadata()?.len();
            if found < length {
                bail!("this file had {length} bytes at the checkpoint and has {found} now");
            }
            file.set_len(length)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        let file = reopen().with_context(|| format!("continuing {}", path.display()))?;
        Ok(CsvFile::of(reserved, file))
    }

    fn of(reserved: ReservedFile, file: File) -> Self {
        let writer = csv::Writer::from_writer(BufWriter::new(file));
        CsvFile { reserved, writer, failure: None }
    }

    pub(crate) fn write(&mut self, row: impl IntoIterator<Item = impl AsRef<[u8]>>) {
        if self.failure.is_none() {
            self.failure = self.writer.write_record(row).err();
        }
    }

    /// Whether a write has failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Syncs everything written so far to the disk, and returns the length of the file.
    pub(crate) fn sync(&mut self) -> Result<u64> {
        let CsvFile { reserved, writer, failure } = self;
        let mut sync = || -> Result<u64> {
            if let Some(failure) = failure.take() {
                return Err(failure.into());
            }
            writer.flush()?;
            let file = writer.get_ref().get_ref();
            file.sync_data()?;
            Ok(file.metadata()?.len())
        };
        sync().with_context(|| format!("writing {}", reserved.path().display()))
    }

    pub(crate) fn finish(mut self) -> Result<()> {
        let flushed = self.failure.map_or_else(|| self.writer.flush().map_err(Into::into), Err);
        flushed.with_context(|| format!("writing {}", self.reserved.path().display()))
    }
}
