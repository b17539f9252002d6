//! JSON lines.

#![no_main]

use broadstream::stream::jsonl::JsonLinesStream;
use broadstream_fuzz::{check, column_options, source};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let options = column_options(data);
    check(|| JsonLinesStream::new(source(data), options.clone()));
});
