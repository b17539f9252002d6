//! The hidden layers of a network that learns by gradient descent, one sample at a time.
//!
//! Nodes are rectified: h = max(0, W·h' + b). Weights start uniform with variance 2/fan-in (He et
//! al. 2015) and biases at 0. As in the feature map, the weights of an input come from the seed and
//! the input's name, so that inputs may appear at any time and in any order.

use super::{
    layers::{DenseLayer, InputLayer},
    scaled_baseline::Present,
};
use crate::{config::check, error::Error, numeric::Random};

/// A node's largest value. It is never reached in practice, and keeps a network finite that an
/// absurd sample has derailed.
const LARGEST_NODE: f64 = 1e15;

/// The largest change of a weight by one sample. The network could not recover from a larger one.
const LARGEST_STEP: f64 = 1e6;

/// The options of networks.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkOptions {
    /// The number of hidden layers. Default 2.
    pub hidden_layers: usize,
    /// Nodes per hidden layer. Default 100.
    pub hidden_nodes: usize,
    /// The learning rate η. Default 0.01.
    pub learning_rate: f64,
    /// How many inputs are usually present in a sample, by which the first layer's weights are
    /// scaled. Default `None`: as many as in the first sample learned.
    pub inputs_per_sample: Option<usize>,
    /// The seed of the initial weights. Default 0.
    pub seed: u64,
}

impl Default for NetworkOptions {
    fn default() -> Self {
        NetworkOptions {
            hidden_layers: 2,
            hidden_nodes: 100,
            learning_rate: 0.01,
            inputs_per_sample: None,
            seed: 0,
        }
    }
}

impl NetworkOptions {
    pub(super) fn check(&self) -> Result<(), Error> {
        let sizes = [
            ("hidden_layers", self.hidden_layers),
            ("hidden_nodes", self.hidden_nodes),
            ("inputs_per_sample", self.inputs_per_sample.unwrap_or(1)),
        ];
        for (option, value) in sizes {
            check(option, value >= 1, "at least 1", &value)?;
        }
        let sound = self.learning_rate > 0.0 && self.learning_rate <= 1.0;
        check("learning_rate", sound, "above 0 and at most 1", &self.learning_rate)
    }

    /// The bytes that the hidden layers take.
    pub(super) fn bytes(&self, inputs: usize) -> u128 {
        let between = DenseLayer::bytes(self.hidden_nodes, self.hidden_nodes)
            .saturating_mul(self.hidden_layers as u128 - 1);
        InputLayer::bytes(inputs, self.hidden_nodes).saturating_add(between)
    }
}

/// The hidden layers.
#[derive(Clone, Debug)]
pub(super) struct Hidden {
    seed: u64,
    nodes: usize,
    /// The factor on the first layer's weights, once the number of inputs per sample is known.
    input_scale: Option<f64>,
    first: InputLayer,
    rest: Vec<DenseLayer>,
}

impl Hidden {
    pub(super) fn new(options: &NetworkOptions) -> Self {
        let NetworkOptions { hidden_layers, hidden_nodes: nodes, seed, .. } = *options;
        let layer = |number: usize| {
            let mut random = Random::new(seed, "hidden", &number.to_string());
            let mut layer = DenseLayer::new(nodes);
            for _ in 0..nodes {
                layer.push_node((0..nodes).map(|_| bound(nodes) * random.signed_unit()).collect());
            }
            layer
        };
        Hidden {
            seed,
            nodes,
            input_scale: options.inputs_per_sample.map(bound),
            first: InputLayer::new(nodes),
            rest: (1..hidden_layers).map(layer).collect(),
        }
    }

    pub(super) fn declare_input(&mut self, name: &str) {
        let mut random = Random::new(self.seed, "hidden input", name);
        let scale = self.input_scale.unwrap_or(1.0);
        let weights = (0..self.nodes).map(|_| scale * random.signed_unit()).collect();
        self.first.push_input(weights);
    }

    /// Whether the number of inputs per sample is known.
    pub(super) fn is_scaled(&self) -> bool {
        self.input_scale.is_some()
    }

    /// Scales the first layer for that many inputs per sample; only the first call has an effect.
    pub(super) fn scale_for(&mut self, inputs: usize) {
        if self.input_scale.is_none() {
            self.input_scale = Some(bound(inputs));
            self.first.scale(bound(inputs));
        }
    }

    /// The values of the nodes, layer by layer.
    pub(super) fn forward(&self, x: &Present) -> Vec<Vec<f64>> {
        let mut layers = vec![rectified(self.first.forward(x))];
        for layer in &self.rest {
            let next = rectified(layer.forward(&layers[layers.len() - 1]));
            layers.push(next);
        }
        layers
    }

    /// Converts the errors that outputs cause in the values of each layer to errors in the sums
    /// that the layer rectifies, including those that pass through later layers.
    pub(super) fn backward(&self, values: &[Vec<f64>], mut errors: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        for l in (0..errors.len()).rev() {
            for (error, h) in errors[l].iter_mut().zip(&values[l]) {
                if *h <= 0.0 || *h >= LARGEST_NODE {
                    *error = 0.0;
                }
            }
            if l > 0 {
                let (before, from) = errors.split_at_mut(l);
                self.rest[l - 1].backward(&from[0], &mut before[l - 1]);
            }
        }
        errors
    }

    /// Takes a step in every layer.
    pub(super) fn step(&mut self, x: &Present, values: &[Vec<f64>], deltas: &[Vec<f64>]) {
        self.first.step(x, &deltas[0]);
        for ((layer, values), delta) in self.rest.iter_mut().zip(values).zip(&deltas[1..]) {
            layer.step(values, delta);
        }
    }

    /// Checks that no step of a hidden layer is too large.
    pub(super) fn check_step(
        x: &Present,
        values: &[Vec<f64>],
        deltas: &[Vec<f64>],
    ) -> Result<(), Error> {
        check_step(x.iter().map(|(_, value)| *value), &deltas[0])?;
        for (values, delta) in values.iter().zip(&deltas[1..]) {
            check_step(values.iter().copied(), delta)?;
        }
        Ok(())
    }

    /// The weight of an input in a node of the first layer.
    #[cfg(test)]
    pub(super) fn input_weight_mut(&mut self, input: Option<usize>, node: usize) -> &mut f64 {
        self.first.weight_mut(input, node)
    }

    /// The weight of a node of the previous layer in a node of a later one.
    #[cfg(test)]
    pub(super) fn weight_mut(&mut self, layer: usize, taken: usize, node: usize) -> &mut f64 {
        self.rest[layer - 1].weight_mut(Some(taken), node)
    }
}

/// Checks the step δ·hᵀ of a layer; NaN counts as too large.
pub(super) fn check_step(h: impl Iterator<Item = f64>, delta: &[f64]) -> Result<(), Error> {
    let largest = |values: &mut dyn Iterator<Item = f64>| {
        values.fold(
            0.0,
            |largest: f64, value| {
                if value.is_nan() { f64::INFINITY } else { largest.max(value.abs()) }
            },
        )
    };
    let delta = largest(&mut delta.iter().copied());
    // The input of the bias is 1.
    let step = delta * largest(&mut h.chain([1.0]));
    if step <= LARGEST_STEP {
        Ok(())
    } else {
        Err(Error::StepTooLarge { step, limit: LARGEST_STEP })
    }
}

/// The largest value of a uniform distribution on \[-b, b\] with variance 2/fan-in.
fn bound(fan_in: usize) -> f64 {
    (6.0 / fan_in.max(1) as f64).sqrt()
}

fn rectified(mut sums: Vec<f64>) -> Vec<f64> {
    sums.iter_mut().for_each(|sum| *sum = sum.clamp(0.0, LARGEST_NODE));
    sums
}
