//! STAGGER: three properties of an object, and a rule about them.
//!
//! An object is small, medium or large (`size` 0, 1, 2), red, blue or green (`color` 0, 1, 2), and
//! a circle, a square or a triangle (`shape` 0, 1, 2). The class is 1 when it is
//!
//! - variant 0: small and red,
//! - variant 1: green or a circle,
//! - variant 2: medium or large.
//!
//! J. C. Schlimmer and R. H. Granger, "Incremental learning from noisy data", Machine Learning 1,
//! 1986; the order of draws is that of River's `synth.STAGGER`.

use super::{
    Generator, Samples, alternation::Alternation, broken_rule, numbered,
    python_random::PythonRandom,
};
use crate::error::Error;

/// The STAGGER generator: River's `synth.STAGGER(classification_function, seed, balance_classes)`.
///
/// The three properties are numeric inputs with the values that River has.
///
/// ```
/// use broadstream::stream::synth::{Generator, Stagger};
///
/// let mut stagger = Stagger::new(0, false, 42)?;
/// assert_eq!(stagger.inputs(), ["size", "color", "shape"]);
/// let mut x = Vec::new();
/// assert_eq!(stagger.next(&mut x), 0);
/// assert_eq!(x, [2.0, 0.0, 0.0]);
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Stagger {
    variant: usize,
    alternation: Alternation,
    random: PythonRandom,
}

impl Stagger {
    /// The rule of `variant` 0, 1 or 2 (River's `classification_function`), as it falls or, with
    /// `balance`, with both classes in turn.
    pub fn new(variant: usize, balance: bool, seed: u64) -> Result<Self, Error> {
        if variant > 2 {
            return Err(broken_rule("stagger", "variant", "0, 1 or 2", variant.to_string()));
        }
        let alternation = Alternation::new(balance);
        Ok(Stagger { variant, alternation, random: PythonRandom::new(seed) })
    }

    /// The next `samples` samples as a stream.
    pub fn take(self, samples: u64) -> Samples<Self> {
        Samples::new(self, samples)
    }
}

impl Generator for Stagger {
    fn inputs(&self) -> Vec<String> {
        ["size", "color", "shape"].map(str::to_owned).to_vec()
    }

    fn labels(&self) -> Vec<String> {
        numbered(2)
    }

    fn next(&mut self, x: &mut Vec<f64>) -> usize {
        loop {
            let [size, color, shape] = [(); 3].map(|()| self.random.below(3));
            let positive = match self.variant {
                0 => size == 0 && color == 0,
                1 => color == 2 || shape == 0,
                _ => size != 0,
            };
            let class = usize::from(positive);
            if self.alternation.accepts(class) {
                x.clear();
                x.extend([size, color, shape].map(f64::from));
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
        let error = Stagger::new(3, false, 1).unwrap_err();
        assert_eq!(error.to_string(), "stagger: variant must be 0, 1 or 2, got 3");
    }

    #[test]
    fn balanced_classes_take_turns() {
        let mut x = Vec::new();
        for variant in 0..3 {
            let mut stagger = Stagger::new(variant, true, 5).unwrap();
            for t in 0..100 {
                assert_eq!(stagger.next(&mut x), (t + 1) % 2, "variant {variant}, sample {t}");
            }
        }
    }
}
