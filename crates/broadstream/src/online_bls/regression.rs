//! One ridge regression of a model: a factor, and what keeps it in shape while it forgets.

use super::{config::OnlineBlsConfig, plan::RegressionPlan};
use crate::{
    error::Error,
    factor::{Factor, Update, Weights},
    fading::Fading,
    features::Features,
    threads::Threads,
};

/// A ridge regression on the first of a model's features.
#[derive(Clone, Debug)]
pub(super) struct Regression {
    plan: RegressionPlan,
    correction_steps: usize,
    factor: Factor,
    fading: Option<Fading>,
    /// The weights, if they are kept up to date.
    kept: Option<Weights>,
    /// The scores of the last run, and its features if they are fewer than the model's.
    scores: Vec<f64>,
    prefix: Vec<f64>,
}

/// Samples of positive weight for [`Regression::learn`], a row each.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    pub(super) features: &'a Features,
    pub(super) targets: &'a [f64],
    pub(super) weights: &'a [f64],
}

impl Regression {
    /// A regression that has learned nothing.
    pub(super) fn new(plan: RegressionPlan, config: &OnlineBlsConfig, threads: &Threads) -> Self {
        let RegressionPlan { features, forgetting, ridge, .. } = plan;
        let mut fading = (forgetting < 1.0)
            .then(|| Fading::new(features, forgetting, ridge, config.refresh_every));
        if let Some(fading) = &mut fading {
            fading.share_threads(threads);
        }
        // Forgetting nothing divides by 1; see `fading` for the rest.
        let mut factor = Factor::new(features, ridge / forgetting);
        for nested in config.nested_features() {
            factor.add_readout(nested);
        }
        factor.share_threads(threads);
        let kept =
            (config.keep_weights || config.correction_steps > 0).then(|| Weights::of(&factor));
        Regression {
            plan,
            correction_steps: config.correction_steps,
            factor,
            fading,
            kept,
            scores: Vec::new(),
            prefix: Vec::new(),
        }
    }

    pub(super) fn plan(&self) -> &RegressionPlan {
        &self.plan
    }

    pub(super) fn factor(&self) -> &Factor {
        &self.factor
    }

    /// How many features each of its nested models has.
    pub(super) fn readouts(&self) -> &[usize] {
        self.factor.readouts()
    }

    /// The output weights: one row per feature, one entry per class.
    pub(super) fn weights(&self) -> Vec<f64> {
        self.kept.as_ref().map_or_else(|| self.factor.weights(), Weights::rows)
    }

    /// Samples between two refreshes, if it forgets.
    pub(super) fn refresh_every(&self) -> Option<usize> {
        self.fading.as_ref().map(Fading::interval)
    }

    /// Makes room for that many classes.
    pub(super) fn add_classes(&mut self, classes: usize) {
        self.factor.add_targets(classes);
        if let Some(kept) = &mut self.kept {
            kept.add_targets(classes);
        }
    }

    /// The features that it sees, of those that it was given.
    fn seen<'a>(&self, features: &'a Features) -> &'a [f64] {
        if self.plan.sees_labels { &features.labelled } else { &features.plain }
    }

    /// For each nested model a row of scores.
    pub(super) fn scores(&self, features: &Features) -> Result<Vec<f64>, Error> {
        let features = &self.seen(features)[..self.plan.features];
        match &self.kept {
            Some(kept) => kept.scores(features),
            None => self.factor.scores(features),
        }
    }

    /// Learns samples. Their [scores](Self::last_scores) of before are left behind.
    pub(super) fn learn(&mut self, run: Run<'_>) -> Result<(), Error> {
        let samples = run.weights.len();
        let given = self.seen(run.features);
        let length = given.len() / samples.max(1);
        let (order, classes) = (self.plan.features, self.factor.targets());
        let row = self.readouts().len() * classes;
        self.scores.clear();
        self.scores.resize(samples * row, 0.0);
        let mut prefix = std::mem::take(&mut self.prefix);
        let features = if order == length {
            given
        } else {
            prefix.clear();
            let rows = given.chunks_exact(length);
            rows.for_each(|row| prefix.extend_from_slice(&row[..order]));
            &prefix
        };
        // The factor is refreshed after the same samples for any block size, and weights that follow it
        // do so sample by sample.
        let mut start = 0;
        while start < samples {
            let most = match (&self.kept, &self.fading) {
                (Some(_), _) => 1,
                (None, Some(fading)) => fading.until_refresh(),
                (None, None) => samples,
            };
            let end = samples.min(start + most);
            let update = Update {
                features: &features[start * order..end * order],
                targets: &run.targets[start * classes..end * classes],
                weights: &run.weights[start..end],
                forgetting: self.plan.forgetting,
            };
            self.sweep(update, start * row..end * row)?;
            start = end;
        }
        self.prefix = prefix;
        Ok(())
    }

    /// Learns samples before the next refresh, and refreshes then.
    fn sweep(&mut self, update: Update<'_>, scores: std::ops::Range<usize>) -> Result<(), Error> {
        let scores = &mut self.scores[scores];
        match (&mut self.kept, &self.fading) {
            (None, _) => self.factor.sweep(update, scores)?,
            (Some(kept), Some(fading)) if self.correction_steps > 0 => {
                let (missing, steps) = (fading.missing_ridge(), self.correction_steps);
                kept.learn_corrected(&mut self.factor, update, missing, steps, scores)?;
            }
            (Some(kept), _) => kept.learn(&mut self.factor, update, scores)?,
        }
        let Some(fading) = &mut self.fading else { return Ok(()) };
        let refreshed = fading.absorb(update, &mut self.factor)?;
        match &mut self.kept {
            Some(kept) if refreshed && self.correction_steps > 0 => {
                kept.give_to(&mut self.factor);
                fading.weights_were_given(&self.factor);
            }
            Some(kept) if refreshed => *kept = Weights::of(&self.factor),
            _ => {}
        }
        Ok(())
    }

    /// The scores of the last run: for each sample and nested model a row.
    pub(super) fn last_scores(&self) -> &[f64] {
        &self.scores
    }
}
