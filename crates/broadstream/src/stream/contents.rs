//! The contents of a stream with names instead of numbers, for tests to compare.

use super::Stream;
use crate::{data::Block, error::Error};

/// A sample with the names of its inputs, its label and its weight.
pub(super) type Row = (Vec<(String, f64)>, String, f64);

/// The samples of a stream, and the error that ended it.
#[derive(Debug, PartialEq)]
pub(super) struct Contents {
    pub(super) inputs: Vec<String>,
    pub(super) rows: Vec<Row>,
    pub(super) error: Option<String>,
}

/// A row of weight 1.
pub(super) fn row(inputs: &[(&str, f64)], label: &str) -> Row {
    let inputs = inputs.iter().map(|(name, value)| (name.to_string(), *value)).collect();
    (inputs, label.to_owned(), 1.0)
}

/// Reads a stream to its end in blocks of several sizes, whose contents must be the same.
pub(super) fn read<S: Stream>(open: impl Fn() -> Result<S, Error>) -> Contents {
    let contents = read_blocks(open(), 1);
    for most in [2, 3, 100] {
        assert_eq!(read_blocks(open(), most), contents, "blocks of {most}");
    }
    contents
}

fn read_blocks(stream: Result<impl Stream, Error>, most: usize) -> Contents {
    let mut stream = match stream {
        Ok(stream) => stream,
        Err(error) => {
            let error = Some(error.to_string());
            return Contents { inputs: Vec::new(), rows: Vec::new(), error };
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
    Contents {
        rows: rows.collect(),
        inputs: schema.inputs().iter().map(|input| input.name.clone()).collect(),
        error,
    }
}
