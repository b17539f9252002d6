//! The mode and the owner of a file, which its replacement keeps.

use std::{
    fs::{File, Metadata, OpenOptions},
    io,
    path::Path,
};

/// Creates a file that must not exist yet. If it is to replace `old`, only its owner may read it until
/// [`keep`] has run: what is written meanwhile may be secret. Otherwise it has the usual mode.
#[cfg(unix)]
pub(crate) fn create_new(path: &Path, old: Option<&Metadata>) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mode = if old.is_some() { 0o600 } else { 0o666 };
    OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
}

/// Gives a new file the mode of an old one and, where the system permits it, its owner and group.
#[cfg(unix)]
pub(crate) fn keep(old: &Metadata, new: &File) -> io::Result<()> {
    use std::{
        fs::Permissions,
        os::unix::fs::{MetadataExt, PermissionsExt, fchown},
    };
    let created = new.metadata()?;
    if (created.uid(), created.gid()) != (old.uid(), old.gid()) {
        // Giving a file away takes privileges, giving it to another group of one's own does not.
        let _ = fchown(new, Some(old.uid()), Some(old.gid()))
            .or_else(|_| fchown(new, None, Some(old.gid())));
    }
    // After the owner, since a change of owner may take rights away.
    let owned = new.metadata()?;
    let mode = kept_mode(old.mode(), owned.gid() == old.gid());
    // Some file systems have one mode for all files and refuse to change it.
    if owned.mode() & 0o777 == mode {
        return Ok(());
    }
    new.set_permissions(Permissions::from_mode(mode))
}

/// The rights of a replaced file. They are about the group that it had: if its replacement could not get
/// that group, another group must not have more rights than everybody.
#[cfg(unix)]
fn kept_mode(mode: u32, has_group: bool) -> u32 {
    let mode = mode & 0o777;
    if has_group { mode } else { mode & !0o070 | (mode & 0o007) << 3 }
}

#[cfg(not(unix))]
pub(crate) fn create_new(path: &Path, _: Option<&Metadata>) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Elsewhere a new file inherits its rights from the folder.
#[cfg(not(unix))]
pub(crate) fn keep(_: &Metadata, _: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::kept_mode;

    #[test]
    fn another_group_has_the_rights_of_everybody() {
        assert_eq!(kept_mode(0o100_640, true), 0o640);
        assert_eq!(kept_mode(0o100_640, false), 0o600);
        assert_eq!(kept_mode(0o100_664, false), 0o644);
        assert_eq!(kept_mode(0o104_755, true), 0o755);
    }
}
