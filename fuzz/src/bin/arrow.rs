//! Arrow files and streams, detected by their first bytes. A message may decompress to 1 GiB.

#![no_main]

use broadstream_columnar::{ColumnarFormat, ColumnarSource, open_columnar};
use broadstream_fuzz::{allow_allocations, allow_caught_panics, check, table_options};

fn init() {
    allow_allocations((1 << 30) + 64);
    allow_caught_panics();
}

libfuzzer_sys::fuzz_target!(init: init(), |data: &[u8]| {
    let format = match ColumnarFormat::detect(data) {
        Some(ColumnarFormat::ArrowFile) => ColumnarFormat::ArrowFile,
        _ => ColumnarFormat::ArrowStream,
    };
    let options = table_options(data);
    check(|| {
        let source = ColumnarSource::Memory(data.to_vec());
        open_columnar(format, source, options.clone())
    });
});
