//! What a stream holds, with names in the place of numbers, to be compared in tests.

use super::Stream;
use crate::{data::Block, error::Error};

/// A sample with the names of its inputs, its label and its weight.
pub(super) type Row = (Vec<(String, f64)>, String, f64);

/// What a stream gave, and what was said at its end.
#[derive(Debug, PartialEq)]
pub(super) struct Table {
    pub(super) inputs: Vec<String>,
    pub(super) rows: Vec<Row>,
    pub(super) error: Option<String>,
}

/// A row of weight 1.
pub(super) fn row(inputs: &[(&str, f64)], label: &str) -> Row {
    let inputs = inputs.iter().map(|(name, value)| (name.to_string(), *value)).collect();
    (inputs, label.to_owned(), 1.0)
}

/// Reads a stream to its end in blocks of several sizes, which must all give the same.
pub(super) fn read<S: Stream>(open: impl Fn() -> Result<S, Error>) -> Table {
    let table = read_blocks(open(), 1);
    for most in [2, 3, 100] {
        assert_eq!(read_blocks(open(), most), table, "blocks of {most}");
    }
    table
}

fn read_blocks(stream: Result<impl Stream, Error>, most: usize) -> Table {
    let mut stream = match stream {
        Ok(stream) => stream,
        Err(error) => {
            let error = Some(error.to_string());
            return Table { inputs: Vec::new(), rows: Vec::new(), error };
        }
    };
    let mut block = Block::new();
    let error = loop {
        match stream.read_block(&mut block, most) {
            Ok(0) => break None,
            Ok(_) => {}
            Err(error) => break Some(error.to_string()),
        }
    };
    let schema = stream.schema();
    let name = |input: usize| schema.inputs()[input].name.clone();
    let rows = (0..block.len()).map(|i| {
        let inputs = block.sample(i).iter().map(|(input, value)| (name(input), value));
        (inputs.collect(), schema.labels()[block.class(i)].clone(), block.weight(i))
    });
    Table {
        rows: rows.collect(),
        inputs: schema.inputs().iter().map(|input| input.name.clone()).collect(),
        error,
    }
}
