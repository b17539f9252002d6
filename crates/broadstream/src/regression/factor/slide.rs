//! A sliding window: each new sample is learned, and an old one removed.
//!
//! Both are sweeps that differ only in the initial γ, 1/w and −1/w, so a block goes through the
//! factor as one sequence of alternating new and old samples, at the speed of a block that only
//! learns. The ridge never decays, as it does under gradual forgetting.

use super::{Factor, Update};
use crate::error::Error;

/// With less than this share left of a sample's direction, removing it has cost too many digits.
const LEAST_REMAINDER: f64 = 1e-4;

/// The result of a [slide](Factor::slide).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Slide {
    /// The leverage of each learned sample, just before it was learned.
    pub leverages: Vec<f64>,
    /// Whether the factor is still sound. Otherwise it must be rebuilt from the samples of the
    /// window.
    pub is_sound: bool,
}

impl Factor {
    /// Learns samples and removes as many, or fewer, that were learned before, in pairs: each
    /// sample of `learned` is followed by its partner in `removed`. While a window fills there is
    /// nothing to remove, so if `removed` is shorter, the first samples of `learned` have no
    /// partner. The forgetting of both is ignored: a window does not decay.
    ///
    /// `scores` receives the predictions just before each sample was learned, as in
    /// [`sweep`](Self::sweep). The result is the same, to the bit, however the sequence is divided
    /// into calls, and the same as with [`sweep`](Self::sweep) and [`unlearn`](Self::unlearn) one
    /// by one.
    ///
    /// If the factor is no longer sound, almost nothing was left of a sample's direction, or
    /// `removed` was not learned before. It is then unusable until it is [rebuilt](Self::rebuild)
    /// from the samples of the window.
    ///
    /// ```
    /// use broadstream::factor::{Factor, Update};
    ///
    /// // A window of one sample.
    /// let mut factor = Factor::new(2, 0.1);
    /// factor.add_targets(1);
    /// let first = Update { features: &[3.0, -1.0], targets: &[0.5], weights: &[1.0], forgetting: 1.0 };
    /// let none = Update { features: &[], targets: &[], weights: &[], ..first };
    /// assert!(factor.slide(first, none, &mut [0.0])?.is_sound);
    /// let second = Update { features: &[1.0, 2.0], targets: &[1.0], ..first };
    /// assert!(factor.slide(second, first, &mut [0.0])?.is_sound);
    /// let weights = factor.weights();
    /// assert!((weights[0] - 1.0 / 5.1).abs() < 1e-14 && (weights[1] - 2.0 / 5.1).abs() < 1e-14);
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn slide(
        &mut self,
        learned: Update<'_>,
        removed: Update<'_>,
        scores: &mut [f64],
    ) -> Result<Slide, Error> {
        let samples = self.check(&learned, scores)?;
        let taken = removed.check(self.order(), self.targets)?;
        let Some(alone) = samples.checked_sub(taken) else {
            let what = "the samples to be removed, at most one for each that is learned,";
            return Err(Error::Length { what, expected: samples, found: taken });
        };
        let mut partners = removed.samples();
        let sequence = learned.samples().enumerate().flat_map(move |(i, (a, y, weight))| {
            let partner = if i < alone { None } else { partners.next() };
            let partner = partner.map(|(a, y, weight)| (a, y, -1.0 / weight));
            std::iter::once((a, y, 1.0 / weight)).chain(partner)
        });
        self.scratch.start(self.order(), sequence.clone().map(|(a, _, gamma)| (a, gamma)));
        let targets: Vec<f64> = sequence.flat_map(|(_, y, _)| y).copied().collect();
        let row = self.readouts.len() * self.targets;
        let mut all_scores = vec![0.0; (samples + taken) * row];
        self.sweep_samples(&targets, 1.0, &mut all_scores);
        // A sample with a partner takes up two rows.
        let (first, rest) = scores.split_at_mut(alone * row);
        let (all_first, all_rest) = all_scores.split_at(alone * row);
        first.copy_from_slice(all_first);
        let pairs = all_rest.chunks_exact((2 * row).max(1));
        for (scores, pair) in rest.chunks_exact_mut(row.max(1)).zip(pairs) {
            scores.copy_from_slice(&pair[..row]);
        }
        Ok(Slide { leverages: self.leverages(), is_sound: self.is_sound() })
    }

    /// Whether D is positive and enough remained of each sample swept last. Each sample is tested
    /// by itself, so that the answer does not depend on blocks.
    fn is_sound(&self) -> bool {
        // γ goes from −1/w to −(1 − w·leverage)/w.
        let left_enough =
            |(first, last): (f64, f64)| first > 0.0 || last <= LEAST_REMAINDER * first;
        self.scratch.gammas().all(left_enough)
            && self.d_inverse.iter().all(|d_inverse| *d_inverse > 0.0 && d_inverse.is_finite())
    }
}
