//! A hyperplane that turns: gradual drift without end.
//!
//! Inputs are uniform on [0, 1). The class is 1 when Σ wᵢxᵢ ≥ ½ Σ wᵢ, which about half of the
//! samples meet. After every sample each drifting weight moves by a fixed step, and now and then
//! its direction is reversed, so that the weights wander and the hyperplane turns with them.
//!
//! G. Hulten, L. Spencer and P. Domingos, "Mining time-changing data streams", KDD 2001; the
//! arithmetic and the order of draws are those of River's `synth.Hyperplane`.

use super::{Generator, Samples, broken_rule, check_share, numbered, python_random::PythonRandom};
use crate::error::Error;

/// The options of [`Hyperplane`]. The default is the Hyperplane stream of the Online-BLS paper
/// (IJCAI 2025); River's own defaults, where they differ, are given with each field.
///
/// ```
/// use broadstream::stream::synth::HyperplaneOptions;
///
/// let as_in_river = HyperplaneOptions {
///     inputs: 10,
///     magnitude: 0.0,
///     noise: 0.05,
///     ..HyperplaneOptions::default()
/// };
/// assert_eq!(as_in_river.drifting_inputs, 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HyperplaneOptions {
    /// How many inputs a sample has, at least 1 and at most a million. Default 20.
    ///
    /// River's `n_features`, there 10.
    pub inputs: usize,

    /// How many inputs, from the first on, have a drifting weight; at most all. Default 2.
    ///
    /// River's `n_drift_features`.
    pub drifting_inputs: usize,

    /// How far a drifting weight moves after every sample, between 0 and 1; weights start between
    /// 0 and 1 and are not kept there. Default 0.005.
    ///
    /// River's `mag_change`, there 0, which is no drift.
    pub magnitude: f64,

    /// The share of labels that are flipped, between 0 and 1. Default 0.01, which flips none.
    ///
    /// River's `noise_percentage`, there 0.05. It flips a label when 0.01 + u ≤ noise for a uniform
    /// u, so a label is wrong with probability `noise` - 0.01: a noise of 0.01 changes nothing, and
    /// 0.02 makes one label in a hundred wrong. This is kept as in River, so that streams can be
    /// compared across libraries.
    pub noise: f64,

    /// How often a drifting weight turns back, between 0 and 1. Default 0.1.
    ///
    /// River's `sigma`. As with the noise, the probability is 0.01 less than this.
    pub sigma: f64,

    /// Where the random numbers start: Python's `random.Random(seed)`. Default 42.
    ///
    /// River's `seed`, there random.
    pub seed: u64,
}

impl Default for HyperplaneOptions {
    fn default() -> Self {
        HyperplaneOptions {
            inputs: 20,
            drifting_inputs: 2,
            magnitude: 0.005,
            noise: 0.01,
            sigma: 0.1,
            seed: 42,
        }
    }
}

/// The rotating hyperplane generator: River's `synth.Hyperplane`.
///
/// Python adds up the weights more precisely from version 3.12 on. Here they are added as before,
/// one by one; a label could differ only for a sample within rounding of the hyperplane.
///
/// ```
/// use broadstream::stream::synth::{Generator, Hyperplane, HyperplaneOptions};
///
/// let options = HyperplaneOptions { inputs: 2, magnitude: 0.01, ..HyperplaneOptions::default() };
/// let mut hyperplane = Hyperplane::new(options)?;
/// let mut x = Vec::new();
/// assert_eq!(hyperplane.next(&mut x), 0);
/// assert_eq!(x, [0.27502931836911926, 0.22321073814882275]);
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Hyperplane {
    weights: Vec<f64>,
    /// The next movement of each drifting weight: ±magnitude.
    steps: Vec<f64>,
    noise: f64,
    sigma: f64,
    random: PythonRandom,
}

impl Hyperplane {
    /// A hyperplane with random weights, all drifting ones about to grow.
    pub fn new(options: HyperplaneOptions) -> Result<Self, Error> {
        // The limit turns a slip on a command line into a message instead of an allocation failure.
        const MOST_INPUTS: usize = 1_000_000;
        let HyperplaneOptions { inputs, drifting_inputs, magnitude, noise, sigma, seed } = options;
        if !(1..=MOST_INPUTS).contains(&inputs) {
            let rule = "between 1 and 1000000";
            return Err(broken_rule("hyperplane", "inputs", rule, inputs.to_string()));
        }
        if drifting_inputs > inputs {
            let rule = "at most the number of inputs";
            let value = format!("{drifting_inputs} of {inputs}");
            return Err(broken_rule("hyperplane", "drifting_inputs", rule, value));
        }
        check_share("hyperplane", "magnitude", magnitude)?;
        check_share("hyperplane", "noise", noise)?;
        check_share("hyperplane", "sigma", sigma)?;
        let mut random = PythonRandom::new(seed);
        let weights = (0..inputs).map(|_| random.random()).collect();
        Ok(Hyperplane { weights, steps: vec![magnitude; drifting_inputs], noise, sigma, random })
    }

    /// The next `samples` samples as a stream.
    pub fn take(self, samples: u64) -> Samples<Self> {
        Samples::new(self, samples)
    }

    /// Whether an event of River's probability `share` happens. The actual probability is 0.01 less.
    fn happens(&mut self, share: f64) -> bool {
        0.01 + self.random.random() <= share
    }

    fn drift(&mut self) {
        for i in 0..self.steps.len() {
            self.weights[i] += self.steps[i];
            if self.happens(self.sigma) {
                self.steps[i] = -self.steps[i];
            }
        }
    }
}

impl Generator for Hyperplane {
    fn inputs(&self) -> Vec<String> {
        numbered(self.weights.len())
    }

    fn labels(&self) -> Vec<String> {
        ["0", "1"].map(str::to_owned).to_vec()
    }

    fn next(&mut self, x: &mut Vec<f64>) -> usize {
        // Plain sums from left to right: any other order changes the last bits.
        x.clear();
        let mut sum = 0.0;
        let mut sum_of_weights = 0.0;
        for &weight in &self.weights {
            let value = self.random.random();
            sum += weight * value;
            sum_of_weights += weight;
            x.push(value);
        }
        let positive = sum >= sum_of_weights * 0.5;
        // Unlike SEA, the noise is drawn even where there is none.
        let flipped = self.happens(self.noise);
        self.drift();
        usize::from(positive != flipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::StreamError;

    fn paper() -> HyperplaneOptions {
        HyperplaneOptions::default()
    }

    #[test]
    fn parameters_are_checked() {
        let cases = [
            ("inputs", HyperplaneOptions { inputs: 0, drifting_inputs: 0, ..paper() }),
            ("inputs", HyperplaneOptions { inputs: usize::MAX, ..paper() }),
            ("drifting_inputs", HyperplaneOptions { drifting_inputs: 21, ..paper() }),
            ("magnitude", HyperplaneOptions { magnitude: -0.1, ..paper() }),
            ("magnitude", HyperplaneOptions { magnitude: f64::NAN, ..paper() }),
            ("noise", HyperplaneOptions { noise: 1.5, ..paper() }),
            ("noise", HyperplaneOptions { noise: f64::NAN, ..paper() }),
            ("sigma", HyperplaneOptions { sigma: f64::INFINITY, ..paper() }),
            ("sigma", HyperplaneOptions { sigma: f64::NAN, ..paper() }),
        ];
        for (expected, options) in cases {
            match Hyperplane::new(options) {
                Err(Error::Stream(StreamError::Parameter { parameter, .. })) => {
                    assert_eq!(parameter, expected);
                }
                other => panic!("{options:?} gave {other:?}"),
            }
        }
        for edge in [
            HyperplaneOptions { inputs: 1, drifting_inputs: 1, ..paper() },
            HyperplaneOptions { drifting_inputs: 20, magnitude: 1.0, sigma: 1.0, ..paper() },
            HyperplaneOptions { drifting_inputs: 0, magnitude: 0.0, noise: 1.0, ..paper() },
        ] {
            assert!(Hyperplane::new(edge).is_ok());
        }
    }

    /// The labels depend on the noise, the inputs do not: the draws are the same.
    #[test]
    fn noise_flips_one_hundredth_less_than_it_says() {
        // Four standard deviations (of 42) around 2000.
        for (noise, range) in [(0.0, 0..=0), (0.01, 0..=0), (0.11, 1830..=2170)] {
            let mut clean = Hyperplane::new(HyperplaneOptions { noise: 0.0, ..paper() }).unwrap();
            let mut noisy = Hyperplane::new(HyperplaneOptions { noise, ..paper() }).unwrap();
            let (mut x, mut y) = (Vec::new(), Vec::new());
            let flipped = (0..20_000).filter(|_| clean.next(&mut x) != noisy.next(&mut y)).count();
            assert_eq!(x, y);
            assert!(range.contains(&flipped), "noise {noise} flipped {flipped}");
        }
    }

    #[test]
    fn only_the_drifting_weights_move() {
        let mut hyperplane = Hyperplane::new(paper()).unwrap();
        let start = hyperplane.weights.clone();
        let mut x = Vec::new();
        for _ in 0..1000 {
            hyperplane.next(&mut x);
        }
        for i in 0..20 {
            assert_eq!(hyperplane.weights[i] != start[i], i < 2, "weight {i}");
        }
    }
}
