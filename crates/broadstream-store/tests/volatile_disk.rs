//! A disk that forgets what was not synced when the power fails.
//!
//! Nothing is really synced, which takes long and would prove nothing. Instead the disk notes what a sync
//! has made durable: the content of files, and the names in the folder. When the power fails, a file that
//! was written since may have its new content, its old content or something in between, and the last
//! changes of names may not have happened.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard},
};

use broadstream_store::{Disk, SystemDisk};

/// A disk for the files of one folder.
#[derive(Debug)]
pub(crate) struct VolatileDisk {
    folder: PathBuf,
    cache: Mutex<Cache>,
}

/// What the system has not written yet.
#[derive(Debug, Default)]
struct Cache {
    /// In the order in which they were created, so that a seed repeats a power failure.
    files: Vec<CachedFile>,
    /// The changes of names since the folder was synced.
    names: Vec<NameChange>,
}

#[derive(Debug)]
struct CachedFile {
    inode: u64,
    path: PathBuf,
    durable: Vec<u8>,
}

#[derive(Debug)]
enum NameChange {
    Created(PathBuf),
    /// With the durable content of the file that had the name before.
    Renamed {
        from: PathBuf,
        to: PathBuf,
        replaced: Option<Vec<u8>>,
    },
    Removed {
        path: PathBuf,
        durable: Vec<u8>,
    },
}

impl VolatileDisk {
    /// A disk for the files of a folder that is empty.
    pub(crate) fn new(folder: &Path) -> Self {
        VolatileDisk { folder: folder.to_owned(), cache: Mutex::default() }
    }

    /// Loses what the system might have lost, and starts again. `choose` returns a number below the one
    /// that it is given.
    pub(crate) fn lose_power(&self, mut choose: impl FnMut(usize) -> usize) {
        let mut cache = self.cache();
        for file in &cache.files {
            let written = fs::read(&file.path).expect("it has a name");
            if written != file.durable {
                let left = remains(&mut choose, &written, &file.durable);
                fs::write(&file.path, left).expect("the folder can be written");
            }
        }
        let kept = choose(cache.names.len() + 1);
        for change in cache.names.drain(kept..).rev() {
            change.undo().expect("the folder can be written");
        }
        // What is left is durable.
        *cache = Cache::default();
        let entries = fs::read_dir(&self.folder).expect("the folder exists");
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let file = cache.take(&path).expect("it can be read");
            cache.files.push(file);
        }
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().expect("no operation panics")
    }
}

/// What is left of a file that was written, but not synced.
fn remains(mut choose: impl FnMut(usize) -> usize, written: &[u8], durable: &[u8]) -> Vec<u8> {
    let same = written.iter().zip(durable).take_while(|(written, durable)| written == durable);
    let same = same.count();
    let cut = same + choose(written.len() - same + 1);
    match choose(4) {
        0 => written.to_vec(),
        1 => durable.to_vec(),
        2 => written[..cut].to_vec(),
        // Some file systems fill with zeros what they have not written.
        _ => [&written[..cut], &vec![0; written.len() - cut]].concat(),
    }
}

impl NameChange {
    fn undo(self) -> io::Result<()> {
        match self {
            NameChange::Created(path) => fs::remove_file(path),
            NameChange::Renamed { from, to, replaced } => {
                fs::rename(&to, from)?;
                replaced.map_or(Ok(()), |content| fs::write(to, content))
            }
            NameChange::Removed { path, durable } => fs::write(path, durable),
        }
    }
}

impl Cache {
    /// Takes a file out of the list. One that is not there is durable.
    fn take(&mut self, path: &Path) -> io::Result<CachedFile> {
        let inode = fs::metadata(path)?.ino();
        match self.files.iter().position(|file| file.inode == inode) {
            Some(position) => Ok(self.files.remove(position)),
            None => Ok(CachedFile { inode, path: path.to_owned(), durable: fs::read(path)? }),
        }
    }
}

impl Disk for VolatileDisk {
    fn create(&self, path: &Path, is_private: bool) -> io::Result<File> {
        let file = SystemDisk.create(path, is_private)?;
        let (inode, path) = (file.metadata()?.ino(), path.to_owned());
        let mut cache = self.cache();
        cache.names.push(NameChange::Created(path.clone()));
        cache.files.push(CachedFile { inode, path, durable: Vec::new() });
        Ok(file)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        let inode = file.metadata()?.ino();
        for file in self.cache().files.iter_mut().filter(|file| file.inode == inode) {
            file.durable = fs::read(&file.path)?;
        }
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut cache = self.cache();
        let replaced = if to.exists() { Some(cache.take(to)?.durable) } else { None };
        let file = CachedFile { path: to.to_owned(), ..cache.take(from)? };
        cache.files.push(file);
        SystemDisk.rename(from, to)?;
        let (from, to) = (from.to_owned(), to.to_owned());
        cache.names.push(NameChange::Renamed { from, to, replaced });
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut cache = self.cache();
        let durable = cache.take(path)?.durable;
        SystemDisk.remove(path)?;
        cache.names.push(NameChange::Removed { path: path.to_owned(), durable });
        Ok(())
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        self.cache().names.clear();
        Ok(())
    }
}
