//! Which models are nothing but sums over their samples.
//!
//! A regression that forgets nothing is K = λI + Σ w·a·aᵀ and Q = Σ w·a·yᵀ. Sums over parts of the
//! samples can be added, and a sample can be taken out of them, as long as its features are those that it
//! was learned with: the scaling must not move any more. What depends on the order of samples is no sum.

use super::OnlineBls;
use crate::{
    config::{ClassWeight, Forgetting},
    error::Error,
};

impl OnlineBls {
    /// Checks that the model is a sum over its samples, for an operation that needs that.
    pub(super) fn check_exact(&self, operation: &'static str) -> Result<(), Error> {
        let config = &self.config;
        let reason = if config.forgetting != Forgetting::Fixed(1.0) {
            format!("forgetting must be 1, got {}", config.forgetting)
        } else if config.stacking {
            "stacking must be false, since it follows the order of samples".to_owned()
        } else if config.class_weight != ClassWeight::None {
            "class_weight must be none, since others follow the order of samples".to_owned()
        } else if let Some(window) = config.window {
            format!("window must be none, got {window}")
        } else if !self.features.inputs().is_frozen() {
            "the scaling must be frozen: given, none, taken from another model, or kept as it is by \
             freeze_scaling_after"
                .to_owned()
        } else {
            return Ok(());
        };
        Err(Error::NotExact { operation, reason })
    }
}
