//! One sample's inputs, dense or sparse, borrowed from wherever they live.

use crate::error::Error;

/// The inputs of one sample, as pairs of an input's position and its value.
///
/// Positions count the inputs in the order in which they were declared to the model. An input that
/// a sample does not mention is absent and contributes nothing.
///
/// ```
/// use broadstream::Sample;
///
/// let dense = Sample::dense(&[0.5, 2.0, -1.0]);
/// let sparse = Sample::sparse(&[0, 2], &[0.5, -1.0])?;
/// assert_eq!(dense.len(), 3);
/// assert_eq!(sparse.iter().collect::<Vec<_>>(), [(0, 0.5), (2, -1.0)]);
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// `None` when value i belongs to input i.
    inputs: Option<&'a [u32]>,
    values: &'a [f64],
}

impl<'a> Sample<'a> {
    /// A sample in which `values[i]` is the value of input i.
    pub fn dense(values: &'a [f64]) -> Self {
        Sample { inputs: None, values }
    }

    /// A sample in which `values[k]` is the value of input `inputs[k]`; the inputs must increase.
    pub fn sparse(inputs: &'a [u32], values: &'a [f64]) -> Result<Self, Error> {
        if inputs.len() != values.len() {
            return Err(Error::Length {
                what: "the values of a sparse sample",
                expected: inputs.len(),
                found: values.len(),
            });
        }
        if let Some(pair) = inputs.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(Error::InputOrder { previous: pair[0], next: pair[1] });
        }
        Ok(Sample { inputs: Some(inputs), values })
    }

    /// A sparse sample whose inputs the caller knows to increase.
    pub(crate) fn sparse_unchecked(inputs: &'a [u32], values: &'a [f64]) -> Self {
        debug_assert!(inputs.len() == values.len() && inputs.is_sorted());
        Sample { inputs: Some(inputs), values }
    }

    /// The same inputs with other values, equally many.
    pub(crate) fn with_values(self, values: &'a [f64]) -> Self {
        debug_assert!(self.values.len() == values.len());
        Sample { inputs: self.inputs, values }
    }

    /// The number of inputs that are present.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether no input is present.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The positions of the present inputs, or `None` when they are 0, 1, 2, ….
    pub fn inputs(&self) -> Option<&'a [u32]> {
        self.inputs
    }

    /// The values, in the order of their inputs.
    pub fn values(&self) -> &'a [f64] {
        self.values
    }

    /// The pairs (input, value) in increasing order of input.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> + 'a {
        let inputs = self.inputs;
        self.values
            .iter()
            .enumerate()
            .map(move |(k, &value)| (inputs.map_or(k, |inputs| inputs[k] as usize), value))
    }

    /// Whether the inputs are 0, 1, 2, …, be they listed or not. A block lists the inputs of all its
    /// samples as soon as one of them lacks an input.
    pub(crate) fn is_dense(&self) -> bool {
        let listed = self.inputs.unwrap_or_default();
        listed.iter().enumerate().all(|(place, input)| place == *input as usize)
    }

    /// The number of inputs up to and including the last one present.
    pub(crate) fn reach(&self) -> usize {
        match self.inputs {
            Some(inputs) => inputs.last().map_or(0, |&last| last as usize + 1),
            None => self.values.len(),
        }
    }

    /// Checks that all values are finite and all inputs lie below `declared`.
    pub(crate) fn check(&self, declared: usize) -> Result<(), Error> {
        self.check_finite()?;
        self.check_declared(declared)
    }

    pub(crate) fn check_finite(&self) -> Result<(), Error> {
        match self.iter().find(|(_, value)| !value.is_finite()) {
            Some((input, value)) => Err(Error::InputNotFinite { input, value }),
            None => Ok(()),
        }
    }

    pub(crate) fn check_declared(&self, declared: usize) -> Result<(), Error> {
        match self.reach().checked_sub(1) {
            Some(input) if input >= declared => Err(Error::UnknownInput { input, declared }),
            _ => Ok(()),
        }
    }
}
