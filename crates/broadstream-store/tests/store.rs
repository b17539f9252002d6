//! Files are replaced as a whole or not at all, and by one holder at a time.

use std::{
    fs, io,
    path::Path,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};

use broadstream::{
    Classifier, Nodes, OnlineBls, OnlineBlsConfig, Sample, Schema,
    model_file::{Loaded, ModelFile},
};
use broadstream_store::{LockedPath, StoreError, read_model, read_model_or_sums, write_bytes};
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn model() -> OnlineBls {
    let config =
        OnlineBlsConfig { enhancement_nodes: Nodes::Fixed(9), ..OnlineBlsConfig::single() };
    OnlineBls::new(config).unwrap()
}

/// The names of all files in a folder, hidden ones too.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The message of an error with its causes, as a program shows it.
fn message(error: &StoreError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}

#[test]
fn a_lock_has_one_holder_and_leaves_nothing_behind() {
    let folder = folder();
    let path = folder.path().join("a.bsm");
    let locked = LockedPath::lock(&path).unwrap();
    let error = LockedPath::lock(&path).unwrap_err();
    assert!(message(&error).contains("a.bsm: another program is using this file"), "{error}");
    let error = write_bytes(&path, b"other").unwrap_err();
    assert!(matches!(error, StoreError::Locked { .. }), "{error}");
    locked.write_model(&ModelFile::new(&model(), &Schema::new("y"))).unwrap();
    drop(locked);
    drop(LockedPath::lock(&path).unwrap());
    assert_eq!(names(folder.path()), ["a.bsm"]);
    assert_eq!(read_model(&path).unwrap().schema.target(), "y");
    assert!(matches!(read_model_or_sums(&path), Ok(Loaded::Model(_))));
    // Whoever holds the lock of one file may write another.
    let _locked = LockedPath::lock(&path).unwrap();
    write_bytes(&folder.path().join("b.bsm"), b"b").unwrap();
}

/// What a killed program leaves: a lock that nobody holds, and a part of a file.
#[test]
fn what_a_killed_program_left_is_no_obstacle_and_is_removed() {
    let folder = folder();
    let path = folder.path().join("a.bsm");
    for name in [".a.bsm.lock", ".a.bsm.0123456789abcdef.tmp", ".b.bsm.0123456789abcdef.tmp"] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    write_bytes(&path, b"new").unwrap();
    assert_eq!(names(folder.path()), [".b.bsm.0123456789abcdef.tmp", "a.bsm"]);
}

#[test]
fn a_model_that_cannot_be_saved_leaves_the_old_file() {
    let folder = folder();
    let path = folder.path().join("a.bsm");
    write_bytes(&path, b"old").unwrap();
    let (mut model, mut schema) = (model(), Schema::new("y"));
    for class in 0..2 {
        model.learn_one(Sample::dense(&[]), class, 1.0).unwrap();
    }
    // One label for two classes.
    schema.class_of("yes");
    let locked = LockedPath::lock(&path).unwrap();
    let error = locked.write_model(&ModelFile::new(&model, &schema)).unwrap_err();
    let text = message(&error);
    assert!(text.starts_with("writing ") && text.contains("a.bsm: a model of 2 classes"), "{text}");
    drop(locked);
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names(folder.path()), ["a.bsm"]);
}

#[test]
fn a_file_that_cannot_be_put_in_its_place_leaves_nothing_behind() {
    let folder = folder();
    let path = folder.path().join("a.bsm");
    let locked = LockedPath::lock(&path).unwrap();
    // A file cannot be renamed over a folder.
    fs::create_dir(&path).unwrap();
    let error = locked.write_bytes(b"new").unwrap_err();
    assert!(message(&error).starts_with("writing "), "{error}");
    drop(locked);
    assert_eq!(names(folder.path()), ["a.bsm"]);
}

#[test]
fn what_is_no_file_is_refused_by_name() {
    let folder = folder();
    let error = LockedPath::lock(folder.path()).unwrap_err();
    let name = folder.path().display();
    assert_eq!(message(&error), format!("{name} is a directory, expected a file"));
    assert!(matches!(read_model(folder.path()), Err(StoreError::Directory { .. })));
    let error = LockedPath::lock(&folder.path().join("missing/a.bsm")).unwrap_err();
    let expected = format!("cannot create a file in the folder {name}/missing: ");
    assert!(message(&error).starts_with(&expected), "{error}");
    for path in ["missing/", "missing/.", "", ".."] {
        let error = LockedPath::lock(&folder.path().join("b").join(path)).unwrap_err();
        assert!(message(&error).contains(&format!("{name}/b")), "{error}");
    }
    assert!(LockedPath::lock(Path::new("")).is_err());
    let error = read_model(&folder.path().join("missing.bsm")).unwrap_err();
    assert!(message(&error).starts_with(&format!("reading {name}/missing.bsm: ")), "{error}");
    fs::write(folder.path().join("text.bsm"), "no model").unwrap();
    let error = read_model(&folder.path().join("text.bsm")).unwrap_err();
    assert!(message(&error).contains("text.bsm: this is not a broadstream model file"), "{error}");
    assert_eq!(names(folder.path()), ["text.bsm"]);
}

/// Threads that write different contents: each write succeeds or is refused, and readers see one
/// content or another.
#[test]
fn threads_that_contend_never_mix_their_contents() {
    const LENGTH: usize = 100_000;
    let folder = folder();
    let path = folder.path().join("a.bin");
    write_bytes(&path, &[0; LENGTH]).unwrap();
    let (written, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let writers: Vec<_> = (1..=4)
            .map(|content| {
                let (path, written, refused) = (&path, &written, &refused);
                scope.spawn(move || {
                    for _ in 0..50 {
                        match write_bytes(path, &[content; LENGTH]) {
                            Ok(()) => written.fetch_add(1, Ordering::Relaxed),
                            Err(StoreError::Locked { .. }) => {
                                refused.fetch_add(1, Ordering::Relaxed)
                            }
                            Err(error) => panic!("{}", message(&error)),
                        };
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                let found = fs::read(&path).unwrap();
                assert!(found.len() == LENGTH && found.iter().all(|byte| *byte == found[0]));
            }
        });
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        is_done.store(true, Ordering::Relaxed);
    });
    assert!(written.into_inner() > 0);
    assert_eq!(names(folder.path()), ["a.bin"]);
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_link_stays_a_link() {
        let folder = folder();
        let [path, link, early] =
            ["a.bsm", "link.bsm", "early.bsm"].map(|name| folder.path().join(name));
        write_bytes(&path, b"old").unwrap();
        symlink("a.bsm", &link).unwrap();
        let locked = LockedPath::lock(&link).unwrap();
        // It is the file that is locked, by whichever name.
        assert!(matches!(LockedPath::lock(&path), Err(StoreError::Locked { .. })));
        locked.write_bytes(b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"new");
        // What the link points to need not exist yet.
        symlink("later.bsm", &early).unwrap();
        write_bytes(&early, b"later").unwrap();
        assert!(fs::symlink_metadata(&early).unwrap().is_symlink());
        assert_eq!(fs::read(folder.path().join("later.bsm")).unwrap(), b"later");
        symlink("b", folder.path().join("a")).unwrap();
        symlink("a", folder.path().join("b")).unwrap();
        assert!(LockedPath::lock(&folder.path().join("a")).is_err(), "a loop leads nowhere");
    }

    #[test]
    fn a_new_file_has_the_usual_mode_and_a_replacement_that_of_the_old() {
        let folder = folder();
        let [path, plain] = ["a.bsm", "plain"].map(|name| folder.path().join(name));
        fs::write(&plain, "").unwrap();
        write_bytes(&path, b"1").unwrap();
        assert_eq!(mode(&path), mode(&plain));
        // A file that its owner may not write is refused, unless the owner may do everything.
        let is_privileged = fs::metadata(&path).unwrap().uid() == 0;
        for expected in [0o600, 0o640, 0o664, 0o444] {
            if expected == 0o444 && !is_privileged {
                continue;
            }
            set_mode(&path, expected);
            let before = fs::metadata(&path).unwrap().ino();
            write_bytes(&path, b"2").unwrap();
            assert_eq!(mode(&path), expected);
            assert_ne!(fs::metadata(&path).unwrap().ino(), before, "the file was not replaced");
        }
    }

    #[test]
    fn a_replacement_keeps_the_owner() {
        let folder = folder();
        let path = folder.path().join("a.bsm");
        write_bytes(&path, b"1").unwrap();
        // Only a privileged program can give a file away; for others the owner is their own.
        let _ = chown(&path, Some(12_345), Some(54_321));
        let owner = |path: &Path| {
            let metadata = fs::metadata(path).unwrap();
            (metadata.uid(), metadata.gid())
        };
        let before = owner(&path);
        write_bytes(&path, b"2").unwrap();
        assert_eq!(owner(&path), before);
        assert_eq!(fs::read(&path).unwrap(), b"2");
    }

    #[test]
    fn a_read_only_folder_is_named() {
        let folder = folder();
        let path = folder.path().join("a.bsm");
        write_bytes(&path, b"old").unwrap();
        set_mode(folder.path(), 0o555);
        // A privileged program may write there all the same, but in no folder of the kernel's.
        let is_privileged = fs::write(folder.path().join("probe"), "").is_ok();
        let path = if is_privileged { Path::new("/proc/a.bsm") } else { &path };
        let expected = path.parent().unwrap().display().to_string();
        let error = write_bytes(path, b"new").unwrap_err();
        set_mode(folder.path(), 0o755);
        assert!(matches!(&error, StoreError::Folder { .. }), "{error:?}");
        assert!(message(&error).contains(&format!("in the folder {expected}: ")), "{error}");
        assert_eq!(fs::read(folder.path().join("a.bsm")).unwrap(), b"old");
    }

    #[test]
    fn a_pipe_is_written_to_and_not_replaced() {
        let folder = folder();
        let path = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        assert!(matches!(LockedPath::lock(&path), Err(StoreError::NotReplaceable { .. })));
        let found = thread::scope(|scope| {
            let reader = scope.spawn(|| fs::read(&path).unwrap());
            write_bytes(&path, b"through").unwrap();
            reader.join().unwrap()
        });
        assert_eq!(found, b"through");
        assert!(!fs::metadata(&path).unwrap().is_file());
        assert_eq!(names(folder.path()), ["pipe"]);
        // One that has no name in any folder.
        let (mut reader, writer) = io::pipe().unwrap();
        let name = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&writer));
        write_bytes(Path::new(&name), b"through").unwrap();
        drop(writer);
        let mut found = Vec::new();
        io::Read::read_to_end(&mut reader, &mut found).unwrap();
        assert_eq!(found, b"through");
    }
}
