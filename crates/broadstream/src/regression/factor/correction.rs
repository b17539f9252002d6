//! The gain that the full ridge would give, from a factor whose ridge has partly decayed.
//!
//! Between two refreshes a factor that forgets is that of K̃ = P + λ̃I, where λ̃ < λ. The paper's
//! Algorithm 2 needs the gain g of K = K̃ + δI with δ = λ − λ̃. Since K̃⁻¹K = I + δK̃⁻¹, it solves
//!
//! ```text
//! (I + δK̃⁻¹) g = g̃,   where g̃ = w·K̃⁻¹a is what the factor gives.
//! ```
//!
//! That matrix is symmetric, its eigenvalues lie between 1 and λ/λ̃, and a product with it is one
//! solve with the factor, so a few steps of conjugate gradients suffice.

use std::ops::ControlFlow;

use super::{Factor, kernel::dot};
use crate::error::Error;

impl Factor {
    /// The [gain](Self::gain) of the sample swept last if the ridge were larger by `missing`, after
    /// `steps` steps.
    pub(super) fn corrected_gain(&self, missing: f64, steps: usize) -> Result<Vec<f64>, Error> {
        let gain = self.gain(self.order());
        if steps == 0 || missing == 0.0 {
            return Ok(gain);
        }
        let mut state = Descent {
            x: vec![0.0; gain.len()],
            norm: self.instructions.run(|| dot(&gain, &gain)),
            residual: gain.clone(),
            direction: gain,
        };
        for _ in 0..steps {
            let solved = self.solve(&state.direction)?;
            let step = self.instructions.run(
                #[inline(always)]
                || state.step(solved, missing),
            );
            if step.is_break() {
                break;
            }
        }
        Ok(state.x)
    }
}

/// The state of a conjugate gradient iteration.
struct Descent {
    x: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
    /// residual · residual
    norm: f64,
}

impl Descent {
    /// One step, given the factor's solution for the direction.
    #[inline(always)]
    fn step(&mut self, solved: Vec<f64>, missing: f64) -> ControlFlow<()> {
        let mut product = solved;
        for (product, direction) in product.iter_mut().zip(&self.direction) {
            *product = missing.mul_add(*product, *direction);
        }
        let curvature = dot(&self.direction, &product);
        if curvature <= 0.0 {
            // The residual is 0: the gain is exact.
            return ControlFlow::Break(());
        }
        let length = self.norm / curvature;
        add(length, &self.direction, &mut self.x);
        add(-length, &product, &mut self.residual);
        let next = dot(&self.residual, &self.residual);
        let share = next / self.norm;
        for (direction, residual) in self.direction.iter_mut().zip(&self.residual) {
            *direction = share.mul_add(*direction, *residual);
        }
        self.norm = next;
        ControlFlow::Continue(())
    }
}

/// y ← y + factor · x.
#[inline(always)]
fn add(factor: f64, x: &[f64], y: &mut [f64]) {
    for (x, y) in x.iter().zip(y) {
        *y = factor.mul_add(*x, *y);
    }
}
