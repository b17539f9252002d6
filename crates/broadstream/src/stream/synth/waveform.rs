//! Waveform: a noisy mixture of two of three triangular waves, and which two is the class.
//!
//! The waves are triangles of height 6 over 21 places, peaking at places 6, 14 and 10. Class 0 mixes
//! the first two, class 1 the first and the third, class 2 the second and the third: input i is
//!
//! > xᵢ = u · aᵢ + (1 - u) · bᵢ + εᵢ
//!
//! with one uniform u per sample and standard normal noise ε.
//!
//! L. Breiman, J. Friedman, R. Olshen and C. Stone, "Classification and Regression Trees", 1984; the
//! arithmetic and the order of draws are those of River's `synth.Waveform`.

use super::{Generator, Samples, numbered, python_random::PythonRandom};

/// The inputs that matter.
const PLACES: usize = 21;

/// The inputs when 19 that do not matter are added.
const PLACES_AND_IRRELEVANT: usize = 40;

/// The Waveform generator: River's `synth.Waveform(seed, has_noise)`.
///
/// Normal numbers need a logarithm, a sine and a cosine. Here as in River they are the platform's,
/// so the last bits of a value may differ from machine to machine.
///
/// ```
/// use broadstream::stream::synth::{Generator, Waveform};
///
/// let mut waveform = Waveform::new(false, 42);
/// let mut x = Vec::new();
/// assert_eq!(waveform.next(&mut x), 2);
/// assert!((x[0] - -0.0397).abs() < 1e-4);
/// ```
#[derive(Clone, Debug)]
pub struct Waveform {
    irrelevant: bool,
    random: PythonRandom,
}

impl Waveform {
    /// A generator, from its first sample on; with `irrelevant` (River's `has_noise`) 19 inputs of pure noise
    /// are added to the 21 of the waves.
    pub fn new(irrelevant: bool, seed: u64) -> Self {
        Waveform { irrelevant, random: PythonRandom::new(seed) }
    }

    /// The next `samples` samples as a stream.
    pub fn take(self, samples: u64) -> Samples<Self> {
        Samples::new(self, samples)
    }
}

impl Generator for Waveform {
    fn inputs(&self) -> Vec<String> {
        numbered(if self.irrelevant { PLACES_AND_IRRELEVANT } else { PLACES })
    }

    fn labels(&self) -> Vec<String> {
        numbered(3)
    }

    fn next(&mut self, x: &mut Vec<f64>) -> usize {
        const PEAKS: [(usize, usize); 3] = [(6, 14), (6, 10), (14, 10)];
        let class = self.random.below(3) as usize;
        let (a, b) = PEAKS[class];
        let share_of_a = self.random.random();
        let share_of_b = 1.0 - share_of_a;
        x.clear();
        for place in 0..PLACES {
            let mixture = share_of_a * triangle(a, place) + share_of_b * triangle(b, place);
            x.push(mixture + self.random.normal());
        }
        if self.irrelevant {
            x.extend((PLACES..PLACES_AND_IRRELEVANT).map(|_| self.random.normal()));
        }
        class
    }
}

/// The height at `place` of the wave that peaks at `peak`.
fn triangle(peak: usize, place: usize) -> f64 {
    6_usize.saturating_sub(peak.abs_diff(place)) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_are_triangles() {
        let wave = |peak| (0..PLACES).map(|place| triangle(peak, place)).collect::<Vec<_>>();
        let first = [0, 1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0].map(f64::from);
        let third = [0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0].map(f64::from);
        assert_eq!(wave(6), first);
        assert_eq!(wave(10), third);
        assert!(wave(14).iter().eq(first.iter().rev()));
    }
}
