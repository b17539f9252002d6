//! I-BLS: the pseudoinverse of all features so far, extended sample by sample by Greville's
//! theorem.
//!
//! With A the k−1 rows of features so far, appendix A of the paper defines for the next row aᵀ
//!
//! ```text
//! dᵀ = aᵀA⁺      qᵀ = aᵀ − dᵀA      f = q⁺  if q ≠ 0,  A⁺d / (1 + dᵀd)  if q = 0
//! [A; aᵀ]⁺ = [A⁺ − f·dᵀ | f]
//! ```
//!
//! where the pseudoinverse of a row uses the ridge, q⁺ = (qqᵀ + λI)⁻¹q = q / (|q|² + λ). (The
//! appendix says so for the first row. The cost that the paper states, O(m³) in this branch,
//! implies that its authors do the same with q, by inverting that matrix; here it costs O(m).) The
//! result is a pseudoinverse only while λ is small compared with |q|². A ridge that suits
//! Online-BLS is far too large, and even the paper's 10⁻⁸ often is: predictions then become
//! erratic, as the paper reports for I-BLS too. On SEA with 140 features the accuracy over 400
//! samples is 0.80 at λ = 10⁻¹² and 0.52 at 10⁻⁸.
//!
//! A and A⁺ grow with the stream. A run fails when they reach the memory limit.
//!
//! A sample of weight w is the row √w·aᵀ with the target √w·yᵀ, which has the least-squares
//! solution of w repetitions.

use super::{
    broad_baseline::Solver,
    output_weights::OutputWeights,
    vectors::{add_scaled, dot},
};
use crate::{config::check, error::Error, numeric::InstructionSet};

/// The solver of I-BLS.
#[derive(Clone, Debug)]
pub struct IBls {
    ridge: f64,
    options: IBlsOptions,
    /// A, row by row.
    rows: Vec<Vec<f64>>,
    /// A⁺, column by column.
    inverse: Vec<Vec<f64>>,
    weights: OutputWeights,
}

/// The options of I-BLS.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IBlsOptions {
    /// q counts as 0 when |q| is at most this share of |a|. Default 1e-5.
    ///
    /// The paper compares with 0 itself. A q computed with rounding is never exactly 0, and the
    /// recursion then diverges once the samples have used up the rank of the features. The rounding
    /// error of q is that of A times |A⁺|, and so grows as q shrinks: at 1e-8 it already reaches q.
    pub zero_tolerance: f64,
}

impl Default for IBlsOptions {
    fn default() -> Self {
        IBlsOptions { zero_tolerance: 1e-5 }
    }
}

impl IBls {
    /// The new column f of the pseudoinverse, and d.
    #[inline(always)]
    fn column(&self, a: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut d = vec![0.0; self.inverse.len()];
        for (d, column) in d.iter_mut().zip(&self.inverse) {
            *d = dot(a, column);
        }
        let mut q = a.to_vec();
        for (row, d) in self.rows.iter().zip(&d) {
            add_scaled(&mut q, -d, row);
        }
        let norm = dot(&q, &q);
        let tolerance = self.options.zero_tolerance;
        if norm > tolerance * tolerance * dot(a, a) {
            q.iter_mut().for_each(|q| *q /= norm + self.ridge);
            return (q, d);
        }
        let mut f = vec![0.0; a.len()];
        let share = 1.0 / (1.0 + dot(&d, &d));
        for (column, d) in self.inverse.iter().zip(&d) {
            add_scaled(&mut f, share * d, column);
        }
        (f, d)
    }
}

impl Solver for IBls {
    type Options = IBlsOptions;

    const MAY_FAIL: bool = false;

    fn new(features: usize, ridge: f64, options: IBlsOptions) -> Result<Self, Error> {
        let sound = (0.0..1.0).contains(&options.zero_tolerance);
        check("zero_tolerance", sound, "from 0 to below 1", &options.zero_tolerance)?;
        let weights = OutputWeights::new(features);
        Ok(IBls { ridge, options, rows: Vec::new(), inverse: Vec::new(), weights })
    }

    fn bytes(features: usize, samples: u64, classes: usize) -> u128 {
        let row = features as u128 * size_of::<f64>() as u128 + size_of::<Vec<f64>>() as u128;
        row.saturating_mul(2 * u128::from(samples))
            .saturating_add(OutputWeights::bytes(features, classes))
    }

    fn add_classes(&mut self, classes: usize) {
        self.weights.add_classes(classes);
    }

    fn scores(&self, features: &[f64]) -> Vec<f64> {
        self.weights.scores(features)
    }

    fn learn(&mut self, features: &[f64], class: usize, weight: f64) -> Result<(), Error> {
        let root = weight.sqrt();
        let a: Vec<f64> = features.iter().map(|a| root * a).collect();
        let residuals = self.weights.residuals(features, class);
        InstructionSet::detect().run(
            #[inline(always)]
            || {
                let (f, d) = self.column(&a);
                for (column, d) in self.inverse.iter_mut().zip(&d) {
                    add_scaled(column, -d, &f);
                }
                self.inverse.push(f);
            },
        );
        self.rows.push(a);
        // [A; aᵀ]⁺[Y; yᵀ] = W + f(yᵀ − aᵀW), since dᵀY = aᵀA⁺Y = aᵀW.
        let scaled: Vec<f64> = residuals.iter().map(|r| root * r).collect();
        if let Some(f) = self.inverse.last() {
            self.weights.add_product(f, &scaled);
        }
        Ok(())
    }
}
