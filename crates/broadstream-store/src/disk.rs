//! The operations by which the store changes the disk.
//!
//! Everything that is written, synced, renamed or removed goes through a [`Disk`], so a test can let any
//! one of these operations fail and look at what remains. Locks do not: they hold no content, and the
//! system ends them by itself.

use std::{
    fmt,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::Path,
};

/// The operations by which the store changes the disk. Those that are not overridden are the system's.
///
/// ```
/// use std::{fs::File, io, path::Path, sync::Arc};
///
/// use broadstream_store::{Disk, LockedPath};
///
/// /// A disk that is full.
/// #[derive(Debug)]
/// struct Full;
///
/// impl Disk for Full {
///     fn write(&self, _: &File, _: &[u8]) -> io::Result<usize> {
///         Err(io::ErrorKind::StorageFull.into())
///     }
/// }
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("a.bin");
/// LockedPath::lock(&path)?.write_bytes(b"old")?;
/// assert!(LockedPath::lock_on(Arc::new(Full), &path)?.write_bytes(b"new").is_err());
/// assert_eq!(std::fs::read(&path)?, b"old");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Disk: fmt::Debug + Send + Sync {
    /// Creates a file that must not exist yet. A private one can be read by its owner only.
    fn create(&self, path: &Path, is_private: bool) -> io::Result<File> {
        let mut options = OpenOptions::new();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(
            &mut options,
            if is_private { 0o600 } else { 0o666 },
        );
        #[cfg(not(unix))]
        let _ = is_private;
        options.write(true).create_new(true).open(path)
    }

    /// Writes bytes at the place where an open file is, and returns how many were written.
    fn write(&self, mut file: &File, bytes: &[u8]) -> io::Result<usize> {
        file.write(bytes)
    }

    /// Cuts an open file off after that many bytes.
    fn truncate(&self, file: &File, length: u64) -> io::Result<()> {
        file.set_len(length)
    }

    /// Brings the content of an open file to the disk.
    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    /// Gives a file another name, and removes the file that had this name before.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    /// Brings the names of the files in a folder to the disk.
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        // Only where folders can be opened like files is there anything to do.
        if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
    }
}

/// The disk of the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemDisk;

impl Disk for SystemDisk {}

/// An open file that is written through a disk.
pub(crate) struct DiskWriter<'a> {
    pub(crate) disk: &'a dyn Disk,
    pub(crate) file: &'a File,
}

impl Write for DiskWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.write(self.file, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
