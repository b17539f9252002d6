//! Online-BLS without EOUS, the paper's ablation: K = λI + Σ a·aᵀ is factorised again for each
//! sample.
//!
//! ```text
//! K ← K + a·aᵀ      K = L·Lᵀ      K·ΔW = a(yᵀ − aᵀW)      W ← W + ΔW      (equations 7 to 14)
//! ```
//!
//! The weights are those of [`OnlineBls`](crate::OnlineBls) without nested models, at O(m³) per
//! sample. A sample of weight w enters K and the right-hand side w times.

use faer::{
    Mat, Par,
    dyn_stack::{MemBuffer, MemStack},
    linalg::cholesky::llt,
};

use super::{broad_baseline::Solver, output_weights::OutputWeights};
use crate::{error::Error, numeric::clear_upper_halves};

/// The solver of Online-BLS without EOUS.
#[derive(Clone, Debug)]
pub struct Refactorise {
    /// The lower triangle of K.
    k: Mat<f64>,
    /// The lower triangle of L; kept to reuse its memory.
    factor: Mat<f64>,
    weights: OutputWeights,
}

impl Refactorise {
    /// Overwrites the factor's memory with K + weight·a·aᵀ.
    fn prepare(&mut self, weight: f64, a: &[f64]) {
        for (j, a_j) in a.iter().enumerate() {
            let scaled = weight * a_j;
            let k = &self.k.col_as_slice(j)[j..];
            let factor = &mut self.factor.col_as_slice_mut(j)[j..];
            for ((factor, k), a_i) in factor.iter_mut().zip(k).zip(&a[j..]) {
                *factor = k + scaled * a_i;
            }
        }
    }
}

impl Solver for Refactorise {
    type Options = ();

    const MAY_FAIL: bool = true;

    fn new(features: usize, ridge: f64, (): ()) -> Result<Self, Error> {
        Ok(Refactorise {
            k: Mat::from_fn(features, features, |i, j| if i == j { ridge } else { 0.0 }),
            factor: Mat::zeros(features, features),
            weights: OutputWeights::new(features),
        })
    }

    fn bytes(features: usize, _samples: u64, classes: usize) -> u128 {
        let entries = features as u128 * features as u128;
        let matrices = entries.saturating_mul(2 * size_of::<f64>() as u128);
        // While a sample is learned there are as many right-hand sides as weights.
        matrices.saturating_add(OutputWeights::bytes(features, classes.saturating_mul(2)))
    }

    fn add_classes(&mut self, classes: usize) {
        self.weights.add_classes(classes);
    }

    fn scores(&self, features: &[f64]) -> Vec<f64> {
        self.weights.scores(features)
    }

    fn learn(&mut self, features: &[f64], class: usize, weight: f64) -> Result<(), Error> {
        let order = features.len();
        self.prepare(weight, features);
        let parameters = Default::default;
        let scratch = llt::factor::cholesky_in_place_scratch::<f64>(order, Par::Seq, parameters());
        let mut memory = MemBuffer::new(scratch);
        let stack = MemStack::new(&mut memory);
        let factored = llt::factor::cholesky_in_place(
            self.factor.as_mut(),
            Default::default(),
            Par::Seq,
            stack,
            parameters(),
        );
        let residuals = self.weights.residuals(features, class);
        let mut change =
            Mat::from_fn(order, residuals.len(), |i, j| weight * features[i] * residuals[j]);
        // Neither substitution needs work space.
        llt::solve::solve_in_place(
            self.factor.as_ref(),
            change.as_mut(),
            Par::Seq,
            MemStack::new(&mut []),
        );
        clear_upper_halves();
        if factored.is_err() || !change.is_all_finite() {
            let method = "Online-BLS without EOUS";
            return Err(Error::Singular { method, remedy: "a larger ridge" });
        }
        for (j, a_j) in features.iter().enumerate() {
            let scaled = weight * a_j;
            for (k, a_i) in self.k.col_as_slice_mut(j)[j..].iter_mut().zip(&features[j..]) {
                *k += scaled * a_i;
            }
        }
        for (j, column) in self.weights.columns_mut().iter_mut().enumerate() {
            column.iter_mut().zip(change.col_as_slice(j)).for_each(|(w, change)| *w += change);
        }
        Ok(())
    }
}
