//! A page's commands, run one after the other in one shell.

use std::{env, fs, path::Path, process};

use tempfile::TempDir;

use super::{
    page::{Command, Marker, Page},
    pattern,
};

/// Stands around the exit code that the shell prints after each command, and is in no command's output.
const SEPARATOR: char = '\u{1e}';

/// What came of a command.
pub(crate) struct Outcome {
    pub(crate) command: Command,
    /// Standard output and standard error, in the order in which they were written.
    pub(crate) printed: String,
    /// `None` if the session ended before the command did.
    code: Option<i32>,
}

impl Outcome {
    pub(crate) fn has_succeeded(&self) -> bool {
        self.code == Some(0)
    }

    /// Whether the output is what the page shows; where it shows nothing, any output will do.
    pub(crate) fn is_as_shown(&self) -> bool {
        let lines: Vec<&str> = self.printed.lines().collect();
        self.command.output.is_empty() || pattern::all_match(&self.command.output, &lines)
    }

    /// What is wrong, in words, if anything is.
    pub(crate) fn fault(&self, page: &Page) -> Option<String> {
        let Outcome { command, printed, code } = self;
        let place = format!("{}:{}: $ {}", page.name, command.line, command.text);
        match code {
            None => Some(format!("{place}\nthe session ended here; it printed\n{printed}")),
            Some(0) if self.is_as_shown() => None,
            Some(0) => {
                let shown = command.output.join("\n");
                Some(format!("{place}\nthe page shows\n{shown}\nand the command prints\n{printed}"))
            }
            Some(code) => {
                Some(format!("{place}\nended with exit code {code} and printed\n{printed}"))
            }
        }
    }
}

/// Runs the console blocks of a page, and writes its files, in the order of the page.
pub(crate) fn run(page: &Page) -> Vec<Outcome> {
    let folder = TempDir::new().unwrap();
    let mut script = String::from("set -o pipefail\nexec 2>&1\n");
    let mut commands = Vec::new();
    for block in &page.blocks {
        match &block.marker {
            Some(Marker::NotRun(_)) => continue,
            Some(Marker::File(name)) => fs::write(folder.path().join(name), &block.text).unwrap(),
            None => {}
        }
        for command in &block.commands {
            script += &format!("{}\nprintf '\\036%d\\036' $?\n", command.text);
            commands.push(command.clone());
        }
    }
    if commands.is_empty() {
        return Vec::new();
    }
    let printed = run_script(&script, folder.path());
    let mut parts = printed.split(SEPARATOR);
    let mut next = || parts.next().unwrap_or_default().to_owned();
    let outcome = |command| Outcome { command, printed: next(), code: next().parse().ok() };
    commands.into_iter().map(outcome).collect()
}

fn run_script(script: &str, folder: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_broadstream"));
    let others = env::var_os("PATH").unwrap_or_default();
    let path = [program.parent().unwrap().to_owned()].into_iter().chain(env::split_paths(&others));
    let home = TempDir::new().unwrap();
    let output = process::Command::new("bash")
        .args(["--norc", "-c", script])
        .current_dir(folder)
        .env("PATH", env::join_paths(path).unwrap())
        // Datasets of whoever runs the tests must not show in what the pages print.
        .env("HOME", home.path())
        .env_remove("XDG_CACHE_HOME")
        .env_remove("BROADSTREAM_DATA")
        .stdin(process::Stdio::null())
        .output()
        .expect("bash runs the commands of the pages");
    String::from_utf8(output.stdout).unwrap()
}
