//! The samples of an endless generator as a stream of a given length.

use super::{Generator, broken_rule};
use crate::{
    data::{Block, InputKind, Sample, Schema},
    error::Error,
    stream::Stream,
};

/// The next samples of a generator, as a stream.
///
/// The schema knows all inputs from the start, and the labels in order of first appearance.
///
/// ```
/// use broadstream::{Block, stream::{Stream, synth::{Samples, Sea}}};
///
/// let mut stream = Samples::new(Sea::new(0, 0.0, 42)?, 3);
/// assert!(stream.schema().labels().is_empty());
///
/// let mut block = Block::new();
/// assert_eq!(stream.read_block(&mut block, 100)?, 3);
/// assert_eq!(stream.schema().labels(), ["false", "true"]);
/// assert_eq!(stream.read_block(&mut block, 100)?, 0);
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Samples<G> {
    generator: G,
    /// The labels, in the generator's own numbering of classes.
    labels: Vec<String>,
    schema: Schema,
    remaining: u64,
    /// The current sample, kept for its memory.
    x: Vec<f64>,
}

impl<G: Generator> Samples<G> {
    /// The next `samples` samples of `generator`.
    pub fn new(generator: G, samples: u64) -> Self {
        let mut schema = Schema::new(generator.target());
        for name in generator.inputs() {
            schema.push_input(name, InputKind::Numeric);
        }
        Samples { labels: generator.labels(), schema, remaining: samples, x: Vec::new(), generator }
    }

    fn read_sample(&mut self, block: &mut Block) -> Result<(), Error> {
        let class = self.generator.next(&mut self.x);
        let Some(label) = self.labels.get(class) else {
            let rule = "the position of one of its labels";
            return Err(broken_rule("generator", "class", rule, class.to_string()));
        };
        block.push(Sample::dense(&self.x), self.schema.class_of(label), 1.0)
    }
}

impl<G: Generator> Stream for Samples<G> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn inputs_per_sample(&self) -> usize {
        self.schema.inputs().len()
    }

    fn remaining(&self) -> Option<u64> {
        Some(self.remaining)
    }

    fn read_block(&mut self, block: &mut Block, most: usize) -> Result<usize, Error> {
        let mut read = 0;
        while read < most && self.remaining > 0 {
            if let Err(error) = self.read_sample(block) {
                self.remaining = 0;
                return Err(error);
            }
            self.remaining -= 1;
            read += 1;
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::StreamError;

    /// Yields given classes, each with a value.
    struct Script(std::vec::IntoIter<(f64, usize)>);

    impl Generator for Script {
        fn inputs(&self) -> Vec<String> {
            vec!["value".to_owned()]
        }

        fn labels(&self) -> Vec<String> {
            ["a", "b", "c"].map(str::to_owned).to_vec()
        }

        fn target(&self) -> &str {
            "letter"
        }

        fn next(&mut self, x: &mut Vec<f64>) -> usize {
            let (value, class) = self.0.next().unwrap();
            x.clear();
            x.push(value);
            class
        }
    }

    fn script<const N: usize>(samples: [(f64, usize); N]) -> Samples<Script> {
        Samples::new(Script(Vec::from(samples).into_iter()), N as u64)
    }

    #[test]
    fn classes_are_numbered_in_order_of_appearance() {
        let mut stream = script([(1.0, 2), (2.0, 0), (3.0, 2), (4.0, 1)]);
        assert_eq!(stream.schema().target(), "letter");
        assert_eq!(stream.inputs_per_sample(), 1);
        let mut block = Block::new();
        assert_eq!(stream.read_block(&mut block, 2).unwrap(), 2);
        assert_eq!(stream.schema().labels(), ["c", "a"], "a label is not known before its sample");
        assert_eq!(stream.remaining(), Some(2));
        assert_eq!(stream.read_block(&mut block, usize::MAX).unwrap(), 2);
        assert_eq!(stream.schema().labels(), ["c", "a", "b"]);
        assert_eq!((0..4).map(|i| block.class(i)).collect::<Vec<_>>(), [0, 1, 0, 2]);
        assert_eq!(stream.read_block(&mut block, 10).unwrap(), 0);
    }

    #[test]
    fn a_faulty_sample_ends_the_stream() {
        let mut block = Block::new();
        let mut stream = script([(1.0, 0), (f64::NAN, 0), (3.0, 0)]);
        assert!(matches!(stream.read_block(&mut block, 3), Err(Error::InputNotFinite { .. })));
        assert_eq!((block.len(), stream.remaining()), (1, Some(0)));
        assert_eq!(stream.read_block(&mut block, 3).unwrap(), 0);

        let mut stream = script([(1.0, 3)]);
        let error = stream.read_block(&mut block, 1).unwrap_err();
        assert!(matches!(error, Error::Stream(StreamError::Parameter { parameter: "class", .. })));
    }
}
