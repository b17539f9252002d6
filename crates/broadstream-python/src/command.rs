//! The `broadstream` command, which the package installs too.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Run the ``broadstream`` command with the arguments of a program, the first of which is its name. Return
/// its exit code.
///
/// It takes over the standard streams and the signals of the process, so the caller must be a program that does
/// nothing else.
#[pyfunction]
pub(crate) fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| broadstream_cli::run(arguments))
}
