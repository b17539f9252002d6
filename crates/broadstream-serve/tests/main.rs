//! The service through its public API, in one program.
