//! `broadstream datasets`: the datasets of the catalogue, and their files on this machine.

mod fetch;
mod list;
mod verify;

use std::io::{self, Write};

use anyhow::Result;
use serde_json::Value;

pub(crate) use self::{fetch::fetch, list::list, verify::verify};
use crate::output::failure::to_stdout;

/// Prints an array, indented for people who read it.
fn print_json(values: impl IntoIterator<Item = Value>) -> Result<()> {
    let text = format!("{:#}\n", Value::from_iter(values));
    to_stdout(io::stdout().write_all(text.as_bytes()))
}
