//! Processes that write the same file.
//!
//! The test starts its own program again, told by an environment variable to be a writer.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use broadstream_store::{LockedPath, StoreError, write_bytes};

const LENGTH: usize = 100_000;
const WRITES: usize = 40;
const FILE: &str = "STORE_TEST_FILE";
const TASK: &str = "STORE_TEST_TASK";

fn start(task: &str, path: &Path) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "processes::a_writer", "--ignored", "--nocapture"])
        .env(FILE, path)
        .env(TASK, task)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// What the processes do that the tests start.
#[test]
#[ignore = "the other tests run this in processes of its own"]
fn a_writer() {
    let Some(path) = env::var_os(FILE).map(PathBuf::from) else { return };
    match env::var(TASK).unwrap().as_str() {
        "hold" => {
            let locked = LockedPath::lock(&path).unwrap();
            locked.write_bytes(b"held").unwrap();
            thread::sleep(Duration::from_secs(60));
        }
        "refused" => {
            let error = write_bytes(&path, b"other").unwrap_err();
            assert!(matches!(&error, StoreError::Write { source, .. }
                if source.kind() == io::ErrorKind::PermissionDenied));
        }
        content => {
            let content = content.parse().unwrap();
            let mut left = WRITES;
            while left > 0 {
                match write_bytes(&path, &[content; LENGTH]) {
                    Ok(()) => left -= 1,
                    Err(StoreError::Locked { .. }) => thread::yield_now(),
                    Err(error) => panic!("{error:?}"),
                }
            }
        }
    }
}

#[test]
fn processes_that_contend_never_mix_their_contents() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bin");
    write_bytes(&path, &[0; LENGTH]).unwrap();
    let mut writers: Vec<Child> = ["1", "2", "3"].map(|task| start(task, &path)).into();
    let mut seen = [false; 4];
    while writers.iter_mut().any(|writer| writer.try_wait().unwrap().is_none()) {
        let found = fs::read(&path).unwrap();
        assert!(found.len() == LENGTH && found.iter().all(|byte| *byte == found[0]));
        seen[found[0] as usize] = true;
    }
    assert!(writers.into_iter().all(|mut writer| writer.wait().unwrap().success()));
    assert!(seen[1..].iter().filter(|seen| **seen).count() > 1, "{seen:?}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_lock_ends_with_the_process_that_held_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bin");
    let mut holder = start("hold", &path);
    let start = Instant::now();
    while !path.exists() {
        assert!(start.elapsed() < Duration::from_secs(30), "the holder does not come");
        thread::sleep(Duration::from_millis(5));
    }
    let error = write_bytes(&path, b"other").unwrap_err();
    assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
    assert_eq!(fs::read(&path).unwrap(), b"held");
    holder.kill().unwrap();
    holder.wait().unwrap();
    write_bytes(&path, b"other").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"other");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// The folder would permit to rename another file over it.
#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_written_is_not_replaced_either() {
    use std::os::unix::{
        fs::{MetadataExt, PermissionsExt},
        process::CommandExt,
    };
    let folder = tempfile::tempdir().unwrap();
    let set_mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    set_mode(folder.path(), 0o777);
    // A copy, since the program of the tests may lie where nobody else can read it.
    let (path, program) = (folder.path().join("a.bin"), folder.path().join("writer"));
    fs::copy(env::current_exe().unwrap(), &program).unwrap();
    set_mode(&program, 0o755);
    fs::write(&path, b"old").unwrap();
    let is_privileged = fs::metadata(&path).unwrap().uid() == 0;
    for mode in [0o444, 0o644] {
        set_mode(&path, mode);
        let mut command = Command::new(&program);
        command
            .args(["--exact", "processes::a_writer", "--ignored"])
            .env(FILE, &path)
            .env(TASK, "refused");
        // A privileged program may write everything, so somebody else has to try.
        if is_privileged {
            command.uid(12_345).gid(12_345);
        } else if mode == 0o644 {
            break;
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }
}
