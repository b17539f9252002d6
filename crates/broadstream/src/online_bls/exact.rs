//! Which models are plain sums over their samples.
//!
//! A regression that forgets nothing is K = λI + Σ w·a·aᵀ and Q = Σ w·a·yᵀ. Sums over parts of the
//! samples can be added, and a sample can be subtracted from them, as long as it has the same
//! features as when it was learned. So the scaling must not change any more. Anything that depends
//! on the order of samples is not a sum.

use super::OnlineBls;
use crate::{
    config::{ClassWeight, Forgetting},
    ensemble::Ensemble,
    error::Error,
    regression::{LARGEST_ERROR, RegressionHealth, factor::Health},
    state::Precision,
};

/// Inputs up to this size are no reason for a bad condition.
const LARGE: f64 = 1e3;

/// At most this many inputs are named.
const MOST_NAMED: usize = 3;

impl OnlineBls {
    /// Checks that the model is a sum over its samples, which `operation` needs.
    pub(super) fn check_exact(&self, operation: &'static str) -> Result<(), Error> {
        let config = &self.config;
        let reason = if self.precision == Precision::Single {
            "it was saved in single precision, so what it has learned is not exact".to_owned()
        } else if config.forgetting != Forgetting::Fixed(1.0) {
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

    /// Checks that an ensemble, which is to replace the model's own, has scores that can be trusted,
    /// and returns the state of the regression that comes closest to the limit.
    pub(super) fn check_trust(
        &self,
        operation: &'static str,
        ensemble: &Ensemble,
    ) -> Result<Health, Error> {
        let RegressionHealth { now, .. } = ensemble.worst_health();
        if now.error <= LARGEST_ERROR { Ok(now) } else { Err(self.untrusted(operation, now)) }
    }

    /// Checks that a model with a window could be trusted when it was checked last.
    pub(super) fn check_window(&self) -> Result<(), Error> {
        if self.window.is_none() || self.ensemble.window_error() <= LARGEST_ERROR {
            return Ok(());
        }
        Err(self.untrusted("slide the window", self.ensemble.worst_health().now))
    }

    fn untrusted(&self, operation: &'static str, now: Health) -> Error {
        let Health { error, condition, .. } = now;
        Error::IllConditioned { operation, error, condition, advice: self.condition_advice() }
    }

    /// What makes the regressions badly conditioned, and what to do about it.
    pub fn condition_advice(&self) -> String {
        if self.precision == Precision::Single {
            return "the model was saved in single precision".to_owned();
        }
        let mut large: Vec<(&str, f64)> = self.features.inputs().sizes().collect();
        large.retain(|(_, size)| *size > LARGE);
        large.sort_by(|a, b| b.1.total_cmp(&a.1));
        let ridge = self.config.ridge.usual();
        if large.is_empty() {
            return format!("raise the ridge, which is {ridge:e}");
        }
        let named =
            large.iter().take(MOST_NAMED).map(|(name, size)| format!("'{name}' ({size:.1e})"));
        let named = named.collect::<Vec<_>>().join(", ");
        let more = if large.len() > MOST_NAMED { ", …" } else { "" };
        format!(
            "scale the inputs, of which the largest are {named}{more}, or raise the ridge, which is {ridge:e}"
        )
    }
}
