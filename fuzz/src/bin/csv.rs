//! CSV and TSV, plain or compressed.

#![no_main]

use broadstream::stream::csv::CsvStream;
use broadstream_fuzz::{check, source, table_options};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let options = table_options(data);
    check(|| CsvStream::new(source(data), options.clone()));
});
