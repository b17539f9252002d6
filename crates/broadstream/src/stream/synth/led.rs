//! LED: a digit on a seven-segment display with faulty segments.
//!
//! The class is a digit. Each of the seven inputs tells whether one of its segments is lit (1) or not
//! (0), and noise inverts segments. Seventeen irrelevant random inputs may be added; a variant then swaps
//! some segments with some of these.
//!
//! L. Breiman, J. Friedman, R. Olshen and C. Stone, "Classification and Regression Trees", 1984; the
//! order of draws is that of River's `synth.LED` and `synth.LEDDrift`.

use super::{Generator, Samples, broken_rule, check_share, numbered, python_random::PythonRandom};
use crate::error::Error;

const SEGMENTS: usize = 7;
const IRRELEVANT: usize = 17;

/// For each digit the segments that are lit.
const DIGITS: [[u8; SEGMENTS]; 10] = [
    [1, 1, 1, 0, 1, 1, 1],
    [0, 0, 1, 0, 0, 1, 0],
    [1, 0, 1, 1, 1, 0, 1],
    [1, 0, 1, 1, 0, 1, 1],
    [0, 1, 1, 1, 0, 1, 0],
    [1, 1, 0, 1, 0, 1, 1],
    [1, 1, 0, 1, 1, 1, 1],
    [1, 0, 1, 0, 0, 1, 0],
    [1, 1, 1, 1, 1, 1, 1],
    [1, 1, 1, 1, 0, 1, 1],
];

/// The options of [`Led`]. The defaults are River's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LedOptions {
    /// How many segments have changed places with irrelevant inputs, 0 to 7. Default 0.
    ///
    /// River's `n_drift_features`; 0 is its `LED`. It needs `irrelevant` inputs to swap with. Which segments they are, neighbours in the list of inputs, is drawn from the seed, so
    /// two generators have the same places only if they have the same seed.
    pub variant: usize,

    /// How often a segment is inverted, between 0 and 1. Default 0.
    ///
    /// River's `noise_percentage`. It inverts when 0.01 + u ≤ noise for a uniform u, so a segment
    /// is wrong with probability `noise` - 0.01. Choose 0.11 to have one in ten wrong. This is kept
    /// as in River, so that streams can be compared across libraries.
    pub noise: f64,

    /// Whether to add 17 irrelevant inputs, which are 0 or 1 at random. Default false.
    ///
    /// River's `irrelevant_features`.
    pub irrelevant: bool,

    /// Where the random numbers start: Python's `random.Random(seed)`. Default 42.
    ///
    /// River's `seed`, there random.
    pub seed: u64,
}

impl Default for LedOptions {
    fn default() -> Self {
        LedOptions { variant: 0, noise: 0.0, irrelevant: false, seed: 42 }
    }
}

/// The LED generator: River's `synth.LED`, and with a variant above 0 its `synth.LEDDrift`.
///
/// ```
/// use broadstream::stream::synth::{Generator, Led, LedOptions};
///
/// let mut led = Led::new(LedOptions { noise: 0.28, seed: 112, ..LedOptions::default() })?;
/// let mut x = Vec::new();
/// assert_eq!(led.next(&mut x), 7);
/// assert_eq!(x, [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0]);
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Led {
    /// The position in a sample of each segment and then of each irrelevant input.
    places: Vec<usize>,
    noise: f64,
    random: PythonRandom,
}

impl Led {
    /// A generator, from its first sample on.
    pub fn new(options: LedOptions) -> Result<Self, Error> {
        let LedOptions { variant, noise, irrelevant, seed } = options;
        if variant > SEGMENTS {
            return Err(broken_rule("led", "variant", "between 0 and 7", variant.to_string()));
        }
        if variant > 0 && !irrelevant {
            let rule = "0 without irrelevant inputs";
            return Err(broken_rule("led", "variant", rule, variant.to_string()));
        }
        check_share("led", "noise", noise)?;
        let inputs = if irrelevant { SEGMENTS + IRRELEVANT } else { SEGMENTS };
        let mut places: Vec<usize> = (0..inputs).collect();
        let mut random = PythonRandom::new(seed);
        if variant > 0 {
            let first_segment = random.below(SEGMENTS as u32) as usize;
            let first_irrelevant = random.below(IRRELEVANT as u32) as usize;
            for i in 0..variant {
                let segment = (i + first_segment) % SEGMENTS;
                places.swap(segment, SEGMENTS + (i + first_irrelevant) % IRRELEVANT);
            }
        }
        Ok(Led { places, noise, random })
    }

    /// The next `samples` samples as a stream.
    pub fn take(self, samples: u64) -> Samples<Self> {
        Samples::new(self, samples)
    }
}

impl Generator for Led {
    fn inputs(&self) -> Vec<String> {
        numbered(self.places.len())
    }

    fn labels(&self) -> Vec<String> {
        numbered(DIGITS.len())
    }

    fn next(&mut self, x: &mut Vec<f64>) -> usize {
        x.clear();
        x.resize(self.places.len(), 0.0);
        let digit = self.random.below(DIGITS.len() as u32) as usize;
        let (segments, irrelevant) = self.places.split_at(SEGMENTS);
        for (&place, &lit) in segments.iter().zip(&DIGITS[digit]) {
            let inverted = 0.01 + self.random.random() <= self.noise;
            x[place] = f64::from(lit ^ u8::from(inverted));
        }
        for &place in irrelevant {
            x[place] = f64::from(self.random.below(2));
        }
        digit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_checked() {
        let message = |options| Led::new(options).unwrap_err().to_string();
        let led = LedOptions::default();
        assert_eq!(
            message(LedOptions { variant: 8, irrelevant: true, ..led }),
            "led: variant must be between 0 and 7, got 8"
        );
        assert_eq!(
            message(LedOptions { variant: 2, ..led }),
            "led: variant must be 0 without irrelevant inputs, got 2"
        );
        assert_eq!(
            message(LedOptions { noise: 1.5, ..led }),
            "led: noise must be between 0 and 1, got 1.5"
        );
    }

    #[test]
    fn every_input_has_one_place() {
        for variant in 0..=7 {
            for seed in 0..20 {
                let options = LedOptions { variant, irrelevant: true, seed, ..Default::default() };
                let places = Led::new(options).unwrap().places;
                let moved = places.iter().enumerate().filter(|&(i, &place)| i != place).count();
                assert_eq!(moved, 2 * variant);
                let mut sorted = places;
                sorted.sort_unstable();
                assert!(sorted.into_iter().eq(0..24));
            }
        }
    }

    #[test]
    fn segments_show_the_digit() {
        let mut led = Led::new(LedOptions::default()).unwrap();
        let mut x = Vec::new();
        for _ in 0..100 {
            let digit = led.next(&mut x);
            assert_eq!(x, DIGITS[digit].map(f64::from));
        }
    }
}
