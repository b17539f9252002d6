//! The regressions of a model, and how they share in its predictions.

use super::{
    committee::{Committee, Verdict},
    config::OnlineBlsConfig,
    plan::plan,
    regression::{Regression, Run},
    restart::Restart,
};
use crate::{error::Error, member::Member, threads::Threads};

/// A regression begins anew only after a multiple of this many samples, where blocks are cut. So it
/// does for any block size.
const RESTARTS_EVERY: u64 = 64;

/// Several regressions that learn the same samples.
#[derive(Clone, Debug)]
pub(super) struct Bank {
    config: OnlineBlsConfig,
    /// The one on all features comes first.
    regressions: Vec<Regression>,
    committee: Committee,
    /// The regression that begins anew at a drift, and what tells when.
    restart: Option<(usize, Restart)>,
    classes: usize,
    /// Samples of positive weight so far.
    learned: u64,
    threads: Threads,
    /// The scores of one sample: for each member a row.
    scores: Vec<f64>,
}

impl Bank {
    /// Regressions that have learned nothing.
    pub(super) fn new(config: &OnlineBlsConfig, threads: &Threads) -> Self {
        let regressions: Vec<Regression> = plan(config)
            .into_iter()
            .enumerate()
            .map(|(i, plan)| {
                // Threads share in the sweeps of the largest, and take the others one each.
                let own = if i == 0 { threads.clone() } else { Threads::default() };
                Regression::new(plan, config, &own)
            })
            .collect();
        let members = regressions.iter().map(|regression| regression.readouts().len()).sum();
        let restarting = regressions.iter().position(|regression| regression.plan().restarts);
        Bank {
            config: config.clone(),
            committee: Committee::new(members, config),
            restart: restarting.map(|index| (index, Restart::new(members))),
            regressions,
            classes: 0,
            learned: 0,
            threads: threads.clone(),
            scores: Vec::new(),
        }
    }

    /// The regression on all features.
    pub(super) fn largest(&self) -> &Regression {
        &self.regressions[0]
    }

    /// How many classes there is room for.
    pub(super) fn classes(&self) -> usize {
        self.classes
    }

    /// Makes room for that many classes.
    pub(super) fn add_classes(&mut self, classes: usize) {
        self.classes = self.classes.max(classes);
        self.regressions.iter_mut().for_each(|regression| regression.add_classes(classes));
    }

    /// The regressions by name, or the nested models of the only one, and what each is worth.
    pub(super) fn members(&self) -> Vec<Member> {
        let mut weights = self.committee.weights().into_iter();
        match self.regressions.as_slice() {
            [_] if weights.len() < 2 => Vec::new(),
            [only] => {
                let sizes = only.readouts().iter().zip(weights);
                let name = |features| format!("{features} features");
                sizes.map(|(size, weight)| Member { name: name(size), weight }).collect()
            }
            several => several
                .iter()
                .map(|regression| Member {
                    name: regression.plan().name.clone(),
                    weight: weights.by_ref().take(regression.readouts().len()).sum(),
                })
                .collect(),
        }
    }

    /// The nested models of the largest regression: how many features each has, and its weight.
    pub(super) fn nested_models(&self) -> Vec<(usize, f64)> {
        self.largest().readouts().iter().copied().zip(self.committee.weights()).collect()
    }

    /// Turns scores into probabilities.
    pub(super) fn probabilities(&self, scores: &[f64]) -> Vec<f64> {
        self.committee.probabilities(scores)
    }

    /// How many samples may be learned at once.
    pub(super) fn longest_run(&self) -> usize {
        match self.restart {
            Some(_) => (RESTARTS_EVERY - self.learned % RESTARTS_EVERY) as usize,
            None => usize::MAX,
        }
    }

    /// What the model says of a sample by its features.
    pub(super) fn judge(&self, features: &[f64], known: usize) -> Result<Verdict, Error> {
        let mut scores = Vec::new();
        for regression in &self.regressions {
            scores.extend(regression.scores(features)?);
        }
        Ok(self.committee.judge(&scores, self.classes, known))
    }

    /// Has all regressions learn a run, at most the [longest](Self::longest_run), of samples with
    /// positive weights. Then [`count`](Self::count) each of them in order.
    pub(super) fn learn(&mut self, run: Run<'_>, all_features: usize) -> Result<(), Error> {
        let (largest, others) = self.regressions.split_at_mut(1);
        largest[0].learn(run, all_features)?;
        let mut outcomes: Vec<Result<(), Error>> = others.iter().map(|_| Ok(())).collect();
        let enough = others.len() > 1 && run.weights.len() > 1;
        let work = others.iter_mut().zip(&mut outcomes);
        self.threads.share(
            enough,
            work,
            || (),
            |(), (regression, outcome)| {
                *outcome = regression.learn(run, all_features);
            },
        );
        outcomes.into_iter().collect()
    }

    /// Judges sample `i` of the last run by what the regressions said of it before they learned it, and
    /// takes its class into account.
    pub(super) fn count(
        &mut self,
        i: usize,
        known: usize,
        class: usize,
        weight: f64,
    ) -> Result<Verdict, Error> {
        self.scores.clear();
        for regression in &self.regressions {
            let row = regression.readouts().len() * self.classes;
            self.scores.extend_from_slice(&regression.last_scores()[i * row..][..row]);
        }
        let verdict = self.committee.judge(&self.scores, self.classes, known);
        let errors = self.committee.observe(&verdict, &self.scores, self.classes, class, weight)?;
        self.learned += 1;
        self.watch(&errors);
        Ok(verdict)
    }

    /// Looks for a drift, and has a regression begin anew if there was one.
    fn watch(&mut self, errors: &[f64]) {
        let Some((index, restart)) = &mut self.restart else { return };
        let members = |regressions: &[Regression]| -> usize {
            regressions.iter().map(|regression| regression.readouts().len()).sum()
        };
        let first = members(&self.regressions[..*index]);
        let own = first..first + self.regressions[*index].readouts().len();
        let loss = |member: &usize| self.committee.recent_loss(*member);
        let best = own.min_by(|a, b| loss(a).total_cmp(&loss(b))).unwrap_or(first);
        // The regressions after it are those that forget.
        let others = &errors[members(&self.regressions[..=*index])..];
        restart.observe(errors[best], others.iter().copied());
        if self.learned.is_multiple_of(RESTARTS_EVERY) && restart.take() {
            let plan = self.regressions[*index].plan().clone();
            let mut anew = Regression::new(plan, &self.config, &Threads::default());
            anew.add_classes(self.classes);
            self.regressions[*index] = anew;
        }
    }
}
