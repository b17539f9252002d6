//! Linear learners: a weight vector for each class, and a rule for how a sample moves them.
//!
//! A class scores w·x, where x ends in a 1 for the bias. A [`LinearRule`] decides from the scores
//! of a sample by how much of x each weight vector moves; everything else is the same.

use super::{
    layers::InputLayer,
    scaled_baseline::{Learner, Present},
};
use crate::{error::Error, numeric::probability};

/// How a sample moves the weight vectors.
pub trait LinearRule: Clone + Send + 'static {
    /// The rule's options; `()` if there are none.
    type Options: Clone + Default + Send;

    /// Checks the options.
    fn check(options: &Self::Options) -> Result<(), Error>;

    /// The rule with options that passed the check.
    fn new(options: &Self::Options) -> Self;

    /// The multiple of the sample that is subtracted from each class's weights, given their scores;
    /// `None` if nothing moves.
    fn step(&self, scores: Vec<f64>, x: &Present, class: usize, weight: f64) -> Option<Vec<f64>>;
}

/// A linear learner with a rule.
#[derive(Clone, Debug)]
pub struct Linear<R> {
    layer: InputLayer,
    rule: R,
}

impl<R: LinearRule> Learner for Linear<R> {
    type Options = R::Options;

    const MAY_FAIL: bool = false;

    fn check(options: &R::Options) -> Result<(), Error> {
        R::check(options)
    }

    fn new(options: &R::Options) -> Self {
        Linear { layer: InputLayer::new(0), rule: R::new(options) }
    }

    fn bytes(_: &R::Options, inputs: usize, classes: usize) -> u128 {
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

    /// A softmax of the scores. They are margins rather than probabilities, so the result is
    /// overconfident.
    fn probabilities(&self, scores: &[f64]) -> Vec<f64> {
        probability::softmax(scores)
    }

    fn learn(&mut self, x: &Present, class: usize, weight: f64) -> Result<(), Error> {
        if let Some(step) = self.rule.step(self.scores(x), x, class, weight) {
            self.layer.step(x, &step);
        }
        Ok(())
    }
}
