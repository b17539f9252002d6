//! Parquet in memory.

#![no_main]

use broadstream_columnar::{ColumnarFormat, ColumnarSource, ColumnarStream};
use broadstream_fuzz::{check, column_options};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let options = column_options(data);
    check(|| {
        let source = ColumnarSource::Memory(data.to_vec());
        ColumnarStream::new(ColumnarFormat::Parquet, source, options.clone())
    });
});
