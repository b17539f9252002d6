//! The regressions of a model, and how they share in its predictions.

use super::{
    committee::{Committee, Verdict},
    config::OnlineBlsConfig,
    health::RegressionHealth,
    plan::plan,
    regression::{Regression, Run},
    restart::Restart,
    rows::Rows,
};
use crate::{
    error::Error,
    factor::{Sums, Update},
    features::Features,
    member::Member,
    model_file::ModelFileError,
    state::{ReadScope, WriteScope},
    threads::Threads,
};

/// A regression begins anew only after a multiple of this many samples, where blocks are cut. So it
/// does for any block size.
const RESTARTS_EVERY: u64 = 64;

/// More restarts than this are not remembered: a model that runs for years must not grow by them.
const MOST_RESTARTS: usize = 10_000;

/// Several regressions that learn the same samples.
#[derive(Clone, Debug)]
pub(super) struct Bank {
    config: OnlineBlsConfig,
    /// The one on all features comes first.
    regressions: Vec<Regression>,
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
    /// The scores of one sample: for each member a row.
    scores: Vec<f64>,
}

impl Bank {
    /// Regressions that have learned nothing.
    pub(super) fn new(config: &OnlineBlsConfig, threads: &Threads) -> Self {
        let alone = Threads::default();
        let plans = plan(config).into_iter();
        let regressions: Vec<Regression> =
            plans.map(|plan| Regression::new(plan, config, &alone)).collect();
        let members = regressions.iter().map(|regression| regression.readouts().len()).sum();
        let restarting = regressions.iter().position(|regression| regression.plan().restarts);
        let mut bank = Bank {
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
            scores: Vec::new(),
        };
        bank.share_threads(threads);
        bank
    }

    /// Has so many threads share the work from now on. They change no bit.
    pub(super) fn share_threads(&mut self, threads: &Threads) {
        self.threads = threads.clone();
        // The largest takes about as long as all others together, so that two threads can just divide
        // them. More share in its sweeps first.
        self.shares_largest = self.regressions.len() == 1 || threads.count() > 2;
        for (i, regression) in self.regressions.iter_mut().enumerate() {
            let shared = i == 0 && self.shares_largest;
            regression.share_threads(&if shared { threads.clone() } else { Threads::default() });
        }
    }

    /// The regression on all features.
    pub(super) fn largest(&self) -> &Regression {
        &self.regressions[0]
    }

    /// Samples of positive weight so far.
    pub(super) fn learned(&self) -> u64 {
        self.learned
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

    /// After how many samples a regression began anew.
    pub(super) fn restarts(&self) -> &[u64] {
        &self.restarts
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
    pub(super) fn judge(&self, features: &Features, known: usize) -> Result<Verdict, Error> {
        let mut scores = Vec::new();
        for regression in &self.regressions {
            scores.extend(regression.scores(features)?);
        }
        Ok(self.committee.judge(&scores, self.classes, known))
    }

    /// What the model says of several samples by their features, and the leverage of each.
    pub(super) fn judge_many(
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

    /// Has all regressions learn a run, at most the [longest](Self::longest_run), of samples with
    /// positive weights. Then [`count`](Self::count) each of them in order.
    pub(super) fn learn(&mut self, run: Run<'_>) -> Result<(), Error> {
        let (largest, others) = self.regressions.split_at_mut(usize::from(self.shares_largest));
        largest.iter_mut().try_for_each(|regression| regression.learn(run))?;
        let mut outcomes: Vec<Result<(), Error>> = others.iter().map(|_| Ok(())).collect();
        let work = others.iter_mut().zip(&mut outcomes);
        self.threads.spread(work, |(regression, outcome)| {
            *outcome = regression.learn(run);
        });
        outcomes.into_iter().collect()
    }

    /// Has all regressions learn one sample and take back another, if there is one to be. Returns whether
    /// all came through; otherwise they must be [rebuilt](Self::rebuild). None may forget.
    pub(super) fn slide(
        &mut self,
        learned: Run<'_>,
        removed: Option<&Rows>,
    ) -> Result<bool, Error> {
        let mut sound = true;
        for regression in &mut self.regressions {
            sound &= regression.slide(learned, removed)?;
        }
        Ok(sound)
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

    /// What regression `i` has summed. None may forget.
    pub(super) fn sums(&self, i: usize) -> Sums {
        self.regressions[i].sums()
    }

    /// Has each regression add the sums that it is given by its number. None may forget.
    pub(super) fn merge_sums(
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
    pub(super) fn merge_committee(&mut self, other: &Bank) {
        self.committee.merge(&other.committee);
    }

    /// Builds all regressions anew from the sums of so many samples, as the largest has them. None may
    /// forget.
    pub(super) fn rebuild(&mut self, sums: &Sums, samples: u64) -> Result<(), Error> {
        for regression in &mut self.regressions {
            regression.rebuild(&sums.prefix(regression.plan().features), samples)?;
        }
        Ok(())
    }

    /// How each regression fares.
    pub(super) fn health(&self) -> Vec<RegressionHealth> {
        self.regressions.iter().map(Regression::health).collect()
    }

    /// Takes back samples, all or none, and returns the residual of the largest regression before and
    /// after. None may forget.
    /// An error comes with the row that it is about.
    pub(super) fn unlearn(&mut self, rows: &Rows) -> Result<(f64, f64), (Option<usize>, Error)> {
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
    fn residuals_without(&self, rows: &Rows, next: &Regression) -> Result<(f64, f64), Error> {
        let old = self.largest().factor();
        let Run { features, targets, weights } = rows.run();
        let removed = Update { features: &features.plain, targets, weights, forgetting: 1.0 };
        Ok((self.residual()?, old.residual_without(removed, &next.weights())?))
    }

    /// How well the weights of the largest regression solve its own equations.
    pub(super) fn residual(&self) -> Result<f64, Error> {
        let nothing = Update { features: &[], targets: &[], weights: &[], forgetting: 1.0 };
        self.largest().factor().residual_without(nothing, &self.largest().weights())
    }

    /// Adds `change` to the targets of a sample, and returns the residual of the largest regression
    /// before and after. None may forget.
    pub(super) fn correct(
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

    pub(super) fn save(&self, to: &mut WriteScope<'_>) {
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
    pub(super) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
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
            if self.restarts.len() < MOST_RESTARTS {
                self.restarts.push(self.learned);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Regression, Run};
    use crate::{
        Block, ClassWeight, Classifier, Forgetting, InputKind, OnlineBls, OnlineBlsConfig, Ridge,
        Scores,
        class_weight::ClassWeights,
        stream::{Stream, synth::Stagger},
        threads::Threads,
    };

    fn config() -> OnlineBlsConfig {
        OnlineBlsConfig {
            feature_groups: 2,
            feature_nodes: 3,
            enhancement_nodes: 48,
            inputs_per_sample: Some(3),
            ..OnlineBlsConfig::default()
        }
    }

    fn model(config: OnlineBlsConfig) -> OnlineBls {
        let mut model = OnlineBls::new(config).unwrap();
        for name in ["a", "b", "c"] {
            model.declare_input(name, InputKind::Numeric).unwrap();
        }
        model
    }

    /// Samples of uneven weights, with a class that comes late.
    fn samples(count: u32) -> Block {
        let mut block = Block::new();
        for i in 0..count {
            let x = [i % 7, i % 11, i % 13].map(|x| f64::from(x) / 5.0);
            let class = if i > 150 && i % 5 == 0 { 2 } else { usize::from(x[0] + x[1] > 1.5) };
            let class = if i == 0 { 0 } else { class };
            block
                .push(crate::Sample::dense(&x), class, [1.0, 0.5, 2.0, 0.0][i as usize % 4])
                .unwrap();
        }
        block
    }

    #[test]
    fn each_regression_is_what_it_would_be_alone() {
        let block = samples(700);
        let mut several = model(config());
        several.learn_many(&block).unwrap();
        for regression in &several.bank.regressions {
            let plan = regression.plan();
            if plan.sees_labels {
                continue;
            }
            let mut alone = model(OnlineBlsConfig {
                enhancement_nodes: plan.features - 6,
                forgetting: Forgetting::Fixed(plan.forgetting),
                ridge: Ridge::Fixed(plan.ridge),
                stacking: false,
                label_lags: 0,
                ..config()
            });
            alone.learn_many(&block).unwrap();
            assert_eq!(alone.weights(), regression.weights(), "{}", plan.name);
        }
    }

    #[test]
    fn a_drift_makes_one_regression_begin_anew_at_the_same_sample_for_any_block_size() {
        let mut block = Block::new();
        for variant in [0, 2] {
            let mut stream = Stagger::new(variant, false, 7).unwrap().take(1500);
            stream.read_block(&mut block, 1500).unwrap();
        }
        let run = |size: usize| {
            let mut model = OnlineBls::new(config()).unwrap();
            for name in ["size", "colour", "shape"] {
                model.declare_input(name, InputKind::Numeric).unwrap();
            }
            let mut scores = Scores::new();
            let mut part = Block::new();
            for i in 0..block.len() {
                part.push(block.sample(i), block.class(i), 1.0).unwrap();
                if part.len() == size || i + 1 == block.len() {
                    model.test_then_train(&part, &mut scores).unwrap();
                    part.clear();
                }
            }
            (scores, model.restarts().to_vec())
        };
        let (scores, restarts) = run(64);
        assert_eq!(restarts.len(), 1);
        assert!((1500..2000).contains(&restarts[0]), "{restarts:?}");
        for size in [1, 7, 100] {
            assert_eq!(run(size), (scores.clone(), restarts.clone()), "blocks of {size}");
        }
    }

    /// Whatever the bank does around it, a regression is its factor and the features of the samples it has
    /// learned, those with labels among them, and since it began anew if it did.
    #[test]
    fn each_regression_has_learned_its_features_and_no_more() {
        let mut block = Block::new();
        for variant in [0, 2] {
            let mut stream = Stagger::new(variant, false, 7).unwrap().take(1200);
            stream.read_block(&mut block, 1200).unwrap();
        }
        let mut model = model(config());
        let mut seen = Vec::new();
        for i in 0..block.len() {
            let (x, class, weight) = (block.sample(i), block.class(i), [1.0, 0.5][i % 2]);
            seen.push((model.features.of(x).unwrap(), class, weight));
            model.learn_one(x, class, weight).unwrap();
        }
        assert_eq!(model.restarts().len(), 1);
        for regression in &model.bank.regressions {
            let plan = regression.plan();
            let start = if plan.restarts { model.restarts()[0] as usize } else { 0 };
            let mut anew = Regression::new(plan.clone(), &model.config, &Threads::default());
            anew.add_classes(2);
            for (features, class, weight) in &seen[start..] {
                let targets = [0, 1].map(|k| f64::from(u8::from(k == *class)));
                let run = Run { features, targets: &targets, weights: &[*weight] };
                anew.learn(run).unwrap();
            }
            assert_eq!(anew.weights(), regression.weights(), "{}", plan.name);
        }
    }

    #[test]
    fn a_class_weight_is_a_weight() {
        let unscaled = OnlineBlsConfig { scaling: crate::Scaling::None, ..config() };
        let class_weight = ClassWeight::Balanced;
        let mut by_class = model(OnlineBlsConfig { class_weight, ..unscaled.clone() });
        let mut by_hand = model(unscaled);
        let block = samples(300);
        by_class.learn_many(&block).unwrap();
        let mut weights = ClassWeights::new(class_weight);
        for i in 0..block.len() {
            let weight = weights.weigh(block.class(i), block.weight(i));
            by_hand.learn_one(block.sample(i), block.class(i), weight).unwrap();
        }
        assert_eq!(by_class.weights(), by_hand.weights());
        let x = block.sample(5);
        assert_eq!(by_class.scores_one(x).unwrap(), by_hand.scores_one(x).unwrap());
    }

    #[test]
    fn rare_classes_gain_by_their_weight() {
        let recall = |class_weight| {
            let mut model = model(OnlineBlsConfig { class_weight, ..config() });
            let mut found = 0;
            for i in 0..3000u32 {
                let x = [i % 7, i % 11, i % 13].map(f64::from);
                let class = usize::from(i % 61 == 1 || (i % 7 == 3 && i % 11 == 5));
                let sample = crate::Sample::dense(&x);
                found += u32::from(class == 1 && model.predict_one(sample).unwrap() == Some(1));
                model.learn_one(sample, class, 1.0).unwrap();
            }
            found
        };
        let found = [ClassWeight::None, ClassWeight::Auto, ClassWeight::Balanced].map(recall);
        assert!(found[0] < found[1] && found[1] < found[2], "{found:?}");
    }
}
