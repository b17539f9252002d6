//! Online classification of data streams by a broad learning system.

mod activation;
pub mod baselines;
mod block;
mod classifier;
mod combination;
mod error;
pub mod factor;
mod features;
mod forgetting;
pub mod metrics;
mod online_bls;
mod prequential;
mod probability;
mod random;
mod sample;
mod scaling;
mod schema;
mod scores;
mod simd;
pub mod stream;

pub use self::{
    activation::Activation,
    block::Block,
    classifier::Classifier,
    error::Error,
    features::WeightScale,
    online_bls::{OnlineBls, OnlineBlsConfig},
    prequential::{
        CurvePoint, Evaluation, Observer, Outcome, PrequentialOptions, Times, evaluate,
    },
    sample::Sample,
    scaling::{Affine, Scaling},
    schema::{Input, InputKind, Schema},
    scores::{Scores, arg_max},
};
