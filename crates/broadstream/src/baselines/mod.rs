//! Baselines.
//!
//! [`NoChange`] and [`Majority`] ignore the inputs: a model that does not beat them has learned
//! nothing. The broad learning systems of the paper's comparison are a [`BroadBaseline`] each:
//! [`IBls`], [`Eous`] and, under the feature `dense-baselines`, `RiBls`, `BlsCil` and
//! `Refactorise`, which invert or factorise a matrix for each sample. [`Perceptron`],
//! [`PassiveAggressive`], [`MultilayerPerceptron`] and [`HedgeBackpropagation`] work on the scaled
//! inputs, each within a [`ScaledBaseline`].

mod all_or_nothing;
#[cfg(feature = "dense-baselines")]
mod bls_cil;
mod broad_baseline;
mod eous;
mod hedge_backpropagation;
mod hidden;
mod i_bls;
#[cfg(feature = "dense-baselines")]
mod inverse;
mod layers;
mod linear;
mod majority;
mod multilayer_perceptron;
mod no_change;
mod output_weights;
mod passive_aggressive;
mod perceptron;
#[cfg(feature = "dense-baselines")]
mod refactorise;
#[cfg(feature = "dense-baselines")]
mod ri_bls;
mod scaled_baseline;
mod vectors;

#[cfg(feature = "dense-baselines")]
pub use self::{
    bls_cil::{BlsCil, BlsCilOptions},
    refactorise::Refactorise,
    ri_bls::RiBls,
};
pub use self::{
    broad_baseline::{BroadBaseline, Solver},
    eous::Eous,
    hedge_backpropagation::{HedgeBackpropagation, HedgeOptions},
    hidden::NetworkOptions,
    i_bls::{IBls, IBlsOptions},
    linear::{Linear, LinearRule},
    majority::Majority,
    multilayer_perceptron::MultilayerPerceptron,
    no_change::NoChange,
    passive_aggressive::{PassiveAggressive, PassiveAggressiveOptions, PassiveAggressiveRule},
    perceptron::{Perceptron, PerceptronRule},
    scaled_baseline::{Learner, Present, ScaledBaseline, ScaledBaselineConfig},
};

/// Relative frequencies of counts, uniform when all are 0.
fn shares(counts: &[f64]) -> Vec<f64> {
    let sum: f64 = counts.iter().sum();
    let uniform = 1.0 / counts.len() as f64;
    counts.iter().map(|count| if sum > 0.0 { count / sum } else { uniform }).collect()
}
