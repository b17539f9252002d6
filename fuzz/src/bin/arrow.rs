//! Arrow files and streams, told by their first bytes.

#![no_main]

use broadstream_columnar::{ColumnarFormat, ColumnarSource, ColumnarStream};
use broadstream_fuzz::{check, column_options};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let format = match ColumnarFormat::detect(data) {
        Some(ColumnarFormat::ArrowFile) => ColumnarFormat::ArrowFile,
        _ => ColumnarFormat::ArrowStream,
    };
    let options = column_options(data);
    check(|| {
        let source = ColumnarSource::Memory(data.to_vec());
        ColumnarStream::new(format, source, options.clone())
    });
});
