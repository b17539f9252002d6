//! JSON lines.

#![no_main]

use broadstream::stream::jsonl::JsonLinesStream;
use broadstream_fuzz::{check, source, table_options};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let options = table_options(data);
    check(|| JsonLinesStream::new(source(data), options.clone()));
});
