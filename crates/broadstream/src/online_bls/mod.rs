//! The online broad learning system: random features, and a ridge regression on them that is the
//! exact optimum of all samples seen, after every sample.

mod config;

pub use self::config::OnlineBlsConfig;
pub(crate) use self::config::check;

use crate::{
    block::{Block, check_class},
    broad_features::BroadFeatures,
    classifier::Classifier,
    combination::Combination,
    error::Error,
    factor::{Factor, Update, Weights},
    forgetting::Forgetting,
    member::Member,
    probability,
    sample::Sample,
    schema::InputKind,
    scores::Scores,
    threads::Threads,
};

/// Samples that go through the factor together. More gain nothing; fewer would leave the memory
/// traffic of the factor unshared.
const BLOCK: usize = 64;

/// A broad learning system that learns one sample at a time and is at any moment what a ridge
/// regression on all samples so far would be.
///
/// ```
/// use broadstream::{Classifier, InputKind, OnlineBls, OnlineBlsConfig, Sample};
///
/// let mut model = OnlineBls::new(OnlineBlsConfig::default())?;
/// model.declare_input("temperature", InputKind::Numeric)?;
/// model.declare_input("pressure", InputKind::Numeric)?;
/// for i in 0..100 {
///     let x = [f64::from(i % 10), f64::from(i % 7)];
///     let class = usize::from(x[0] > 4.0);
///     model.learn_one(Sample::dense(&x), class, 1.0)?;
/// }
/// assert_eq!(model.predict_one(Sample::dense(&[9.0, 3.0]))?, Some(1));
/// assert_eq!(model.predict_one(Sample::dense(&[0.0, 3.0]))?, Some(0));
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct OnlineBls {
    config: OnlineBlsConfig,
    features: BroadFeatures,
    factor: Factor,
    combination: Combination,
    forgetting: Option<Forgetting>,
    /// The weights, if they are kept up to date.
    kept: Option<Weights>,
    scratch: Scratch,
}

/// Buffers for one block; kept to spare allocations.
#[derive(Clone, Debug, Default)]
struct Scratch {
    features: Vec<f64>,
    targets: Vec<f64>,
    weights: Vec<f64>,
    scores: Vec<f64>,
}

impl OnlineBls {
    /// A model that has seen nothing.
    pub fn new(config: OnlineBlsConfig) -> Result<Self, Error> {
        config.check()?;
        let threads = Threads::new(config.threads)?;
        let mut features = BroadFeatures::new(&config)?;
        features.share_threads(&threads);
        let mut forgetting = (config.forgetting < 1.0).then(|| {
            Forgetting::new(features.len(), config.forgetting, config.ridge, config.refresh_every)
        });
        if let Some(forgetting) = &mut forgetting {
            forgetting.share_threads(&threads);
        }
        // Forgetting nothing divides by 1; see `forgetting` for the rest.
        let mut factor = Factor::new(features.len(), config.ridge / config.forgetting);
        for nested in config.nested_features() {
            factor.add_readout(nested);
        }
        factor.share_threads(&threads);
        let kept =
            (config.keep_weights || config.correction_steps > 0).then(|| Weights::of(&factor));
        Ok(OnlineBls {
            combination: Combination::new(factor.readouts().len()),
            factor,
            features,
            forgetting,
            kept,
            config,
            scratch: Scratch::default(),
        })
    }

    /// The configuration that the model was made with.
    pub fn config(&self) -> &OnlineBlsConfig {
        &self.config
    }

    /// How many broad features there are: the number m of rows of the weights.
    pub fn features(&self) -> usize {
        self.features.len()
    }

    /// The broad features of a sample, as the model would use them to predict or learn it now.
    pub fn features_one(&self, x: Sample<'_>) -> Result<Vec<f64>, Error> {
        self.features.of(x)
    }

    /// The broad features of a block's samples, a row each, as the model would use them to predict
    /// them now.
    pub fn features_many(&self, block: &Block) -> Result<Vec<f64>, Error> {
        self.features.of_all(block)
    }

    /// Samples between two refreshes of a model that forgets.
    pub fn refresh_every(&self) -> Option<usize> {
        self.forgetting.as_ref().map(Forgetting::interval)
    }

    /// The leverage of a sample: how unlike the past it is. It is 0 for a sample that adds nothing
    /// new and grows to |a|²/λ for one that is all new.
    pub fn leverage_one(&self, x: Sample<'_>) -> Result<f64, Error> {
        self.factor.leverage(&self.features_one(x)?)
    }

    /// The output weights: one row per broad feature, one entry per class.
    pub fn weights(&self) -> Vec<f64> {
        self.kept.as_ref().map_or_else(|| self.factor.weights(), Weights::rows)
    }

    /// The nested models: how many features each has, and its weight in predictions now.
    pub fn nested_models(&self) -> Vec<(usize, f64)> {
        self.factor.readouts().iter().copied().zip(self.combination.weights()).collect()
    }

    /// Learns a block whose samples were checked, and appends their scores of before.
    fn learn_block(&mut self, block: &Block, scores: &mut Scores) -> Result<(), Error> {
        let mut known = self.classes();
        let classes = block.check(self.inputs(), known)?;
        for i in 0..block.len() {
            self.features.inputs().check_size(block.sample(i))?;
        }
        self.check_memory("the classes", self.inputs(), classes)?;
        self.factor.add_targets(classes);
        if let Some(kept) = &mut self.kept {
            kept.add_targets(classes);
        }
        let mut start = 0;
        while start < block.len() {
            let end = self.end_of_run(block, start);
            if block.weight(start) == 0.0 {
                self.scratch.scores = self.member_scores(block.sample(start))?;
            } else {
                self.learn_run(block, start..end)?;
            }
            let row = self.factor.readouts().len() * classes;
            for (i, members) in (start..end).zip(self.scratch.scores.chunks_exact(row)) {
                scores.push(&self.combination.combine(members, classes)[..known]);
                if block.weight(i) > 0.0 {
                    self.combination.observe(members, classes, block.class(i), block.weight(i));
                }
                known = check_class(block.class(i), known)?;
            }
            start = end;
        }
        Ok(())
    }

    /// Where the samples from `start` on that can be learned at once end: a block is cut where the
    /// factor is to be refreshed, so that this happens at the same samples for any block size, at
    /// samples of weight 0, which are only scored, and at every sample if weights follow.
    fn end_of_run(&self, block: &Block, start: usize) -> usize {
        if block.weight(start) == 0.0 || self.kept.is_some() {
            return start + 1;
        }
        let longest = self.forgetting.as_ref().map_or(BLOCK, |f| BLOCK.min(f.until_refresh()));
        let end = block.len().min(start + longest);
        (start..end).find(|&i| block.weight(i) == 0.0).unwrap_or(end)
    }

    /// Learns samples of positive weight; their scores are left in the scratch.
    fn learn_run(&mut self, block: &Block, run: std::ops::Range<usize>) -> Result<(), Error> {
        let Scratch { features, targets, weights, scores } = &mut self.scratch;
        let classes = self.factor.targets();
        weights.clear();
        targets.clear();
        targets.resize(run.len() * classes, 0.0);
        for (row, i) in run.clone().enumerate() {
            weights.push(block.weight(i));
            targets[row * classes + block.class(i)] = 1.0;
        }
        features.clear();
        self.features.learn(block, run.clone(), features);
        scores.clear();
        scores.resize(run.len() * self.factor.readouts().len() * classes, 0.0);
        let forgetting = self.config.forgetting;
        let update = Update { features, targets, weights, forgetting };
        match (&mut self.kept, &self.forgetting) {
            (None, _) => self.factor.sweep(update, scores)?,
            (Some(kept), Some(forgetting)) if self.config.correction_steps > 0 => {
                let (missing, steps) = (forgetting.missing_ridge(), self.config.correction_steps);
                kept.learn_corrected(&mut self.factor, update, missing, steps, scores)?;
            }
            (Some(kept), _) => kept.learn(&mut self.factor, update, scores)?,
        }
        let Some(forgetting) = &mut self.forgetting else { return Ok(()) };
        let refreshed = forgetting.absorb(features, weights, &mut self.factor)?;
        match &mut self.kept {
            Some(kept) if refreshed && self.config.correction_steps > 0 => {
                kept.restore(&mut self.factor);
            }
            Some(kept) if refreshed => *kept = Weights::of(&self.factor),
            _ => {}
        }
        Ok(())
    }

    /// The scores of each nested model.
    fn member_scores(&self, x: Sample<'_>) -> Result<Vec<f64>, Error> {
        let features = self.features_one(x)?;
        match &self.kept {
            Some(kept) => kept.scores(&features),
            None => self.factor.scores(&features),
        }
    }

    fn check_memory(&self, what: &'static str, inputs: usize, classes: usize) -> Result<(), Error> {
        self.config.check_memory(what, self.config.bytes(inputs, classes))
    }
}

impl Classifier for OnlineBls {
    fn declare_input(&mut self, name: &str, kind: InputKind) -> Result<(), Error> {
        self.features.inputs().check_new(name)?;
        self.check_memory("the inputs", self.inputs() + 1, self.classes())?;
        self.features.declare_input(name, kind)
    }

    fn inputs(&self) -> usize {
        self.features.inputs().len()
    }

    fn classes(&self) -> usize {
        self.factor.targets()
    }

    /// Estimates of each class's indicator: aᵀW of the nested models, averaged by their weights.
    fn scores_one(&self, x: Sample<'_>) -> Result<Vec<f64>, Error> {
        let members = self.member_scores(x)?;
        Ok(self.combination.combine(&members, self.classes()))
    }

    /// The point of the probability simplex nearest to the scores, smoothed.
    fn probabilities(&self, scores: &[f64]) -> Vec<f64> {
        probability::from_scores(scores)
    }

    fn learn_one(&mut self, x: Sample<'_>, class: usize, weight: f64) -> Result<(), Error> {
        let mut block = Block::new();
        block.push(x, class, weight)?;
        self.learn_many(&block)
    }

    /// The nested models, if there are several.
    fn members(&self) -> Vec<Member> {
        let nested = self.nested_models();
        if nested.len() < 2 {
            return Vec::new();
        }
        let name = |features| format!("{features} features");
        nested.into_iter().map(|(size, weight)| Member { name: name(size), weight }).collect()
    }

    fn learn_many(&mut self, block: &Block) -> Result<(), Error> {
        self.learn_block(block, &mut Scores::new())
    }

    fn test_then_train(&mut self, block: &Block, scores: &mut Scores) -> Result<(), Error> {
        self.learn_block(block, scores)
    }
}
