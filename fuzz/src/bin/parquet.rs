//! Parquet in memory. A page may declare to decompress to 2 GiB.

#![no_main]

use broadstream_columnar::{ColumnarFormat, ColumnarSource, open_columnar};
use broadstream_fuzz::{allow_allocations, allow_caught_panics, check, table_options};

fn init() {
    allow_allocations(1 << 31);
    allow_caught_panics();
}

libfuzzer_sys::fuzz_target!(init: init(), |data: &[u8]| {
    let options = table_options(data);
    check(|| {
        let source = ColumnarSource::Memory(data.to_vec());
        open_columnar(ColumnarFormat::Parquet, source, options.clone())
    });
});
