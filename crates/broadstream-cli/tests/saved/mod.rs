//! Saved models as a user meets them: files, pipes, and runs that are killed.

mod checkpoints;
mod columns;
mod explain;
mod files;
mod journal;
mod pipes;
#[cfg(unix)]
mod signals;
mod small_files;

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output},
};

use serde_json::Value;
use tempfile::TempDir;

/// A folder with files, in which the command runs.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The command with arguments that are divided by blanks.
    fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_broadstream"));
        command.args(arguments.split_whitespace()).current_dir(self.0.path());
        command
    }

    fn output(&self, arguments: &str) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// What a command that must succeed prints.
    fn stdout(&self, arguments: &str) -> String {
        let output = self.output(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, arguments: &str) -> Value {
        serde_json::from_str(&self.stdout(&format!("{arguments} --json"))).unwrap()
    }

    /// The exit code and the message of a command that must fail.
    fn failure(&self, arguments: &str) -> (i32, String) {
        let output = self.output(arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success(), "{arguments} succeeded: {message}");
        (output.status.code().unwrap(), message)
    }

    /// The names of all files, hidden ones too.
    fn names(&self) -> Vec<String> {
        let files = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Rows with numbers, categories, missing cells, and a label that comes late.
fn rows(range: std::ops::Range<usize>) -> String {
    let mut text = String::from("size,colour,weight,class\n");
    for i in range {
        let size = if i % 11 == 3 { String::new() } else { format!("{}.5", i * 7 % 23) };
        let colour = ["red", "green", "blue", "red", "grey"][i % 5];
        let class = match i {
            _ if i > 150 && i % 9 == 0 => "late",
            _ if (i * 7 % 23) > 9 => "large",
            _ => "small",
        };
        text += &format!("{size},{colour},{},{class}\n", i * 13 % 31);
    }
    text
}

/// A small model that is a sum over its samples, once its scaling is frozen.
const EXACT: &str = "--preset single --enhancement-nodes 30 --nested-models 1 \
                     --freeze-scaling-after 50 --quiet";
