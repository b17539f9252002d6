//! One ridge regression of a model: a factor, and what preserves its ridge or checks its rounding.

use super::{
    batch::{Batch, BatchView},
    factor::{Factor, PastErrors, Probe, Slide, Sums, Update, Weights},
    health::{Inherited, RegressionHealth, RoundingMonitor},
    plan::RegressionPlan,
    ridge_refresh::RidgeRefresh,
};
use crate::{
    config::OnlineBlsConfig,
    error::{Error, ModelFileError},
    features::Features,
    numeric::Threads,
    state::{ReadScope, WriteScope},
};

/// A ridge regression on the first features of a model.
#[derive(Clone, Debug)]
pub(crate) struct RidgeRegression {
    plan: RegressionPlan,
    correction_steps: usize,
    factor: Factor,
    maintenance: Maintenance,
    /// The weights, if they are kept up to date.
    kept: Option<Weights>,
    /// A buffer for the features of a batch, if the regression sees fewer than the model has.
    prefix: Vec<f64>,
}

/// A regression's predictions for the samples of a batch, each made just before it was learned.
#[derive(Clone, Debug, Default)]
pub(crate) struct Learned {
    /// A row of scores for each sample and nested model.
    pub(crate) scores: Vec<f64>,
    /// The leverage of each sample.
    pub(crate) leverages: Vec<f64>,
}

/// What maintains the factor.
#[derive(Clone, Debug)]
enum Maintenance {
    /// The regression forgets, so its ridge is refreshed, which repairs rounding errors too.
    Refresh(RidgeRefresh),
    /// The regression forgets nothing, so its rounding errors are only checked.
    Monitor(RoundingMonitor),
}

impl RidgeRegression {
    /// A regression that has learned nothing.
    pub(crate) fn new(plan: RegressionPlan, config: &OnlineBlsConfig, threads: &Threads) -> Self {
        let RegressionPlan { features, forgetting, ridge, .. } = plan;
        let mut maintenance = if forgetting < 1.0 {
            Maintenance::Refresh(RidgeRefresh::new(
                features,
                forgetting,
                ridge,
                config.refresh_every,
            ))
        } else {
            Maintenance::Monitor(RoundingMonitor::new(features, ridge))
        };
        maintenance.share_threads(threads);
        // The first sweep multiplies the ridge by the forgetting, so it starts from λ/μ, as after a
        // refresh. Without forgetting this divides by 1.
        let mut factor = Factor::new(features, ridge / forgetting);
        for nested in plan.nested_features(config) {
            factor.add_readout(nested);
        }
        factor.share_threads(threads);
        let kept =
            (config.keep_weights || config.correction_steps > 0).then(|| Weights::of(&factor));
        RidgeRegression {
            plan,
            maintenance,
            correction_steps: config.correction_steps,
            factor,
            kept,
            prefix: Vec::new(),
        }
    }

    /// The regression on its first features alone, whose weights must not be kept.
    pub(crate) fn prefix(&self, features: usize, config: &OnlineBlsConfig) -> Result<Self, Error> {
        let plan = RegressionPlan { features, ..self.plan.clone() };
        let mut factor = self.factor.prefix(features);
        for nested in plan.nested_features(config) {
            factor.add_readout(nested);
        }
        let maintenance = match &self.maintenance {
            Maintenance::Refresh(refresh) => Maintenance::Refresh(refresh.prefix(&factor)?),
            Maintenance::Monitor(monitor) => Maintenance::Monitor(monitor.prefix(&factor)),
        };
        Ok(RidgeRegression {
            plan,
            correction_steps: self.correction_steps,
            factor,
            maintenance,
            kept: None,
            prefix: Vec::new(),
        })
    }

    pub(crate) fn plan(&self) -> &RegressionPlan {
        &self.plan
    }

    pub(crate) fn factor(&self) -> &Factor {
        &self.factor
    }

    /// The number of features of each nested model.
    pub(crate) fn readouts(&self) -> &[usize] {
        self.factor.readouts()
    }

    /// The output weights: one row per feature, one entry per class.
    pub(crate) fn weights(&self) -> Vec<f64> {
        self.kept.as_ref().map_or_else(|| self.factor.weights(), Weights::rows)
    }

    /// The output weights of all nested models, to predict with when it has learned more.
    pub(crate) fn kept_weights(&self) -> Weights {
        self.kept.clone().unwrap_or_else(|| Weights::of(&self.factor))
    }

    /// The number of samples between two refreshes, if it forgets.
    pub(crate) fn refresh_every(&self) -> Option<usize> {
        match &self.maintenance {
            Maintenance::Refresh(refresh) => Some(refresh.interval()),
            Maintenance::Monitor(_) => None,
        }
    }

    /// Raises the number of classes.
    pub(crate) fn add_classes(&mut self, classes: usize) {
        self.factor.add_targets(classes);
        if let Some(kept) = &mut self.kept {
            kept.add_targets(classes);
        }
    }

    /// The features of samples as they are, if it uses all of them.
    fn whole<'a>(&self, features: &'a Features) -> Option<&'a [f64]> {
        let RegressionPlan { features: order, kind, sees_labels, .. } = self.plan;
        let layout = features.layout;
        let all = !sees_labels && layout.len() == order && layout.starts_with(kind, order);
        all.then_some(&features.plain)
    }

    /// A row of scores for each nested model.
    pub(crate) fn scores(&self, features: &Features) -> Result<Vec<f64>, Error> {
        let row = self.plan.features_of(features, 1);
        match &self.kept {
            Some(kept) => kept.scores(&row),
            None => self.factor.scores(&row),
        }
    }

    /// The same for several samples, and the leverage of each.
    pub(crate) fn scores_many(
        &self,
        features: &Features,
        samples: usize,
    ) -> Result<(Vec<f64>, Vec<f64>), Error> {
        let rows = self.plan.features_of(features, samples);
        let (mut scores, leverages) = self.factor.scores_many(&rows)?;
        if let Some(kept) = &self.kept {
            scores.clear();
            for row in rows.chunks_exact(self.plan.features) {
                scores.extend(kept.scores(row)?);
            }
        }
        Ok((scores, leverages))
    }

    /// Learns samples, and returns its predictions for each from just before.
    pub(crate) fn learn(&mut self, batch: BatchView<'_>) -> Result<Learned, Error> {
        let samples = batch.weights.len();
        let (order, classes) = (self.plan.features, self.factor.targets());
        let row = self.readouts().len() * classes;
        let mut learned =
            Learned { scores: vec![0.0; samples * row], leverages: Vec::with_capacity(samples) };
        let mut prefix = std::mem::take(&mut self.prefix);
        let features = match self.whole(batch.features) {
            Some(features) => features,
            None => {
                prefix.clear();
                self.plan.gather(batch.features, samples, &mut prefix);
                &prefix
            }
        };
        // The batch is cut where the factor is refreshed or checked, so that both happen after the
        // same samples for any block size. Weights that are kept follow the factor sample by
        // sample.
        let mut start = 0;
        while start < samples {
            let most = match (&self.kept, &self.maintenance) {
                (Some(_), _) => 1,
                (None, Maintenance::Refresh(refresh)) => refresh.until_refresh(),
                (None, Maintenance::Monitor(monitor)) => monitor.until_check(),
            };
            let end = samples.min(start + most);
            let update = Update {
                features: &features[start * order..end * order],
                targets: &batch.targets[start * classes..end * classes],
                weights: &batch.weights[start..end],
                forgetting: self.plan.forgetting,
            };
            let scores = &mut learned.scores[start * row..end * row];
            learned.leverages.extend(self.sweep(update, scores)?);
            start = end;
        }
        self.prefix = prefix;
        Ok(learned)
    }

    /// Learns samples up to the next refresh, and refreshes if that is due. Returns their
    /// leverages.
    fn sweep(&mut self, update: Update<'_>, scores: &mut [f64]) -> Result<Vec<f64>, Error> {
        let leverages = match (&mut self.kept, &self.maintenance) {
            (None, _) => self.factor.sweep(update, scores)?,
            (Some(kept), Maintenance::Refresh(refresh)) if self.correction_steps > 0 => {
                let (missing, steps) = (refresh.missing_ridge(), self.correction_steps);
                kept.learn_corrected(&mut self.factor, update, missing, steps, scores)?
            }
            (Some(kept), _) => kept.learn(&mut self.factor, update, scores)?,
        };
        self.keep_up(update)?;
        Ok(leverages)
    }

    /// Records swept samples, and refreshes the factor if that is due.
    fn keep_up(&mut self, update: Update<'_>) -> Result<(), Error> {
        let refresh = match &mut self.maintenance {
            Maintenance::Refresh(refresh) => refresh,
            Maintenance::Monitor(monitor) => {
                monitor.learn(&self.factor, update);
                return Ok(());
            }
        };
        let refreshed = refresh.absorb(update, &mut self.factor)?;
        match &mut self.kept {
            Some(kept) if refreshed && self.correction_steps > 0 => {
                kept.give_to(&mut self.factor);
                refresh.weights_were_given(&self.factor);
            }
            Some(kept) if refreshed => *kept = Weights::of(&self.factor),
            _ => {}
        }
        Ok(())
    }

    /// Learns one sample and removes another, if one is given. Returns its prediction for the
    /// first, and whether the factor is still sound. It must forget nothing.
    pub(crate) fn slide(
        &mut self,
        learned: BatchView<'_>,
        removed: Option<&Batch>,
    ) -> Result<(Learned, bool), Error> {
        fn update(batch: BatchView<'_>, order: usize) -> Update<'_> {
            let BatchView { features, targets, weights } = batch;
            let features = &features.plain[..weights.len() * order];
            Update { features, targets, weights, forgetting: 1.0 }
        }
        let order = self.plan.features;
        let mut scores = vec![0.0; self.readouts().len() * self.factor.targets()];
        let nothing = Batch::default();
        let removed = removed.unwrap_or(&nothing).view();
        let (learned, removed) = (update(learned, order), update(removed, order));
        if let Maintenance::Monitor(monitor) = &mut self.maintenance
            && !removed.weights.is_empty()
        {
            monitor.prepare_to_unlearn(&self.factor);
        }
        let Slide { leverages, mut is_sound } = self.factor.slide(learned, removed, &mut scores)?;
        if let Maintenance::Monitor(monitor) = &mut self.maintenance {
            is_sound &= monitor.slide(&self.factor, learned, removed)?;
        }
        Ok((Learned { scores, leverages }, is_sound))
    }

    /// Adds what another regression with the same plan has learned. `classes[k]` is the number here
    /// of the other's class k. Neither may forget.
    pub(crate) fn merge(&mut self, other: &Self, classes: &[usize]) -> Result<(), Error> {
        let Maintenance::Monitor(monitor) = &other.maintenance else { return Ok(()) };
        self.absorb(&other.factor, &monitor.to_inherit(&other.factor), classes)
    }

    /// Adds the sums of other samples, with the probe that has watched over them.
    pub(crate) fn merge_sums(
        &mut self,
        sums: &Sums,
        probe: &Probe,
        classes: &[usize],
    ) -> Result<(), Error> {
        let mut factor = Factor::new(self.plan.features, self.plan.ridge);
        factor.rebuild(&sums.prefix(self.plan.features), self.plan.ridge)?;
        let mut past = PastErrors::default();
        past.add(&factor, probe.error_from_sums(&factor));
        self.absorb(&factor, &Inherited { probe, past }, classes)
    }

    fn absorb(
        &mut self,
        other: &Factor,
        inherited: &Inherited<'_>,
        classes: &[usize],
    ) -> Result<(), Error> {
        let before = self.factor.clone();
        self.factor.merge(other, self.plan.ridge, classes)?;
        if let Maintenance::Monitor(monitor) = &mut self.maintenance {
            monitor.merge(inherited, [&before, other, &self.factor], classes);
        }
        self.follow_factor();
        Ok(())
    }

    /// Begins to rebuild its factor from samples; it must forget nothing.
    pub(crate) fn reset(&mut self) {
        self.factor.reset(self.plan.ridge);
    }

    /// Learns samples again that its probe has already seen, after a [reset](Self::reset).
    pub(crate) fn learn_again(&mut self, rows: &Batch) -> Result<(), Error> {
        let (samples, features) = (rows.weights.len(), rows.prefix(self.plan.features));
        let update = Update {
            features: &features,
            targets: &rows.targets,
            weights: &rows.weights,
            forgetting: 1.0,
        };
        let mut scores = vec![0.0; samples * self.readouts().len() * self.factor.targets()];
        self.factor.sweep(update, &mut scores).map(|_| ())
    }

    /// Ends a rebuild.
    pub(crate) fn rebuilt(&mut self) {
        if let Maintenance::Monitor(monitor) = &mut self.maintenance {
            monitor.rebuilt(&self.factor);
        }
        self.follow_factor();
    }

    /// The error of scores at the last check of a regression that covers a window.
    pub(crate) fn window_error(&self) -> f64 {
        match &self.maintenance {
            Maintenance::Monitor(monitor) => monitor.error(),
            Maintenance::Refresh(_) => 0.0,
        }
    }

    /// Removes samples; it must forget nothing. If one is refused, the error comes with its row,
    /// and the regression must be discarded.
    pub(crate) fn unlearn(&mut self, rows: &Batch) -> Result<(), (usize, Error)> {
        if let Maintenance::Monitor(monitor) = &mut self.maintenance {
            monitor.prepare_to_unlearn(&self.factor);
        }
        let before = self.factor.clone();
        for (row, update) in rows.updates(self.plan.features).enumerate() {
            let Update { features, targets, weights, .. } = update;
            self.factor.unlearn(features, targets, weights[0]).map_err(|error| (row, error))?;
            if let Maintenance::Monitor(monitor) = &mut self.maintenance {
                monitor.unlearn(update).map_err(|error| (row, error))?;
            }
        }
        if let Maintenance::Monitor(monitor) = &mut self.maintenance {
            let features = rows.prefix(self.plan.features);
            let (targets, weights) = (&rows.targets, &rows.weights);
            let removed = Update { features: &features, targets, weights, forgetting: 1.0 };
            monitor.unlearned(&before, &self.factor, removed);
        }
        self.follow_factor();
        Ok(())
    }

    /// Adds `change` to the targets of a sample; it must forget nothing.
    pub(crate) fn correct(
        &mut self,
        features: &[f64],
        change: &[f64],
        weight: f64,
    ) -> Result<(), Error> {
        let features = &features[..self.plan.features];
        self.factor.correct(features, change, weight)?;
        if let Maintenance::Monitor(monitor) = &mut self.maintenance {
            monitor.correct(features, change, weight)?;
        }
        self.follow_factor();
        Ok(())
    }

    /// Solves for the weights again, if they are kept.
    fn follow_factor(&mut self) {
        if let Some(kept) = &mut self.kept {
            *kept = Weights::of(&self.factor);
        }
    }

    /// The numerical state of its factor.
    pub(crate) fn health(&self) -> RegressionHealth {
        let name = self.plan.name.clone();
        match &self.maintenance {
            Maintenance::Monitor(monitor) => monitor.health(name, &self.factor),
            Maintenance::Refresh(refresh) => {
                let mut now = refresh.health(&self.factor);
                if self.correction_steps > 0 {
                    // A corrected gain solves with K once more, and so loses twice the digits.
                    now.error = now.error.max(f64::EPSILON * now.condition).min(f64::MAX);
                }
                RegressionHealth {
                    name,
                    features: self.plan.features,
                    now,
                    worst_residual: refresh.worst_residual(),
                    refreshes: refresh.refreshes(),
                }
            }
        }
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        self.factor.save(&mut to.scope("factor"));
        // `fading` and `watch` are names of format version 1.
        match &self.maintenance {
            Maintenance::Refresh(refresh) => refresh.save(&mut to.scope("fading")),
            Maintenance::Monitor(monitor) => monitor.save(&mut to.scope("watch")),
        }
        if let Some(kept) = &self.kept {
            kept.save(&mut to.scope("weights"));
        }
    }

    /// Takes over a regression with the same plan and `classes` known classes.
    pub(crate) fn restore(
        &mut self,
        from: &ReadScope<'_>,
        classes: usize,
    ) -> Result<(), ModelFileError> {
        self.factor.restore(&from.scope("factor")?)?;
        let sound = self.factor.targets() == classes;
        from.check("factor", sound, "of as many targets as there are classes")?;
        self.add_classes(classes);
        match &mut self.maintenance {
            Maintenance::Refresh(refresh) => {
                refresh.restore(&from.scope("fading")?, &self.factor)?;
            }
            Maintenance::Monitor(monitor) => {
                monitor.restore(&from.scope("watch")?, &self.factor)?;
            }
        }
        if let Some(kept) = &mut self.kept {
            kept.restore(&from.scope("weights")?)?;
            let sound = kept.targets() == classes;
            from.check("weights", sound, "of as many targets as there are classes")?;
        }
        Ok(())
    }

    /// Uses the given threads, which others use too.
    pub(crate) fn share_threads(&mut self, threads: &Threads) {
        self.factor.share_threads(threads);
        self.maintenance.share_threads(threads);
    }
}

impl Maintenance {
    fn share_threads(&mut self, threads: &Threads) {
        if let Maintenance::Refresh(refresh) = self {
            refresh.share_threads(threads);
        }
    }
}
