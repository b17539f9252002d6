//! ARFF, dense and sparse.

#![no_main]

use broadstream::stream::arff::ArffStream;
use broadstream_fuzz::{check, column_options, source};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let options = column_options(data);
    check(|| ArffStream::new(source(data), options.clone()));
});
