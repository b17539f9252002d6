//! A regression that forgets: the past fades, the ridge must not.
//!
//! The paper's Algorithm 2 keeps P ← μP + a·aᵀ and factorises P + λI anew for every sample, which
//! costs m³/6. Here the sweep itself starts at γ = μ and so multiplies all that the factor holds by
//! μ, the ridge included. Every T samples the factor is built anew from P + (λ/μ)I, with the weights
//! kept as they are, just as Algorithm 2 keeps them while its ridge is restored. The k-th sweep after
//! that makes it exactly the factor of P + μᵏ⁻¹λI; so T = 1 is Algorithm 2 to rounding. Without the
//! refresh the ridge would die away and the weights run wild. Where that is not near enough to
//! Algorithm 2, each sample's gain can be corrected for the ridge that is missing
//! ([`Weights::learn_corrected`](crate::factor::Weights::learn_corrected)).

use crate::{
    error::Error,
    factor::{Factor, Gram},
    threads::Threads,
};

/// A refresh may wait until this share of the ridge is left,
const RIDGE_SHARE: f64 = 1.0 / 4.0;

/// and until this share if it would otherwise take more time than the sweeps between two of them,
const LEAST_RIDGE_SHARE: f64 = 1.0 / 16.0;

/// which is the case for fewer samples than the order of the factor divided by this: measured, a
/// refresh of order 1100 costs as much as 154 sweeps.
const ORDERS_PER_SAMPLE: usize = 7;

/// Samples that are added to P together; they are kept until then.
const BLOCK: usize = 64;

/// However slowly the ridge fades, the factor is built anew after this many samples.
const LONGEST_INTERVAL: usize = 10_000;

/// What a learner that forgets keeps beside its factor.
#[derive(Clone, Debug)]
pub(crate) struct Fading {
    mu: f64,
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
    /// Features and weights still to be added to `gram`.
    pending: Vec<f64>,
    pending_weights: Vec<f64>,
}

impl Fading {
    /// For a factor that has learned nothing; its ridge must be λ/μ too.
    pub(crate) fn new(order: usize, mu: f64, ridge: f64, interval: Option<usize>) -> Self {
        Fading {
            mu,
            ridge,
            interval: interval.unwrap_or_else(|| default_interval(mu, order)),
            since_refresh: 0,
            decay: 1.0,
            gram: Gram::new(order),
            pending: Vec::new(),
            pending_weights: Vec::new(),
        }
    }

    /// Shares threads with others.
    pub(crate) fn share_threads(&mut self, threads: &Threads) {
        self.gram.share_threads(threads);
    }

    /// The ridge that the factor lacks once the sample was swept that is absorbed next.
    pub(crate) fn missing_ridge(&self) -> f64 {
        self.ridge * (1.0 - self.decay)
    }

    /// Samples between two refreshes.
    pub(crate) fn interval(&self) -> usize {
        self.interval
    }

    /// How many samples may be learned before the next refresh.
    pub(crate) fn until_refresh(&self) -> usize {
        self.interval - self.since_refresh
    }

    /// Follows the factor, which has learned these samples, and refreshes it when it is time. Returns
    /// whether it did.
    pub(crate) fn absorb(
        &mut self,
        features: &[f64],
        weights: &[f64],
        factor: &mut Factor,
    ) -> Result<bool, Error> {
        self.pending.extend_from_slice(features);
        for weight in weights {
            self.decay *= self.mu;
            self.pending_weights.push(weight / self.decay);
        }
        self.since_refresh += weights.len();
        let refresh = self.since_refresh >= self.interval;
        if refresh || self.pending_weights.len() >= BLOCK {
            self.gram.add(&self.pending, &self.pending_weights)?;
            self.pending.clear();
            self.pending_weights.clear();
        }
        if refresh {
            self.gram.scale(self.decay);
            self.decay = 1.0;
            self.since_refresh = 0;
            // The next sweep turns λ/μ into λ.
            factor.refactor(&self.gram, self.ridge / self.mu)?;
        }
        Ok(refresh)
    }
}

/// The number of samples after which a quarter of the ridge is left, or less if that spares time.
/// Counted rather than computed by logarithms, whose last bit differs between platforms.
fn default_interval(mu: f64, order: usize) -> usize {
    let after = |least_share: f64| {
        let mut share = 1.0;
        let mut interval = 0;
        while share > least_share && interval < LONGEST_INTERVAL {
            share *= mu;
            interval += 1;
        }
        interval
    };
    (order / ORDERS_PER_SAMPLE).clamp(after(RIDGE_SHARE), after(LEAST_RIDGE_SHARE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_follows_the_forgetting_and_the_order() {
        assert_eq!(default_interval(0.1, 7), 1);
        assert_eq!(default_interval(0.9, 70), 14);
        assert_eq!(default_interval(0.9, 140), 20);
        assert_eq!(default_interval(0.9, 5100), 27);
        assert_eq!(default_interval(0.99, 300), 138);
        assert_eq!(default_interval(0.99, 1100), 157);
        assert_eq!(default_interval(0.999, 1100), 1386);
        assert_eq!(default_interval(1.0 - 1e-12, 1100), LONGEST_INTERVAL);
    }
}
