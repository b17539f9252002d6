//! Whether the model is right as often as its probabilities claim.
//!
//! A prediction's confidence is the probability that the model gave to the class it predicted.
//! Samples are sorted by confidence into 15 bins of equal width over [0, 1]. In each bin the mean
//! confidence is compared with the accuracy: of predictions made with 80 % confidence, 80 % should
//! be right. The expected calibration error is the mean distance between the two,
//!
//! Σ_b n_b / n · |accuracy_b − confidence_b|,
//!
//! as defined by Guo, Pleiss, Sun and Weinberger (ICML 2017), who use 15 bins too. A bin includes
//! its lower end and excludes its upper one; the last includes both.
//!
//! A sample for which nothing was predicted, because no class was known yet, has no confidence and
//! is not counted.

use super::mean::Mean;
use crate::{
    error::ModelFileError,
    state::{ReadScope, WriteScope},
};

/// The number of bins: the customary one, so that figures can be compared.
const BINS: usize = 15;

/// Confidence against accuracy, sample by sample.
///
/// ```
/// use broadstream::metrics::Calibration;
///
/// let mut calibration = Calibration::new();
/// for truth in [1, 1, 0, 1] {
///     calibration.add(truth, Some(1), &[0.25, 0.75]);
/// }
/// assert_eq!(calibration.ece(), 0.0);
/// calibration.add(0, Some(0), &[0.5, 0.5]);
/// assert!((calibration.ece() - 0.1).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Calibration {
    bins: [Bin; BINS],
}

#[derive(Clone, Debug, Default)]
struct Bin {
    count: u64,
    correct: u64,
    confidence: Mean,
}

/// The predictions whose confidence lies between two values: a row of the reliability table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReliabilityBin {
    /// The lowest confidence in the bin.
    pub from: f64,
    /// The upper end, which only the last bin includes.
    pub to: f64,
    /// The number of predictions.
    pub count: u64,
    /// Their mean confidence; 0 without any.
    pub confidence: f64,
    /// The share of them that was right; 0 without any.
    pub accuracy: f64,
}

impl Calibration {
    /// The calibration before the first prediction.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a sample of class `truth`: what was predicted, and the probability of each class known
    /// to the model. A confidence outside [0, 1] is clamped; one that is NaN or missing from the
    /// list counts as 0.
    #[expect(clippy::manual_clamp, reason = "clamp would let a NaN through")]
    pub fn add(&mut self, truth: usize, predicted: Option<usize>, probabilities: &[f64]) {
        let Some(class) = predicted else { return };
        let confidence = probabilities.get(class).copied().unwrap_or(0.0).max(0.0).min(1.0);
        let bin = &mut self.bins[((confidence * BINS as f64) as usize).min(BINS - 1)];
        bin.count += 1;
        bin.correct += u64::from(class == truth);
        bin.confidence.add(confidence);
    }

    /// The expected calibration error, from 0 to 1; 0 without samples.
    pub fn ece(&self) -> f64 {
        let apart = |bin: ReliabilityBin| bin.count as f64 * (bin.accuracy - bin.confidence).abs();
        self.bins().map(apart).sum::<f64>() / self.count().max(1) as f64
    }

    /// The reliability table: all 15 bins in ascending order of confidence, empty ones included.
    ///
    /// ```
    /// use broadstream::metrics::Calibration;
    ///
    /// let mut calibration = Calibration::new();
    /// calibration.add(0, Some(0), &[1.0]);
    /// calibration.add(1, Some(0), &[1.0]);
    /// let last = calibration.bins().last().unwrap();
    /// assert_eq!((last.count, last.confidence, last.accuracy), (2, 1.0, 0.5));
    /// ```
    pub fn bins(&self) -> impl Iterator<Item = ReliabilityBin> {
        self.bins.iter().enumerate().map(|(position, bin)| ReliabilityBin {
            from: position as f64 / BINS as f64,
            to: (position + 1) as f64 / BINS as f64,
            count: bin.count,
            confidence: bin.confidence.value(),
            accuracy: bin.correct as f64 / bin.count.max(1) as f64,
        })
    }

    /// The number of predictions.
    pub(super) fn count(&self) -> u64 {
        self.bins.iter().map(|bin| bin.count).sum()
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        to.integers("correct", self.bins.iter().map(|bin| bin.correct).collect());
        for (position, bin) in self.bins.iter().enumerate() {
            bin.confidence.save(&mut to.scope(&position.to_string()));
        }
    }

    pub(crate) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        let correct = from.any_integers("correct")?;
        from.check("correct", correct.len() == BINS, "a number for each bin")?;
        for (position, (bin, correct)) in self.bins.iter_mut().zip(correct).enumerate() {
            bin.confidence.restore(&from.scope(&position.to_string())?)?;
            let count = bin.confidence.count();
            from.check("correct", correct <= count, "at most the counts of the bins")?;
            (bin.count, bin.correct) = (count, correct);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, option, prelude::*};

    use super::*;

    fn calibration_of(samples: &[(usize, Option<usize>, Vec<f64>)]) -> Calibration {
        let mut calibration = Calibration::new();
        for (truth, predicted, probabilities) in samples {
            calibration.add(*truth, *predicted, probabilities);
        }
        calibration
    }

    /// The error by its definition: every bin picks its own from all samples.
    fn by_definition(samples: &[(usize, Option<usize>, Vec<f64>)]) -> f64 {
        let predictions: Vec<(f64, f64)> = samples
            .iter()
            .filter_map(|(truth, predicted, probabilities)| {
                let class = (*predicted)?;
                let confidence = probabilities.get(class).copied().unwrap_or(0.0);
                Some((confidence, f64::from(u8::from(class == *truth))))
            })
            .collect();
        let mut error = 0.0;
        for bin in 0..15 {
            let (from, to) = (f64::from(bin) / 15.0, f64::from(bin + 1) / 15.0);
            let own: Vec<&(f64, f64)> = predictions
                .iter()
                .filter(|(c, _)| (from..to).contains(c) || (bin == 14 && *c == 1.0))
                .collect();
            let confidence: f64 = own.iter().map(|(c, _)| c).sum();
            let correct: f64 = own.iter().map(|(_, right)| right).sum();
            error += (correct - confidence).abs();
        }
        error / predictions.len().max(1) as f64
    }

    proptest! {
        #[test]
        fn equals_its_definition(
            samples in vec((0_usize..4, option::of(0_usize..4), vec(0.0..1.0, 0..4)), 0..80),
        ) {
            let calibration = calibration_of(&samples);
            prop_assert!((calibration.ece() - by_definition(&samples)).abs() < 1e-13);
            let predicted = samples.iter().filter(|(_, predicted, _)| predicted.is_some()).count();
            prop_assert_eq!(calibration.bins().map(|bin| bin.count).sum::<u64>(), predicted as u64);
        }
    }

    #[test]
    fn a_bin_holds_its_lower_end_and_the_last_both() {
        for position in 0..=15_usize {
            let mut calibration = Calibration::new();
            calibration.add(0, Some(0), &[position as f64 / 15.0]);
            let found = calibration.bins().position(|bin| bin.count == 1);
            assert_eq!(found, Some(position.min(14)));
        }
    }

    #[test]
    fn odd_confidences_go_to_the_ends() {
        let mut calibration = Calibration::new();
        for confidence in [f64::NAN, -1.0, f64::NEG_INFINITY, 7.0, f64::INFINITY] {
            calibration.add(0, Some(0), &[confidence]);
        }
        calibration.add(0, Some(9), &[1.0]);
        calibration.add(0, None, &[1.0]);
        let counts: Vec<u64> = calibration.bins().map(|bin| bin.count).collect();
        assert_eq!((counts[0], counts[14], counts.iter().sum::<u64>()), (4, 2, 6));
        assert!(calibration.ece().is_finite());
        assert_eq!(Calibration::new().ece(), 0.0);
    }
}
