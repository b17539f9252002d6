//! A fingerprint of a stream: 64 bits that depend on all samples so far and on their order.
//!
//! It covers inputs, values to the bit, classes and weights, and the names of inputs and labels
//! from the first sample that uses them. So it depends neither on how the stream is divided into
//! blocks nor on which names the stream knows in advance. It is stored in files, hence XXH64, which
//! is specified and will not change. It protects against a wrong file by mistake, not against a
//! forged one.

use std::hash::Hasher;

use twox_hash::XxHash64;

use crate::data::{Block, InputKind, Schema};

/// The fingerprint of the samples so far.
pub(super) struct Fingerprint {
    hash: XxHash64,
    /// The number of inputs and labels whose names were hashed.
    inputs: usize,
    labels: usize,
    /// A buffer for the bytes of one sample.
    bytes: Vec<u8>,
}

impl Fingerprint {
    pub(super) fn new() -> Self {
        Fingerprint { hash: XxHash64::with_seed(0), inputs: 0, labels: 0, bytes: Vec::new() }
    }

    /// Adds the samples of a block. The schema must have the names of their inputs and labels.
    pub(super) fn add(&mut self, block: &Block, schema: &Schema) {
        for i in 0..block.len() {
            self.bytes.clear();
            let x = block.sample(i);
            let listed = x.inputs().unwrap_or_default();
            let inputs = listed.last().map_or(x.len(), |last| *last as usize + 1);
            self.number(x.len() as u64);
            self.number(inputs as u64);
            // Inputs are hashed only if some are missing. A sample that has all of them may or may
            // not list them, depending on the other samples of its block.
            if inputs > x.len() {
                self.bytes.extend(listed.iter().flat_map(|input| input.to_le_bytes()));
            }
            self.bytes.extend(x.values().iter().flat_map(|value| value.to_le_bytes()));
            self.number(block.class(i) as u64);
            self.number(block.weight(i).to_bits());
            self.name(inputs, block.class(i) + 1, schema);
            self.hash.write(&self.bytes);
        }
    }

    /// The fingerprint of the samples so far.
    pub(super) fn value(&self) -> u64 {
        self.hash.finish()
    }

    /// Adds the names of inputs and labels up to these numbers, unless they were added before.
    fn name(&mut self, inputs: usize, labels: usize, schema: &Schema) {
        for input in schema.inputs().iter().take(inputs).skip(self.inputs) {
            self.bytes.push(match input.kind {
                InputKind::Numeric => 0,
                InputKind::Indicator => 1,
            });
            self.text(&input.name);
        }
        for label in schema.labels().iter().take(labels).skip(self.labels) {
            self.text(label);
        }
        (self.inputs, self.labels) = (self.inputs.max(inputs), self.labels.max(labels));
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn number(&mut self, number: u64) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }
}
