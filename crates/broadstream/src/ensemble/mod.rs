//! The regressions of a model, and how their predictions are combined.
//!
//! Of forgettings from 1 to 0.9 each is the best on some stream, by many points, and no single
//! ridge is the best everywhere, so several regressions learn the same features side by side. Each
//! is bit for bit what it would be alone.

mod adapt;
mod capacity;
mod class_calibration;
mod combiner;
mod error_weighted_average;
mod plan;
mod predictor;
mod recent_samples;
mod restart;
mod stacking;
mod temperature;

pub(crate) use self::{
    plan::{labelled_features, plan},
    predictor::EnsemblePredictor,
    recent_samples::RecentSamples,
};

use self::{
    capacity::Capacity,
    combiner::{Combiner, Prediction},
    restart::Restart,
};
use crate::{
    classifier::{Member, MemberChange},
    config::OnlineBlsConfig,
    error::{Error, ModelFileError},
    features::Features,
    numeric::Threads,
    regression::{
        Batch, BatchView, Learned, RegressionHealth, RidgeRegression,
        factor::{Probe, Sums},
    },
    state::{ReadScope, WriteScope},
};

/// A regression restarts only after a multiple of this many samples, where blocks are cut. Restarts
/// thus happen after the same samples for any block size: a block is learned before its samples are
/// compared, so a restart in the middle of one would come too late.
const RESTARTS_EVERY: u64 = 64;

/// The most restarts that are remembered: a model that runs for years must not grow with them.
const MOST_RESTARTS: usize = 10_000;

/// Several regressions that learn the same samples.
#[derive(Clone, Debug)]
pub(crate) struct Ensemble {
    config: OnlineBlsConfig,
    /// The one on all features comes first, unless the model chooses its regressions.
    regressions: Vec<RidgeRegression>,
    combiner: Combiner,
    /// The index of the regression that restarts after a drift, and the comparison that tells when.
    /// The regression on all samples never restarts, so a false alarm costs a member and not the
    /// model.
    restart: Option<(usize, Restart)>,
    /// The numbers of learned samples after which it restarted.
    restarts: Vec<u64>,
    classes: usize,
    /// The number of samples of positive weight so far.
    learned: u64,
    threads: Threads,
    /// Whether threads share the sweeps of the largest regression; otherwise each takes whole
    /// regressions.
    shares_largest: bool,
    /// Which regressions take part, if the model chooses them.
    adaptive: Option<Adaptive>,
}

/// What a model needs that chooses its regressions.
#[derive(Clone, Debug)]
struct Adaptive {
    capacity: Capacity,
    recent: RecentSamples,
}

/// The regressions' predictions for the samples of a batch, each made just before it was learned.
pub(crate) struct LearnedBatch {
    /// One entry per regression.
    learned: Vec<Learned>,
    /// The index of the largest regression.
    largest: usize,
}

impl LearnedBatch {
    /// The leverage of each sample in the largest regression: how unlike the past it was.
    pub(crate) fn leverages(&self) -> &[f64] {
        &self.learned[self.largest].leverages
    }
}

/// The multiply-adds of learning that many samples.
fn multiply_adds<'a>(
    regressions: impl IntoIterator<Item = &'a RidgeRegression>,
    samples: usize,
) -> u64 {
    let square = |regression: &RidgeRegression| regression.plan().features.pow(2);
    let squares: usize = regressions.into_iter().map(square).sum();
    squares as u64 * samples as u64
}

/// How long threads take that each take the next cost when they are done with the last.
fn longest_load(costs: &[usize], threads: usize) -> usize {
    let mut loads = vec![0; threads];
    for cost in costs {
        if let Some(least) = loads.iter_mut().min() {
            *least += cost;
        }
    }
    loads.into_iter().max().unwrap_or(0)
}

impl Ensemble {
    /// Regressions that have learned nothing.
    pub(crate) fn new(config: &OnlineBlsConfig, threads: &Threads) -> Self {
        let alone = Threads::default();
        let plans = plan(config).into_iter();
        let regressions: Vec<RidgeRegression> =
            plans.map(|plan| RidgeRegression::new(plan, config, &alone)).collect();
        let members = regressions.iter().map(|regression| regression.readouts().len()).sum();
        let mut ensemble = Ensemble {
            config: config.clone(),
            combiner: Combiner::new(members, config),
            restart: watch_for_drifts(&regressions),
            restarts: Vec::new(),
            regressions,
            classes: 0,
            learned: 0,
            threads: alone,
            shares_largest: false,
            adaptive: config.is_adaptive().then(|| Adaptive {
                capacity: Capacity::new(config),
                recent: RecentSamples::new(config.label_lags),
            }),
        };
        ensemble.share_threads(threads);
        ensemble
    }

    /// Shares the work among the given threads from now on. They change no bit.
    pub(crate) fn share_threads(&mut self, threads: &Threads) {
        self.threads = threads.clone();
        // Threads take whole regressions, since sharing one makes them wait for each other, unless
        // some would be idle for long while another is at work on its last one.
        let largest = self.largest_index();
        let cost = |regression: &RidgeRegression| regression.plan().features.pow(2);
        let mut costs: Vec<usize> = self.regressions.iter().map(cost).collect();
        costs.sort_unstable_by_key(|cost| std::cmp::Reverse(*cost));
        let own = costs.first().map_or(0, |own| own + own / 5) / threads.count();
        let whole = longest_load(&costs, threads.count());
        let shared = longest_load(costs.get(1..).unwrap_or_default(), threads.count());
        self.shares_largest = threads.count() > 1 && own + shared < whole;
        for (i, regression) in self.regressions.iter_mut().enumerate() {
            let shared = i == largest && self.shares_largest;
            regression.share_threads(&if shared { threads.clone() } else { Threads::default() });
        }
    }

    /// The threads that share the work.
    pub(crate) fn threads(&self) -> &Threads {
        &self.threads
    }

    /// All regressions, the one on all features first.
    #[cfg(test)]
    pub(crate) fn regressions(&self) -> &[RidgeRegression] {
        &self.regressions
    }

    /// The regression with the most features; of several, the first.
    pub(crate) fn largest(&self) -> &RidgeRegression {
        &self.regressions[self.largest_index()]
    }

    fn largest_index(&self) -> usize {
        let features = |i: &usize| self.regressions[*i].plan().features;
        (0..self.regressions.len()).rev().max_by_key(features).unwrap_or(0)
    }

    /// The number of samples of positive weight so far.
    pub(crate) fn learned(&self) -> u64 {
        self.learned
    }

    /// The number of classes.
    pub(crate) fn classes(&self) -> usize {
        self.classes
    }

    /// Raises the number of classes.
    pub(crate) fn add_classes(&mut self, classes: usize) {
        self.classes = self.classes.max(classes);
        self.regressions.iter_mut().for_each(|regression| regression.add_classes(classes));
        if let Some(Adaptive { capacity, .. }) = &mut self.adaptive {
            capacity.add_classes(classes);
        }
    }

    /// The regressions by name, or the nested models of the only one, with their weights.
    pub(crate) fn members(&self) -> Vec<Member> {
        let mut weights = self.combiner.weights().iter().copied();
        match self.regressions.as_slice() {
            [_] if weights.len() < 2 && self.adaptive.is_none() => Vec::new(),
            [only] if self.adaptive.is_none() => {
                let sizes = only.readouts().iter().zip(weights);
                let nested = |(size, weight): (&usize, f64)| Member {
                    name: format!("{size} features"),
                    features: Some(*size),
                    ..only.plan().member(weight)
                };
                sizes.map(nested).collect()
            }
            several => {
                let member = |regression: &RidgeRegression| {
                    let own = weights.by_ref().take(regression.readouts().len());
                    regression.plan().member(own.sum())
                };
                let active = several.iter().map(member).collect();
                match &self.adaptive {
                    Some(Adaptive { capacity, .. }) => capacity.members(active),
                    None => active,
                }
            }
        }
    }

    /// How the regressions have changed.
    pub(crate) fn changes(&self) -> &[MemberChange] {
        self.adaptive.as_ref().map_or(&[], |adaptive| adaptive.capacity.changes())
    }

    /// How many bytes it takes with this many inputs and classes.
    pub(crate) fn bytes(&self, inputs: usize, classes: usize) -> u128 {
        self.bytes_with(&[], inputs, classes)
    }

    /// The nested models of the largest regression: the number of features of each, and its weight.
    pub(crate) fn nested_models(&self) -> Vec<(usize, f64)> {
        let before = self.regressions[..self.largest_index()].iter();
        let before = before.map(|regression| regression.readouts().len()).sum();
        let weights = self.combiner.weights().iter().copied().skip(before);
        self.largest().readouts().iter().copied().zip(weights).collect()
    }

    /// The numbers of learned samples after which a regression restarted.
    pub(crate) fn restarts(&self) -> &[u64] {
        &self.restarts
    }

    /// Turns scores into probabilities.
    pub(crate) fn probabilities(&self, scores: &[f64]) -> Vec<f64> {
        self.combiner.probabilities(scores)
    }

    /// How many samples may be learned at once, so that restarts fall on the same samples for any
    /// blocks.
    pub(crate) fn longest_run(&self) -> usize {
        match self.restart.is_some() || self.adaptive.is_some() {
            true => (RESTARTS_EVERY - self.learned % RESTARTS_EVERY) as usize,
            false => usize::MAX,
        }
    }

    /// Excludes classes of which nothing is remembered from a prediction.
    pub(crate) fn exclude(&self, prediction: &mut Prediction, classes: &[usize]) {
        if !classes.is_empty() {
            self.combiner.exclude(prediction, classes);
        }
    }

    /// The combined prediction for a sample, given its features.
    pub(crate) fn predict(&self, features: &Features, known: usize) -> Result<Prediction, Error> {
        let mut scores = Vec::new();
        for regression in &self.regressions {
            scores.extend(regression.scores(features)?);
        }
        Ok(self.combiner.predict(&scores, self.classes, known))
    }

    /// The combined predictions for several samples, given their features, and the leverage of
    /// each.
    pub(crate) fn predict_many(
        &self,
        features: &Features,
        samples: usize,
        known: usize,
    ) -> Result<(Vec<Prediction>, Vec<f64>), Error> {
        let mut predictions: Vec<_> =
            self.regressions.iter().map(|_| Ok(Default::default())).collect();
        let work = self.regressions.iter().zip(&mut predictions);
        let multiply_adds = multiply_adds(&self.regressions, samples) / 2;
        self.threads.spread(multiply_adds, work, |(regression, prediction)| {
            *prediction = regression.scores_many(features, samples);
        });
        let mut predictions = predictions.into_iter().collect::<Result<Vec<_>, Error>>()?;
        let combined = (0..samples).map(|i| {
            let mut scores = Vec::new();
            for (regression, (all, _)) in self.regressions.iter().zip(&predictions) {
                let row = regression.readouts().len() * self.classes;
                scores.extend_from_slice(&all[i * row..][..row]);
            }
            self.combiner.predict(&scores, self.classes, known)
        });
        let combined = combined.collect();
        Ok((combined, std::mem::take(&mut predictions[self.largest_index()].1)))
    }

    /// Lets all regressions learn samples with positive weights, at most the
    /// [longest run](Self::longest_run) of them. The caller then [counts](Self::count) each of them
    /// in order.
    pub(crate) fn learn(&mut self, batch: BatchView<'_>) -> Result<LearnedBatch, Error> {
        let largest = self.largest_index();
        let multiply_adds = multiply_adds(&self.regressions, batch.weights.len());
        let mut outcomes: Vec<_> =
            self.regressions.iter().map(|_| Ok(Learned::default())).collect();
        let mut work: Vec<_> = self.regressions.iter_mut().zip(&mut outcomes).collect();
        if self.shares_largest {
            let (regression, outcome) = work.swap_remove(largest);
            *outcome = regression.learn(batch);
        }
        // The threads take the largest ones first, so that none is left with one at the end.
        work.sort_by_key(|(regression, _)| std::cmp::Reverse(regression.plan().features));
        let work = work.into_iter();
        self.threads.spread(multiply_adds, work, |(regression, outcome)| {
            *outcome = regression.learn(batch);
        });
        let learned = outcomes.into_iter().collect::<Result<Vec<Learned>, Error>>()?;
        Ok(LearnedBatch { learned, largest })
    }

    /// Lets all regressions learn one sample and remove another, if one is given. Returns whether
    /// all are still sound; otherwise they must be [rebuilt](Self::rebuild). None may forget.
    pub(crate) fn slide(
        &mut self,
        learned: BatchView<'_>,
        removed: Option<&Batch>,
    ) -> Result<(LearnedBatch, bool), Error> {
        let (mut batch, mut all_sound) = (LearnedBatch { learned: Vec::new(), largest: 0 }, true);
        for regression in &mut self.regressions {
            let (learned, is_sound) = regression.slide(learned, removed)?;
            batch.learned.push(learned);
            all_sound &= is_sound;
        }
        Ok((batch, all_sound))
    }

    /// Combines the regressions' predictions for sample `i` of a batch, made before they learned
    /// it, and updates the weights of the members with its class.
    pub(crate) fn count(
        &mut self,
        batch: &LearnedBatch,
        i: usize,
        known: usize,
        class: usize,
        weight: f64,
    ) -> Result<Prediction, Error> {
        let mut scores = Vec::new();
        for (regression, learned) in self.regressions.iter().zip(&batch.learned) {
            let row = regression.readouts().len() * self.classes;
            scores.extend_from_slice(&learned.scores[i * row..][..row]);
        }
        let prediction = self.combiner.predict(&scores, self.classes, known);
        let errors = self.combiner.observe(&prediction, &scores, self.classes, class, weight)?;
        self.learned += 1;
        self.restart_after_drift(&errors);
        Ok(prediction)
    }

    /// Adds what another ensemble with the same plan has learned. `classes[k]` is the number here of
    /// the other's class k. None may forget.
    pub(crate) fn merge(&mut self, other: &Ensemble, classes: &[usize]) -> Result<(), Error> {
        for (regression, other) in self.regressions.iter_mut().zip(&other.regressions) {
            regression.merge(other, classes)?;
        }
        self.count_merged(classes, other.learned);
        self.combiner.merge(&other.combiner);
        Ok(())
    }

    /// Adds the sums of `learned` other samples, with a probe for each regression that has watched
    /// over them. None may forget.
    pub(crate) fn merge_sums(
        &mut self,
        sums: &Sums,
        probes: &[Probe],
        classes: &[usize],
        learned: u64,
    ) -> Result<(), Error> {
        for (regression, probe) in self.regressions.iter_mut().zip(probes) {
            regression.merge_sums(sums, probe, classes)?;
        }
        self.count_merged(classes, learned);
        Ok(())
    }

    fn count_merged(&mut self, classes: &[usize], learned: u64) {
        let classes = classes.iter().map(|class| class + 1).fold(self.classes, usize::max);
        self.add_classes(classes);
        self.learned = self.learned.saturating_add(learned);
    }

    /// Rebuilds all regressions from the samples that they represent. None may forget.
    pub(crate) fn rebuild(&mut self, samples: impl Iterator<Item = Batch>) -> Result<(), Error> {
        self.regressions.iter_mut().for_each(RidgeRegression::reset);
        for batch in samples {
            for regression in &mut self.regressions {
                regression.learn_again(&batch)?;
            }
        }
        self.regressions.iter_mut().for_each(RidgeRegression::rebuilt);
        Ok(())
    }

    /// The largest error of scores at the last check of regressions that cover a window.
    pub(crate) fn window_error(&self) -> f64 {
        self.regressions.iter().map(RidgeRegression::window_error).fold(0.0, f64::max)
    }

    /// The numerical state of each regression.
    pub(crate) fn health(&self) -> Vec<RegressionHealth> {
        self.regressions.iter().map(RidgeRegression::health).collect()
    }

    /// The numerical state of the regression whose scores are the least certain.
    pub(crate) fn worst_health(&self) -> RegressionHealth {
        let mut worst = self.largest().health();
        for other in self.regressions[1..].iter().map(RidgeRegression::health) {
            if other.now.error > worst.now.error {
                worst = other;
            }
        }
        worst
    }

    /// Removes samples. None may forget. If one is refused, the error comes with its row, and the
    /// ensemble must be discarded.
    pub(crate) fn unlearn(&mut self, rows: &Batch) -> Result<(), (usize, Error)> {
        for regression in &mut self.regressions {
            regression.unlearn(rows)?;
        }
        self.learned = self.learned.saturating_sub(rows.weights.len() as u64);
        Ok(())
    }

    /// Adds `change` to the targets of a sample. None may forget.
    pub(crate) fn correct(
        &mut self,
        features: &[f64],
        change: &[f64],
        weight: f64,
    ) -> Result<(), Error> {
        self.add_classes(change.len());
        for regression in &mut self.regressions {
            regression.correct(features, change, weight)?;
        }
        Ok(())
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        to.integer("classes", self.classes);
        to.integer("learned", self.learned);
        to.integers("restarts", self.restarts.clone());
        if let Some(adaptive) = &self.adaptive {
            adaptive.save(&self.regressions, &mut to.scope("adaptive"));
        }
        for (i, regression) in self.regressions.iter().enumerate() {
            regression.save(&mut to.scope("regressions").scope(&i.to_string()));
        }
        // Model files call the combiner a committee; that name is part of format version 1.
        self.combiner.save(&mut to.scope("committee"));
        if let Some((_, restart)) = &self.restart {
            restart.save(&mut to.scope("restart"));
        }
    }

    /// Takes over the saved state of an ensemble with the same configuration, and of a model with
    /// this many inputs.
    pub(crate) fn restore(
        &mut self,
        from: &ReadScope<'_>,
        inputs: usize,
    ) -> Result<(), ModelFileError> {
        // Each class is a row of every factor, so there are at most as many classes as entries.
        let rows = from.scope("regressions")?.scope("0")?.scope("factor")?;
        let classes = from.count("classes", rows.length("z"))?;
        self.learned = from.integer("learned")?;
        if let Some(adaptive) = &mut self.adaptive {
            let from = from.scope("adaptive")?;
            adaptive.restore(&from, &self.config, inputs, classes, self.learned)?;
            let plans = adaptive.capacity.saved_plans(&from.scope("regressions")?)?;
            let new = |plan| RidgeRegression::new(plan, &self.config, &Threads::default());
            self.regressions = plans.into_iter().map(new).collect();
            self.rearranged();
        }
        for (i, regression) in self.regressions.iter_mut().enumerate() {
            let from = from.scope("regressions")?.scope(&i.to_string())?;
            regression.restore(&from, classes)?;
        }
        self.classes = classes;
        self.restarts = from.any_integers("restarts")?;
        let sound = self.restarts.len() <= MOST_RESTARTS;
        from.check("restarts", sound, "no more than are remembered")?;
        if self.adaptive.is_some() {
            let members = self.regressions.iter().map(|regression| regression.readouts().len());
            self.combiner = Combiner::new(members.sum(), &self.config);
        }
        self.combiner.restore(&from.scope("committee")?, classes)?;
        if let Some((_, restart)) = &mut self.restart {
            restart.restore(&from.scope("restart")?)?;
        }
        Ok(())
    }

    /// The number of features of each regression in a saved ensemble, as it claims.
    pub(crate) fn saved_orders(
        config: &OnlineBlsConfig,
        from: &ReadScope<'_>,
    ) -> Result<Vec<usize>, ModelFileError> {
        if config.is_adaptive() {
            let orders = from.scope("adaptive")?.scope("regressions")?.any_integers("features")?;
            return Ok(orders.into_iter().map(|order| order.clamp(1, 1 << 32) as usize).collect());
        }
        Ok(plan(config).iter().map(|plan| plan.features).collect())
    }

    /// Adjusts what depends on which regressions there are.
    fn rearranged(&mut self) {
        self.restart = watch_for_drifts(&self.regressions);
        self.share_threads(&self.threads.clone());
    }

    /// Compares the members' errors, and restarts a regression if they indicate a drift.
    fn restart_after_drift(&mut self, errors: &[f64]) {
        let Some((index, restart)) = &mut self.restart else { return };
        let members = |regressions: &[RidgeRegression]| -> usize {
            regressions.iter().map(|regression| regression.readouts().len()).sum()
        };
        let first = members(&self.regressions[..*index]);
        let own = first..first + self.regressions[*index].readouts().len();
        let loss = |member: &usize| self.combiner.recent_loss(*member);
        // Of its nested models the one with the smallest recent loss represents the regression.
        let best = own.min_by(|a, b| loss(a).total_cmp(&loss(b))).unwrap_or(first);
        // The regressions after it are those that forget. One that is larger may do better without a
        // drift, so it does not count.
        let most = self.regressions[*index].plan().features;
        let sizes = self.regressions[*index + 1..].iter().flat_map(RidgeRegression::readouts);
        let others = errors[members(&self.regressions[..=*index])..].iter().zip(sizes);
        let others = others.map(|(error, size)| if *size <= most { *error } else { errors[best] });
        restart.observe(errors[best], others);
        if self.learned.is_multiple_of(RESTARTS_EVERY) && restart.take() {
            let plan = self.regressions[*index].plan().clone();
            let features = plan.features;
            let mut fresh = RidgeRegression::new(plan, &self.config, &Threads::default());
            fresh.add_classes(self.classes);
            self.regressions[*index] = fresh;
            if self.restarts.len() < MOST_RESTARTS {
                self.restarts.push(self.learned);
            }
            if let Some(adaptive) = &mut self.adaptive {
                adaptive.capacity.restarted(self.learned, features);
            }
        }
    }
}

/// The regression that restarts after a drift, and its comparison with those after it.
fn watch_for_drifts(regressions: &[RidgeRegression]) -> Option<(usize, Restart)> {
    let index = regressions.iter().position(|regression| regression.plan().restarts)?;
    let others = regressions[index + 1..].iter().map(|other| other.readouts().len());
    Some((index, Restart::new(others.sum())))
}
