//! A disk on which operations fail.

use std::{
    fs::File,
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use broadstream_store::{Disk, SystemDisk};

/// A disk on which one operation fails, or that one and all after it, as if the machine had stopped.
#[derive(Debug)]
pub(crate) struct FailingDisk<D = SystemDisk> {
    disk: D,
    /// How many operations succeed before one fails.
    at: AtomicUsize,
    forever: AtomicBool,
    done: AtomicUsize,
}

impl FailingDisk {
    pub(crate) fn new(at: usize, forever: bool) -> Arc<Self> {
        let disk = FailingDisk::healthy(SystemDisk);
        disk.fail_at(at, forever);
        Arc::new(disk)
    }
}

impl<D> FailingDisk<D> {
    /// A disk that does not fail until it is told to.
    pub(crate) fn healthy(disk: D) -> Self {
        let (at, done) = (AtomicUsize::new(usize::MAX), AtomicUsize::new(0));
        FailingDisk { disk, at, forever: AtomicBool::new(false), done }
    }

    /// Lets the operation fail that comes after this many.
    pub(crate) fn fail_at(&self, at: usize, forever: bool) {
        self.done.store(0, Ordering::Relaxed);
        self.at.store(at, Ordering::Relaxed);
        self.forever.store(forever, Ordering::Relaxed);
    }

    /// Lets no operation fail from now on.
    pub(crate) fn repair(&self) {
        self.fail_at(usize::MAX, false);
    }

    /// The disk below.
    pub(crate) fn inner(&self) -> &D {
        &self.disk
    }

    /// Whether the operation has come that fails first.
    pub(crate) fn has_failed(&self) -> bool {
        self.done.load(Ordering::Relaxed) > self.at.load(Ordering::Relaxed)
    }

    fn step(&self) -> io::Result<()> {
        let number = self.done.fetch_add(1, Ordering::Relaxed);
        let at = self.at.load(Ordering::Relaxed);
        let fails = number == at || self.forever.load(Ordering::Relaxed) && number > at;
        if fails { Err(io::Error::other("the disk fails")) } else { Ok(()) }
    }
}

impl<D: Disk> Disk for FailingDisk<D> {
    fn create(&self, path: &Path, is_private: bool) -> io::Result<File> {
        self.step()?;
        self.disk.create(path, is_private)
    }

    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<usize> {
        // A disk that is full takes a part of what it is given.
        let failure = self.step();
        if failure.is_err() {
            self.disk.write(file, &bytes[..bytes.len() / 2])?;
        }
        failure?;
        // Small pieces, so that there are several writes to fail at.
        self.disk.write(file, &bytes[..bytes.len().min(4000)])
    }

    fn truncate(&self, file: &File, length: u64) -> io::Result<()> {
        self.step()?;
        self.disk.truncate(file, length)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        self.step()?;
        self.disk.sync(file)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        self.disk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        self.disk.remove(path)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.step()?;
        self.disk.sync_folder(folder)
    }
}
