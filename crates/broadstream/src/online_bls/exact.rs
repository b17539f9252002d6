//! Which models are plain sums over their samples.
//!
//! A regression that forgets nothing is K = λI + Σ w·a·aᵀ and Q = Σ w·a·yᵀ. Sums over parts of the
//! samples can be added, and a sample can be subtracted from them, as long as it has the same
//! features as when it was learned. So the scaling must not change any more. Anything that depends
//! on the order of samples is not a sum.

use super::OnlineBls;
use crate::{
    config::{ClassWeight, Forgetting},
    error::Error,
};

impl OnlineBls {
    /// Checks that the model is a sum over its samples, which `operation` needs.
    pub(super) fn check_exact(&self, operation: &'static str) -> Result<(), Error> {
        let config = &self.config;
        let reason = if config.forgetting != Forgetting::Fixed(1.0) {
            format!("forgetting must be 1, got {}", config.forgetting)
        } else if config.stacking {
            "stacking must be false, since it depends on the order of samples".to_owned()
        } else if config.class_weight != ClassWeight::None {
            "class_weight must be none, since others depend on the order of samples".to_owned()
        } else if let Some(window) = config.window {
            format!("window must be none, got {window}")
        } else if !self.features.inputs().is_frozen() {
            "the scaling must be frozen: given, none, taken from another model, or kept as it is \
             by freeze_scaling_after"
                .to_owned()
        } else {
            return Ok(());
        };
        Err(Error::NotExact { operation, reason })
    }
}
