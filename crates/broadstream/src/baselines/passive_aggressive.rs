//! Passive–aggressive learning: the smallest change that corrects a sample, up to a limit.
//!
//! Crammer et al., Online passive-aggressive algorithms, JMLR 7 (2006): PA-I of their figure 1, in
//! the multiclass form with a weight vector for each class. With r the highest-scoring class other
//! than the true y,
//!
//! ```text
//! ℓ = max(0, 1 − (w_y·x − w_r·x))      τ = min(C, ℓ / (2|x|²))      w_y ← w_y + τx,  w_r ← w_r − τx
//! ```
//!
//! where 2|x|² is the squared length of the change that τ multiplies, over both classes. x ends in
//! a 1 for the bias. The loss of a sample of weight w counts w times, which makes C w times as
//! large.

use super::{
    linear::{Linear, LinearRule},
    scaled_baseline::Present,
};
use crate::{config::check, data::arg_max, error::Error};

/// Passive–aggressive learning.
pub type PassiveAggressive = Linear<PassiveAggressiveRule>;

/// The rule PA-I.
#[derive(Clone, Debug)]
pub struct PassiveAggressiveRule {
    options: PassiveAggressiveOptions,
}

/// The options of passive–aggressive learning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PassiveAggressiveOptions {
    /// C: the largest step. Default 1.
    pub aggressiveness: f64,
}

impl Default for PassiveAggressiveOptions {
    fn default() -> Self {
        PassiveAggressiveOptions { aggressiveness: 1.0 }
    }
}

impl LinearRule for PassiveAggressiveRule {
    type Options = PassiveAggressiveOptions;

    fn check(options: &PassiveAggressiveOptions) -> Result<(), Error> {
        let sound = (1e-100..=1e100).contains(&options.aggressiveness);
        check("aggressiveness", sound, "from 1e-100 to 1e100", &options.aggressiveness)
    }

    fn new(options: &PassiveAggressiveOptions) -> Self {
        PassiveAggressiveRule { options: *options }
    }

    fn step(
        &self,
        mut scores: Vec<f64>,
        x: &Present,
        class: usize,
        weight: f64,
    ) -> Option<Vec<f64>> {
        let own = std::mem::replace(&mut scores[class], f64::NEG_INFINITY);
        let rival = arg_max(&scores).filter(|rival| *rival != class)?;
        let loss = (1.0 - (own - scores[rival])).max(0.0);
        let squared_norm = 1.0 + x.iter().map(|(_, value)| value * value).sum::<f64>();
        let tau = (self.options.aggressiveness * weight).min(loss / (2.0 * squared_norm));
        let mut step = vec![0.0; scores.len()];
        step[class] = -tau;
        step[rival] = tau;
        Some(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baselines::Learner;

    fn learner(aggressiveness: f64) -> PassiveAggressive {
        let mut learner = PassiveAggressive::new(&PassiveAggressiveOptions { aggressiveness });
        learner.declare_input("a");
        learner.add_classes(3);
        learner
    }

    #[test]
    fn a_step_just_reaches_the_margin() {
        let mut learner = learner(1.0);
        // ℓ = 1, |x|² = 3² + 1: τ = 1/20, and the scores differ by 20τ = 1 afterwards.
        learner.learn(&[(0, 3.0)], 1, 1.0).unwrap();
        let scores = learner.scores(&[(0, 3.0)]);
        for (found, expected) in scores.iter().zip([-0.5, 0.5, 0.0]) {
            assert!((found - expected).abs() < 1e-15, "{scores:?}");
        }
        // Class 2 at 0 is now the rival of class 1 at ½: ℓ = ½ and τ = 1/40.
        learner.learn(&[(0, 3.0)], 1, 1.0).unwrap();
        let scores = learner.scores(&[(0, 3.0)]);
        for (found, expected) in scores.iter().zip([-0.5, 0.75, -0.25]) {
            assert!((found - expected).abs() < 1e-15, "{scores:?}");
        }
        // All margins are met.
        learner.learn(&[(0, 3.0)], 1, 1.0).unwrap();
        assert_eq!(learner.scores(&[(0, 3.0)]), scores);
    }

    #[test]
    fn aggressiveness_and_weight_limit_a_step() {
        let mut learner = learner(0.02);
        learner.learn(&[(0, 3.0)], 1, 2.0).unwrap();
        // τ = min(0.04, 0.05): the scores move by 10τ each.
        let scores = learner.scores(&[(0, 3.0)]);
        assert!((scores[1] - 0.4).abs() < 1e-15 && (scores[0] + 0.4).abs() < 1e-15, "{scores:?}");
    }
}
