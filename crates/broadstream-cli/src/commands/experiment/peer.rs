//! Runs of other libraries' learners, through the Python program in `peers`.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};
use broadstream_report::Record;

use super::plan::PlannedRun;
use crate::{build::source::Source, commands::export};
use broadstream::Preset;

/// Runs a learner on the samples that all other methods get, in the same order.
pub(crate) fn run(run: &PlannedRun, method: &str, folder: &Path) -> Result<Record> {
    let source = Source::parse(&run.source)?;
    let mut opened = source.open_table(&run.input, Preset::Default)?;
    let (python, program) = (python(folder)?, folder.join("stream_learners.py"));
    let mut child = Command::new(&python)
        .arg(&program)
        .args(["-", "--method", method, "--stream", &run.stream])
        .args(["--seed", &run.seed.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("starting {}", python.display()))?;
    // The program reads all samples before it writes anything, so neither side waits for the other forever.
    let stdin = child.stdin.take().context("the program has no standard input")?;
    let columns = opened.columns.take();
    let written = export::write_stream(&mut *opened.stream, columns, run.input.limit, stdin);
    let output = child.wait_with_output().with_context(|| program.display().to_string())?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        let last = message.trim().lines().next_back().unwrap_or("it said nothing").to_owned();
        bail!("{} failed: {last}", program.display());
    }
    written.with_context(|| source.name())?;
    let text = String::from_utf8(output.stdout).context("the program's record is not text")?;
    let mut records = Record::read(&text, &program.display().to_string())?;
    records.pop().context("the program wrote no record")
}

/// The interpreter that `make peers` sets up.
fn python(folder: &Path) -> Result<PathBuf> {
    let python = folder.with_file_name(".venv").join("bin/python");
    if !python.is_file() {
        bail!(
            "there is no {}: 'make peers' sets up third-party learners, --peers says where they are, \
             and --without-peers leaves them out",
            python.display()
        );
    }
    Ok(python)
}
