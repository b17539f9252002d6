//! Errors instead of panics.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Turns a panic into an error. The readers of Parquet and Arrow assert some of the claims that a file
/// makes about itself, such as that the offset of a column is not negative or that numbers are aligned,
/// so a broken file would end the program. The caller must not use a reader again that has panicked.
pub(crate) fn guarded<T>(read: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
        let said = said.unwrap_or("it cannot be decoded");
        let message = format!("the file contradicts itself: {said}");
        Err(io::Error::new(io::ErrorKind::InvalidData, message))
    })
}
