//! The hidden file that new content goes to before it takes the place of the old.

use std::{
    collections::hash_map::RandomState,
    ffi::{OsStr, OsString},
    fs::{self, File},
    hash::{BuildHasher, Hasher},
    io,
    path::{Path, PathBuf},
};

use crate::{
    disk::{Disk, DiskWriter},
    ownership,
};

/// A new file beside the one that it is to replace. It is removed unless it does.
pub(crate) struct Temporary<'a> {
    disk: &'a dyn Disk,
    path: PathBuf,
    file: File,
    is_in_place: bool,
}

impl<'a> Temporary<'a> {
    /// Creates a file beside `target`, with the mode and the owner of the file `like`, if there is one. Until
    /// it has them only its owner may read it: what is written may be secret.
    pub(crate) fn create(disk: &'a dyn Disk, target: &Path, like: &Path) -> io::Result<Self> {
        let old = match fs::metadata(like) {
            Ok(old) => Some(old),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        loop {
            let path = hidden(target, &format!("{:0DIGITS$x}.{EXTENSION}", random()));
            match disk.create(&path, old.is_some()) {
                Ok(file) => {
                    let temporary = Temporary { disk, path, file, is_in_place: false };
                    if let Some(old) = &old {
                        ownership::keep(old, &temporary.file)?;
                    }
                    return Ok(temporary);
                }
                // Somebody else's, by chance.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Where the new content is written.
    pub(crate) fn writer(&mut self) -> DiskWriter<'_> {
        DiskWriter { disk: self.disk, file: &self.file }
    }

    /// Puts the file where the old one is. Its content reaches the disk before its name does, and the
    /// name before this returns.
    pub(crate) fn replace(mut self, target: &Path) -> io::Result<()> {
        self.disk.sync(&self.file)?;
        self.disk.rename(&self.path, target)?;
        self.is_in_place = true;
        target.parent().map_or(Ok(()), |folder| self.disk.sync_folder(folder))
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.is_in_place {
            // If this fails too, whoever locks the path next removes the file.
            let _ = self.disk.remove(&self.path);
        }
    }
}

/// Removes what programs left behind that were killed while they wrote this file. Only the holder of its
/// lock may do that. Nothing depends on it, so failures are not reported.
pub(crate) fn remove_abandoned(disk: &dyn Disk, target: &Path) {
    let Some(Ok(entries)) = target.parent().map(fs::read_dir) else { return };
    for entry in entries.flatten() {
        if is_temporary_of(&entry.file_name(), target) {
            let _ = disk.remove(&entry.path());
        }
    }
}

/// A hidden name beside a file.
pub(crate) fn hidden(target: &Path, extension: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(".");
    name.push(extension);
    target.with_file_name(name)
}

/// How the names of temporary files end.
const EXTENSION: &str = "tmp";

/// How many hexadecimal digits tell the temporary files of one file apart.
const DIGITS: usize = 16;

fn is_temporary_of(name: &OsStr, target: &Path) -> bool {
    let (name, file) = (name.as_encoded_bytes(), target.file_name().unwrap_or_default());
    let digits = || {
        let name = name.strip_prefix(b".")?.strip_prefix(file.as_encoded_bytes())?;
        name.strip_prefix(b".")?.strip_suffix(EXTENSION.as_bytes())?.strip_suffix(b".")
    };
    digits()
        .is_some_and(|digits| digits.len() == DIGITS && digits.iter().all(u8::is_ascii_hexdigit))
}

/// Process ids would not do: two machines that share a folder, or two containers, may have the same.
fn random() -> u64 {
    // Each state has keys of its own, which the system's random numbers began.
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_file_belongs_to_one_file() {
        let target = Path::new("folder/a.bsm");
        assert_eq!(hidden(target, "lock"), Path::new("folder/.a.bsm.lock"));
        let of_target = |name: &str| is_temporary_of(OsStr::new(name), target);
        assert!(of_target(".a.bsm.0123456789abcdef.tmp"));
        for name in [
            "a.bsm",
            ".a.bsm.lock",
            ".a.bsm.tmp",
            ".a.bsm.0123456789abcde.tmp",
            ".a.bsm.0123456789abcdeg.tmp",
            ".a.bsm.b.0123456789abcdef.tmp",
            ".b.bsm.0123456789abcdef.tmp",
            "a.bsm.0123456789abcdef.tmp",
        ] {
            assert!(!of_target(name), "{name}");
        }
    }
}
