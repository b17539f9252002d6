//! LIBSVM, whose target cannot be chosen.

#![no_main]

use broadstream::stream::{ColumnOptions, libsvm::LibsvmStream};
use broadstream_fuzz::{check, column_options, source};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let options = ColumnOptions { target: None, ..column_options(data) };
    check(|| LibsvmStream::new(source(data), options.clone()));
});
