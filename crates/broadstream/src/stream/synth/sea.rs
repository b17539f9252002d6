//! SEA: two inputs that matter, one that does not, and a threshold on a sum.
//!
//! Three inputs are uniform on [0, 10). The class is `true` when x₀ + x₁ > θ, where θ is 8, 9, 7 or
//! 9.5 by variant; noise flips it with a fixed probability. Streams with drift switch the variant.
//!
//! W. N. Street and Y. Kim, "A streaming ensemble algorithm (SEA) for large-scale classification",
//! KDD 2001; the arithmetic and the order of draws are those of River's `synth.SEA`.

use super::{
    ConceptDrift, Generator, Samples, broken_rule, check_share, numbered,
    python_random::PythonRandom,
};
use crate::error::Error;

/// By variant, the value that x₀ + x₁ exceeds when the class is `true`.
const THRESHOLDS: [f64; 4] = [8.0, 9.0, 7.0, 9.5];

/// The SEA generator: River's `synth.SEA(variant, noise, seed)`.
///
/// ```
/// use broadstream::stream::synth::{Generator, Sea};
///
/// let mut sea = Sea::new(0, 0.1, 42)?;
/// let mut x = Vec::new();
/// let class = sea.next(&mut x);
/// assert_eq!(x, [6.394267984578837, 0.25010755222666936, 2.7502931836911926]);
/// assert_eq!(sea.labels()[class], "false");
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sea {
    threshold: f64,
    noise: f64,
    random: PythonRandom,
}

impl Sea {
    /// The concept of `variant` 0, 1, 2 or 3 (threshold 8, 9, 7, 9.5), in which a label is wrong
    /// with probability `noise`.
    pub fn new(variant: usize, noise: f64, seed: u64) -> Result<Self, Error> {
        let Some(&threshold) = THRESHOLDS.get(variant) else {
            return Err(broken_rule("sea", "variant", "0, 1, 2 or 3", variant.to_string()));
        };
        check_share("sea", "noise", noise)?;
        Ok(Sea { threshold, noise, random: PythonRandom::new(seed) })
    }

    /// Variants 0, 1, 2 and 3 in turn, each for a quarter of `samples`: a stream with three drifts.
    ///
    /// `Sea::drifting(0.1, 42, 100_000, 1)` is the SEA stream of the Online-BLS paper (IJCAI 2025),
    /// which switches at samples 25 000, 50 000 and 75 000. A `width` of 1 is an abrupt change,
    /// complete within a few samples; a wider one mixes the two concepts for about that long.
    ///
    /// It is the same stream as this expression in River, where `seed`, `noise` and `width` are the same:
    ///
    /// ```python
    /// first, second, third = samples // 4, samples // 2, 3 * samples // 4
    /// synth.ConceptDriftStream(
    ///     synth.SEA(0, noise, seed),
    ///     synth.ConceptDriftStream(
    ///         synth.SEA(1, noise, seed + 1),
    ///         synth.ConceptDriftStream(
    ///             synth.SEA(2, noise, seed + 2),
    ///             synth.SEA(3, noise, seed + 3),
    ///             position=third - second, width=width, seed=seed + 6,
    ///         ),
    ///         position=second - first, width=width, seed=seed + 5,
    ///     ),
    ///     position=first, width=width, seed=seed + 4,
    /// )
    /// ```
    ///
    /// An inner stream's clock starts with its first sample, hence the differences. Every part has
    /// a seed of its own, since four generators of one seed would repeat the same inputs four
    /// times. (River itself stops with an overflow when `samples / 4` exceeds `width` about 177
    /// times; see [`ConceptDrift`].)
    ///
    /// ```
    /// use broadstream::stream::{Stream, synth::Sea};
    ///
    /// let stream = Sea::drifting(0.1, 42, 100_000, 1)?.take(100_000);
    /// assert_eq!(stream.remaining(), Some(100_000));
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn drifting(
        noise: f64,
        seed: u64,
        samples: u64,
        width: u64,
    ) -> Result<ConceptDrift, Error> {
        if samples < 4 {
            let rule = "at least 4, one for each variant";
            return Err(broken_rule("drifting sea", "samples", rule, samples.to_string()));
        }
        // Seeds wrap around at 2⁶⁴, where Python's would go on.
        let concepts = (0..4)
            .map(|variant: usize| {
                Ok(Box::new(Sea::new(variant, noise, seed.wrapping_add(variant as u64))?) as _)
            })
            .collect::<Result<_, Error>>()?;
        // Not 3 · samples / 4, whose product could overflow.
        let changes = [samples / 4, samples / 2, samples - samples.div_ceil(4)];
        ConceptDrift::in_turn(concepts, &changes, width, seed.wrapping_add(4))
    }

    /// The next `samples` samples as a stream.
    pub fn take(self, samples: u64) -> Samples<Self> {
        Samples::new(self, samples)
    }
}

impl Generator for Sea {
    fn inputs(&self) -> Vec<String> {
        numbered(3)
    }

    fn labels(&self) -> Vec<String> {
        ["false", "true"].map(str::to_owned).to_vec()
    }

    fn next(&mut self, x: &mut Vec<f64>) -> usize {
        x.clear();
        x.extend((0..3).map(|_| 10.0 * self.random.random()));
        let positive = x[0] + x[1] > self.threshold;
        // Without noise River draws nothing here, and the sequence is another one.
        let flipped = self.noise != 0.0 && self.random.random() < self.noise;
        usize::from(positive != flipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::StreamError;

    fn parameter<T>(result: Result<T, Error>) -> &'static str {
        match result.err() {
            Some(Error::Stream(StreamError::Parameter { parameter, .. })) => parameter,
            other => panic!("expected a parameter error, got {other:?}"),
        }
    }

    #[test]
    fn parameters_are_checked() {
        assert_eq!(parameter(Sea::new(4, 0.0, 1)), "variant");
        for noise in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert_eq!(parameter(Sea::new(0, noise, 1)), "noise");
            assert_eq!(parameter(Sea::drifting(noise, 1, 100, 1)), "noise");
        }
        assert_eq!(parameter(Sea::drifting(0.1, 1, 3, 1)), "samples");
        assert_eq!(parameter(Sea::drifting(0.1, 1, 100, 0)), "width");
        let error = Sea::new(7, 0.0, 1).unwrap_err();
        assert_eq!(error.to_string(), "sea: variant must be 0, 1, 2 or 3, got 7");
    }

    #[test]
    fn extreme_parameters_are_accepted() {
        let mut x = Vec::new();
        for (noise, seed, samples, width) in
            [(0.0, 0, 4, 1), (1.0, u64::MAX, u64::MAX, 1), (0.5, 7, 7, u64::MAX)]
        {
            let mut sea = Sea::drifting(noise, seed, samples, width).unwrap();
            for _ in 0..100 {
                assert!(sea.next(&mut x) < 2);
                assert_eq!(x.len(), 3);
            }
        }
    }

    #[test]
    fn noise_flips_its_share_of_labels() {
        // Four standard deviations (of 30) around 1000.
        for (noise, range) in [(0.0, 0..=0), (0.1, 880..=1120), (1.0, 10_000..=10_000)] {
            let mut sea = Sea::new(1, noise, 5).unwrap();
            let mut x = Vec::new();
            let flipped =
                (0..10_000).filter(|_| sea.next(&mut x) != usize::from(x[0] + x[1] > 9.0)).count();
            assert!(range.contains(&flipped), "noise {noise} flipped {flipped}");
        }
    }

    /// Away from the drifts every label follows the concept of its quarter.
    #[test]
    fn drifting_switches_at_the_quarters() {
        const MARGIN: usize = 10;
        for samples in [100_000, 4_001, 4_003] {
            let mut sea = Sea::drifting(0.0, 42, samples as u64, 1).unwrap();
            let mut x = Vec::new();
            let mut differing = [0; 4];
            for t in 0..samples {
                let class = sea.next(&mut x);
                let quarter = 4 * t / samples;
                let start = quarter * samples / 4;
                let end = (quarter + 1) * samples / 4;
                if t >= start + MARGIN && t + MARGIN < end {
                    let concepts = THRESHOLDS.map(|threshold| usize::from(x[0] + x[1] > threshold));
                    assert_eq!(class, concepts[quarter], "sample {t} of {samples}");
                    differing[quarter] += usize::from(concepts.iter().any(|&c| c != class));
                }
            }
            assert!(differing.iter().all(|&n| n > 10), "the samples tell the concepts apart");
        }
    }
}
