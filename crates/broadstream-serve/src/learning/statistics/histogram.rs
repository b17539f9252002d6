//! How long things take, in buckets whose bounds grow.

use std::time::Duration;

/// The upper bounds of the buckets in seconds, but for the last, which has none.
pub(crate) const BOUNDS: [f64; 22] = [
    0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
    1.0, 2.5, 10.0, 60.0, 600.0, 3600.0, 21_600.0, 86_400.0, 604_800.0,
];

/// Counts of durations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histogram {
    counts: [u64; BOUNDS.len() + 1],
    sum: f64,
}

impl Histogram {
    pub(crate) fn add(&mut self, time: Duration) {
        let seconds = time.as_secs_f64();
        self.counts[BOUNDS.partition_point(|bound| *bound < seconds)] += 1;
        self.sum += seconds;
    }

    pub(crate) fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    pub(crate) fn sum(&self) -> f64 {
        self.sum
    }

    /// The number of durations up to each bound.
    pub(crate) fn cumulative(&self) -> impl Iterator<Item = (f64, u64)> {
        let mut sum = 0;
        BOUNDS.into_iter().zip(self.counts).map(move |(bound, count)| {
            sum += count;
            (bound, sum)
        })
    }

    /// The bound that this share of durations does not exceed; `None` without any.
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        let (all, last) = (self.count(), BOUNDS[BOUNDS.len() - 1]);
        let needed = (share * all as f64).ceil() as u64;
        let bound = self.cumulative().find(|(_, count)| *count >= needed).map(|(bound, _)| bound);
        (all > 0).then_some(bound.unwrap_or(last))
    }

    /// The counts of the buckets, each with its upper bound.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (Option<f64>, u64)> {
        BOUNDS.into_iter().map(Some).chain([None]).zip(self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_bounds_that_hold() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        (0..90).for_each(|_| histogram.add(Duration::from_micros(100)));
        (0..9).for_each(|_| histogram.add(Duration::from_millis(3)));
        histogram.add(Duration::from_secs(10_000_000));
        assert_eq!(histogram.quantile(0.5), Some(0.000_1));
        assert_eq!(histogram.quantile(0.99), Some(0.005));
        assert_eq!(histogram.quantile(1.0), Some(604_800.0));
        assert_eq!(
            (histogram.count(), histogram.cumulative().last()),
            (100, Some((604_800.0, 99)))
        );
    }
}
