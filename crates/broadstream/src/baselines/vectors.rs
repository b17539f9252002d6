//! The two loops in which dense baselines spend their time.
//!
//! They must be called within [`InstructionSet::run`](crate::numeric::InstructionSet::run), which
//! compiles them for this processor. They are plain loops because a closure within them, such as
//! that of a `map`, would not be compiled along with them. Each has one fixed order of operations,
//! and so the same bits on every processor.

#![allow(clippy::inline_always)]

/// The number of partial sums of a dot product: enough to hide the latency of a multiply-add.
const LANES: usize = 16;

/// Σ xᵢ·yᵢ.
#[inline(always)]
pub(super) fn dot(x: &[f64], y: &[f64]) -> f64 {
    let (x_chunks, x_rest) = x.as_chunks::<LANES>();
    let (y_chunks, y_rest) = y.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (x, y) in x_chunks.iter().zip(y_chunks) {
        for i in 0..LANES {
            sums[i] = x[i].mul_add(y[i], sums[i]);
        }
    }
    for (sum, (x, y)) in sums.iter_mut().zip(x_rest.iter().zip(y_rest)) {
        *sum = x.mul_add(*y, *sum);
    }
    let mut width = LANES / 2;
    while width > 0 {
        for i in 0..width {
            sums[i] += sums[i + width];
        }
        width /= 2;
    }
    sums[0]
}

/// y ← y + s·x.
#[inline(always)]
pub(super) fn add_scaled(y: &mut [f64], s: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = s.mul_add(*x, *y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::InstructionSet;

    #[test]
    fn the_loops_are_what_they_say_for_any_length() {
        for length in [0, 1, 15, 16, 17, 40] {
            let x: Vec<f64> = (0..length).map(f64::from).collect();
            let mut y: Vec<f64> = (0..length).map(|i| f64::from(i % 3)).collect();
            let expected: f64 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
            for instructions in InstructionSet::available() {
                let found = instructions.run(
                    #[inline(always)]
                    || dot(&x, &y),
                );
                assert_eq!(found, expected);
            }
            add_scaled(&mut y, 2.0, &x);
            assert!(y.iter().zip(0..).all(|(y, i)| *y == f64::from(2 * i + i % 3)));
        }
    }
}
