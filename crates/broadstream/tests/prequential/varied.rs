//! A stream with everything: sparse samples, weights, and inputs and classes that appear late.

use broadstream::{
    Block, Error, InputKind, Observer, Outcome, Sample, Schema,
    stream::{Stream, synth::Hyperplane, synth::HyperplaneOptions},
};

/// The number of samples.
pub(crate) const SAMPLES: usize = 700;

/// The samples of a drifting hyperplane, made more varied; the schema grows as they are read.
pub(crate) struct Varied {
    samples: Block,
    next: usize,
    schema: Schema,
}

impl Varied {
    pub(crate) fn new() -> Self {
        let options = HyperplaneOptions { inputs: 4, seed: 3, ..HyperplaneOptions::default() };
        let mut source = Hyperplane::new(options).unwrap().take(SAMPLES as u64);
        let mut samples = Block::new();
        source.read_block(&mut samples, SAMPLES).unwrap();
        Varied { samples, next: 0, schema: Schema::new("class") }
    }

    /// Adds the names of inputs and classes once a sample needs them.
    fn name(&mut self, inputs: usize, class: usize) {
        for i in self.schema.inputs().len()..inputs {
            let kind = if i == 2 { InputKind::Indicator } else { InputKind::Numeric };
            self.schema.push_input(format!("x{i}"), kind);
        }
        assert_eq!(self.schema.class_of(&format!("class {class}")), class);
    }
}

impl Stream for Varied {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn inputs_per_sample(&self) -> usize {
        4
    }

    fn read_block(&mut self, block: &mut Block, most: usize) -> Result<usize, Error> {
        let end = SAMPLES.min(self.next + most);
        let read = end - self.next;
        for i in self.next..end {
            let values = self.samples.sample(i).values().to_vec();
            // A third and a fourth class appear late, and halfway all classes shift by one.
            let classes = 2 + (i / 50).min(2);
            let class = (self.samples.class(i) + i / 50 + i / (SAMPLES / 2)) % classes;
            let class = if i == 0 { 0 } else { class.min(self.schema.labels().len()) };
            let weight = [1.0, 0.25, 3.0, 1.0, 0.0][i % 5];
            let inputs = 2 + (i / 90).min(2);
            self.name(inputs, class);
            if i % 3 == 0 {
                let (last, x) = (inputs as u32 - 1, [values[0], values[inputs - 1]]);
                block.push(Sample::sparse(&[0, last], &x)?, class, weight)?;
            } else {
                block.push(Sample::dense(&values[..inputs]), class, weight)?;
            }
        }
        self.next = end;
        Ok(read)
    }
}

/// Records the prediction for each sample, to the bit.
#[derive(Default)]
pub(crate) struct Predictions(pub(crate) Vec<Vec<u64>>);

impl Observer for Predictions {
    fn sample(&mut self, outcome: Outcome<'_>) {
        self.0.push(outcome.probabilities.iter().map(|p| p.to_bits()).collect());
    }
}
