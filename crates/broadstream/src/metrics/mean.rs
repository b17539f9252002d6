//! The mean of a long sequence, as exact as its last addition.
//!
//! After ten million additions a plain sum has accumulated about as many rounding errors.
//! Neumaier's sum keeps what each addition rounded away and adds it at the end.

use super::MOST_SAMPLES;
use crate::{
    error::ModelFileError,
    state::{ReadScope, WriteScope},
};

/// The largest sum that is restored, so that later sums stay finite.
const LARGEST_SUM: f64 = 1e100;

/// A running mean.
#[derive(Clone, Debug, Default)]
pub(super) struct Mean {
    sum: f64,
    lost: f64,
    count: u64,
}

impl Mean {
    /// Adds a finite value.
    pub(super) fn add(&mut self, value: f64) {
        let sum = self.sum + value;
        self.lost += if self.sum.abs() >= value.abs() {
            (self.sum - sum) + value
        } else {
            (value - sum) + self.sum
        };
        self.sum = sum;
        self.count += 1;
    }

    /// The number of values.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The mean so far; 0 before the first value.
    pub(super) fn value(&self) -> f64 {
        if self.count == 0 { 0.0 } else { (self.sum + self.lost) / self.count as f64 }
    }

    pub(super) fn save(&self, to: &mut WriteScope<'_>) {
        to.integer("count", self.count);
        to.floats("sums", vec![self.sum, self.lost]);
    }

    pub(super) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        let count = from.integer("count")?;
        from.check("count", count <= MOST_SAMPLES, "at most 2^53")?;
        let sums = from.floats("sums", 2)?;
        let rule = "numbers within ±1e100";
        from.check_each("sums", &sums, rule, |sum| sum.abs() <= LARGEST_SUM)?;
        *self = Mean { sum: sums[0], lost: sums[1], count };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_values_are_not_lost_beside_large_ones() {
        let mut mean = Mean::default();
        assert_eq!(mean.value(), 0.0);
        for value in [1.0, 1e100, 1.0, -1e100] {
            mean.add(value);
        }
        assert_eq!(mean.value(), 0.5);
    }

    #[test]
    fn a_constant_stays_itself() {
        let mut mean = Mean::default();
        for _ in 0..10_000_000 {
            mean.add(0.1);
        }
        assert_eq!(mean.value(), 0.1);
    }
}
