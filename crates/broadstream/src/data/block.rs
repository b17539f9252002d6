//! A sequence of labelled samples, kept together so that a model can learn them as a block.

use crate::{data::Sample, error::Error};

/// Labelled samples in stream order.
///
/// A block is checked as it is filled: values must be finite and weights within bounds. Models
/// learn a block exactly as they would learn its samples one by one, only faster.
///
/// ```
/// use broadstream::{Block, Sample};
///
/// let mut block = Block::new();
/// block.push(Sample::dense(&[1.0, 2.0]), 0, 1.0)?;
/// block.push(Sample::sparse(&[1], &[3.0])?, 1, 0.5)?;
/// assert_eq!(block.len(), 2);
/// assert_eq!(block.class(1), 1);
/// assert!(block.push(Sample::dense(&[f64::NAN]), 0, 1.0).is_err());
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Sample i owns entries `ends[i-1]..ends[i]` of `values` (and of `inputs`).
    ends: Vec<usize>,
    values: Vec<f64>,
    /// Stays empty while every sample is dense: a file of numbers then takes a third less memory.
    inputs: Vec<u32>,
    classes: Vec<u32>,
    weights: Vec<f64>,
}

impl Block {
    /// An empty block.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a sample with its class and weight (1 for a plain sample).
    pub fn push(&mut self, x: Sample<'_>, class: usize, weight: f64) -> Result<(), Error> {
        x.check_finite()?;
        check_weight(weight)?;
        let class =
            u32::try_from(class).map_err(|_| Error::ClassGap { class, next: u32::MAX as usize })?;
        let stays_dense = self.inputs.is_empty() && x.inputs().is_none();
        if !stays_dense {
            self.list_inputs();
            match x.inputs() {
                Some(inputs) => self.inputs.extend_from_slice(inputs),
                None => self.inputs.extend(0..x.len() as u32),
            }
        }
        self.values.extend_from_slice(x.values());
        self.ends.push(self.values.len());
        self.classes.push(class);
        self.weights.push(weight);
        Ok(())
    }

    /// Lists the inputs of the samples so far, which were dense.
    fn list_inputs(&mut self) {
        if self.inputs.is_empty() {
            let mut start = 0;
            for &end in &self.ends {
                self.inputs.extend(0..(end - start) as u32);
                start = end;
            }
        }
    }

    /// The number of samples in the block.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether the block holds no sample.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Removes all samples and keeps the memory.
    pub fn clear(&mut self) {
        self.ends.clear();
        self.values.clear();
        self.inputs.clear();
        self.classes.clear();
        self.weights.clear();
    }

    /// The inputs of sample `i`. Panics when there is no such sample, as a slice would.
    pub fn sample(&self, i: usize) -> Sample<'_> {
        let range = if i == 0 { 0 } else { self.ends[i - 1] }..self.ends[i];
        if self.inputs.is_empty() {
            Sample::dense(&self.values[range])
        } else {
            Sample::sparse_unchecked(&self.inputs[range.clone()], &self.values[range])
        }
    }

    /// The class of sample `i`.
    pub fn class(&self, i: usize) -> usize {
        self.classes[i] as usize
    }

    /// The weight of sample `i`.
    pub fn weight(&self, i: usize) -> f64 {
        self.weights[i]
    }

    /// Checks that a model with these inputs and classes can learn the block, and returns how many
    /// classes it will know afterwards.
    pub(crate) fn check(&self, inputs: usize, classes: usize) -> Result<usize, Error> {
        let mut known = classes;
        for i in 0..self.len() {
            self.sample(i).check_declared(inputs)?;
            known = check_class(self.class(i), known)?;
        }
        Ok(known)
    }
}

/// Checks a sample weight; 0 is allowed and means that the sample is not learned.
///
/// Weights of one sample count relative to those of all others. Beyond these bounds, a sample would
/// either drown all others in its rounding or drown in theirs.
pub(crate) fn check_weight(weight: f64) -> Result<(), Error> {
    if weight == 0.0 || (1e-12..=1e12).contains(&weight) {
        Ok(())
    } else {
        Err(Error::Weight { value: weight })
    }
}

/// Checks that `class` is known or the next new one, and returns how many are known with it.
pub(crate) fn check_class(class: usize, known: usize) -> Result<usize, Error> {
    if class > known {
        return Err(Error::ClassGap { class, next: known });
    }
    Ok(known.max(class + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_and_sparse_samples_mix() {
        let mut block = Block::new();
        block.push(Sample::dense(&[1.0, 2.0]), 0, 1.0).unwrap();
        block.push(Sample::dense(&[3.0]), 1, 1.0).unwrap();
        assert!(block.inputs.is_empty(), "dense samples need no list of inputs");
        block.push(Sample::sparse(&[4], &[5.0]).unwrap(), 1, 2.0).unwrap();
        block.push(Sample::dense(&[6.0]), 0, 1.0).unwrap();
        let pairs = |i| block.sample(i).iter().collect::<Vec<_>>();
        assert_eq!(pairs(0), [(0, 1.0), (1, 2.0)]);
        assert_eq!(pairs(1), [(0, 3.0)]);
        assert_eq!(pairs(2), [(4, 5.0)]);
        assert_eq!(pairs(3), [(0, 6.0)]);
        assert_eq!(block.weight(2), 2.0);
    }

    #[test]
    fn a_refused_sample_leaves_the_block_as_it_was() {
        let mut block = Block::new();
        block.push(Sample::dense(&[1.0]), 0, 1.0).unwrap();
        for weight in [-1.0, f64::NAN, f64::INFINITY, 1e-200, 1e200] {
            assert!(block.push(Sample::dense(&[1.0]), 0, weight).is_err(), "weight {weight}");
        }
        assert!(block.push(Sample::dense(&[1.0, f64::INFINITY]), 0, 1.0).is_err());
        assert_eq!(block.len(), 1);
        assert_eq!(block.sample(0).len(), 1);
    }

    #[test]
    fn classes_may_not_skip_numbers() {
        let mut block = Block::new();
        block.push(Sample::dense(&[1.0]), 0, 1.0).unwrap();
        block.push(Sample::dense(&[1.0]), 2, 1.0).unwrap();
        assert!(matches!(block.check(1, 0), Err(Error::ClassGap { class: 2, next: 1 })));
        assert_eq!(block.check(1, 2).unwrap(), 3);
        assert!(matches!(block.check(0, 2), Err(Error::UnknownInput { input: 0, declared: 0 })));
    }
}
