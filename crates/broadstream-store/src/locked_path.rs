//! A path that one program at a time writes to.

use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use broadstream::model_file::ModelFile;

use crate::{
    disk::{Disk, SystemDisk},
    error::StoreError,
    journal::{self, IDENTITY, Identity, Journal, JournalEntries, journal_path},
    ownership,
    temporary::{Temporary, hidden, remove_abandoned},
};

/// Replaces a file by one with these bytes, under a lock of its own. A pipe or a device is written to.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    match LockedPath::lock(path) {
        Ok(locked) => locked.write_bytes(bytes),
        Err(StoreError::NotReplaceable { path }) => OpenOptions::new()
            .write(true)
            .open(&path)
            .and_then(|mut file| file.write_all(bytes))
            .map_err(|source| StoreError::Write { path, source }),
        Err(error) => Err(error),
    }
}

/// A path that no other program writes to as long as this exists.
#[derive(Debug)]
pub struct LockedPath {
    /// The path as it was given, for messages.
    given: PathBuf,
    /// The file itself: absolute, and behind all symbolic links.
    target: PathBuf,
    lock_path: PathBuf,
    disk: Arc<dyn Disk>,
    /// Locked as long as it is open.
    _lock: File,
}

impl LockedPath {
    /// Locks the path of a file, which need not exist yet. Its folder must. A file that this program may not
    /// write is refused, also where the folder would permit to replace it.
    pub fn lock(path: &Path) -> Result<Self, StoreError> {
        LockedPath::lock_on(Arc::new(SystemDisk), path)
    }

    /// Locks the path of a file that is written through a disk of the caller's.
    pub fn lock_on(disk: Arc<dyn Disk>, path: &Path) -> Result<Self, StoreError> {
        let target = resolve(path)?;
        match fs::metadata(&target) {
            Ok(metadata) if metadata.is_dir() => {
                return Err(StoreError::Directory { path: path.to_owned() });
            }
            Ok(metadata) if !metadata.is_file() => {
                return Err(StoreError::NotReplaceable { path: path.to_owned() });
            }
            _ => {}
        }
        // Now, rather than after hours of learning.
        ownership::check_writable(&target)
            .map_err(|source| StoreError::Write { path: path.to_owned(), source })?;
        let lock_path = hidden(&target, "lock");
        loop {
            let lock = OpenOptions::new()
                .create(true)
                .truncate(false)
                .write(true)
                .open(&lock_path)
                .map_err(|source| in_folder_of(&target, source))?;
            match lock.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    // Every holder has a lock file of its own, since it removes it in the end.
                    let since = lock.metadata().and_then(|metadata| metadata.modified()).ok();
                    return Err(StoreError::Locked { path: path.to_owned(), since });
                }
                Err(TryLockError::Error(source)) => {
                    return Err(StoreError::Lock { path: path.to_owned(), source });
                }
            }
            // Whoever held the lock before removed the file as it let go. If that was after it was opened
            // here, this lock is one of a file that nobody else can find.
            if is_named(&lock, &lock_path) {
                remove_abandoned(&*disk, &target);
                remove_abandoned(&*disk, &journal_path(&target));
                let given = path.to_owned();
                return Ok(LockedPath { given, target, lock_path, disk, _lock: lock });
            }
        }
    }

    /// The path as it was given.
    pub fn path(&self) -> &Path {
        &self.given
    }

    /// Replaces the file by one with a model or its sums. If that fails, the old file stays.
    pub fn write_model(&self, file: &ModelFile<'_>) -> Result<(), StoreError> {
        let mut temporary = self.temporary()?;
        self.write_to(&mut temporary, file)?;
        self.put_in_place(temporary)
    }

    /// Replaces the file by one with a model to which all entries of its journal were applied. The journal
    /// is empty then. A program that is killed on the way leaves a file and a journal that go together. So
    /// does one that gets an error; the journal may take no more entries then, until it is opened again.
    pub fn write_model_and_restart(
        &self,
        file: &ModelFile<'_>,
        journal: &mut Journal,
    ) -> Result<(), StoreError> {
        let mut temporary = self.temporary()?;
        let identity = self.write_to(&mut temporary, file)?;
        journal.mark_written(&identity)?;
        self.put_in_place(temporary)?;
        journal.restart(&identity)
    }

    /// Replaces the file by one with these bytes. If that fails, the old file stays.
    pub fn write_bytes(&self, bytes: &[u8]) -> Result<(), StoreError> {
        let mut temporary = self.temporary()?;
        temporary.writer().write_all(bytes).map_err(|source| self.failed(source))?;
        self.put_in_place(temporary)
    }

    /// Starts a journal that continues the file. One that is there already is replaced.
    pub fn start_journal(&self) -> Result<Journal, StoreError> {
        Journal::start(&self.disk, self.journal_given(), &self.target, &self.identity()?)
    }

    /// Opens the journal that a killed program left, to apply to the model what the file lacks and to go on
    /// with it; `None` if there is no journal. A torn entry at its end is cut off. It is an error if the
    /// journal continues another file.
    pub fn open_journal(&self) -> Result<Option<(Journal, JournalEntries)>, StoreError> {
        if !journal_path(&self.target).exists() {
            return Ok(None);
        }
        let identity = match self.identity() {
            Err(StoreError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Err(StoreError::OtherJournal { path: self.journal_given() });
            }
            identity => identity?,
        };
        Journal::reopen(&self.disk, self.journal_given(), &self.target, &identity)
    }

    /// Removes the journal: all that it holds is in the file.
    pub fn remove_journal(&self, journal: Journal) -> Result<(), StoreError> {
        journal.remove()
    }

    fn identity(&self) -> Result<Identity, StoreError> {
        journal::identity(&self.target)
            .map_err(|source| StoreError::Read { path: self.given(), source })
    }

    fn journal_given(&self) -> PathBuf {
        journal_path(&self.given)
    }

    fn temporary(&self) -> Result<Temporary<'_>, StoreError> {
        ownership::check_writable(&self.target).map_err(|source| self.failed(source))?;
        Temporary::create(&*self.disk, &self.target, &self.target)
            .map_err(|source| in_folder_of(&self.target, source))
    }

    /// Writes a model file, and returns its header.
    fn write_to(
        &self,
        temporary: &mut Temporary<'_>,
        file: &ModelFile<'_>,
    ) -> Result<Identity, StoreError> {
        let writer = BufWriter::with_capacity(1 << 20, temporary.writer());
        let mut writer = HeaderTee { header: Vec::with_capacity(IDENTITY), writer };
        file.write(&mut writer).map_err(|error| StoreError::writing(self.given(), error))?;
        writer.flush().map_err(|source| self.failed(source))?;
        let short = |_| self.failed(io::ErrorKind::UnexpectedEof.into());
        Identity::try_from(writer.header).map_err(short)
    }

    fn put_in_place(&self, temporary: Temporary<'_>) -> Result<(), StoreError> {
        temporary.replace(&self.target).map_err(|source| self.failed(source))
    }

    fn given(&self) -> PathBuf {
        self.given.clone()
    }

    fn failed(&self, source: io::Error) -> StoreError {
        StoreError::Write { path: self.given(), source }
    }
}

impl Drop for LockedPath {
    fn drop(&mut self) {
        // While it is still locked, so that nobody else has locked it.
        let _ = fs::remove_file(&self.lock_path);
    }
}

/// A writer that remembers the header of the model file that passes through it.
struct HeaderTee<W> {
    header: Vec<u8>,
    writer: W,
}

impl<W: Write> Write for HeaderTee<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.writer.write(bytes)?;
        let missing = IDENTITY - self.header.len();
        self.header.extend(&bytes[..missing.min(written)]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// The file that a path leads to: absolute, so that it stays the same if the program changes its folder,
/// and behind symbolic links, also behind one that points to nothing yet.
fn resolve(path: &Path) -> Result<PathBuf, StoreError> {
    let mut target = path.to_owned();
    loop {
        match target.canonicalize() {
            Ok(existing) => return Ok(existing),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // A loop of links is one of these errors, so the links that are followed below have an end.
            Err(source) => return Err(StoreError::Lock { path: path.to_owned(), source }),
        }
        // A pipe without a name can be opened by a path such as /dev/fd/3, which leads to no file.
        if fs::metadata(&target).is_ok() {
            return Ok(target);
        }
        match fs::read_link(&target) {
            Ok(next) => target = folder_of(&target).join(next),
            Err(_) => break,
        }
    }
    // 'a/' and 'a/.' are names of folders, whatever `file_name` says.
    let text = target.as_os_str().as_encoded_bytes();
    let is_last = |name: &&OsStr| text.ends_with(name.as_encoded_bytes());
    let Some(name) = target.file_name().filter(is_last) else {
        return Err(StoreError::NoFileName { path: path.to_owned() });
    };
    let folder = folder_of(&target);
    let absolute = folder
        .canonicalize()
        .map_err(|source| StoreError::Folder { folder: folder.to_owned(), source })?;
    Ok(absolute.join(name))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn in_folder_of(target: &Path, source: io::Error) -> StoreError {
    StoreError::Folder { folder: folder_of(target).to_owned(), source }
}

/// Whether an open file is still the one of that name.
#[cfg(unix)]
fn is_named(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    match (file.metadata(), fs::metadata(path)) {
        (Ok(opened), Ok(named)) => identity(opened) == identity(named),
        _ => false,
    }
}

/// Elsewhere an open file cannot be removed.
#[cfg(not(unix))]
fn is_named(_: &File, _: &Path) -> bool {
    true
}
