//! LIBSVM, whose target cannot be chosen.

#![no_main]

use broadstream::stream::{TableOptions, libsvm::LibsvmStream};
use broadstream_fuzz::{check, source, table_options};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let options = TableOptions { target: None, ..table_options(data) };
    check(|| LibsvmStream::new(source(data), options.clone()));
});
