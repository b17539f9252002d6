//! CSV and TSV, plain or compressed.

#![no_main]

use broadstream::stream::csv::{CsvOptions, CsvStream};
use broadstream_fuzz::{check, column_options, source};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let columns = column_options(data);
    let options = CsvOptions {
        target: columns.target,
        categorical: columns.categorical,
        categories: columns.categories,
        ..CsvOptions::default()
    };
    check(|| CsvStream::new(source(data), options.clone()));
});
