//! The sum of the last N values, without subtraction and so without drift.
//!
//! Adding what enters and subtracting what leaves would accumulate the rounding errors of the whole
//! stream, and a large value that left would leave its error behind among small ones. Instead the
//! ring of the last N values is cut where the next one goes:
//!
//! - before the cut lie the values added since the ring last wrapped around, with `recent` their
//!   sum;
//! - from the cut on lie older values, each replaced by the sum of itself and all that follow.
//!
//! The sum is then `recent` plus the entry at the cut. Replacing values by sums takes one pass each
//! time the ring wraps around: N steps every N additions.

use crate::{
    error::ModelFileError,
    state::{ReadScope, WriteScope},
};

/// The largest value that is restored, so that all sums stay finite.
const LARGEST: f64 = 1e100;

/// A ring of values with their sum.
#[derive(Clone, Debug)]
pub(super) struct SlidingSum {
    capacity: usize,
    ring: Vec<f64>,
    cut: usize,
    recent: f64,
}

impl SlidingSum {
    /// The sum of up to `capacity` values.
    pub(super) fn new(capacity: usize) -> Self {
        // Memory grows with the values, since a large capacity may be meant as "no limit".
        SlidingSum { capacity, ring: Vec::new(), cut: 0, recent: 0.0 }
    }

    /// Adds a value; the oldest one leaves if the ring is full.
    pub(super) fn add(&mut self, value: f64) {
        if self.capacity == 0 {
            return;
        }
        if self.cut == self.capacity {
            let mut following = 0.0;
            for entry in self.ring.iter_mut().rev() {
                following += *entry;
                *entry = following;
            }
            self.recent = 0.0;
            self.cut = 0;
        }
        match self.ring.get_mut(self.cut) {
            Some(oldest) => *oldest = value,
            None => self.ring.push(value),
        }
        self.recent += value;
        self.cut += 1;
    }

    /// The number of values held.
    pub(super) fn len(&self) -> usize {
        self.ring.len()
    }

    pub(super) fn save(&self, to: &mut WriteScope<'_>) {
        to.integer("cut", self.cut);
        to.floats("ring", self.ring.clone());
    }

    pub(super) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        let ring = from.any_floats("ring")?;
        let rule = "numbers within ±1e100";
        from.check_each("ring", &ring, rule, |value| value.abs() <= LARGEST)?;
        let cut = restored_position(from, "cut", "ring", ring.len(), self.capacity)?;
        // The same additions in the same order as when the values were added.
        let recent = ring[..cut].iter().fold(0.0, |sum, value| sum + value);
        (self.ring, self.cut, self.recent) = (ring, cut, recent);
        Ok(())
    }

    /// The mean of the values held; 0 without any.
    pub(super) fn mean(&self) -> f64 {
        if self.ring.is_empty() {
            return 0.0;
        }
        let older = self.ring.get(self.cut).copied().unwrap_or(0.0);
        (self.recent + older) / self.ring.len() as f64
    }
}

/// Reads where the next value goes in a ring of `length` values: after the last one of a ring that
/// is still growing, and anywhere but before the first of one that is full.
pub(super) fn restored_position(
    from: &ReadScope<'_>,
    name: &str,
    ring: &str,
    length: usize,
    capacity: usize,
) -> Result<usize, ModelFileError> {
    from.check(ring, length <= capacity, &format!("at most {capacity} numbers"))?;
    let position = from.count(name, length)?;
    let sound = if length < capacity { position == length } else { position > 0 || length == 0 };
    from.check(name, sound, "where the next value goes")?;
    Ok(position)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn equals_the_sum_of_the_last_values() {
        for capacity in [1, 2, 3, 7, 64] {
            let mut random = Random::new(capacity as u64, "test", "sliding sum");
            let mut sum = SlidingSum::new(capacity);
            let mut values = Vec::new();
            for _ in 0..5 * capacity + 3 {
                values.push(random.signed_unit() + 1.0);
                sum.add(values[values.len() - 1]);
                let expected = mean(&values[values.len().saturating_sub(capacity)..]);
                assert!((sum.mean() - expected).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn a_large_value_leaves_nothing_behind_and_ten_million_do_not_drift() {
        let mut sum = SlidingSum::new(1000);
        for k in 0..10_000_000 {
            sum.add(if k % 5000 == 0 { 1e6 } else { 1e-12 });
        }
        assert!((sum.mean() / 1e-12 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn without_room_nothing_is_held() {
        let mut sum = SlidingSum::new(0);
        sum.add(1.0);
        assert_eq!(sum.mean(), 0.0);
    }
}
