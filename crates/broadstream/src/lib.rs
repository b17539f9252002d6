//! Online classification of data streams by a broad learning system that is exact after every
//! sample.
//!
//! [`OnlineBls`] maps a sample's inputs to random features and fits ridge regressions to them. The
//! weights of a regression are at any moment the closed-form optimum of the samples that it
//! remembers, not a gradient step towards it: one pass over a triangular [`factor`] per sample both
//! predicts and learns. Classes and inputs may appear at any time, samples may have weights, and
//! the model may forget the past.
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
//! A [`stream`] reads samples from a file or generates them, [`evaluate`] tests and then trains any
//! [`Classifier`] on each sample, and [`metrics`] measure the predictions. The `broadstream`
//! command does all that without a line of code.

pub mod baselines;
mod classifier;
mod config;
mod data;
mod decision;
pub mod drift;
mod ensemble;
mod error;
mod features;
pub mod metrics;
pub mod model_file;
mod numeric;
mod online_bls;
mod preprocessing;
mod prequential;
mod regression;
mod state;
pub mod stream;

pub use self::{
    classifier::{Classifier, Member, MemberChange, MemberEvent},
    config::{
        ClassWeight, ConfigOption, EnhancementSource, Forgetting, Named, Nodes, OnlineBlsConfig,
        Preset, Ridge, Scope, Topic, Values, WeightScale, parse_bytes,
    },
    data::{
        Block, Decisions, Input, InputKind, Matrix, Objective, Sample, Schema, Scores, arg_max,
    },
    decision::{ABSTAIN, ClassCosts, Costs},
    error::{CostsError, Error},
    features::PreparedSample,
    numeric::Activation,
    online_bls::{
        Certificate, Explanation, LateLabels, LatePrediction, OnlineBls, Partial, Predictor, Reason,
    },
    preprocessing::{Affine, Scaling},
    prequential::{
        Contestant, CurvePoint, Durations, Evaluation, EvaluationState, Evaluator, Observer,
        Outcome, PrequentialOptions, Progress, Times, TradeOff, compare, evaluate,
    },
    regression::{LARGEST_ERROR, RegressionHealth, factor},
};

/// The examples of the README, which run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;

/// Those of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/how-to/rust.md")]
pub struct Guide;
