//! A window of values, summarised in buckets that grow towards its past (an exponential histogram).
//!
//! There are up to five buckets for each size 2^k, the oldest first; a sixth one merges the two
//! oldest into one bucket of the next size. A window of n values thus takes O(log n) memory, and
//! the borders between buckets are close together where the window is young.

use crate::{
    error::ModelFileError,
    state::{ReadScope, WriteScope},
};

/// The most values that a restored window may hold: up to here a floating-point number counts
/// exactly.
pub(super) const MOST_VALUES: u64 = 1 << 53;

/// The most bucket sizes of a window with that many values.
const MOST_SIZES: usize = 53;

/// Bounds on the sum and the spread of restored buckets, far from overflow.
const LARGEST: [f64; 2] = [1e120, 1e240];

/// The most buckets of one size.
const MOST_OF_ONE_SIZE: usize = 5;

/// The count, sum and spread of consecutive values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    /// The number of values.
    pub(super) count: f64,
    /// Their sum.
    pub(super) sum: f64,
    /// The sum of their squared distances from their mean.
    spread: f64,
}

impl Bucket {
    const EMPTY: Bucket = Bucket { count: 0.0, sum: 0.0, spread: 0.0 };

    /// The mean of the values.
    pub(super) fn mean(&self) -> f64 {
        self.sum / self.count
    }

    /// Their variance. Subtracting buckets may leave a rounding error below 0.
    pub(super) fn variance(&self) -> f64 {
        (self.spread / self.count).max(0.0)
    }

    /// What merging with another bucket adds to the sum of their spreads.
    fn spread_between(&self, other: &Bucket) -> f64 {
        let distance = self.mean() - other.mean();
        self.count * other.count * distance * distance / (self.count + other.count)
    }

    fn with(self, other: Bucket) -> Bucket {
        if self.count == 0.0 {
            return other;
        }
        Bucket {
            count: self.count + other.count,
            sum: self.sum + other.sum,
            spread: self.spread + other.spread + self.spread_between(&other),
        }
    }

    /// What remains without a part, which must not be all of it.
    fn without(self, part: Bucket) -> Bucket {
        let rest = Bucket { count: self.count - part.count, sum: self.sum - part.sum, spread: 0.0 };
        Bucket { spread: self.spread - part.spread - rest.spread_between(&part), ..rest }
    }
}

/// The window.
#[derive(Clone, Debug)]
pub(super) struct Buckets {
    /// Entry k holds the buckets of 2^k values, the oldest first.
    by_size: Vec<Vec<Bucket>>,
    total: Bucket,
}

impl Buckets {
    pub(super) fn new() -> Self {
        Buckets { by_size: Vec::new(), total: Bucket::EMPTY }
    }

    /// All values together.
    pub(super) fn total(&self) -> Bucket {
        self.total
    }

    /// The buckets, the oldest first.
    pub(super) fn oldest_first(&self) -> impl Iterator<Item = &Bucket> {
        self.by_size.iter().rev().flatten()
    }

    pub(super) fn push(&mut self, value: f64) {
        let mut bucket = Bucket { count: 1.0, sum: value, spread: 0.0 };
        self.total = self.total.with(bucket);
        for same_size in &mut self.by_size {
            same_size.push(bucket);
            if same_size.len() <= MOST_OF_ONE_SIZE {
                return;
            }
            bucket = same_size[0].with(same_size[1]);
            same_size.drain(..2);
        }
        self.by_size.push(vec![bucket]);
    }

    /// Drops the oldest bucket of several.
    pub(super) fn drop_oldest(&mut self) {
        let Some(largest) = self.by_size.last_mut() else { return };
        self.total = self.total.without(largest.remove(0));
        if largest.is_empty() {
            self.by_size.pop();
        }
    }

    /// Writes the buckets, the smallest and thus newest size first, and then the total. The count
    /// of each follows from its size. The entries are called `rows` and `groups` because version 1
    /// of the model file named them so.
    pub(super) fn save(&self, to: &mut WriteScope<'_>) {
        to.integers("rows", self.by_size.iter().map(|same_size| same_size.len() as u64).collect());
        let buckets = self.by_size.iter().flatten().chain([&self.total]);
        to.floats("groups", buckets.flat_map(|bucket| [bucket.sum, bucket.spread]).collect());
    }

    pub(super) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        let lengths = from.any_integers("rows")?;
        let rule = format!("at most {MOST_SIZES} sizes of 1 to {MOST_OF_ONE_SIZE} buckets");
        let allowed = |length: &u64| (1..=MOST_OF_ONE_SIZE as u64).contains(length);
        from.check("rows", lengths.len() <= MOST_SIZES && lengths.iter().all(allowed), &rule)?;
        let buckets: u64 = lengths.iter().sum();
        let sums = from.floats("groups", 2 * buckets as usize + 2)?;
        let (sums, _) = sums.as_chunks::<2>();
        let bounded =
            |[sum, spread]: &[f64; 2]| sum.abs() <= LARGEST[0] && spread.abs() <= LARGEST[1];
        from.check_each("groups", sums, "sums that are far from overflow", bounded)?;
        let bucket = |count, &[sum, spread]: &[f64; 2]| Bucket { count, sum, spread };
        let (mut by_size, mut next, mut values) = (Vec::new(), 0, 0.0);
        for (exponent, length) in lengths.iter().enumerate() {
            let (count, end) = ((1_u64 << exponent) as f64, next + *length as usize);
            by_size.push(sums[next..end].iter().map(|sums| bucket(count, sums)).collect());
            values += count * *length as f64;
            next = end;
        }
        from.check("rows", values <= MOST_VALUES as f64, "of at most 2^53 values")?;
        *self = Buckets { by_size, total: bucket(values, &sums[next]) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;

    fn assert_summed_up(found: &Bucket, values: &[f64]) {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
        assert_eq!(found.count, count);
        assert!((found.mean() - mean).abs() < 1e-12);
        assert!((found.variance() - variance).abs() < 1e-12);
    }

    #[test]
    fn buckets_sum_up_their_values_in_order() {
        let mut random = Random::new(1, "test", "rows");
        let mut buckets = Buckets::new();
        let mut values = Vec::new();
        for count in 1..=700_usize {
            values.push(random.signed_unit());
            buckets.push(values[count - 1]);
            assert_summed_up(&buckets.total(), &values);
            let mut start = 0;
            for bucket in buckets.oldest_first() {
                let end = start + bucket.count as usize;
                assert_summed_up(bucket, &values[start..end]);
                start = end;
            }
            assert_eq!(start, count);
            assert!(
                buckets.oldest_first().count() <= MOST_OF_ONE_SIZE * (count.ilog2() as usize + 1)
            );
        }
        while buckets.oldest_first().count() > 1 {
            buckets.drop_oldest();
            let left = buckets.total().count as usize;
            assert_summed_up(&buckets.total(), &values[values.len() - left..]);
        }
    }
}
