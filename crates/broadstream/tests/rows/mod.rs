//! JSON lines and live rows read through the public API.

mod json_lines;
mod live;
mod many_categories;
mod moments;
mod same_meaning;
mod slow;
mod texts;

use std::io::{Cursor, Read};

use broadstream::{Block, Sample, Schema, stream::Stream};

use self::slow::Slow;

/// A sample with the names of its inputs and its label.
type Row = (Vec<(String, f64)>, String);

/// The samples of a stream up to its end or an error.
fn read_all(stream: &mut dyn Stream, most: usize) -> (Vec<Row>, Option<String>) {
    let mut block = Block::new();
    let error = loop {
        match stream.read_block(&mut block, most) {
            Ok(0) => break None,
            Ok(_) => {}
            Err(error) => break Some(error.to_string()),
        }
    };
    let schema = stream.schema();
    let row = |i| (named(block.sample(i), schema), schema.labels()[block.class(i)].clone());
    ((0..block.len()).map(row).collect(), error)
}

fn named(sample: Sample<'_>, schema: &Schema) -> Vec<(String, f64)> {
    sample.iter().map(|(input, value)| (schema.inputs()[input].name.clone(), value)).collect()
}

fn row(cells: &[(&str, f64)], label: &str) -> Row {
    (cells.iter().map(|&(name, value)| (name.to_owned(), value)).collect(), label.to_owned())
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

fn source(bytes: impl Into<Vec<u8>>) -> Box<dyn Read + Send> {
    Box::new(Cursor::new(bytes.into()))
}
