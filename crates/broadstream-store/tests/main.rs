//! The crate through its public API, in one program.

mod disk;
mod failing_disk;
mod journal;
mod log;
mod processes;
#[cfg(unix)]
mod simulation;
mod store;
#[cfg(unix)]
mod volatile_disk;
