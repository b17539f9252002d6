//! How a failed command ends: one line on standard error and an exit code.

use std::{
    fmt,
    io::{self, Write},
};

use anyhow::Result;

use broadstream::{Error, stream::StreamError};
use broadstream_datasets::DatasetError;
use broadstream_store::StoreError;

use super::printable::note;
use crate::{args::BadUsage, build::stop::Stopped};

/// Prints the error with its causes, and returns the exit code.
pub(crate) fn report(error: &anyhow::Error) -> u8 {
    if error.is::<ClosedPipe>() {
        return 0;
    }
    if let Some(stopped) = error.downcast_ref::<Stopped>() {
        note(&stopped.to_string());
        return stopped.signal.exit_code();
    }
    note_error(error);
    if is_bad_usage(error) { 2 } else { 1 }
}

/// Prints what the parser of the command line has to say: an error, or the help that was asked for.
pub(crate) fn report_parsing(message: &clap::Error) -> u8 {
    let printed = message.print().and_then(|()| io::stdout().flush());
    match to_stdout(printed) {
        Err(error) if !message.use_stderr() => report(&error),
        _ => message.exit_code() as u8,
    }
}

/// Prints an error with its causes on one line.
pub(crate) fn note_error(error: &anyhow::Error) {
    let text = format!("error: {error:#}");
    // Only an error of TOML shows the place in several lines.
    match error.chain().any(|cause| cause.is::<toml::de::Error>()) {
        true => text.lines().for_each(note),
        false => note(&text),
    }
}

/// Names standard output in the result of writing to it, and marks a closed pipe. Only there it is not a
/// failure: whoever reads the output has seen enough.
pub(crate) fn to_stdout<T, E: Into<anyhow::Error>>(result: Result<T, E>) -> Result<T> {
    result.map_err(|error| {
        let error = error.into();
        let is_closed = error.chain().any(is_closed_pipe);
        if is_closed { ClosedPipe.into() } else { error.context(StdoutFailure) }
    })
}

/// Says where something went wrong, unless it went wrong in writing to standard output.
pub(crate) fn within<T>(result: Result<T>, place: impl FnOnce() -> String) -> Result<T> {
    match result {
        Err(error) if !error.is::<StdoutFailure>() => Err(error.context(place())),
        result => result,
    }
}

/// Whether an error says that the reader has closed standard output.
pub(crate) fn is_closed(error: &anyhow::Error) -> bool {
    error.is::<ClosedPipe>()
}

fn is_closed_pipe(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
        || cause.downcast_ref::<csv::Error>().is_some_and(|e| match e.kind() {
            csv::ErrorKind::Io(e) => e.kind() == io::ErrorKind::BrokenPipe,
            _ => false,
        })
        || cause
            .downcast_ref::<serde_json::Error>()
            .is_some_and(|e| e.io_error_kind() == Some(io::ErrorKind::BrokenPipe))
}

/// Whether the command line asked for something that does not exist or does not go together.
pub(crate) fn is_bad_usage(error: &anyhow::Error) -> bool {
    error.chain().any(is_usage)
}

fn is_usage(cause: &(dyn std::error::Error + 'static)) -> bool {
    let error = match cause.downcast_ref::<StoreError>() {
        // The store boxes the library's errors, which hides them from a search by type.
        Some(
            StoreError::InvalidModel { source, .. } | StoreError::UnsavableModel { source, .. },
        ) => Some(&**source),
        _ => cause.downcast_ref::<Error>(),
    };
    matches!(
        error,
        Some(
            Error::Config { .. }
                | Error::UnknownOption { .. }
                | Error::Stream(
                    StreamError::Parameter { .. }
                        | StreamError::GeneratorText { .. }
                        | StreamError::UnknownParameter { .. }
                        | StreamError::UnknownGenerator { .. }
                        | StreamError::UnusedOption { .. }
                )
        )
    ) || matches!(cause.downcast_ref::<DatasetError>(), Some(DatasetError::Unknown { .. }))
        || cause.is::<BadUsage>()
}

/// Standard output could not be written, but not because it was closed.
#[derive(Debug)]
pub(crate) struct StdoutFailure;

impl fmt::Display for StdoutFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("writing standard output")
    }
}

/// The reader has closed standard output.
#[derive(Debug)]
struct ClosedPipe;

impl fmt::Display for ClosedPipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("standard output was closed")
    }
}

impl std::error::Error for ClosedPipe {}
