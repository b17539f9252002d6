//! Sine: a point of the unit square above or below a sine curve.
//!
//! Two inputs are uniform on [0, 1). The class is 0 when
//!
//! - variant 0: x₀ ≥ sin x₁,
//! - variant 1: x₀ < sin x₁,
//! - variant 2: x₀ ≥ 0.5 + 0.3 sin 3πx₁,
//! - variant 3: x₀ < 0.5 + 0.3 sin 3πx₁.
//!
//! J. Gama, P. Medas, G. Castillo and P. Rodrigues, "Learning with drift detection", SBIA 2004; the
//! arithmetic and the order of draws are those of River's `synth.Sine`.

use std::f64::consts::PI;

use super::{
    Generator, Samples, alternation::Alternation, broken_rule, numbered,
    python_random::PythonRandom,
};
use crate::error::Error;

/// The options of [`Sine`]. The defaults are River's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SineOptions {
    /// The curve and which side of it is class 0: 0, 1, 2 or 3. Default 0.
    ///
    /// River's `classification_function`.
    pub variant: usize,

    /// Whether classes alternate; samples of the other class are discarded. Default false.
    ///
    /// River's `balance_classes`.
    pub balance: bool,

    /// Whether to add two irrelevant inputs, uniform on [0, 1). Default false.
    ///
    /// River's `has_noise`.
    pub irrelevant: bool,

    /// Where the random numbers start: Python's `random.Random(seed)`. Default 42.
    ///
    /// River's `seed`, there random.
    pub seed: u64,
}

impl Default for SineOptions {
    fn default() -> Self {
        SineOptions { variant: 0, balance: false, irrelevant: false, seed: 42 }
    }
}

/// The Sine generator: River's `synth.Sine`.
///
/// ```
/// use broadstream::stream::synth::{Generator, Sine, SineOptions};
///
/// let mut sine = Sine::new(SineOptions { variant: 2, ..SineOptions::default() })?;
/// let mut x = Vec::new();
/// assert_eq!(sine.next(&mut x), 0);
/// assert_eq!(x, [0.6394267984578837, 0.025010755222666936]);
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sine {
    variant: usize,
    alternation: Alternation,
    irrelevant: bool,
    random: PythonRandom,
}

impl Sine {
    /// A generator, from its first sample on.
    pub fn new(options: SineOptions) -> Result<Self, Error> {
        let SineOptions { variant, balance, irrelevant, seed } = options;
        if variant > 3 {
            return Err(broken_rule("sine", "variant", "0, 1, 2 or 3", variant.to_string()));
        }
        let alternation = Alternation::new(balance);
        Ok(Sine { variant, alternation, irrelevant, random: PythonRandom::new(seed) })
    }

    /// The next `samples` samples as a stream.
    pub fn take(self, samples: u64) -> Samples<Self> {
        Samples::new(self, samples)
    }
}

impl Generator for Sine {
    fn inputs(&self) -> Vec<String> {
        numbered(if self.irrelevant { 4 } else { 2 })
    }

    fn labels(&self) -> Vec<String> {
        numbered(2)
    }

    fn next(&mut self, x: &mut Vec<f64>) -> usize {
        let class = loop {
            let [x0, x1] = [(); 2].map(|()| self.random.random());
            let above = if self.variant < 2 { x0 >= x1.sin() } else { x0 >= wave(x1) };
            // The second variant of each curve turns its classes round.
            let class = usize::from(above == (self.variant % 2 == 1));
            if self.alternation.accepts(class) {
                x.clear();
                x.extend([x0, x1]);
                break class;
            }
        };
        if self.irrelevant {
            x.extend([(); 2].map(|()| self.random.random()));
        }
        class
    }
}

/// One and a half waves over [0, 1): 0.5 + 0.3 sin 3πx.
pub(super) fn wave(x: f64) -> f64 {
    0.5 + 0.3 * (3.0 * PI * x).sin()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variant_is_checked() {
        let error = Sine::new(SineOptions { variant: 4, ..SineOptions::default() }).unwrap_err();
        assert_eq!(error.to_string(), "sine: variant must be 0, 1, 2 or 3, got 4");
    }

    #[test]
    fn odd_variants_turn_the_classes_round() {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for variant in [0, 2] {
            let sine = |variant| Sine::new(SineOptions { variant, ..SineOptions::default() });
            let (mut plain, mut turned) = (sine(variant).unwrap(), sine(variant + 1).unwrap());
            for _ in 0..100 {
                assert_eq!(plain.next(&mut x), 1 - turned.next(&mut y));
                assert_eq!(x, y);
            }
        }
    }
}
