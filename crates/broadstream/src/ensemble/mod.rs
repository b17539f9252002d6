//! The regressions of a model, and how they share in its predictions.

mod combination;
mod committee;
mod plan;
mod restart;
mod stacking;
mod temperature;

pub(crate) use self::plan::{labelled_features, plan};

use self::{
    committee::{Committee, Verdict},
    restart::Restart,
};
use crate::{
    classifier::Member,
    config::OnlineBlsConfig,
    error::{Error, ModelFileError},
    features::Features,
    numeric::Threads,
    regression::{
        Batch, BatchView, Learned, RegressionHealth, RidgeRegression,
        factor::{Sums, Update},
    },
    state::{ReadScope, WriteScope},
};

/// A regression begins anew only after a multiple of this many samples, where blocks are cut. So it
/// does for any block size.
const RESTARTS_EVERY: u64 = 64;

/// More restarts than this are not remembered: a model that runs for years must not grow by them.
const MOST_RESTARTS: usize = 10_000;

/// Several regressions that learn the same samples.
#[derive(Clone, Debug)]
pub(crate) struct Ensemble {
    config: OnlineBlsConfig,
    /// The one on all features comes first.
    regressions: Vec<RidgeRegression>,
    committee: Committee,
    /// The regression that begins anew at a drift, and what tells when.
    restart: Option<(usize, Restart)>,
    /// After how many samples it did.
    restarts: Vec<u64>,
    classes: usize,
    /// Samples of positive weight so far.
    learned: u64,
    threads: Threads,
    /// Whether threads share in the sweeps of the largest; otherwise each takes whole regressions.
    shares_largest: bool,
}

/// What the regressions predicted of the samples of a batch just before they learned each.
pub(crate) struct LearnedBatch {
    /// By regression.
    learned: Vec<Learned>,
}

impl LearnedBatch {
    /// How unlike the past each sample was, in the regression on all features.
    pub(crate) fn leverages(&self) -> &[f64] {
        &self.learned[0].leverages
    }
}

impl Ensemble {
    /// Regressions that have learned nothing.
    pub(crate) fn new(config: &OnlineBlsConfig, threads: &Threads) -> Self {
        let alone = Threads::default();
        let plans = plan(config).into_iter();
        let regressions: Vec<RidgeRegression> =
            plans.map(|plan| RidgeRegression::new(plan, config, &alone)).collect();
        let members = regressions.iter().map(|regression| regression.readouts().len()).sum();
        let restarting = regressions.iter().position(|regression| regression.plan().restarts);
        let mut bank = Ensemble {
            config: config.clone(),
            committee: Committee::new(members, config),
            restart: restarting.map(|index| {
                let others = regressions[index + 1..].iter().map(|other| other.readouts().len());
                (index, Restart::new(others.sum()))
            }),
            restarts: Vec::new(),
            regressions,
            classes: 0,
            learned: 0,
            threads: alone,
            shares_largest: false,
        };
        bank.share_threads(threads);
        bank
    }

    /// Has so many threads share the work from now on. They change no bit.
    pub(crate) fn share_threads(&mut self, threads: &Threads) {
        self.threads = threads.clone();
        // The largest takes about as long as all others together, so that two threads can just divide
        // them. More share in its sweeps first.
        self.shares_largest = self.regressions.len() == 1 || threads.count() > 2;
        for (i, regression) in self.regressions.iter_mut().enumerate() {
            let shared = i == 0 && self.shares_largest;
            regression.share_threads(&if shared { threads.clone() } else { Threads::default() });
        }
    }

    /// All regressions, the one on all features first.
    #[cfg(test)]
    pub(crate) fn regressions(&self) -> &[RidgeRegression] {
        &self.regressions
    }

    /// The regression on all features.
    pub(crate) fn largest(&self) -> &RidgeRegression {
        &self.regressions[0]
    }

    /// Samples of positive weight so far.
    pub(crate) fn learned(&self) -> u64 {
        self.learned
    }

    /// How many classes there is room for.
    pub(crate) fn classes(&self) -> usize {
        self.classes
    }

    /// Makes room for that many classes.
    pub(crate) fn add_classes(&mut self, classes: usize) {
        self.classes = self.classes.max(classes);
        self.regressions.iter_mut().for_each(|regression| regression.add_classes(classes));
    }

    /// The regressions by name, or the nested models of the only one, and what each is worth.
    pub(crate) fn members(&self) -> Vec<Member> {
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
    pub(crate) fn nested_models(&self) -> Vec<(usize, f64)> {
        self.largest().readouts().iter().copied().zip(self.committee.weights()).collect()
    }

    /// After how many samples a regression began anew.
    pub(crate) fn restarts(&self) -> &[u64] {
        &self.restarts
    }

    /// Turns scores into probabilities.
    pub(crate) fn probabilities(&self, scores: &[f64]) -> Vec<f64> {
        self.committee.probabilities(scores)
    }

    /// How many samples may be learned at once.
    pub(crate) fn longest_run(&self) -> usize {
        match self.restart {
            Some(_) => (RESTARTS_EVERY - self.learned % RESTARTS_EVERY) as usize,
            None => usize::MAX,
        }
    }

    /// What the model says of a sample by its features.
    pub(crate) fn judge(&self, features: &Features, known: usize) -> Result<Verdict, Error> {
        let mut scores = Vec::new();
        for regression in &self.regressions {
            scores.extend(regression.scores(features)?);
        }
        Ok(self.committee.judge(&scores, self.classes, known))
    }

    /// What the model says of several samples by their features, and the leverage of each.
    pub(crate) fn judge_many(
        &self,
        features: &Features,
        samples: usize,
        known: usize,
    ) -> Result<(Vec<Verdict>, Vec<f64>), Error> {
        let mut predictions: Vec<_> =
            self.regressions.iter().map(|_| Ok(Default::default())).collect();
        let work = self.regressions.iter().zip(&mut predictions);
        self.threads.spread(work, |(regression, prediction)| {
            *prediction = regression.scores_many(features, samples);
        });
        let mut predictions = predictions.into_iter().collect::<Result<Vec<_>, Error>>()?;
        let verdicts = (0..samples).map(|i| {
            let mut scores = Vec::new();
            for (regression, (all, _)) in self.regressions.iter().zip(&predictions) {
                let row = regression.readouts().len() * self.classes;
                scores.extend_from_slice(&all[i * row..][..row]);
            }
            self.committee.judge(&scores, self.classes, known)
        });
        let verdicts = verdicts.collect();
        Ok((verdicts, std::mem::take(&mut predictions[0].1)))
    }

    /// Has all regressions learn samples with positive weights, at most the
    /// [longest run](Self::longest_run) of them. Then [`count`](Self::count) each of them in order.
    pub(crate) fn learn(&mut self, batch: BatchView<'_>) -> Result<LearnedBatch, Error> {
        let (largest, others) = self.regressions.split_at_mut(usize::from(self.shares_largest));
        let mut learned = Vec::with_capacity(largest.len() + others.len());
        for regression in largest {
            learned.push(regression.learn(batch)?);
        }
        let mut outcomes: Vec<_> = others.iter().map(|_| Ok(Learned::default())).collect();
        let work = others.iter_mut().zip(&mut outcomes);
        self.threads.spread(work, |(regression, outcome)| *outcome = regression.learn(batch));
        for outcome in outcomes {
            learned.push(outcome?);
        }
        Ok(LearnedBatch { learned })
    }

    /// Has all regressions learn one sample and take back another, if there is one to be. Returns whether
    /// all came through; otherwise they must be [rebuilt](Self::rebuild). None may forget.
    pub(crate) fn slide(
        &mut self,
        learned: BatchView<'_>,
        removed: Option<&Batch>,
    ) -> Result<(LearnedBatch, bool), Error> {
        let (mut batch, mut all_sound) = (LearnedBatch { learned: Vec::new() }, true);
        for regression in &mut self.regressions {
            let (learned, is_sound) = regression.slide(learned, removed)?;
            batch.learned.push(learned);
            all_sound &= is_sound;
        }
        Ok((batch, all_sound))
    }

    /// Judges sample `i` of a batch by what the regressions said of it before they learned it, and takes
    /// its class into account.
    pub(crate) fn count(
        &mut self,
        batch: &LearnedBatch,
        i: usize,
        known: usize,
        class: usize,
        weight: f64,
    ) -> Result<Verdict, Error> {
        let mut scores = Vec::new();
        for (regression, learned) in self.regressions.iter().zip(&batch.learned) {
            let row = regression.readouts().len() * self.classes;
            scores.extend_from_slice(&learned.scores[i * row..][..row]);
        }
        let verdict = self.committee.judge(&scores, self.classes, known);
        let errors = self.committee.observe(&verdict, &scores, self.classes, class, weight)?;
        self.learned += 1;
        self.watch(&errors);
        Ok(verdict)
    }

    /// What regression `i` has summed. None may forget.
    pub(crate) fn sums(&self, i: usize) -> Sums {
        self.regressions[i].sums()
    }

    /// Has each regression add the sums that it is given by its number. None may forget.
    pub(crate) fn merge_sums(
        &mut self,
        sums: impl Fn(usize) -> Sums,
        classes: usize,
        learned: u64,
    ) -> Result<(), Error> {
        self.add_classes(classes);
        for (i, regression) in self.regressions.iter_mut().enumerate() {
            let mut all = regression.sums();
            all.merge(&sums(i))?;
            regression.rebuild(&all, self.learned + learned)?;
        }
        self.learned += learned;
        Ok(())
    }

    /// Takes over the experience of members that learned other samples.
    pub(crate) fn merge_committee(&mut self, other: &Ensemble) {
        self.committee.merge(&other.committee);
    }

    /// Builds all regressions anew from the sums of so many samples, as the largest has them. None may
    /// forget.
    pub(crate) fn rebuild(&mut self, sums: &Sums, samples: u64) -> Result<(), Error> {
        for regression in &mut self.regressions {
            regression.rebuild(&sums.prefix(regression.plan().features), samples)?;
        }
        Ok(())
    }

    /// How each regression fares.
    pub(crate) fn health(&self) -> Vec<RegressionHealth> {
        self.regressions.iter().map(RidgeRegression::health).collect()
    }

    /// Takes back samples, all or none, and returns the residual of the largest regression before and
    /// after. None may forget.
    /// An error comes with the row that it is about.
    pub(crate) fn unlearn(&mut self, rows: &Batch) -> Result<(f64, f64), (Option<usize>, Error)> {
        let mut regressions = self.regressions.clone();
        for regression in &mut regressions {
            regression.unlearn(rows).map_err(|(row, error)| (Some(row), error))?;
        }
        let residuals = self.residuals_without(rows, &regressions[0]);
        let residuals = residuals.map_err(|error| (None, error))?;
        self.regressions = regressions;
        self.learned = self.learned.saturating_sub(rows.weights.len() as u64);
        Ok(residuals)
    }

    /// The residual of the largest regression, and that of its successor in what is left without rows.
    fn residuals_without(&self, rows: &Batch, next: &RidgeRegression) -> Result<(f64, f64), Error> {
        let old = self.largest().factor();
        let BatchView { features, targets, weights } = rows.view();
        let removed = Update { features: &features.plain, targets, weights, forgetting: 1.0 };
        Ok((self.residual()?, old.residual_without(removed, &next.weights())?))
    }

    /// How well the weights of the largest regression solve its own equations.
    pub(crate) fn residual(&self) -> Result<f64, Error> {
        let nothing = Update { features: &[], targets: &[], weights: &[], forgetting: 1.0 };
        self.largest().factor().residual_without(nothing, &self.largest().weights())
    }

    /// Adds `change` to the targets of a sample, and returns the residual of the largest regression
    /// before and after. None may forget.
    pub(crate) fn correct(
        &mut self,
        features: &[f64],
        change: &[f64],
        weight: f64,
    ) -> Result<(f64, f64), Error> {
        let before = self.residual()?;
        self.add_classes(change.len());
        for regression in &mut self.regressions {
            regression.correct(features, change, weight)?;
        }
        Ok((before, self.residual()?))
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        to.integer("classes", self.classes);
        to.integer("learned", self.learned);
        to.integers("restarts", self.restarts.clone());
        for (i, regression) in self.regressions.iter().enumerate() {
            regression.save(&mut to.scope("regressions").scope(&i.to_string()));
        }
        self.committee.save(&mut to.scope("committee"));
        if let Some((_, restart)) = &self.restart {
            restart.save(&mut to.scope("restart"));
        }
    }

    /// Takes over a bank of the same configuration.
    pub(crate) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        // Each class is a row of every factor, so there can be no more of them than entries.
        let rows = from.scope("regressions")?.scope("0")?.scope("factor")?;
        let classes = from.count("classes", rows.length("z"))?;
        for (i, regression) in self.regressions.iter_mut().enumerate() {
            let from = from.scope("regressions")?.scope(&i.to_string())?;
            regression.restore(&from, classes)?;
        }
        self.classes = classes;
        self.learned = from.integer("learned")?;
        self.restarts = from.any_integers("restarts")?;
        let sound = self.restarts.len() <= MOST_RESTARTS;
        from.check("restarts", sound, "no more than are remembered")?;
        self.committee.restore(&from.scope("committee")?, classes)?;
        if let Some((_, restart)) = &mut self.restart {
            restart.restore(&from.scope("restart")?)?;
        }
        Ok(())
    }

    /// Looks for a drift, and has a regression begin anew if there was one.
    fn watch(&mut self, errors: &[f64]) {
        let Some((index, restart)) = &mut self.restart else { return };
        let members = |regressions: &[RidgeRegression]| -> usize {
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
            let mut anew = RidgeRegression::new(plan, &self.config, &Threads::default());
            anew.add_classes(self.classes);
            self.regressions[*index] = anew;
            if self.restarts.len() < MOST_RESTARTS {
                self.restarts.push(self.learned);
            }
        }
    }
}
