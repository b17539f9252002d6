//! BLS-CIL: a penalty pulls consecutive samples of one class together and pushes those of different
//! classes apart.
//!
//! With p the features of the previous sample, appendix A of the paper defines
//!
//! ```text
//! H = a·aᵀ + λ(p − a)(p − a)ᵀ      λ = −λ₁ if the classes differ, +λ₂ if not
//! K ← K + H                        W ← W − K⁻¹HW + K⁻¹a·yᵀ
//! ```
//!
//! starting from K = I and W = 0; the first sample has no p, and H = a·aᵀ. (The text calls λ₁ the
//! weight of the term that makes classes compact and λ₂ that of the one that separates them. The
//! formula has it the other way round, and is followed here.) There is no ridge to set besides I.
//!
//! The first two equations give KW = Σ a·yᵀ, so W = K⁻¹ Σ a·yᵀ. K need not be positive definite.
//!
//! A sample of weight w counts w times in a·aᵀ and a·yᵀ. That equals w repetitions, since p − a is
//! 0 between equal samples.

use faer::Mat;

use super::{
    broad_baseline::Solver,
    inverse::{add_outer_product, bytes, inverse_times},
    output_weights::OutputWeights,
};
use crate::{config::check, error::Error};

/// The solver of BLS-CIL. It does not use the configuration's ridge.
#[derive(Clone, Debug)]
pub struct BlsCil {
    options: BlsCilOptions,
    k: Mat<f64>,
    weights: OutputWeights,
    /// The features and the class of the previous sample.
    previous: Option<(Vec<f64>, usize)>,
}

/// The options of BLS-CIL.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlsCilOptions {
    /// λ₁: how strongly consecutive samples of different classes are pushed apart. Default 0.1, the
    /// value that the paper tuned.
    pub separation: f64,
    /// λ₂: how strongly consecutive samples of one class are pulled together. Default 0.1.
    pub compactness: f64,
}

impl Default for BlsCilOptions {
    fn default() -> Self {
        BlsCilOptions { separation: 0.1, compactness: 0.1 }
    }
}

impl BlsCil {
    /// λ and p − a, unless this is the first sample.
    fn class_term(&self, features: &[f64], class: usize) -> Option<(f64, Vec<f64>)> {
        let (previous, previous_class) = self.previous.as_ref()?;
        let same = *previous_class == class;
        let lambda = if same { self.options.compactness } else { -self.options.separation };
        Some((lambda, previous.iter().zip(features).map(|(p, a)| p - a).collect()))
    }

    /// a·yᵀ − HW, which has rank two.
    fn right_side(
        &self,
        features: &[f64],
        class: usize,
        weight: f64,
        term: Option<&(f64, Vec<f64>)>,
    ) -> Mat<f64> {
        let residuals = self.weights.residuals(features, class);
        let mut right = Mat::from_fn(features.len(), residuals.len(), |i, j| {
            weight * features[i] * residuals[j]
        });
        if let Some((lambda, difference)) = term {
            for (j, score) in self.weights.scores(difference).iter().enumerate() {
                for (entry, d) in right.col_as_slice_mut(j).iter_mut().zip(difference) {
                    *entry -= lambda * d * score;
                }
            }
        }
        right
    }
}

impl Solver for BlsCil {
    type Options = BlsCilOptions;

    const MAY_FAIL: bool = true;

    fn new(features: usize, _ridge: f64, options: BlsCilOptions) -> Result<Self, Error> {
        let limits = 0.0..=1e100;
        let BlsCilOptions { separation, compactness } = options;
        check("separation", limits.contains(&separation), "from 0 to 1e100", &separation)?;
        check("compactness", limits.contains(&compactness), "from 0 to 1e100", &compactness)?;
        Ok(BlsCil {
            options,
            k: Mat::identity(features, features),
            weights: OutputWeights::new(features),
            previous: None,
        })
    }

    fn bytes(features: usize, _samples: u64, classes: usize) -> u128 {
        // W, the right-hand side and the change of W; and the previous sample.
        let columns = classes.saturating_mul(3).saturating_add(1);
        bytes(features).saturating_add(OutputWeights::bytes(features, columns))
    }

    fn add_classes(&mut self, classes: usize) {
        self.weights.add_classes(classes);
    }

    fn scores(&self, features: &[f64]) -> Vec<f64> {
        self.weights.scores(features)
    }

    fn learn(&mut self, features: &[f64], class: usize, weight: f64) -> Result<(), Error> {
        let term = self.class_term(features, class);
        let add_h = |k: &mut Mat<f64>| {
            add_outer_product(k, weight, features);
            if let Some((lambda, difference)) = &term {
                add_outer_product(k, *lambda, difference);
            }
        };
        let mut k = self.k.clone();
        add_h(&mut k);
        let right = self.right_side(features, class, weight, term.as_ref());
        let Some(change) = inverse_times(&mut k, right.as_ref()) else {
            return Err(Error::Singular { method: "BLS-CIL", remedy: "a smaller separation" });
        };
        add_h(&mut self.k);
        for (j, column) in self.weights.columns_mut().iter_mut().enumerate() {
            column.iter_mut().zip(change.col_as_slice(j)).for_each(|(w, change)| *w += change);
        }
        self.previous = Some((features.to_vec(), class));
        Ok(())
    }
}
