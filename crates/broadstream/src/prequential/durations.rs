//! A summary of many durations: count, mean, spread and quantiles in little memory.
//!
//! Durations are counted in bins whose bounds grow by a sixteenth of an octave, from a nanosecond
//! to more than a day. A quantile is thus known to within 4.4 %, whatever the number of durations.

use std::time::Duration;

use crate::{
    error::ModelFileError,
    state::{ReadScope, WriteScope},
};

/// Bins per doubling.
const PER_OCTAVE: f64 = 16.0;

/// Octaves from a nanosecond to more than a day.
const OCTAVES: usize = 47;

/// The largest number of durations in a restored summary: up to here a float counts exactly.
const MOST: u64 = 1 << 53;

/// A summary of many durations.
///
/// ```
/// use std::time::Duration;
/// use broadstream::Durations;
///
/// let mut durations = Durations::default();
/// for microseconds in [10, 20, 30, 1000] {
///     durations.add(Duration::from_micros(microseconds));
/// }
/// assert_eq!(durations.count(), 4);
/// assert!((durations.mean() - 265e-6).abs() < 1e-12);
/// assert!((durations.quantile(0.5) / 20e-6 - 1.0).abs() < 0.045);
/// assert_eq!(durations.max(), 1e-3);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Durations {
    count: u64,
    mean: f64,
    /// Σ (x − mean)²
    squares: f64,
    min: f64,
    max: f64,
    /// Empty until the first duration.
    bins: Vec<u64>,
}

impl Durations {
    /// Adds a duration.
    pub fn add(&mut self, duration: Duration) {
        let seconds = duration.as_secs_f64();
        if self.count == 0 {
            self.bins = vec![0; OCTAVES * PER_OCTAVE as usize];
            self.min = seconds;
        }
        self.count += 1;
        let difference = seconds - self.mean;
        self.mean += difference / self.count as f64;
        self.squares += difference * (seconds - self.mean);
        self.min = self.min.min(seconds);
        self.max = self.max.max(seconds);
        let bin = ((seconds * 1e9).max(1.0).log2() * PER_OCTAVE) as usize;
        let last = self.bins.len() - 1;
        self.bins[bin.min(last)] += 1;
    }

    /// The number of durations.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean in seconds, 0 if there are none.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The standard deviation in seconds, 0 for fewer than two durations.
    pub fn sd(&self) -> f64 {
        if self.count < 2 { 0.0 } else { (self.squares / (self.count - 1) as f64).sqrt() }
    }

    /// The shortest duration in seconds, 0 if there are none.
    pub fn min(&self) -> f64 {
        self.min
    }

    /// The longest duration in seconds, 0 if there are none.
    pub fn max(&self) -> f64 {
        self.max
    }

    /// The duration in seconds that this share of the durations does not exceed, to within 4.4 %.
    pub fn quantile(&self, share: f64) -> f64 {
        let wanted = (share * self.count as f64).ceil().max(1.0) as u64;
        let mut counted = 0;
        for (bin, count) in self.bins.iter().enumerate() {
            counted += count;
            if counted >= wanted {
                return upper_bound(bin).clamp(self.min, self.max);
            }
        }
        self.max
    }

    /// The bins that are not empty: the lower and upper bound of each in seconds, and the number of
    /// durations in it.
    pub fn bins(&self) -> impl Iterator<Item = (f64, f64, u64)> {
        let bins = self.bins.iter().enumerate().filter(|(_, count)| **count > 0);
        bins.map(|(bin, count)| {
            (upper_bound(bin) / 2f64.powf(1.0 / PER_OCTAVE), upper_bound(bin), *count)
        })
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        to.floats("moments", vec![self.mean, self.squares, self.min, self.max]);
        to.integers("bins", self.bins.clone());
    }

    /// Restores what was saved. The count is the sum of the bins.
    pub(crate) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        let moments = from.floats("moments", 4)?;
        let rule = "numbers from 0 to 1e100, the shortest time before the longest";
        let bounded = moments.iter().all(|moment| (0.0..=1e100).contains(moment));
        from.check("moments", bounded && moments[2] <= moments[3], rule)?;
        let bins = from.any_integers("bins")?;
        let all = OCTAVES * PER_OCTAVE as usize;
        from.check("bins", [0, all].contains(&bins.len()), &format!("none or {all} numbers"))?;
        let count = bins.iter().try_fold(0_u64, |sum, bin| sum.checked_add(*bin));
        let count = count.filter(|count| *count <= MOST && (*count == 0) == bins.is_empty());
        let count = count.ok_or_else(|| from.invalid("bins", "counts that sum to at most 2^53"))?;
        let [mean, squares, min, max] = [moments[0], moments[1], moments[2], moments[3]];
        *self = Durations { count, mean, squares, min, max, bins };
        Ok(())
    }
}

fn upper_bound(bin: usize) -> f64 {
    1e-9 * ((bin + 1) as f64 / PER_OCTAVE).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::StateWriter;

    #[test]
    fn moments_and_quantiles_are_those_of_the_definition() {
        let values: Vec<u64> = (0..1000u64).map(|i| 50_000 + (i * 7919) % 10_007 * 11).collect();
        let mut durations = Durations::default();
        values.iter().for_each(|value| durations.add(Duration::from_nanos(*value)));
        let seconds: Vec<f64> = values.iter().map(|value| *value as f64 * 1e-9).collect();
        let mean = seconds.iter().sum::<f64>() / 1000.0;
        let variance = seconds.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 999.0;
        assert!((durations.mean() / mean - 1.0).abs() < 1e-12);
        assert!((durations.sd() / variance.sqrt() - 1.0).abs() < 1e-9);
        let mut sorted = seconds;
        sorted.sort_by(f64::total_cmp);
        for (share, exact) in [(0.5, sorted[499]), (0.95, sorted[949]), (0.99, sorted[989])] {
            assert!((durations.quantile(share) / exact - 1.0).abs() < 0.045, "{share}");
        }
        assert_eq!(durations.quantile(1.0), sorted[999]);
        assert_eq!(durations.bins().map(|(_, _, count)| count).sum::<u64>(), 1000);
        assert!(durations.bins().all(|(low, high, _)| low < high && low > 4e-5 && high < 2e-4));
    }

    #[test]
    fn restored_durations_are_those_that_were_saved_and_altered_ones_can_go_on() {
        let mut durations = Durations::default();
        for nanoseconds in [5, 70_000, 31, 8] {
            let mut state = StateWriter::default();
            durations.save(&mut state.root());
            let mut restored = Durations::default();
            state.read_back(|from| restored.restore(from)).unwrap();
            assert_eq!(format!("{restored:?}"), format!("{durations:?}"));
            for (_, altered) in state.alterations() {
                let mut restored = Durations::default();
                if altered.read_back(|from| restored.restore(from)).is_ok() {
                    restored.add(Duration::from_nanos(nanoseconds));
                }
                assert!(restored.quantile(0.5).is_finite() && restored.sd().is_finite());
            }
            durations.add(Duration::from_nanos(nanoseconds));
        }
    }

    #[test]
    fn extremes_are_counted() {
        let mut durations = Durations::default();
        assert_eq!((durations.count(), durations.quantile(0.5), durations.sd()), (0, 0.0, 0.0));
        durations.add(Duration::ZERO);
        durations.add(Duration::from_secs(1_000_000));
        assert_eq!((durations.min(), durations.max()), (0.0, 1e6));
        assert_eq!(durations.bins().count(), 2);
    }
}
