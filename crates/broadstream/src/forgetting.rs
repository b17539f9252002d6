//! Forgetting: the past fades, the ridge must not.
//!
//! The paper's Algorithm 2 keeps P ← μP + a·aᵀ and factorises P + λI anew for every sample, which
//! costs m³/6. Here the sweep itself starts at γ = μ and so multiplies all that the factor holds by
//! μ, the ridge included. Every T samples the factor is built anew from P + (λ/μ)I, with the weights
//! kept as they are, just as Algorithm 2 keeps them while its ridge is restored. The k-th sweep after
//! that makes it exactly the factor of P + μᵏ⁻¹λI; so T = 1 is Algorithm 2 to rounding. Without the
//! refresh the ridge would die away and the weights run wild.

use crate::{
    error::Error,
    factor::{Factor, Gram},
};

/// The share of the ridge that may fade before it is restored.
const LEAST_RIDGE_SHARE: f64 = 0.25;

/// However slowly the ridge fades, the factor is built anew after this many samples.
const LONGEST_INTERVAL: usize = 10_000;

/// What a learner that forgets keeps beside its factor.
#[derive(Clone, Debug)]
pub(crate) struct Forgetting {
    mu: f64,
    /// λ/μ: the ridge that the next sweep turns into λ.
    ridge: f64,
    /// Samples between two refreshes.
    interval: usize,
    /// Samples since the last refresh.
    since_refresh: usize,
    /// μ to the power of `since_refresh`.
    decay: f64,
    /// P divided by `decay`: new samples then grow instead of old ones shrinking, and the sum does
    /// not depend on how samples were divided into blocks.
    gram: Gram,
    scaled_weights: Vec<f64>,
}

impl Forgetting {
    /// For a factor that has learned nothing; its ridge must be λ/μ too.
    pub(crate) fn new(order: usize, mu: f64, ridge: f64, interval: Option<usize>) -> Self {
        Forgetting {
            mu,
            ridge: ridge / mu,
            interval: interval.unwrap_or_else(|| default_interval(mu)),
            since_refresh: 0,
            decay: 1.0,
            gram: Gram::new(order),
            scaled_weights: Vec::new(),
        }
    }

    /// How many samples may be learned before the next refresh.
    pub(crate) fn until_refresh(&self) -> usize {
        self.interval - self.since_refresh
    }

    /// Follows the factor, which has learned these samples, and refreshes it when it is time.
    pub(crate) fn absorb(
        &mut self,
        features: &[f64],
        weights: &[f64],
        factor: &mut Factor,
    ) -> Result<(), Error> {
        self.scaled_weights.clear();
        for weight in weights {
            self.decay *= self.mu;
            self.scaled_weights.push(weight / self.decay);
        }
        self.gram.add(features, &self.scaled_weights)?;
        self.since_refresh += weights.len();
        if self.since_refresh >= self.interval {
            self.gram.scale(self.decay);
            self.decay = 1.0;
            self.since_refresh = 0;
            factor.refactor(&self.gram, self.ridge)?;
        }
        Ok(())
    }
}

/// The number of samples after which a quarter of the ridge is left. Counted rather than computed by
/// logarithms, whose last bit differs between platforms.
fn default_interval(mu: f64) -> usize {
    let mut share = 1.0;
    let mut interval = 0;
    while share > LEAST_RIDGE_SHARE && interval < LONGEST_INTERVAL {
        share *= mu;
        interval += 1;
    }
    interval
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_follows_the_forgetting() {
        assert_eq!(default_interval(0.1), 1);
        assert_eq!(default_interval(0.9), 14);
        assert_eq!(default_interval(0.99), 138);
        assert_eq!(default_interval(0.999), 1386);
        assert_eq!(default_interval(1.0 - 1e-12), LONGEST_INTERVAL);
    }
}
