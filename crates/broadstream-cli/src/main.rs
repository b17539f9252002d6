//! The `broadstream` command.

use std::{env, process::ExitCode};

fn main() -> ExitCode {
    ExitCode::from(broadstream_cli::run(env::args_os()))
}
