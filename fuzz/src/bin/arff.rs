//! ARFF, dense and sparse.

#![no_main]

use broadstream::stream::arff::ArffStream;
use broadstream_fuzz::{check, source, table_options};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let options = table_options(data);
    check(|| ArffStream::new(source(data), options.clone()));
});
