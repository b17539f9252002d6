//! RI-BLS: two memory matrices, and an explicit inverse for each sample.
//!
//! ```text
//! U ← U + a·aᵀ      V ← V + a·yᵀ      W = (U + λI)⁻¹V      (appendix A of the paper)
//! ```
//!
//! The weights are those of [`OnlineBls`](crate::OnlineBls) without nested models, as far as the
//! inverse is accurate. A sample of weight w enters both sums w times.

use faer::Mat;

use super::{
    broad_baseline::Solver,
    inverse::{add_outer_product, bytes, inverse_times},
    output_weights::OutputWeights,
};
use crate::error::Error;

/// The solver of RI-BLS.
#[derive(Clone, Debug)]
pub struct RiBls {
    ridge: f64,
    u: Mat<f64>,
    v: Mat<f64>,
    weights: OutputWeights,
}

impl Solver for RiBls {
    type Options = ();

    const MAY_FAIL: bool = true;

    fn new(features: usize, ridge: f64, (): ()) -> Result<Self, Error> {
        Ok(RiBls {
            ridge,
            u: Mat::zeros(features, features),
            v: Mat::zeros(features, 0),
            weights: OutputWeights::new(features),
        })
    }

    fn bytes(features: usize, _samples: u64, classes: usize) -> u128 {
        // V, W and the next W.
        bytes(features).saturating_add(OutputWeights::bytes(features, classes.saturating_mul(3)))
    }

    fn add_classes(&mut self, classes: usize) {
        self.weights.add_classes(classes);
        let classes = classes.max(self.v.ncols());
        self.v.resize_with(self.v.nrows(), classes, |_, _| 0.0);
    }

    fn scores(&self, features: &[f64]) -> Vec<f64> {
        self.weights.scores(features)
    }

    fn learn(&mut self, features: &[f64], class: usize, weight: f64) -> Result<(), Error> {
        let mut regular = self.u.clone();
        add_outer_product(&mut regular, weight, features);
        for i in 0..features.len() {
            regular[(i, i)] += self.ridge;
        }
        let column = self.v.col_as_slice(class).to_vec();
        for (v, a) in self.v.col_as_slice_mut(class).iter_mut().zip(features) {
            *v += weight * a;
        }
        let Some(solved) = inverse_times(&mut regular, self.v.as_ref()) else {
            self.v.col_as_slice_mut(class).copy_from_slice(&column);
            return Err(Error::Singular { method: "RI-BLS", remedy: "a larger ridge" });
        };
        add_outer_product(&mut self.u, weight, features);
        for (k, column) in self.weights.columns_mut().iter_mut().enumerate() {
            column.copy_from_slice(solved.col_as_slice(k));
        }
        Ok(())
    }
}
