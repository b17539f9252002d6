//! Model files on disk: written whole or not at all, by one program at a time.
//!
//! A file is written beside its place under another name, brought to the disk, and then moved into its
//! place, which no reader and no crash can observe halfway. Whoever is going to write a file holds a lock
//! on it from before it is read until after the last time it was written; a second program is refused. The
//! lock is one of the operating system's, so that it ends with its holder, however that ends.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, BufReader, BufWriter, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use broadstream::model_file::{self, Loaded, ModelFile, Saved};

/// Reads a file with a model.
pub(crate) fn read(path: &Path) -> Result<Saved> {
    open(path).and_then(|mut file| Ok(model_file::read(&mut file)?)).with_context(|| name(path))
}

/// Reads a file with a model, or with the sums of one.
pub(crate) fn read_any(path: &Path) -> Result<Loaded> {
    open(path).and_then(|mut file| Ok(model_file::read_any(&mut file)?)).with_context(|| name(path))
}

fn open(path: &Path) -> Result<BufReader<File>> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        bail!("this is a directory, expected a file");
    }
    Ok(BufReader::new(file))
}

fn name(path: &Path) -> String {
    path.display().to_string()
}

/// A place for a model file that no other program writes to.
#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
    lock_path: PathBuf,
    /// Locked as long as it is open.
    _lock: File,
}

impl Place {
    /// Locks the place of a file, which need not exist yet.
    pub(crate) fn lock(path: &Path) -> Result<Self> {
        Self::try_lock(path).with_context(|| name(path))
    }

    fn try_lock(path: &Path) -> Result<Self> {
        // What a link points to is replaced, not the link.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if path.is_dir() {
            bail!("this is a directory, expected a file");
        }
        let lock_path = beside(&path, "lock")?;
        loop {
            let lock = OpenOptions::new()
                .create(true)
                .truncate(false)
                .write(true)
                .open(&lock_path)
                .with_context(|| format!("cannot create {}", lock_path.display()))?;
            match lock.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    bail!("another program is at work on this file");
                }
                Err(TryLockError::Error(error)) => return Err(error).context("cannot lock it"),
            }
            // Whoever held the lock before may have removed the file that is locked here.
            if is_same(&lock, &lock_path) {
                return Ok(Place { path, lock_path, _lock: lock });
            }
        }
    }

    /// Writes the file. If that fails, what was there before still is.
    pub(crate) fn write(&self, file: &ModelFile<'_>) -> Result<()> {
        let temporary = beside(&self.path, "tmp")?;
        let written = write_to(&temporary, file)
            .and_then(|()| Ok(fs::rename(&temporary, &self.path)?))
            .and_then(|()| Ok(sync_folder(&self.path)?));
        if written.is_err() {
            // It may not even exist, and there is nothing else to be done about it.
            let _ = fs::remove_file(&temporary);
        }
        written.with_context(|| format!("writing {}", self.path.display()))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // While it is still locked, so that nobody else has locked it.
        let _ = fs::remove_file(&self.lock_path);
    }
}

fn write_to(path: &Path, file: &ModelFile<'_>) -> Result<()> {
    let mut writer = BufWriter::with_capacity(1 << 20, File::create(path)?);
    file.write(&mut writer)?;
    writer.flush()?;
    Ok(writer.get_ref().sync_all()?)
}

/// Brings a folder to the disk, in which a file was moved.
fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        // Only where folders can be opened like files is there anything to do.
        Some(folder) if cfg!(unix) => {
            let here = folder.as_os_str().is_empty();
            File::open(if here { Path::new(".") } else { folder })?.sync_all()
        }
        _ => Ok(()),
    }
}

/// A hidden file beside another one.
fn beside(path: &Path, extension: &str) -> Result<PathBuf> {
    let Some(file) = path.file_name() else { bail!("this is no name of a file") };
    Ok(path.with_file_name(format!(".{}.{extension}", file.to_string_lossy())))
}

/// Whether a file that was opened is still the one of that name.
#[cfg(unix)]
fn is_same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    match (file.metadata(), fs::metadata(path)) {
        (Ok(opened), Ok(named)) => identity(opened) == identity(named),
        _ => false,
    }
}

/// An open file cannot be removed there.
#[cfg(not(unix))]
fn is_same(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use broadstream::{OnlineBls, OnlineBlsConfig, Schema};

    fn model() -> OnlineBls {
        let config = OnlineBlsConfig { enhancement_nodes: 9, ..OnlineBlsConfig::single() };
        OnlineBls::new(config).unwrap()
    }

    #[test]
    fn a_place_has_one_holder_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bsm");
        let place = Place::lock(&path).unwrap();
        let error = format!("{:#}", Place::lock(&path).unwrap_err());
        assert!(error.contains("a.bsm: another program is at work on this file"), "{error}");
        let (model, schema) = (model(), Schema::new("y"));
        place.write(&ModelFile::new(&model, &schema)).unwrap();
        drop(place);
        Place::lock(&path).unwrap();
        let files: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(files.len(), 1);
        assert_eq!(read(&path).unwrap().schema.target(), "y");
    }

    #[test]
    fn what_cannot_be_written_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bsm");
        let place = Place::lock(&path).unwrap();
        let (model, schema) = (model(), Schema::new("y"));
        place.write(&ModelFile::new(&model, &schema)).unwrap();
        let before = fs::read(&path).unwrap();
        // A folder stands where the temporary file should.
        fs::create_dir(folder.path().join(".a.bsm.tmp")).unwrap();
        let error = format!("{:#}", place.write(&ModelFile::new(&model, &schema)).unwrap_err());
        assert!(error.starts_with("writing ") && error.contains("a.bsm"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), before);
        assert!(Place::lock(folder.path()).unwrap_err().to_string().contains(&name(folder.path())));
        assert!(Place::lock(&folder.path().join("missing/a.bsm")).is_err());
        assert!(read(folder.path()).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let [path, link] = ["a.bsm", "b.bsm"].map(|name| folder.path().join(name));
        let (model, schema) = (model(), Schema::new("y"));
        Place::lock(&path).unwrap().write(&ModelFile::new(&model, &schema)).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let place = Place::lock(&link).unwrap();
        assert!(Place::lock(&path).is_err());
        place.write(&ModelFile::new(&model, &schema)).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}
