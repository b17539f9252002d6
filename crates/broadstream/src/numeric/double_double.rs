//! Sums in twice the precision of `f64`.
//!
//! A sum is kept as two numbers, the second of which holds what the first rounds off: about 32
//! digits. Where a matrix is badly conditioned, sums of 16 digits can no longer tell whether a
//! factor of it is right.

/// A vector of sums, entry by entry.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DoubleDoubles {
    high: Vec<f64>,
    low: Vec<f64>,
}

impl DoubleDoubles {
    pub(crate) fn zero(length: usize) -> Self {
        DoubleDoubles { high: vec![0.0; length], low: vec![0.0; length] }
    }

    /// Numbers with what they round off. Both must have the same length.
    pub(crate) fn of(high: Vec<f64>, low: Vec<f64>) -> Self {
        DoubleDoubles { high, low }
    }

    pub(crate) fn len(&self) -> usize {
        self.high.len()
    }

    /// Replaces the entries from `first` on, as far as there are any.
    pub(crate) fn set(&mut self, first: usize, high: &[f64], low: &[f64]) {
        for (all, new) in [(&mut self.high, high), (&mut self.low, low)] {
            let entries = all[first..].iter_mut();
            entries.zip(new).for_each(|(entry, new)| *entry = *new);
        }
    }

    /// The two parts of each sum, from which it [is made](Self::of) again to the bit.
    pub(crate) fn parts(&self) -> (Vec<f64>, Vec<f64>) {
        (self.high.clone(), self.low.clone())
    }

    /// Adds `rows[s] · factors[s]` for each s in turn, after multiplying the sums by `decay`.
    #[inline(always)]
    pub(crate) fn add_rows<const G: usize>(
        &mut self,
        decay: f64,
        rows: [&[f64]; G],
        factors: [f64; G],
    ) {
        let length = self.high.len();
        let (high, low) = (&mut self.high[..length], &mut self.low[..length]);
        let rows = rows.map(|row| &row[..length]);
        for j in 0..length {
            for s in 0..G {
                // A decay of 1 is multiplied by without rounding, so it needs no case of its own.
                let (kept, rounded) = two_product(high[j], decay);
                let below = low[j].mul_add(decay, rounded);
                let (product, rounded) = two_product(rows[s][j], factors[s]);
                let (sum, error) = two_sum(kept, product);
                high[j] = sum;
                low[j] = below + (rounded + error);
            }
        }
    }

    /// Adds another vector of sums.
    pub(crate) fn add(&mut self, other: &DoubleDoubles) {
        let others = other.high.iter().zip(&other.low);
        for ((high, low), (other, below)) in self.high.iter_mut().zip(&mut self.low).zip(others) {
            let (sum, error) = two_sum(*high, *other);
            (*high, *low) = (sum, *low + (below + error));
        }
    }

    /// self − other, rounded to `f64` after the subtraction.
    pub(crate) fn minus(&self, other: &DoubleDoubles) -> Vec<f64> {
        let mut negative = other.clone();
        negative.high.iter_mut().chain(&mut negative.low).for_each(|part| *part = -*part);
        negative.add(self);
        negative.high.iter().zip(&negative.low).map(|(high, low)| high + low).collect()
    }
}

/// a + b, and what that rounds off.
#[inline(always)]
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let added = sum - a;
    (sum, (a - (sum - added)) + (b - added))
}

/// a · b, and what that rounds off.
#[inline(always)]
pub(crate) fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    (product, a.mul_add(b, -product))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_and_subtracted_again_leaves_nothing() {
        let rows = [[1e16, 3.0, 1e-9], [1.0, 1e9, 0.1]];
        let mut sums = DoubleDoubles::zero(3);
        sums.add_rows(1.0, [&[1.0, 1.0, 1.0]], [0.1]);
        let before = sums.parts();
        for sign in [1.0, -1.0] {
            sums.add_rows(1.0, [&rows[0], &rows[1]], [0.3 * sign, 1e7 * sign]);
        }
        // Of 32 digits of 1e16, the last are at 1e-16.
        let (high, low) = sums.parts();
        for j in 0..3 {
            assert!(((high[j] - before.0[j]) + (low[j] - before.1[j])).abs() < 1e-15);
        }
    }

    #[test]
    fn a_decay_keeps_the_digits_below() {
        let mut sums = DoubleDoubles::of(vec![1.0], vec![1e-20]);
        sums.add_rows(0.5, [&[1.0]], [2.0]);
        assert_eq!(sums.parts(), (vec![2.5], vec![5e-21]));
        let other = DoubleDoubles::of(vec![2.5], vec![0.0]);
        assert_eq!(sums.minus(&other), [5e-21]);
        sums.add(&other);
        assert_eq!(sums.parts(), (vec![5.0], vec![5e-21]));
    }
}
