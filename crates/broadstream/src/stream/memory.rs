//! A stream held in memory, which can be shuffled.

use super::{RowEncoding, Stream};
use crate::{
    data::{Block, Schema},
    error::Error,
    numeric::Random,
};

/// A whole stream held in memory.
///
/// ```
/// use broadstream::stream::{MemoryStream, Stream, synth::Sea};
///
/// let mut stream = MemoryStream::read(&mut Sea::new(0, 0.1, 42)?.take(100), None)?;
/// assert_eq!(stream.remaining(), Some(100));
/// stream.shuffle(1);
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MemoryStream {
    schema: Schema,
    encoding: Option<RowEncoding>,
    samples: Block,
    inputs_per_sample: usize,
    /// The positions of the samples in the order in which they are returned.
    order: Vec<u32>,
    /// For each class of the source the number that it has in `schema`.
    class_of: Vec<usize>,
    next: usize,
}

impl MemoryStream {
    /// Reads a stream to its end, or up to `limit` samples.
    pub fn read(source: &mut dyn Stream, limit: Option<u64>) -> Result<Self, Error> {
        const BLOCK: u64 = 1024;
        let mut samples = Block::new();
        loop {
            let left = limit.map_or(BLOCK, |limit| limit - samples.len() as u64);
            let most = left.min(BLOCK) as usize;
            if most == 0 || source.read_block(&mut samples, most)? == 0 {
                break;
            }
        }
        Ok(MemoryStream {
            schema: source.schema().clone(),
            encoding: source.encoding(),
            inputs_per_sample: source.inputs_per_sample(),
            order: (0..samples.len() as u32).collect(),
            class_of: (0..source.schema().labels().len()).collect(),
            samples,
            next: 0,
        })
    }

    /// Puts the samples into a random order that depends on `seed` alone, and returns to the first one.
    ///
    /// Classes are renumbered in their new order of appearance.
    pub fn shuffle(&mut self, seed: u64) {
        let mut random = Random::new(seed, "shuffle", "");
        for last in (1..self.order.len()).rev() {
            self.order.swap(last, random.below(last as u64 + 1) as usize);
        }
        let mut schema = Schema::new(self.schema.target());
        for input in self.schema.inputs() {
            schema.push_input(&input.name, input.kind);
        }
        let mut class_of = vec![0; self.class_of.len()];
        for &i in &self.order {
            let class = self.samples.class(i as usize);
            class_of[class] = schema.class_of(&self.schema.labels()[self.class_of[class]]);
        }
        self.class_of = class_of;
        self.schema = schema;
        self.next = 0;
    }
}

impl Stream for MemoryStream {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn inputs_per_sample(&self) -> usize {
        self.inputs_per_sample
    }

    fn encoding(&self) -> Option<RowEncoding> {
        self.encoding.clone()
    }

    fn remaining(&self) -> Option<u64> {
        Some((self.order.len() - self.next) as u64)
    }

    fn read_block(&mut self, block: &mut Block, most: usize) -> Result<usize, Error> {
        let end = self.order.len().min(self.next + most);
        for &i in &self.order[self.next..end] {
            let i = i as usize;
            let class = self.class_of[self.samples.class(i)];
            block.push(self.samples.sample(i), class, self.samples.weight(i))?;
        }
        let read = end - self.next;
        self.next = end;
        Ok(read)
    }
}
