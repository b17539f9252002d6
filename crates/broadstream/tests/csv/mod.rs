//! CSV files read through the public API: their contents, and the errors of those that are broken.

mod broken_files;
mod good_files;
mod properties;

use std::io::{Cursor, Write};

use broadstream::{
    Block,
    stream::{Stream, TableOptions, csv::CsvStream},
};

/// A sample with the names of its inputs and its label.
type Row = (Vec<(String, f64)>, String);

/// The contents of a file, and the error at its end, if any.
#[derive(Debug, PartialEq)]
struct Table {
    inputs: Vec<String>,
    rows: Vec<Row>,
    error: Option<String>,
}

fn open(bytes: impl Into<Vec<u8>>, options: &TableOptions) -> Result<CsvStream, String> {
    CsvStream::new(Box::new(Cursor::new(bytes.into())), options.clone())
        .map_err(|error| error.to_string())
}

fn read_all(stream: &mut CsvStream, most: usize) -> Table {
    let mut block = Block::new();
    let error = loop {
        let before = block.len();
        match stream.read_block(&mut block, most) {
            Ok(0) => break None,
            Ok(read) => assert_eq!(read, block.len() - before),
            Err(error) => break Some(error.to_string()),
        }
    };
    assert_eq!(stream.read_block(&mut block, most).unwrap(), 0, "the end stays the end");
    let schema = stream.schema();
    let inputs: Vec<String> = schema.inputs().iter().map(|input| input.name.clone()).collect();
    let rows = (0..block.len())
        .map(|i| {
            let sample = block.sample(i);
            let cells = sample.iter().map(|(input, value)| (inputs[input].clone(), value));
            (cells.collect(), schema.labels()[block.class(i)].clone())
        })
        .collect();
    Table { inputs, rows, error }
}

fn read_with(bytes: impl Into<Vec<u8>>, options: &TableOptions) -> Table {
    read_all(&mut open(bytes, options).unwrap(), 7)
}

/// The rows of a good file.
fn rows_with(bytes: impl Into<Vec<u8>>, options: &TableOptions) -> Vec<Row> {
    let table = read_with(bytes, options);
    assert_eq!(table.error, None);
    table.rows
}

fn rows(bytes: impl Into<Vec<u8>>) -> Vec<Row> {
    rows_with(bytes, &TableOptions::default())
}

fn row(cells: &[(&str, f64)], label: &str) -> Row {
    (cells.iter().map(|&(name, value)| (name.to_owned(), value)).collect(), label.to_owned())
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
