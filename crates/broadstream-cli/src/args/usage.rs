//! Command lines that parse and still make no sense.

use std::fmt;

/// A rule of the command line that no type expresses. The program ends with exit code 2.
#[derive(Debug)]
pub(crate) struct BadUsage(pub(crate) String);

impl fmt::Display for BadUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadUsage {}

/// The parser's message without its advice, for options that come from elsewhere than the command line:
/// an experiment's file, `--with`, or a checkpoint.
pub(crate) fn first_paragraph(error: &clap::Error) -> anyhow::Error {
    let text = error.to_string();
    let message = text.split("\n\n").next().unwrap_or_default();
    BadUsage(message.trim_start_matches("error: ").to_owned()).into()
}
