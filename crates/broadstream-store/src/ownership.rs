//! The mode and the owner of a file, which its replacement keeps.

use std::{
    fs::{File, Metadata, OpenOptions},
    io,
    path::Path,
};

/// An error if there is a file that this program may not write. A rename asks only for the right to change
/// the folder, so without this a file that is protected, or another user's, would be replaced.
pub(crate) fn check_writable(path: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).open(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
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
