//! Models on the scaled inputs, without broad features.

use super::all_or_nothing;
use crate::{
    classifier::{Classifier, Member},
    config::check,
    data::{Block, InputKind, Sample, Scores, check_class, check_weight},
    error::Error,
    preprocessing::{ScaledInputs, Scaling},
};

/// The inputs that are present in a sample, by position, after scaling.
pub type Present = [(usize, f64)];

/// A learning method on scaled inputs.
pub trait Learner: Clone + Send + 'static {
    /// The method's options; `()` if there are none.
    type Options: Clone + Default + Send;

    /// Whether [`learn`](Self::learn) can fail.
    const MAY_FAIL: bool;

    /// Checks the options.
    fn check(options: &Self::Options) -> Result<(), Error>;

    /// An untrained learner with options that passed the check.
    fn new(options: &Self::Options) -> Self;

    /// The memory in bytes for that many inputs and classes.
    fn bytes(options: &Self::Options, inputs: usize, classes: usize) -> u128;

    /// Adds an input of that name.
    fn declare_input(&mut self, name: &str);

    /// Raises the number of classes. The weights of new ones are 0.
    fn add_classes(&mut self, classes: usize);

    /// A score for each class that was added.
    fn scores(&self, x: &Present) -> Vec<f64>;

    /// Turns scores into probabilities.
    fn probabilities(&self, scores: &[f64]) -> Vec<f64>;

    /// Learns a sample of a class that was added, with a positive weight. A failed call changes
    /// nothing.
    fn learn(&mut self, x: &Present, class: usize, weight: f64) -> Result<(), Error>;

    /// The parts whose predictions the learner combines; see
    /// [`Classifier::members`](crate::Classifier::members).
    fn members(&self) -> Vec<Member> {
        Vec::new()
    }
}

/// The options that all models on scaled inputs share. The fields are those of
/// [`OnlineBlsConfig`](crate::OnlineBlsConfig).
#[derive(Clone, Debug, PartialEq)]
pub struct ScaledBaselineConfig {
    /// How numeric inputs are scaled. Default running standardisation.
    pub scaling: Scaling,
    /// The number of learned samples after which a running scaling is frozen. Default `None`:
    /// never.
    pub freeze_scaling_after: Option<u64>,
    /// The largest amount of memory, in bytes, that the model may use. Default 4 GiB.
    pub memory_limit: u64,
}

impl Default for ScaledBaselineConfig {
    fn default() -> Self {
        ScaledBaselineConfig {
            scaling: Scaling::STANDARD,
            freeze_scaling_after: None,
            memory_limit: 4 << 30,
        }
    }
}

/// A model on scaled inputs.
///
/// ```
/// use broadstream::{Classifier, InputKind, Sample};
/// use broadstream::baselines::{PassiveAggressive, ScaledBaseline, ScaledBaselineConfig};
///
/// let config = ScaledBaselineConfig::default();
/// let mut model = ScaledBaseline::<PassiveAggressive>::new(config, Default::default())?;
/// model.declare_input("x", InputKind::Numeric)?;
/// for i in 0..60 {
///     let x = f64::from(i % 10);
///     model.learn_one(Sample::dense(&[x]), usize::from(x > 4.0), 1.0)?;
/// }
/// assert_eq!(model.predict_one(Sample::dense(&[8.0]))?, Some(1));
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ScaledBaseline<L: Learner> {
    config: ScaledBaselineConfig,
    options: L::Options,
    inputs: ScaledInputs,
    learner: L,
    classes: usize,
}

impl<L: Learner> ScaledBaseline<L> {
    /// An untrained model.
    pub fn new(config: ScaledBaselineConfig, options: L::Options) -> Result<Self, Error> {
        let inputs = ScaledInputs::new(config.scaling.clone(), config.freeze_scaling_after)?;
        let frozen = config.freeze_scaling_after.unwrap_or(2);
        check("freeze_scaling_after", frozen >= 2, "at least 2", &frozen)?;
        L::check(&options)?;
        check_memory(config.memory_limit, "the nodes", L::bytes(&options, 0, 0))?;
        let learner = L::new(&options);
        Ok(ScaledBaseline { config, options, inputs, learner, classes: 0 })
    }

    /// The model's configuration.
    pub fn config(&self) -> &ScaledBaselineConfig {
        &self.config
    }

    /// The model's options.
    pub fn options(&self) -> &L::Options {
        &self.options
    }

    fn check_memory(&self, what: &'static str, inputs: usize, classes: usize) -> Result<(), Error> {
        check_memory(self.config.memory_limit, what, L::bytes(&self.options, inputs, classes))
    }

    /// The scaled inputs of a sample, after checking it.
    fn present(&self, x: Sample<'_>) -> Result<Vec<(usize, f64)>, Error> {
        self.inputs.check(x)?;
        let mut scaled = Vec::with_capacity(x.len());
        self.inputs.transform(x, &mut scaled);
        Ok(x.iter().map(|(input, _)| input).zip(scaled).collect())
    }

    /// Checks everything that can be checked before a block is learned.
    fn check_block(&self, block: &Block) -> Result<(), Error> {
        let classes = block.check(self.inputs(), self.classes)?;
        for i in 0..block.len() {
            self.inputs.check_size(block.sample(i))?;
        }
        self.check_memory("the classes", self.inputs(), classes)
    }

    fn learn_block(&mut self, block: &Block, scores: &mut Scores) -> Result<(), Error> {
        self.check_block(block)?;
        let learn = |model: &mut Self, i: usize, scores: &mut Scores| {
            scores.push(&model.scores_one(block.sample(i))?);
            model.learn_one(block.sample(i), block.class(i), block.weight(i))
        };
        if L::MAY_FAIL {
            all_or_nothing::learn_block(self, block, scores, learn)
        } else {
            (0..block.len()).try_for_each(|i| learn(self, i, scores))
        }
    }
}

fn check_memory(limit: u64, what: &'static str, needed: u128) -> Result<(), Error> {
    if needed > u128::from(limit) { Err(Error::Memory { what, needed, limit }) } else { Ok(()) }
}

impl<L: Learner> Classifier for ScaledBaseline<L> {
    fn declare_input(&mut self, name: &str, kind: InputKind) -> Result<(), Error> {
        self.inputs.check_new(name)?;
        self.check_memory("the inputs", self.inputs() + 1, self.classes)?;
        self.inputs.declare(name, kind)?;
        self.learner.declare_input(name);
        Ok(())
    }

    fn inputs(&self) -> usize {
        self.inputs.len()
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn scores_one(&self, x: Sample<'_>) -> Result<Vec<f64>, Error> {
        let mut scores = self.learner.scores(&self.present(x)?);
        // After a sample of a new class was refused, the learner has more classes than were seen.
        scores.truncate(self.classes);
        Ok(scores)
    }

    fn probabilities(&self, scores: &[f64]) -> Vec<f64> {
        self.learner.probabilities(scores)
    }

    fn members(&self) -> Vec<Member> {
        self.learner.members()
    }

    fn learn_one(&mut self, x: Sample<'_>, class: usize, weight: f64) -> Result<(), Error> {
        let present = self.present(x)?;
        check_weight(weight)?;
        let classes = check_class(class, self.classes)?;
        self.check_memory("the classes", self.inputs(), classes)?;
        self.learner.add_classes(classes);
        if weight > 0.0 {
            self.learner.learn(&present, class, weight)?;
            self.inputs.observe(x, weight);
        }
        self.classes = classes;
        Ok(())
    }

    fn learn_many(&mut self, block: &Block) -> Result<(), Error> {
        self.learn_block(block, &mut Scores::new())
    }

    fn test_then_train(&mut self, block: &Block, scores: &mut Scores) -> Result<(), Error> {
        self.learn_block(block, scores)
    }
}
