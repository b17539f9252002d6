//! Online-BLS as the paper describes it: a Cholesky factor updated by Givens rotations (EOUS), then
//! a forward and a backward substitution for every class (EWEA).
//!
//! The weights are those of [`OnlineBls`](crate::OnlineBls) without nested models. The cost is the
//! O(m²c) that the paper claims, and this is the reference for measuring that claim. One solve
//! would serve all classes, but the paper solves for each.
//!
//! A sample of weight w rotates √w·a into the factor, and its right-hand side is w·a·rᵀ.

use super::{
    broad_baseline::Solver,
    output_weights::OutputWeights,
    vectors::{add_scaled, dot},
};
use crate::{error::Error, numeric::InstructionSet};

/// The solver of the paper's Algorithm 1, to the letter.
#[derive(Clone, Debug)]
pub struct Eous {
    /// Column j of L from the diagonal down; rotations and substitutions both run along columns.
    columns: Vec<Vec<f64>>,
    weights: OutputWeights,
}

impl Eous {
    /// Equation 15: rotates a into the factor, one entry at a time.
    #[inline(always)]
    fn rotate(&mut self, a: &mut [f64]) {
        for (i, column) in self.columns.iter_mut().enumerate() {
            let (l_ii, a_i) = (column[0], a[i]);
            let norm = (l_ii * l_ii + a_i * a_i).sqrt();
            let (c, s) = (l_ii / norm, a_i / norm);
            for (l, a) in column.iter_mut().zip(&mut a[i..]) {
                let rotated = c.mul_add(*l, s * *a);
                *a = c.mul_add(*a, -(s * *l));
                *l = rotated;
            }
        }
    }

    /// Equations 13 and 14, with the indices of L corrected: L·C = B and then LᵀΔW = C, in place. A
    /// column of L stays in the cache for all classes.
    #[inline(always)]
    fn substitute(&self, b: &mut [Vec<f64>]) {
        for (i, column) in self.columns.iter().enumerate() {
            for b in b.iter_mut() {
                let (head, tail) = b[i..].split_at_mut(1);
                head[0] /= column[0];
                add_scaled(tail, -head[0], &column[1..]);
            }
        }
        for (i, column) in self.columns.iter().enumerate().rev() {
            for b in b.iter_mut() {
                let sum = dot(&column[1..], &b[i + 1..]);
                b[i] = (b[i] - sum) / column[0];
            }
        }
    }
}

impl Solver for Eous {
    type Options = ();

    const MAY_FAIL: bool = false;

    fn new(features: usize, ridge: f64, (): ()) -> Result<Self, Error> {
        // L = Chol(λI).
        let column = |i: usize| {
            let mut column = vec![0.0; features - i];
            column[0] = ridge.sqrt();
            column
        };
        let columns = (0..features).map(column).collect();
        Ok(Eous { columns, weights: OutputWeights::new(features) })
    }

    fn bytes(features: usize, _samples: u64, classes: usize) -> u128 {
        let entries = features as u128 * (features as u128 + 1) / 2;
        // While a sample is learned there are as many right-hand sides as weights.
        let triangle = entries.saturating_mul(size_of::<f64>() as u128);
        triangle.saturating_add(OutputWeights::bytes(features, classes.saturating_mul(2)))
    }

    fn add_classes(&mut self, classes: usize) {
        self.weights.add_classes(classes);
    }

    fn scores(&self, features: &[f64]) -> Vec<f64> {
        self.weights.scores(features)
    }

    fn learn(&mut self, features: &[f64], class: usize, weight: f64) -> Result<(), Error> {
        let root = weight.sqrt();
        let mut a: Vec<f64> = features.iter().map(|a| root * a).collect();
        // Equation 9: B = a(yᵀ − aᵀW).
        let residuals = self.weights.residuals(features, class);
        let mut b: Vec<Vec<f64>> =
            residuals.iter().map(|r| features.iter().map(|a| a * (weight * r)).collect()).collect();
        InstructionSet::detect().run(
            #[inline(always)]
            || {
                self.rotate(&mut a);
                self.substitute(&mut b);
                // Equation 10: W ← W + ΔW.
                for (w, delta) in self.weights.columns_mut().iter_mut().zip(&b) {
                    add_scaled(w, 1.0, delta);
                }
            },
        );
        Ok(())
    }
}
