//! Online classification of data streams by a broad learning system that is exact after every
//! sample.
//!
//! [`OnlineBls`] maps a sample's inputs to random features and keeps a ridge regression on them. Its
//! weights are at any moment the closed-form optimum of all samples seen, not a gradient step towards
//! it: one pass over a triangular [`factor`] per sample predicts and learns. Classes and inputs may
//! appear at any time, samples may have weights, and the past may fade.
//!
//! ```
//! use broadstream::{Classifier, InputKind, OnlineBls, OnlineBlsConfig, Sample};
//!
//! let mut model = OnlineBls::new(OnlineBlsConfig::default())?;
//! for name in ["voltage", "current"] {
//!     model.declare_input(name, InputKind::Numeric)?;
//! }
//! for hour in 0..48 {
//!     let x = [230.0 + f64::from(hour % 5), f64::from(hour % 24)];
//!     let prediction = model.predict_one(Sample::dense(&x))?; // None before the first label
//!     let class = usize::from(hour % 24 > 11);
//!     model.learn_one(Sample::dense(&x), class, 1.0)?;
//! }
//! assert_eq!(model.predict_one(Sample::dense(&[231.0, 20.0]))?, Some(1));
//! # Ok::<(), broadstream::Error>(())
//! ```
//!
//! A [`stream`] brings samples from a CSV file or a generator, [`evaluate`] tests and then trains any
//! [`Classifier`] on it, and [`metrics`] says how well that went. The `broadstream` command does all
//! that without a line of code.

mod activation;
pub mod baselines;
mod block;
mod broad_features;
mod class_weight;
mod classifier;
mod combination;
pub mod drift;
mod durations;
mod error;
pub mod factor;
mod fading;
mod features;
mod forgetting;
mod late_labels;
mod logarithm;
mod member;
pub mod metrics;
pub mod model_file;
mod online_bls;
mod prequential;
mod probability;
mod quantiles;
mod random;
mod recent_labels;
mod ridge;
mod sample;
mod scaled_inputs;
mod scaled_sample;
mod scaling;
mod schema;
mod scores;
mod simd;
mod stacking;
mod state;
pub mod stream;
mod temperature;
mod threads;

pub use self::{
    activation::Activation,
    block::Block,
    class_weight::ClassWeight,
    classifier::Classifier,
    durations::Durations,
    error::Error,
    features::{EnhancementSource, WeightScale},
    forgetting::Forgetting,
    late_labels::{LateLabels, LatePrediction},
    member::Member,
    online_bls::{Certificate, OnlineBls, OnlineBlsConfig, Partial, RegressionHealth},
    prequential::{
        Checkpoint, Contestant, CurvePoint, Evaluation, EvaluationState, Observer, Outcome,
        PrequentialOptions, Times, compare, evaluate, resume,
    },
    ridge::Ridge,
    sample::Sample,
    scaling::{Affine, Scaling},
    schema::{Input, InputKind, Schema},
    scores::{Scores, arg_max},
};

/// The examples of the README, which run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;

/// Those of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/how-to/rust.md")]
pub struct Guide;
