//! A service whose models learn.

mod learning;

pub use self::learning::{Durability, ModelName, ServeError, UnknownName};
