//! The command as a user meets it, in one program: linking it once takes a fraction of the time that a
//! program per file would.

mod cli;
mod datasets;
mod decisions;
mod experiment;
mod export;
mod formats;
mod generators;
mod guide;
mod options;
mod output;
mod saved;
#[cfg(feature = "serve")]
mod serve;
