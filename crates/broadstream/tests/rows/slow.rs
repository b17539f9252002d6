//! Streams from a source that pauses between rows.

use std::{
    io::{self, Read},
    sync::mpsc::{Receiver, Sender, TryRecvError, channel},
};

use broadstream::{
    Block,
    stream::{
        Stream, TableOptions, arff::ArffStream, csv::CsvStream, jsonl::JsonLinesStream,
        libsvm::LibsvmStream,
    },
};

/// A pipe that fails where another one would wait, so that a test fails instead of hanging.
pub(crate) struct Slow {
    pipe: Receiver<Vec<u8>>,
    /// The bytes that were sent and not yet read, and how many of them one read returns.
    sent: Vec<u8>,
    most: usize,
}

impl Slow {
    pub(crate) fn new(most: usize) -> (Self, Sender<Vec<u8>>) {
        let (sender, pipe) = channel();
        (Slow { pipe, sent: Vec::new(), most }, sender)
    }
}

impl Read for Slow {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.sent.is_empty() {
            match self.pipe.try_recv() {
                Ok(sent) => self.sent = sent,
                Err(TryRecvError::Disconnected) => return Ok(0),
                Err(TryRecvError::Empty) => return Err(io::Error::other("would wait")),
            }
        }
        let read = self.sent.len().min(out.len()).min(self.most);
        out[..read].copy_from_slice(&self.sent[..read]);
        self.sent.drain(..read);
        Ok(read)
    }
}

#[test]
fn a_block_ends_where_the_source_would_wait() {
    let (slow, pipe) = Slow::new(usize::MAX);
    let json = JsonLinesStream::new(Box::new(slow), TableOptions::default());
    assert!(json.is_err(), "nothing is there");
    drop(pipe);

    let (slow, pipe) = Slow::new(usize::MAX);
    pipe.send(b"{\"a\":1,\"y\":1}\n".to_vec()).unwrap();
    let json = JsonLinesStream::new(Box::new(slow), TableOptions::default()).unwrap();
    check(Box::new(json), 1, &pipe, "{\"a\":1,\"y\":1}\n");

    // The format of CSV is detected from its first rows.
    let (slow, pipe) = Slow::new(usize::MAX);
    let row = "1,\"2\",x\n";
    let rows = 200_000 / row.len();
    pipe.send(format!("a,b,y\n{}", row.repeat(rows)).into_bytes()).unwrap();
    let csv = CsvStream::new(Box::new(slow), TableOptions::default()).unwrap();
    check(Box::new(csv), rows, &pipe, row);

    // So are the numbers of inputs per sample in ARFF and LIBSVM.
    let (slow, pipe) = Slow::new(usize::MAX);
    let row = "1,x\n% a comment\n";
    let rows = 200_000 / row.len();
    let header = "@relation r\n@attribute a real\n@attribute y {x}\n@data\n";
    pipe.send(format!("{header}{}", row.repeat(rows)).into_bytes()).unwrap();
    let arff = ArffStream::new(Box::new(slow), TableOptions::default()).unwrap();
    check(Box::new(arff), rows, &pipe, row);

    let (slow, pipe) = Slow::new(usize::MAX);
    let row = "x 1:1 2:2\n# a comment\n";
    let rows = 200_000 / row.len();
    pipe.send(row.repeat(rows).into_bytes()).unwrap();
    let libsvm = LibsvmStream::new(Box::new(slow), TableOptions::default()).unwrap();
    check(Box::new(libsvm), rows, &pipe, row);
}

/// Reads the available rows, then two more that arrive together, then the end.
fn check(mut stream: Box<dyn Stream>, there: usize, pipe: &Sender<Vec<u8>>, row: &str) {
    let mut block = Block::new();
    while block.len() < there {
        assert!(stream.read_block(&mut block, usize::MAX).unwrap() > 0);
    }
    assert_eq!(block.len(), there);
    for _ in 0..3 {
        pipe.send(format!("{row}\n{row}\n").into_bytes()).unwrap();
        assert_eq!(stream.read_block(&mut block, 100).unwrap(), 2);
    }
    pipe.send(row.as_bytes().to_vec()).unwrap();
    assert_eq!(stream.read_block(&mut block, 100).unwrap(), 1);
}
