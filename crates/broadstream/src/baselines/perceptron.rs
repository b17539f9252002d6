//! The multiclass perceptron: one weight vector per class, two of which move after a mistake.
//!
//! Rosenblatt 1958, in the multiclass form of Kesler's construction (Duda and Hart 1973): when r is
//! predicted instead of y, w_y ← w_y + x and w_r ← w_r − x. A sample of weight w takes a step w
//! times as long. That differs from w repetitions, of which the later ones may find no mistake to
//! correct.

use super::{
    layers::InputLayer,
    scaled_baseline::{Learner, Present},
};
use crate::{data::arg_max, error::Error, numeric::probability};

/// The perceptron's rule.
#[derive(Clone, Debug)]
pub struct Perceptron {
    layer: InputLayer,
}

impl Learner for Perceptron {
    type Options = ();

    const MAY_FAIL: bool = false;

    fn check((): &()) -> Result<(), Error> {
        Ok(())
    }

    fn new((): &()) -> Self {
        Perceptron { layer: InputLayer::new(0) }
    }

    fn bytes((): &(), inputs: usize, classes: usize) -> u128 {
        InputLayer::bytes(inputs, classes)
    }

    fn declare_input(&mut self, _name: &str) {
        self.layer.push_input(vec![0.0; self.layer.nodes()]);
    }

    fn add_classes(&mut self, classes: usize) {
        self.layer.add_nodes(classes);
    }

    fn scores(&self, x: &Present) -> Vec<f64> {
        self.layer.forward(x)
    }

    /// A softmax of the scores, whose scale has no meaning: it is overconfident.
    fn probabilities(&self, scores: &[f64]) -> Vec<f64> {
        probability::softmax(scores)
    }

    fn learn(&mut self, x: &Present, class: usize, weight: f64) -> Result<(), Error> {
        let scores = self.scores(x);
        if let Some(predicted) = arg_max(&scores)
            && predicted != class
        {
            let mut delta = vec![0.0; scores.len()];
            delta[class] = -weight;
            delta[predicted] = weight;
            self.layer.step(x, &delta);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_moves_two_classes() {
        let mut perceptron = Perceptron::new(&());
        perceptron.declare_input("a");
        perceptron.declare_input("b");
        perceptron.add_classes(1);
        perceptron.learn(&[(0, 2.0), (1, -1.0)], 0, 1.0).unwrap();
        assert_eq!(perceptron.scores(&[(0, 1.0)]), [0.0], "one class cannot be mistaken");
        perceptron.add_classes(3);
        // All scores are 0 and the first class is predicted: w₂ = (2, −1, 1), w₀ = −w₂.
        perceptron.learn(&[(0, 2.0), (1, -1.0)], 2, 1.0).unwrap();
        assert_eq!(perceptron.scores(&[(0, 1.0)]), [-3.0, 0.0, 3.0]);
        assert_eq!(perceptron.scores(&[(1, 1.0)]), [0.0, 0.0, 0.0]);
        // The prediction is now right, and the weights stay.
        perceptron.learn(&[(0, 2.0), (1, -1.0)], 2, 1.0).unwrap();
        assert_eq!(perceptron.scores(&[(0, 1.0)]), [-3.0, 0.0, 3.0]);
        // Class 2 has 3 and is wrong; a step of weight ½ of x = (1, 0, 1).
        perceptron.learn(&[(0, 1.0)], 1, 0.5).unwrap();
        assert_eq!(perceptron.scores(&[(0, 1.0)]), [-3.0, 1.0, 2.0]);
    }
}
