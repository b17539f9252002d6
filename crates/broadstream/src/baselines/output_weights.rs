//! The output weights W of a broad baseline.

use super::vectors::{add_scaled, dot};
use crate::numeric::InstructionSet;

/// One contiguous column of weights per class.
#[derive(Clone, Debug)]
pub(super) struct OutputWeights {
    features: usize,
    columns: Vec<Vec<f64>>,
}

impl OutputWeights {
    pub(super) fn new(features: usize) -> Self {
        OutputWeights { features, columns: Vec::new() }
    }

    /// The bytes that the weights of that many classes take.
    pub(super) fn bytes(features: usize, classes: usize) -> u128 {
        (features as u128 * size_of::<f64>() as u128).saturating_mul(classes as u128)
    }

    pub(super) fn add_classes(&mut self, classes: usize) {
        let features = self.features;
        self.columns.resize_with(classes.max(self.columns.len()), || vec![0.0; features]);
    }

    /// aᵀW.
    pub(super) fn scores(&self, a: &[f64]) -> Vec<f64> {
        let mut scores = vec![0.0; self.columns.len()];
        InstructionSet::detect().run(
            #[inline(always)]
            || {
                for (score, column) in scores.iter_mut().zip(&self.columns) {
                    *score = dot(a, column);
                }
            },
        );
        scores
    }

    /// y − aᵀW for the indicator y of a class.
    pub(super) fn residuals(&self, a: &[f64], class: usize) -> Vec<f64> {
        let mut residuals = self.scores(a);
        for (k, residual) in residuals.iter_mut().enumerate() {
            *residual = f64::from(u8::from(k == class)) - *residual;
        }
        residuals
    }

    pub(super) fn columns_mut(&mut self) -> &mut [Vec<f64>] {
        &mut self.columns
    }

    /// W ← W + f·rᵀ.
    pub(super) fn add_product(&mut self, f: &[f64], r: &[f64]) {
        InstructionSet::detect().run(
            #[inline(always)]
            || {
                for (column, r) in self.columns.iter_mut().zip(r) {
                    add_scaled(column, *r, f);
                }
            },
        );
    }
}
