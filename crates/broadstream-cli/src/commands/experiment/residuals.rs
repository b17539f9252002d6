//! How the ways to solve K ΔW = B fare as the condition of K becomes worse.
//!
//! Theorem 1 of the paper bounds the residual |B − KΔW| of the Cholesky factor with forward and
//! backward substitution (its EWEA) by C·u·|L||Lᵀ||ΔW|, where u is the unit round-off. An explicit
//! inverse has no such bound: its residual grows with the condition number. Here K = QΛQᵀ with a
//! random orthogonal Q and eigenvalues from 1 down to 1/κ, and B = a·rᵀ as in the online update.

use anyhow::{Context, Result};
use broadstream::factor::{Factor, Update};
use faer::{
    Mat, Side,
    linalg::solvers::{DenseSolveCore, Solve},
};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

/// |B − KΔW| / |B| of each way to solve, and the bound of Theorem 1 with C = the order of K. `classes` is
/// the number of columns of B, and the condition number κ of K is 10 to the power of `exponent`.
pub(crate) fn residuals(
    order: usize,
    classes: usize,
    exponent: i32,
    seed: u64,
) -> Result<Vec<(&'static str, f64)>> {
    System::new(order, classes, exponent, seed).residuals()
}

/// A matrix of known condition and a right side of rank one.
struct System {
    k: Mat<f64>,
    b: Mat<f64>,
    a: Vec<f64>,
    r: Vec<f64>,
    /// K as a sum of outer products.
    eigenvectors: Vec<f64>,
    eigenvalues: Vec<f64>,
}

impl System {
    fn new(order: usize, classes: usize, exponent: i32, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut number = || (random.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        let start = Mat::from_fn(order, order, |_, _| number());
        let q = start.qr().compute_Q();
        let eigenvalues: Vec<f64> = (0..order)
            .map(|i| 10f64.powf(-f64::from(exponent) * i as f64 / (order - 1) as f64))
            .collect();
        let scaled = Mat::from_fn(order, order, |i, j| q[(i, j)] * eigenvalues[j]);
        let product = &scaled * q.transpose();
        let k = Mat::from_fn(order, order, |i, j| 0.5 * (product[(i, j)] + product[(j, i)]));
        let a: Vec<f64> = (0..order).map(|_| number()).collect();
        let r: Vec<f64> = (0..classes).map(|_| number()).collect();
        let b = Mat::from_fn(order, classes, |i, j| a[i] * r[j]);
        let eigenvectors = (0..order).flat_map(|j| (0..order).map(move |i| (i, j)));
        let eigenvectors = eigenvectors.map(|(i, j)| q[(i, j)]).collect();
        System { k, b, a, r, eigenvectors, eigenvalues }
    }

    fn residuals(&self) -> Result<Vec<(&'static str, f64)>> {
        let order = self.k.nrows();
        let mut residuals = Vec::new();
        if let Ok(factor) = self.k.llt(Side::Lower) {
            let solution = factor.solve(&self.b);
            residuals.push(("ewea", self.residual(&solution)));
            let unit = f64::EPSILON / 2.0;
            let l = factor.L().norm_l2();
            let bound = order as f64 * unit * l * l * solution.norm_l2() / self.b.norm_l2();
            residuals.push(("theorem-1", bound));
        }
        let inverse = self.k.partial_piv_lu().inverse();
        residuals.push(("explicit-inverse", self.residual(&(&inverse * &self.b))));
        residuals.push(("online-bls", self.residual(&self.by_factor()?)));
        Ok(residuals)
    }

    /// ΔW = K⁻¹a·rᵀ by the library's own factor, which learns K one eigenvector after the other, on top
    /// of the least eigenvalue as its ridge.
    fn by_factor(&self) -> Result<Mat<f64>> {
        let order = self.k.nrows();
        let least = self.eigenvalues[order - 1];
        let mut factor = Factor::new(order, least);
        for (features, value) in self.eigenvectors.chunks_exact(order).zip(&self.eigenvalues) {
            let weights = &[value - least];
            if weights[0] > 0.0 {
                let update = Update { features, targets: &[], weights, forgetting: 1.0 };
                factor.sweep(update, &mut [])?;
            }
        }
        let gain = factor.solve(&self.a).context("solving with the factor")?;
        Ok(Mat::from_fn(order, self.r.len(), |i, j| gain[i] * self.r[j]))
    }

    fn residual(&self, solution: &Mat<f64>) -> f64 {
        (&self.b - &self.k * solution).norm_l2() / self.b.norm_l2()
    }
}
