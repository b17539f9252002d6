//! What is known of a factor's rounding errors from before, and what later samples make of them.
//!
//! A [probe](super::Probe) measures an error at the moment of a check, relative to the K of that
//! moment: an error δ of K with −e·K ≤ δ ≤ e·K moves scores by a share of e. Later K is another, and
//! the same δ counts for more where samples were removed, and for less where samples were added. So a
//! number alone cannot be carried over. What can is a matrix B with −B ≤ δ ≤ B:
//!
//! ```text
//! an operation that costs e:  B ← B + e·K     a merge:  B ← B + B'
//! the error now:  trace(K⁻¹P K⁻¹B)
//! ```
//!
//! With P in place of K, directions count as far as samples have them: where all samples were
//! removed, none is left whose score could be off, and B is still there for those that come later.
//! Learning and unlearning change K and not B. B itself is never formed. A few random vectors s
//! represent it, with an average s·sᵀ of B: they grow by √e·L D^½g with a random g, and the average of
//! sᵀK⁻¹P K⁻¹s is the trace. It counts all m directions together. Rounding errors have no preferred
//! direction, so that each has about 1/√m of what a probe shows of all, and the trace is divided
//! by √m.
//!
//! An error of Q, which comes with that of K, counts as the square root of what became of K. Where
//! that is less than before, the error is at most √(e·trace), with the sum e of all that was added.

use super::{Factor, kernel::dot, probe::finite};
use crate::{
    error::ModelFileError,
    numeric::{Column, Random},
    state::{ReadScope, WriteScope},
};

/// The number of random vectors. With one alone, chance would hide a direction to a hundredth of its
/// error in one of sixteen cases; with four in one of ten thousand.
const VECTORS: usize = 4;

/// The errors that a factor had when it was checked, merged or changed by something inexact.
#[derive(Clone, Debug, Default)]
pub(crate) struct PastErrors {
    /// The sum of all errors, each as it was at its time.
    total: f64,
    /// The vectors s, one after the other; none as long as there are no errors.
    vectors: Vec<f64>,
}

impl PastErrors {
    /// Records that the scores of the factor, as it is, may be off by this, relative to the largest.
    pub(crate) fn add(&mut self, factor: &Factor, error: f64) {
        if error <= 0.0 {
            return;
        }
        let order = factor.order();
        self.total = finite(self.total + error);
        self.vectors.resize(VECTORS * order, 0.0);
        // Errors are independent of each other, and so must their vectors be. The same factor has the
        // same vectors on every machine.
        let bits = factor.d_inverse.iter().map(|d_inverse| d_inverse.to_bits());
        let seed = bits.fold(order as u64, |seed, bits| seed.rotate_left(5) ^ bits);
        let mut random = Random::new(seed, "past errors", "vectors");
        // A number from −1 to 1 has a variance of 1/3. L D times D^(−½)g is L D^½g.
        let scale = (3.0 * error).sqrt();
        let g = factor.d_inverse.iter().map(|d_inverse| {
            Column::<VECTORS>(std::array::from_fn(|_| {
                scale * d_inverse.sqrt() * random.signed_unit()
            }))
        });
        let added = factor.multiply_scaled(g.collect());
        for (k, vector) in self.vectors.chunks_exact_mut(order.max(1)).enumerate() {
            vector.iter_mut().zip(&added).for_each(|(s, added)| *s = finite(*s + added.0[k]));
        }
    }

    /// Records that the factor has merged another with these.
    pub(crate) fn merge(&mut self, other: &PastErrors) {
        self.total = finite(self.total + other.total);
        self.vectors.resize(self.vectors.len().max(other.vectors.len()), 0.0);
        self.vectors.iter_mut().zip(&other.vectors).for_each(|(s, other)| *s = finite(*s + other));
    }

    /// How far scores of the factor, as it is now with that ridge, may be off because of these errors,
    /// relative to the largest, for samples like those learned.
    pub(crate) fn of_scores(&self, factor: &Factor, ridge: f64) -> f64 {
        if self.vectors.is_empty() {
            return 0.0;
        }
        let order = factor.order();
        let effects = self.vectors.chunks_exact(order).map(|s| {
            let Ok(solved) = factor.solve(s) else { return f64::NAN };
            let ridges = ridge * dot(&solved, &solved);
            (dot(s, &solved) - ridges).max(f64::EPSILON * ridges)
        });
        let trace = effects.sum::<f64>() / VECTORS as f64;
        let now = trace / (order as f64).sqrt();
        finite(now.max((self.total * now).sqrt()))
    }

    /// For the [prefix](Factor::prefix) of its factor: a part of B bounds that part of the error.
    pub(crate) fn prefix(&self, factor: &Factor) -> Self {
        let before = self.vectors.len() / VECTORS;
        let parts = self.vectors.chunks_exact(before.max(1));
        let vectors = parts.flat_map(|s| &s[..factor.order()]).copied().collect();
        PastErrors { total: self.total, vectors }
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        // Until version 0.1 there was the sum alone, under this name.
        to.float("inherited_error", self.total);
        if !self.vectors.is_empty() {
            to.floats("past_errors", self.vectors.clone());
        }
    }

    /// Restores the errors of this factor.
    pub(crate) fn restore(from: &ReadScope<'_>, factor: &Factor) -> Result<Self, ModelFileError> {
        let total = from.optional_float("inherited_error", 0.0..=f64::MAX)?;
        let mut errors = PastErrors::default();
        if from.length("past_errors") > 0 {
            let vectors = from.floats("past_errors", VECTORS * factor.order())?;
            errors = PastErrors { total, vectors };
        } else {
            // An earlier version has saved it, or there are none.
            errors.add(factor, total);
        }
        Ok(errors)
    }
}
