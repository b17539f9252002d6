//! The multiclass perceptron: one weight vector per class, two of which move after a mistake.
//!
//! Rosenblatt 1958, in the multiclass form of Kesler's construction (Duda and Hart 1973): when r is
//! predicted instead of y, w_y ← w_y + x and w_r ← w_r − x. A sample of weight w takes a step w
//! times as long. That differs from w repetitions, of which the later ones may find no mistake to
//! correct.

use super::{
    linear::{Linear, LinearRule},
    scaled_baseline::Present,
};
use crate::{data::arg_max, error::Error};

/// The multiclass perceptron.
pub type Perceptron = Linear<PerceptronRule>;

/// The perceptron's rule.
#[derive(Clone, Debug)]
pub struct PerceptronRule;

impl LinearRule for PerceptronRule {
    type Options = ();

    fn check((): &()) -> Result<(), Error> {
        Ok(())
    }

    fn new((): &()) -> Self {
        PerceptronRule
    }

    fn step(&self, scores: Vec<f64>, _: &Present, class: usize, weight: f64) -> Option<Vec<f64>> {
        let predicted = arg_max(&scores).filter(|predicted| *predicted != class)?;
        let mut step = vec![0.0; scores.len()];
        step[class] = -weight;
        step[predicted] = weight;
        Some(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baselines::Learner;

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
