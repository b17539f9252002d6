//! Mixed: two truth values and a point of the unit square, which form three conditions.
//!
//! Inputs 0 and 1 are true (1) or false (0), inputs 2 and 3 uniform on [0, 1). With variant 0 the
//! class is 0 when at least two of these hold: input 0, input 1, x₃ < 0.5 + 0.3 sin 3πx₂. Variant 1
//! is the opposite.
//!
//! J. Gama, P. Medas, G. Castillo and P. Rodrigues, "Learning with drift detection", SBIA 2004; the
//! arithmetic and the order of draws are those of River's `synth.Mixed`.

use super::{
    Generator, Samples, alternation::Alternation, broken_rule, numbered,
    python_random::PythonRandom, sine::wave,
};
use crate::error::Error;

/// The Mixed generator: River's `synth.Mixed(classification_function, seed, balance_classes)`.
///
/// Truth values are the numbers 0 and 1, which is what Python's `True` and `False` count as.
///
/// ```
/// use broadstream::stream::synth::{Generator, Mixed};
///
/// let mut mixed = Mixed::new(1, true, 42)?;
/// let mut x = Vec::new();
/// assert_eq!(mixed.next(&mut x), 1);
/// assert_eq!(x, [1.0, 0.0, 0.27502931836911926, 0.22321073814882275]);
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Mixed {
    variant: usize,
    alternation: Alternation,
    random: PythonRandom,
}

impl Mixed {
    /// The concept of `variant` 0 or 1 (River's `classification_function`). With `balance` the two
    /// classes alternate.
    pub fn new(variant: usize, balance: bool, seed: u64) -> Result<Self, Error> {
        if variant > 1 {
            return Err(broken_rule("mixed", "variant", "0 or 1", variant.to_string()));
        }
        let alternation = Alternation::new(balance);
        Ok(Mixed { variant, alternation, random: PythonRandom::new(seed) })
    }

    /// The next `samples` samples as a stream.
    pub fn take(self, samples: u64) -> Samples<Self> {
        Samples::new(self, samples)
    }
}

impl Generator for Mixed {
    fn inputs(&self) -> Vec<String> {
        numbered(4)
    }

    fn labels(&self) -> Vec<String> {
        numbered(2)
    }

    fn next(&mut self, x: &mut Vec<f64>) -> usize {
        loop {
            let [x0, x1] = [(); 2].map(|()| self.random.random() >= 0.5);
            let [x2, x3] = [(); 2].map(|()| self.random.random());
            let holding = [x0, x1, x3 < wave(x2)].into_iter().filter(|&holds| holds).count();
            let class = if holding >= 2 { self.variant } else { 1 - self.variant };
            if self.alternation.accepts(class) {
                x.clear();
                x.extend([f64::from(x0), f64::from(x1), x2, x3]);
                return class;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variant_is_checked() {
        let error = Mixed::new(2, false, 1).unwrap_err();
        assert_eq!(error.to_string(), "mixed: variant must be 0 or 1, got 2");
    }

    #[test]
    fn the_variants_are_opposites() {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        let (mut zero, mut one) =
            (Mixed::new(0, false, 3).unwrap(), Mixed::new(1, false, 3).unwrap());
        for _ in 0..100 {
            assert_eq!(zero.next(&mut x), 1 - one.next(&mut y));
            assert_eq!(x, y);
        }
    }
}
