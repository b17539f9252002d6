//! The mean of a long sequence, as exact as its last addition.
//!
//! After ten million additions a plain sum has lost about as many rounding errors. Neumaier's sum
//! keeps what each addition rounded away and adds it in the end.

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

    /// The mean so far; 0 before the first value.
    pub(super) fn value(&self) -> f64 {
        if self.count == 0 { 0.0 } else { (self.sum + self.lost) / self.count as f64 }
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
