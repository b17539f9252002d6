//! Broad learning systems with other ways of fitting their output weights.
//!
//! The paper compares methods that differ only in the solver behind the broad features. So does
//! this module: a [`BroadBaseline`] is configured like [`OnlineBls`](crate::OnlineBls) and computes
//! the very same features, and its [`Solver`] does the rest.

use super::all_or_nothing;
use crate::{
    classifier::Classifier,
    config::{Forgetting, OnlineBlsConfig, check},
    data::{Block, InputKind, Sample, Scores, check_class, check_weight},
    error::Error,
    features::BroadFeatures,
    numeric::probability,
};

/// A way of fitting output weights W, one row per broad feature and one column per class, to
/// samples that arrive one by one.
pub trait Solver: Clone + Send + 'static {
    /// The method's options besides the ridge; `()` if there are none.
    type Options: Default;

    /// Whether [`learn`](Self::learn) can fail.
    const MAY_FAIL: bool;

    /// A solver for that many features that has learned nothing.
    fn new(features: usize, ridge: f64, options: Self::Options) -> Result<Self, Error>;

    /// The memory in bytes after that many samples of positive weight and that many classes.
    fn bytes(features: usize, samples: u64, classes: usize) -> u128;

    /// Raises the number of classes. New ones count as 0 in all past samples.
    fn add_classes(&mut self, classes: usize);

    /// aᵀW: a score for each class that was added.
    fn scores(&self, features: &[f64]) -> Vec<f64>;

    /// Learns a sample of a class that was added, with a positive weight. A failed call changes
    /// nothing.
    fn learn(&mut self, features: &[f64], class: usize, weight: f64) -> Result<(), Error>;
}

/// A broad learning system with a solver other than that of [`OnlineBls`](crate::OnlineBls).
///
/// `nested_models`, `class_weight`, `stacking` and the options that depend on it are ignored, since
/// only Online-BLS has several models. A `forgetting` other than 1 and `refresh_every` are refused,
/// since no baseline forgets.
///
/// ```
/// use broadstream::{Classifier, InputKind, Nodes, OnlineBlsConfig, Sample};
/// use broadstream::baselines::{BroadBaseline, Eous};
///
/// let config = OnlineBlsConfig { enhancement_nodes: Nodes::Fixed(30), ..OnlineBlsConfig::single() };
/// let mut model = BroadBaseline::<Eous>::new(config)?;
/// model.declare_input("x", InputKind::Numeric)?;
/// for i in 0..60 {
///     let x = f64::from(i % 10);
///     model.learn_one(Sample::dense(&[x]), usize::from(x > 4.0), 1.0)?;
/// }
/// assert_eq!(model.predict_one(Sample::dense(&[8.0]))?, Some(1));
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BroadBaseline<S> {
    config: OnlineBlsConfig,
    features: BroadFeatures,
    solver: S,
    classes: usize,
    /// The number of samples of positive weight so far.
    samples: u64,
}

impl<S: Solver> BroadBaseline<S> {
    /// An untrained model with the solver's default options.
    pub fn new(config: OnlineBlsConfig) -> Result<Self, Error> {
        Self::with_options(config, S::Options::default())
    }

    /// An untrained model.
    pub fn with_options(config: OnlineBlsConfig, options: S::Options) -> Result<Self, Error> {
        config.check_rules()?;
        let fixed = config.enhancement_nodes.fixed();
        let rule = "a number for a model that cannot choose it";
        check("enhancement_nodes", fixed.is_some(), rule, &config.enhancement_nodes)?;
        let never = "unset for a model that does not forget";
        let forgets = config.forgetting != Forgetting::Fixed(1.0);
        check("forgetting", !forgets, never, &config.forgetting)?;
        let refresh = config.refresh_every.unwrap_or_default();
        check("refresh_every", config.refresh_every.is_none(), never, &refresh)?;
        let needed = S::bytes(config.features(), 0, 0).saturating_add(config.feature_bytes(0));
        config.check_memory("the nodes", needed)?;
        Ok(BroadBaseline {
            features: BroadFeatures::new(&config)?,
            solver: S::new(config.features(), config.ridge.usual(), options)?,
            config,
            classes: 0,
            samples: 0,
        })
    }

    /// The model's configuration.
    pub fn config(&self) -> &OnlineBlsConfig {
        &self.config
    }

    /// The number m of broad features, which is the number of rows of the weights.
    pub fn features(&self) -> usize {
        self.features.len()
    }

    /// The broad features of a sample, as the model would use them to predict or learn it now.
    pub fn features_one(&self, x: Sample<'_>) -> Result<Vec<f64>, Error> {
        Ok(self.features.of(x)?.plain)
    }

    fn check_memory(
        &self,
        what: &'static str,
        inputs: usize,
        samples: u64,
        classes: usize,
    ) -> Result<(), Error> {
        let solver = S::bytes(self.features(), self.samples + samples, classes);
        self.config.check_memory(what, solver.saturating_add(self.config.feature_bytes(inputs)))
    }

    fn scores_of(&self, features: &[f64]) -> Vec<f64> {
        let mut scores = self.solver.scores(features);
        // After a sample of a new class was refused, the solver has more classes than were seen.
        scores.truncate(self.classes);
        scores
    }

    /// Learns a sample whose features are computed and whose memory is checked.
    fn learn_features(
        &mut self,
        features: &[f64],
        x: Sample<'_>,
        class: usize,
        weight: f64,
    ) -> Result<(), Error> {
        let classes = check_class(class, self.classes)?;
        self.solver.add_classes(classes);
        if weight > 0.0 {
            self.solver.learn(features, class, weight)?;
            self.features.observe(x, weight);
            self.samples += 1;
        }
        self.classes = classes;
        Ok(())
    }

    /// Checks everything that can be checked before a block is learned.
    fn check_block(&self, block: &Block) -> Result<(), Error> {
        let classes = block.check(self.inputs(), self.classes)?;
        for i in 0..block.len() {
            self.features.inputs().check_size(block.sample(i))?;
        }
        let samples = (0..block.len()).filter(|i| block.weight(*i) > 0.0).count() as u64;
        self.check_memory("the samples and classes", self.inputs(), samples, classes)
    }

    fn learn_block(&mut self, block: &Block, scores: &mut Scores) -> Result<(), Error> {
        self.check_block(block)?;
        let learn = |model: &mut Self, i: usize, scores: &mut Scores| {
            let features = model.features.of(block.sample(i))?.plain;
            scores.push(&model.scores_of(&features));
            model.learn_features(&features, block.sample(i), block.class(i), block.weight(i))
        };
        if S::MAY_FAIL {
            all_or_nothing::learn_block(self, block, scores, learn)
        } else {
            (0..block.len()).try_for_each(|i| learn(self, i, scores))
        }
    }
}

impl<S: Solver> Classifier for BroadBaseline<S> {
    fn declare_input(&mut self, name: &str, kind: InputKind) -> Result<(), Error> {
        self.features.inputs().check_new(name)?;
        self.check_memory("the inputs", self.inputs() + 1, 0, self.classes)?;
        self.features.declare_input(name, kind)
    }

    fn inputs(&self) -> usize {
        self.features.inputs().len()
    }

    fn classes(&self) -> usize {
        self.classes
    }

    /// Estimates of each class's indicator: aᵀW.
    fn scores_one(&self, x: Sample<'_>) -> Result<Vec<f64>, Error> {
        Ok(self.scores_of(&self.features.of(x)?.plain))
    }

    /// The point of the probability simplex nearest to the scores, smoothed.
    fn probabilities(&self, scores: &[f64]) -> Vec<f64> {
        probability::from_scores(scores)
    }

    fn learn_one(&mut self, x: Sample<'_>, class: usize, weight: f64) -> Result<(), Error> {
        let features = self.features.of(x)?.plain;
        check_weight(weight)?;
        let classes = check_class(class, self.classes)?;
        self.check_memory("the samples and classes", self.inputs(), 1, classes)?;
        self.learn_features(&features, x, class, weight)
    }

    fn learn_many(&mut self, block: &Block) -> Result<(), Error> {
        self.learn_block(block, &mut Scores::new())
    }

    fn test_then_train(&mut self, block: &Block, scores: &mut Scores) -> Result<(), Error> {
        self.learn_block(block, scores)
    }
}
