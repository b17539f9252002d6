//! The refresh of a regression that forgets: the past decays, the ridge must not.
//!
//! The paper's Algorithm 2 keeps P ← μP + a·aᵀ and factorises P + λI again for every sample, which
//! costs m³/6. Here the sweep itself starts at γ = μ and so multiplies everything in the factor by
//! μ, including the ridge. Every T samples the factor is rebuilt from P + (λ/μ)I with unchanged
//! weights, just as Algorithm 2 leaves them unchanged while it restores its ridge. The k-th sweep
//! after that gives exactly the factor of P + μᵏ⁻¹λI, so T = 1 is Algorithm 2 to rounding. Without
//! the refresh the ridge would vanish and the weights would diverge. P has only 16 digits: where it
//! is too badly conditioned for them, the missing ridge is added to the factor instead, which takes
//! several times as long. Where a refresh every T samples is not close enough
//! to Algorithm 2, each sample's gain can be corrected for the missing ridge
//! ([`Weights::learn_corrected`](crate::regression::factor::Weights::learn_corrected)).

use crate::{
    error::{Error, ModelFileError},
    numeric::Threads,
    regression::factor::{Factor, Gram, Health, Probe, Update},
    state::{ReadScope, WriteScope},
};

/// A refresh may wait until this share of the ridge is left. Waiting longer costs accuracy where
/// memory is short: on Electricity (first 10 000 samples, 1100 features, forgetting 0.9) accuracy
/// was 0.9354 with a refresh every 14 samples and 0.9332 with one every 40. At 0.99 it was the same
/// for 138 and 414.
const RIDGE_SHARE: f64 = 1.0 / 4.0;

/// It may wait until this share is left if refreshes would otherwise take more time than the sweeps
/// between them,
const LEAST_RIDGE_SHARE: f64 = 1.0 / 16.0;

/// which is the case for intervals shorter than the order of the factor divided by this number: a
/// refresh of order 1100 was measured to cost as much as 154 sweeps.
const ORDERS_PER_SAMPLE: usize = 7;

/// The number of samples that are added to P together; until then they are kept.
const BLOCK: usize = 64;

/// However slowly the ridge decays, the factor is rebuilt after this many samples.
const LONGEST_INTERVAL: usize = 10_000;

/// After this many samples the factor is compared with the true sums, which takes as long as about
/// ten sweeps,
const CHECK_EVERY: usize = 1024;

/// and is refreshed early if its residual exceeds this.
const LARGEST_RESIDUAL: f64 = 1e-8;

/// A factor with a smaller [pivot share](Factor::pivot_share) is not built from P: of 16 digits fewer
/// than eight would be right in the direction of that pivot.
const LEAST_PIVOT_SHARE: f64 = 1e-8;

/// At a refresh, the error that the kept weights have is measured if the pivot share is smaller than this.
/// Weights of a better factor are right to ten digits, and need not be measured.
const WELL_CONDITIONED: f64 = 1e-5;

/// The relative error of P's entries, with the caution of [`Health::error`].
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Says of a saved refresh that its P is that of its factor.
const GRAM_OF_FACTOR: &str = "gram_of_factor";

/// What a regression that forgets keeps in addition to its factor.
#[derive(Clone, Debug)]
pub(crate) struct RidgeRefresh {
    mu: f64,
    ridge: f64,
    /// The number of samples between two refreshes.
    interval: usize,
    /// The number of samples since the last refresh.
    since_refresh: usize,
    /// μ to the power of `since_refresh`.
    decay: f64,
    /// P divided by `decay`: new samples are scaled up instead of old ones down, so that the sum
    /// does not depend on how samples were divided into blocks.
    gram: Gram,
    /// Features and weights still to be added to `gram`.
    pending: Vec<f64>,
    pending_weights: Vec<f64>,
    probe: Probe,
    /// The number of samples since the last check.
    since_check: usize,
    refreshes: u64,
    worst_residual: f64,
    /// The largest error of scores at any refresh. It does not decay: a refresh keeps the weights,
    /// and in directions that no sample excites any more their errors stay.
    refresh_error: f64,
}

impl RidgeRefresh {
    /// For a factor that has learned nothing, whose ridge must be λ/μ.
    pub(crate) fn new(order: usize, mu: f64, ridge: f64, interval: Option<usize>) -> Self {
        RidgeRefresh {
            mu,
            ridge,
            interval: interval.unwrap_or_else(|| default_interval(mu, order)),
            since_refresh: 0,
            decay: 1.0,
            gram: Gram::new(order),
            pending: Vec::new(),
            pending_weights: Vec::new(),
            probe: Probe::forgetting(order, ridge / mu),
            since_check: 0,
            refreshes: 0,
            worst_residual: 0.0,
            refresh_error: 0.0,
        }
    }

    /// What the [prefix](Factor::prefix) of its factor needs. The prefix counts as exact.
    pub(crate) fn prefix(&self, factor: &Factor) -> Result<Self, Error> {
        let mut gram = self.gram.clone();
        gram.add(&self.pending, &self.pending_weights)?;
        Ok(RidgeRefresh {
            gram: gram.prefix(factor.order()),
            pending: Vec::new(),
            pending_weights: Vec::new(),
            probe: self.probe.prefix(factor),
            ..*self
        })
    }

    /// Uses the given threads, which others use too.
    pub(crate) fn share_threads(&mut self, threads: &Threads) {
        self.gram.share_threads(threads);
    }

    /// The ridge that the factor lacks after the sweep of the sample that is absorbed next.
    pub(crate) fn missing_ridge(&self) -> f64 {
        self.ridge * (1.0 - self.decay)
    }

    /// The number of samples between two refreshes.
    pub(crate) fn interval(&self) -> usize {
        self.interval
    }

    /// How many samples may be learned before the factor may need a refresh.
    pub(crate) fn until_refresh(&self) -> usize {
        (CHECK_EVERY - self.since_check).min(self.interval - self.since_refresh)
    }

    /// How often the factor was refreshed.
    pub(crate) fn refreshes(&self) -> u64 {
        self.refreshes
    }

    /// The largest residual found so far.
    pub(crate) fn worst_residual(&self) -> f64 {
        self.worst_residual
    }

    /// The numerical state of the factor.
    pub(crate) fn health(&self, factor: &Factor) -> Health {
        let mut health = self.probe.check(factor);
        health.error = health.error.max(self.refresh_error);
        health
    }

    /// Records that the factor was given other weights.
    pub(crate) fn weights_were_given(&mut self, factor: &Factor) {
        self.probe.weights_were_given(factor);
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        to.integer("since_refresh", self.since_refresh);
        to.float("decay", self.decay);
        if to.is_rounded() {
            // P + λI in seven digits need not be positive definite any more. The factor's own product
            // always is, and takes no room.
            to.value(GRAM_OF_FACTOR, true);
        } else {
            // Which samples are pending depends on the block size; the sum of all does not.
            let mut gram = self.gram.clone();
            let added = gram.add(&self.pending, &self.pending_weights);
            debug_assert!(added.is_ok(), "a weight is pending for each row of features");
            gram.save(&mut to.scope("gram"));
        }
        self.probe.save(&mut to.scope("probe"));
        to.integer("since_check", self.since_check);
        to.integer("refreshes", self.refreshes);
        to.float("worst_residual", self.worst_residual);
        to.float("refresh_error", self.refresh_error);
    }

    /// Restores what was kept for this factor.
    pub(crate) fn restore(
        &mut self,
        from: &ReadScope<'_>,
        factor: &Factor,
    ) -> Result<(), ModelFileError> {
        let since_refresh = from.count("since_refresh", self.interval - 1)?;
        let decay = from.float("decay", f64::MIN_POSITIVE..=1.0)?;
        self.probe.restore(&from.scope("probe")?)?;
        if from.has(GRAM_OF_FACTOR) {
            self.gram = factor.sums_without_ridge(self.probe.ridge());
            self.gram.scale(1.0 / decay);
        } else {
            self.gram.restore(&from.scope("gram")?)?;
        }
        self.since_check = from.count("since_check", CHECK_EVERY - 1)?;
        self.refreshes = from.integer("refreshes")?;
        self.worst_residual = from.float("worst_residual", 0.0..=f64::MAX)?;
        self.refresh_error = from.optional_float("refresh_error", 0.0..=f64::MAX)?;
        self.since_refresh = since_refresh;
        self.decay = decay;
        self.pending.clear();
        self.pending_weights.clear();
        Ok(())
    }

    /// Records that the factor has learned these samples, at most [this many](Self::until_refresh),
    /// and refreshes it when due. Returns whether it did.
    pub(crate) fn absorb(
        &mut self,
        update: Update<'_>,
        factor: &mut Factor,
    ) -> Result<bool, Error> {
        self.probe.follow(update);
        self.pending.extend_from_slice(update.features);
        for weight in update.weights {
            self.decay *= self.mu;
            self.pending_weights.push(weight / self.decay);
        }
        self.since_refresh += update.weights.len();
        self.since_check += update.weights.len();
        let damaged = self.since_check >= CHECK_EVERY && self.is_damaged(factor);
        let refresh = damaged || self.since_refresh >= self.interval;
        if refresh || self.pending_weights.len() >= BLOCK {
            self.gram.add(&self.pending, &self.pending_weights)?;
            self.pending.clear();
            self.pending_weights.clear();
        }
        if refresh {
            self.gram.scale(self.decay);
            self.decay = 1.0;
            self.since_refresh = 0;
            self.refreshes = self.refreshes.saturating_add(1);
            self.restore_ridge(factor, damaged)?;
            if damaged {
                // A refresh keeps the weights and cannot repair them, so the probe accepts them as
                // they are.
                self.probe.weights_were_given(factor);
            }
        }
        Ok(refresh)
    }

    /// Gives the factor, which rounding may have damaged, the ridge that it needs now, and keeps its
    /// weights.
    fn restore_ridge(&mut self, factor: &mut Factor, damaged: bool) -> Result<(), Error> {
        // Not λ: the next sweep multiplies by μ, and Algorithm 2 works with λ there.
        let ridge = self.ridge / self.mu;
        if !factor.is_finite() {
            // Numbers beyond the range of `f64` leave nothing to continue from. The regression
            // starts over, and its worst residual tells.
            self.worst_residual = f64::MAX;
            self.gram.clear();
            factor.reset(ridge);
            self.probe.begin_anew(ridge);
            return Ok(());
        }
        let share = factor.pivot_share(&self.gram);
        if damaged || share < WELL_CONDITIONED {
            // The weights stay as they are, and so do their errors, of which the probe shows less later.
            self.refresh_error = self.refresh_error.max(self.probe.error(factor));
        }
        if share >= LEAST_PIVOT_SHARE {
            factor.refactor(&self.gram, ridge)?;
            self.refresh_error = self.refresh_error.max(ROUNDING / share);
        } else {
            factor.raise_ridge(ridge - self.probe.ridge());
        }
        self.probe.ridge_was_raised(factor, ridge);
        Ok(())
    }

    /// Whether rounding errors have damaged the factor, and a refresh can repair it.
    fn is_damaged(&mut self, factor: &Factor) -> bool {
        let residual = self.probe.residual(factor);
        self.since_check = 0;
        self.worst_residual = self.worst_residual.max(residual);
        // Only a refresh from P repairs anything.
        let share = factor.pivot_share(&self.gram) / self.decay;
        residual > LARGEST_RESIDUAL && share >= LEAST_PIVOT_SHARE
    }
}

/// The number of samples after which a quarter of the ridge is left, or less if that saves time. It
/// is counted rather than computed with logarithms, whose last bit differs between platforms.
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
    use crate::{
        numeric::Random,
        regression::factor::tests::{through_state, through_state_in},
        state::Precision,
    };

    const MU: f64 = 0.95;

    /// A factor that forgets, with its refresh.
    fn start(order: usize) -> (Factor, RidgeRefresh) {
        (Factor::new(order, 0.5 / MU), RidgeRefresh::new(order, MU, 0.5, None))
    }

    fn rows(order: usize, count: usize) -> Vec<f64> {
        let mut random = Random::new(order as u64, "rows", "");
        (0..count * order).map(|_| random.signed_unit()).collect()
    }

    fn learn(factor: &mut Factor, refresh: &mut RidgeRefresh, features: &[f64]) -> Vec<f64> {
        learn_with(factor, refresh, features, MU)
    }

    fn learn_with(
        factor: &mut Factor,
        refresh: &mut RidgeRefresh,
        features: &[f64],
        forgetting: f64,
    ) -> Vec<f64> {
        let mut scores = vec![0.0; factor.targets()];
        let targets: Vec<f64> = (0..factor.targets()).map(|k| features[0] - k as f64).collect();
        let update = Update { features, targets: &targets, weights: &[1.5], forgetting };
        factor.sweep(update, &mut scores).unwrap();
        refresh.absorb(update, factor).unwrap();
        scores
    }

    #[test]
    fn restored_between_two_refreshes_it_continues_to_the_bit() {
        for order in [1, 5, 11, 12, 13, 24, 25, 40] {
            let rows = rows(order, 200);
            // Before the first refresh, after some, right after one, and with a full block pending.
            for at in [0, 7, 70, 81, 100] {
                let (mut factor, mut refresh) = start(order);
                factor.add_targets(5);
                for row in rows.chunks_exact(order).take(at) {
                    learn(&mut factor, &mut refresh, row);
                }
                let (mut other, mut other_refresh) = start(order);
                through_state(|to| factor.save(to), |from| other.restore(from)).unwrap();
                through_state(|to| refresh.save(to), |from| other_refresh.restore(from, &other))
                    .unwrap();
                other.add_targets(5);
                for row in rows.chunks_exact(order).skip(at) {
                    let scores = learn(&mut factor, &mut refresh, row);
                    assert_eq!(learn(&mut other, &mut other_refresh, row), scores, "order {order}");
                }
                assert_eq!(other.weights(), factor.weights(), "order {order}, at {at}");
                assert_eq!(other_refresh.health(&other), refresh.health(&factor));
                assert_eq!(other_refresh.worst_residual(), refresh.worst_residual());
                assert_eq!(other_refresh.refreshes(), refresh.refreshes());
            }
        }
    }

    /// Also where the ridge is lost in the rounding of P, which is why P is not rounded.
    #[test]
    fn rounded_to_seven_digits_it_stays_near_to_what_it_was() {
        for (order, ridge) in [(1, 0.5), (12, 0.5), (13, 1e-4), (40, 0.5), (40, 1e-4)] {
            let rows = rows(order, 400);
            // Before the first refresh, right after one, and between two.
            for at in [7, 27 * 3, 100] {
                let start = || {
                    let mut factor = Factor::new(order, ridge / MU);
                    factor.add_targets(2);
                    (factor, RidgeRefresh::new(order, MU, ridge, Some(27)))
                };
                let (mut factor, mut refresh) = start();
                for row in rows.chunks_exact(order).take(at) {
                    learn(&mut factor, &mut refresh, row);
                }
                let mut other = Factor::new(order, ridge / MU);
                let (_, mut other_refresh) = start();
                let single = Precision::Single;
                through_state_in(single, |to| factor.save(to), |from| other.restore(from)).unwrap();
                through_state_in(
                    single,
                    |to| refresh.save(to),
                    |from| other_refresh.restore(from, &other),
                )
                .unwrap();
                let (gram, found) = (refresh.summed(), other_refresh.summed());
                for (expected, found) in gram.iter().zip(&found) {
                    assert!((expected - found).abs() < 1e-5, "{found}, not {expected}");
                }
                for row in rows.chunks_exact(order).skip(at) {
                    let scores = learn(&mut factor, &mut refresh, row);
                    let found = learn(&mut other, &mut other_refresh, row);
                    for (expected, found) in scores.iter().zip(found) {
                        let context = format!("order {order}, ridge {ridge}, at {at}");
                        assert!((expected - found).abs() < 1e-3, "{context}: {found}, {expected}");
                    }
                }
            }
        }
    }

    impl RidgeRefresh {
        /// The rows of P as it is now.
        fn summed(&self) -> Vec<f64> {
            let mut gram = self.gram.clone();
            gram.add(&self.pending, &self.pending_weights).unwrap();
            gram.scale(self.decay);
            gram.p_rows()
        }
    }

    #[test]
    fn a_sound_factor_stays_near_to_what_it_learned() {
        for (order, mu, interval) in [(13, 0.95, None), (25, 0.9, Some(1)), (40, 0.9995, None)] {
            let mut factor = Factor::new(order, 0.5 / mu);
            let mut refresh = RidgeRefresh::new(order, mu, 0.5, interval);
            for (i, row) in rows(order, 4000).chunks_exact(order).enumerate() {
                // Targets are added from time to time.
                factor.add_targets(1 + i / 1000);
                learn_with(&mut factor, &mut refresh, row, mu);
            }
            assert!(refresh.worst_residual() > 0.0 && refresh.worst_residual() < 1e-12);
            assert_eq!(refresh.refreshes(), 4000 / refresh.interval() as u64);
            let health = refresh.health(&factor);
            assert!(health.residual < 1e-12, "{health:?}");
            assert_eq!(health.samples, 4000);
        }
    }

    #[test]
    fn a_damaged_factor_is_refreshed_early() {
        let mu = 0.9999;
        let mut factor = Factor::new(13, 0.5 / mu);
        let mut refresh = RidgeRefresh::new(13, mu, 0.5, None);
        factor.add_targets(2);
        for (i, row) in rows(13, 3000).chunks_exact(13).enumerate() {
            if i == 100 {
                // A sample that the sums do not contain.
                let update = Update {
                    features: row,
                    targets: &[1.0, 0.0],
                    weights: &[1e-3],
                    forgetting: 1.0,
                };
                factor.sweep(update, &mut [0.0; 2]).unwrap();
            }
            learn_with(&mut factor, &mut refresh, row, mu);
            assert_eq!(refresh.refreshes(), u64::from(i >= CHECK_EVERY - 1), "sample {i}");
        }
        assert!(refresh.worst_residual() > LARGEST_RESIDUAL);
        assert!(refresh.health(&factor).residual < 1e-12);
    }

    #[test]
    fn a_state_that_cannot_be_is_refused() {
        let (mut factor, mut refresh) = start(13);
        for row in rows(13, 10).chunks_exact(13) {
            learn(&mut factor, &mut refresh, row);
        }
        let refused = |change: &dyn Fn(&mut WriteScope<'_>)| {
            let (_, mut fresh) = start(13);
            let save = |to: &mut WriteScope<'_>| {
                refresh.save(to);
                change(to);
            };
            through_state(save, |from| fresh.restore(from, &factor)).is_err()
        };
        assert!(!refused(&|_| ()));
        assert!(refused(&|to| to.integer("since_refresh", refresh.interval())));
        assert!(refused(&|to| to.integer("since_check", 1024_u64)));
        assert!(refused(&|to| to.float("decay", 0.0)));
        assert!(refused(&|to| to.scope("gram").floats("p", vec![0.0; 90])));
        assert!(refused(&|to| to.scope("probe").floats("moments", vec![f64::NAN; 13])));
        assert!(refused(&|to| to.scope("probe").float("ridge", -1.0)));
        assert!(refused(&|to| to.float("worst_residual", -1.0)));
    }

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
