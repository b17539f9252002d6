//! The crate through its public API, in one program.

mod golden;
mod hostile;
