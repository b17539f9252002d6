//! Samples whose inputs and labels have names, so that models with different numberings can learn them.

use broadstream::{Block, Error, Input, InputKind, Sample};

/// A sample as the outside world has it. Inputs and labels are numbered here once and for all; each model
/// has positions and classes of its own for them.
#[derive(Clone, Debug)]
pub(super) struct NamedSample {
    /// Inputs with their values, the rest are absent.
    pub(super) values: Vec<(usize, f64)>,
    pub(super) label: usize,
    pub(super) weight: f64,
    /// Whether the inputs are not listed if they are the first ones. It makes no difference to a model, but
    /// a window keeps the list if there was one.
    pub(super) is_dense: bool,
}

/// An input by its number. Every fourth is an indicator.
pub(super) fn input(number: usize) -> Input {
    let kind = if is_indicator(number) { InputKind::Indicator } else { InputKind::Numeric };
    Input { name: format!("x{number}"), kind }
}

pub(super) fn is_indicator(number: usize) -> bool {
    number % 4 == 3
}

/// A sample's inputs by their positions in a model.
pub(super) struct Positioned {
    inputs: Vec<u32>,
    values: Vec<f64>,
    is_dense: bool,
}

impl Positioned {
    pub(super) fn sample(&self) -> Sample<'_> {
        if self.is_dense {
            return Sample::dense(&self.values);
        }
        Sample::sparse(&self.inputs, &self.values).expect("positions increase")
    }
}

impl NamedSample {
    /// The sample for a model with these inputs, all of which it must know.
    pub(super) fn positioned(&self, declared: &[Input]) -> Positioned {
        let mut values: Vec<(u32, f64)> = Vec::new();
        for (number, value) in &self.values {
            let name = input(*number).name;
            let position = declared.iter().position(|input| input.name == name);
            values.push((position.expect("samples use declared inputs") as u32, *value));
        }
        values.sort_by_key(|(position, _)| *position);
        let (inputs, values): (Vec<u32>, Vec<f64>) = values.into_iter().unzip();
        let are_first = inputs.iter().enumerate().all(|(k, input)| k == *input as usize);
        Positioned { inputs, values, is_dense: self.is_dense && are_first }
    }
}

/// The class of a label; a new label gets the next class.
pub(super) fn class_of(labels: &mut Vec<usize>, label: usize) -> usize {
    labels.iter().position(|known| *known == label).unwrap_or_else(|| {
        labels.push(label);
        labels.len() - 1
    })
}

/// Samples as a block for a model with these inputs and labels.
pub(super) fn block(
    samples: &[NamedSample],
    declared: &[Input],
    labels: &mut Vec<usize>,
) -> Result<Block, Error> {
    let mut block = Block::new();
    for sample in samples {
        let class = class_of(labels, sample.label);
        block.push(sample.positioned(declared).sample(), class, sample.weight)?;
    }
    Ok(block)
}
