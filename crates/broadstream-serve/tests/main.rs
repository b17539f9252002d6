//! The service through its public API, in one program.

mod http;
mod reference;
