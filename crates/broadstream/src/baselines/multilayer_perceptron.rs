//! Online gradient descent on a multilayer perceptron: one step down the gradient of each sample's
//! cross-entropy.
//!
//! Zinkevich 2003 introduced the method for convex losses (W ← W − η∇ℓ); the paper's related work
//! lists it as OGD. A sample of weight w takes a step w times as long, as if its loss counted w
//! times.

use super::{
    hidden::{Hidden, NetworkOptions, check_step},
    layers::DenseLayer,
    scaled_baseline::{Learner, Present},
};
use crate::{error::Error, numeric::probability};

/// A multilayer perceptron with rectified nodes and a softmax.
#[derive(Clone, Debug)]
pub struct MultilayerPerceptron {
    learning_rate: f64,
    hidden: Hidden,
    output: DenseLayer,
}

impl Learner for MultilayerPerceptron {
    type Options = NetworkOptions;

    const MAY_FAIL: bool = true;

    fn check(options: &NetworkOptions) -> Result<(), Error> {
        options.check()
    }

    fn new(options: &NetworkOptions) -> Self {
        MultilayerPerceptron {
            learning_rate: options.learning_rate,
            hidden: Hidden::new(options),
            output: DenseLayer::new(options.hidden_nodes),
        }
    }

    fn bytes(options: &NetworkOptions, inputs: usize, classes: usize) -> u128 {
        options.bytes(inputs).saturating_add(DenseLayer::bytes(options.hidden_nodes, classes))
    }

    fn declare_input(&mut self, name: &str) {
        self.hidden.declare_input(name);
    }

    fn add_classes(&mut self, classes: usize) {
        self.output.add_nodes(classes);
    }

    fn scores(&self, x: &Present) -> Vec<f64> {
        match self.hidden.forward(x).last() {
            Some(values) => self.output.forward(values),
            None => Vec::new(),
        }
    }

    fn probabilities(&self, scores: &[f64]) -> Vec<f64> {
        probability::softmax(scores)
    }

    fn learn(&mut self, x: &Present, class: usize, weight: f64) -> Result<(), Error> {
        if !self.hidden.is_scaled() {
            let mut scaled = self.clone();
            scaled.hidden.scale_for(x.len());
            scaled.learn(x, class, weight)?;
            *self = scaled;
            return Ok(());
        }
        let values = self.hidden.forward(x);
        let last = values.len() - 1;
        // The gradient of the cross-entropy in the scores is p − y.
        let mut delta = probability::softmax(&self.output.forward(&values[last]));
        delta[class] -= 1.0;
        delta.iter_mut().for_each(|delta| *delta *= self.learning_rate * weight);
        let mut errors: Vec<Vec<f64>> = values.iter().map(|layer| vec![0.0; layer.len()]).collect();
        self.output.backward(&delta, &mut errors[last]);
        let errors = self.hidden.backward(&values, errors);
        check_step(values[last].iter().copied(), &delta)?;
        Hidden::check_step(x, &values, &errors)?;
        self.output.step(&values[last], &delta);
        self.hidden.step(x, &values, &errors);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: f64 = 0.01;

    fn network() -> MultilayerPerceptron {
        let options = NetworkOptions {
            hidden_layers: 3,
            hidden_nodes: 6,
            learning_rate: RATE,
            ..NetworkOptions::default()
        };
        let mut network = MultilayerPerceptron::new(&options);
        network.declare_input("a");
        network.declare_input("b");
        network.add_classes(3);
        for i in 0..50 {
            let i = f64::from(i);
            network.learn(&[(0, i.sin()), (1, i.cos())], i as usize % 3, 1.0).unwrap();
        }
        network
    }

    /// The step of a weight, compared with the slope of the loss by finite differences.
    fn compare(weight: impl Fn(&mut MultilayerPerceptron) -> &mut f64) -> f64 {
        const STEP: f64 = 1e-6;
        let x = [(0, 0.4), (1, -0.9)];
        let loss = |by: f64| {
            let mut moved = network();
            *weight(&mut moved) += by;
            -probability::softmax(&moved.scores(&x))[1].ln()
        };
        let slope = (loss(STEP) - loss(-STEP)) / (2.0 * STEP);
        let (mut before, mut after) = (network(), network());
        after.learn(&x, 1, 1.0).unwrap();
        let gradient = (*weight(&mut before) - *weight(&mut after)) / RATE;
        assert!((gradient - slope).abs() < 1e-7, "{gradient} is not {slope}");
        slope
    }

    #[test]
    fn a_step_follows_the_gradient() {
        let mut largest = [0.0f64; 4];
        for node in 0..6 {
            let slopes = [
                compare(|network| network.hidden.input_weight_mut(Some(1), node)),
                compare(|network| network.hidden.input_weight_mut(None, node)),
                compare(|network| network.hidden.weight_mut(1, (node + 1) % 6, node)),
                compare(|network| network.hidden.weight_mut(2, (node + 2) % 6, node)),
            ];
            for (largest, slope) in largest.iter_mut().zip(slopes) {
                *largest = largest.max(slope.abs());
            }
        }
        assert!(largest.iter().all(|slope| *slope > 1e-6), "no layer may be dead: {largest:?}");
        for class in 0..3 {
            assert!(compare(|network| network.output.weight_mut(None, class)).abs() > 1e-3);
            compare(|network| network.output.weight_mut(Some(2), class));
        }
    }

    #[test]
    fn a_weight_lengthens_the_step() {
        let (mut once, mut twice, before) = (network(), network(), network());
        let x = [(0, 0.4), (1, -0.9)];
        once.learn(&x, 0, 1.0).unwrap();
        twice.learn(&x, 0, 2.0).unwrap();
        let bias = |mut network: MultilayerPerceptron| *network.output.weight_mut(None, 0);
        let (once, twice, before) = (bias(once), bias(twice), bias(before));
        assert!(((twice - before) - 2.0 * (once - before)).abs() < 1e-15);
    }

    #[test]
    fn a_step_that_is_too_large_is_refused() {
        let mut network = network();
        let x = [(0, 1e14)];
        let before = network.scores(&x);
        let class = if before[0] > before[1] { 1 } else { 0 };
        assert!(matches!(network.learn(&x, class, 1e6), Err(Error::StepTooLarge { .. })));
        assert_eq!(network.scores(&x), before);
    }
}
