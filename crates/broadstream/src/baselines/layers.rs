//! Layers of linear nodes: from the inputs of a sample, and from other nodes.
//!
//! A step of a layer is the product of its inputs h and an error δ of each node, scaled by the
//! learning rate: W ← W − δ·hᵀ, and b ← b − δ for the biases.

use super::{
    scaled_baseline::Present,
    vectors::{add_scaled, dot},
};
use crate::numeric::InstructionSet;

/// Nodes whose inputs are those of a sample, of which some may be absent.
#[derive(Clone, Debug)]
pub(super) struct InputLayer {
    /// One weight per node, for each input.
    rows: Vec<Vec<f64>>,
    biases: Vec<f64>,
}

impl InputLayer {
    /// A layer with all weights 0.
    pub(super) fn new(nodes: usize) -> Self {
        InputLayer { rows: Vec::new(), biases: vec![0.0; nodes] }
    }

    /// The bytes that a layer takes.
    pub(super) fn bytes(inputs: usize, nodes: usize) -> u128 {
        let row = nodes as u128 * size_of::<f64>() as u128;
        (row + size_of::<Vec<f64>>() as u128).saturating_mul(inputs as u128 + 1)
    }

    pub(super) fn nodes(&self) -> usize {
        self.biases.len()
    }

    /// Adds an input with these weights, one per node.
    pub(super) fn push_input(&mut self, weights: Vec<f64>) {
        self.rows.push(weights);
    }

    /// Adds nodes whose weights are 0.
    pub(super) fn add_nodes(&mut self, nodes: usize) {
        let nodes = nodes.max(self.nodes());
        self.biases.resize(nodes, 0.0);
        self.rows.iter_mut().for_each(|row| row.resize(nodes, 0.0));
    }

    /// Multiplies all weights by a number.
    pub(super) fn scale(&mut self, factor: f64) {
        self.rows.iter_mut().flatten().for_each(|weight| *weight *= factor);
    }

    /// Wᵀx + b.
    pub(super) fn forward(&self, x: &Present) -> Vec<f64> {
        let mut sums = self.biases.clone();
        InstructionSet::detect().run(
            #[inline(always)]
            || {
                for (input, value) in x {
                    add_scaled(&mut sums, *value, &self.rows[*input]);
                }
            },
        );
        sums
    }

    /// Takes a step.
    pub(super) fn step(&mut self, x: &Present, delta: &[f64]) {
        InstructionSet::detect().run(
            #[inline(always)]
            || {
                for (input, value) in x {
                    add_scaled(&mut self.rows[*input], -value, delta);
                }
                add_scaled(&mut self.biases, -1.0, delta);
            },
        );
    }

    /// The weight of an input in a node, or the node's bias.
    #[cfg(test)]
    pub(super) fn weight_mut(&mut self, input: Option<usize>, node: usize) -> &mut f64 {
        match input {
            Some(input) => &mut self.rows[input][node],
            None => &mut self.biases[node],
        }
    }
}

/// Nodes whose inputs are other nodes.
#[derive(Clone, Debug)]
pub(super) struct DenseLayer {
    /// One weight per input, for each node.
    rows: Vec<Vec<f64>>,
    biases: Vec<f64>,
    inputs: usize,
}

impl DenseLayer {
    /// A layer without nodes, for `inputs` inputs.
    pub(super) fn new(inputs: usize) -> Self {
        DenseLayer { rows: Vec::new(), biases: Vec::new(), inputs }
    }

    /// The bytes that a layer takes.
    pub(super) fn bytes(inputs: usize, nodes: usize) -> u128 {
        InputLayer::bytes(nodes, inputs)
    }

    /// Adds a node with these weights.
    pub(super) fn push_node(&mut self, weights: Vec<f64>) {
        self.rows.push(weights);
        self.biases.push(0.0);
    }

    /// Adds nodes whose weights are 0.
    pub(super) fn add_nodes(&mut self, nodes: usize) {
        while self.rows.len() < nodes {
            self.push_node(vec![0.0; self.inputs]);
        }
    }

    /// W·h + b.
    pub(super) fn forward(&self, h: &[f64]) -> Vec<f64> {
        let mut sums = self.biases.clone();
        InstructionSet::detect().run(
            #[inline(always)]
            || {
                for (sum, row) in sums.iter_mut().zip(&self.rows) {
                    *sum += dot(row, h);
                }
            },
        );
        sums
    }

    /// Adds Wᵀδ, the errors of the input nodes, to `errors`.
    pub(super) fn backward(&self, delta: &[f64], errors: &mut [f64]) {
        InstructionSet::detect().run(
            #[inline(always)]
            || {
                for (row, delta) in self.rows.iter().zip(delta) {
                    add_scaled(errors, *delta, row);
                }
            },
        );
    }

    /// Takes a step.
    pub(super) fn step(&mut self, h: &[f64], delta: &[f64]) {
        InstructionSet::detect().run(
            #[inline(always)]
            || {
                for (row, delta) in self.rows.iter_mut().zip(delta) {
                    // Nothing changes at a node that is switched off.
                    if *delta != 0.0 {
                        add_scaled(row, -delta, h);
                    }
                }
                add_scaled(&mut self.biases, -1.0, delta);
            },
        );
    }

    /// The weight of an input in a node, or the node's bias.
    #[cfg(test)]
    pub(super) fn weight_mut(&mut self, taken: Option<usize>, node: usize) -> &mut f64 {
        match taken {
            Some(taken) => &mut self.rows[node][taken],
            None => &mut self.biases[node],
        }
    }
}
