//! The online broad learning system: random features, and ridge regressions on them, each the exact
//! optimum of what it remembers after every sample.

mod class_weights;
mod exact;
mod inputs;
mod late_labels;
mod merge;
mod partial;
mod rules;
#[cfg(test)]
mod tests;
mod unlearn;
mod window;

pub use self::{
    late_labels::{LateLabels, LatePrediction},
    partial::Partial,
    unlearn::Certificate,
};

use self::{class_weights::ClassWeights, window::SampleWindow};
use crate::{
    classifier::{Classifier, Member},
    config::OnlineBlsConfig,
    data::{Block, Input, InputKind, Matrix, Sample, Scores, check_class, check_weight},
    ensemble::{Ensemble, LearnedBatch, labelled_features, plan},
    error::{Error, ModelFileError},
    features::{BroadFeatures, Prepared},
    numeric::Threads,
    preprocessing::ScaledSample,
    regression::{Batch, RegressionHealth},
    state::{ReadScope, WriteScope},
};

/// Samples that go through the factor together. More gain nothing; fewer would leave the memory
/// traffic of the factor unshared.
const BLOCK: usize = 64;

/// A broad learning system that learns one sample at a time. By default it consists of several
/// regressions that find out together how much of the past is worth remembering; with
/// [`OnlineBlsConfig::single`] it is at any moment what one ridge regression on all samples so far
/// would be.
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
    ensemble: Ensemble,
    class_weights: ClassWeights,
    /// The weight of the samples learned of each class.
    class_totals: Vec<f64>,
    /// The last samples, if the model is that of a window.
    window: Option<SampleWindow>,
    /// A buffer for the samples that are being learned.
    batch: Batch,
}

impl OnlineBls {
    /// A model that has seen nothing.
    pub fn new(config: OnlineBlsConfig) -> Result<Self, Error> {
        config.check()?;
        let threads = Threads::new(config.threads)?;
        let labelled = labelled_features(&plan(&config));
        let mut features = BroadFeatures::new(&config)?.with_labels(labelled, config.label_lags);
        features.share_threads(&threads);
        Ok(OnlineBls {
            ensemble: Ensemble::new(&config, &threads),
            class_weights: ClassWeights::new(config.class_weight),
            class_totals: Vec::new(),
            window: config.window.map(SampleWindow::new),
            features,
            config,
            batch: Batch::default(),
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

    /// How many samples of positive weight the model has learned.
    pub fn learned(&self) -> u64 {
        self.ensemble.learned()
    }

    /// The weight of the samples learned of each class, less those unlearned.
    pub fn class_totals(&self) -> &[f64] {
        &self.class_totals
    }

    /// How many bytes the model takes, as [`memory_limit`](OnlineBlsConfig::memory_limit) counts them.
    pub fn bytes(&self) -> u64 {
        let bytes = self.config.bytes(self.inputs(), self.classes());
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// Whether rounding has left the regressions what they should be, one by one. This takes a pass over
    /// each factor.
    ///
    /// ```
    /// use broadstream::{Classifier, OnlineBls, OnlineBlsConfig, Sample};
    ///
    /// let mut model = OnlineBls::new(OnlineBlsConfig::single())?;
    /// model.learn_one(Sample::dense(&[]), 0, 1.0)?;
    /// assert!(model.health()[0].now.residual < 1e-14);
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn health(&self) -> Vec<RegressionHealth> {
        self.ensemble.health()
    }

    /// How many samples the window holds, if the model is that of a window.
    pub fn window_samples(&self) -> Option<usize> {
        self.window.as_ref().map(SampleWindow::len)
    }

    /// The inputs in the order of their declaration.
    pub fn declared_inputs(&self) -> &[Input] {
        self.features.inputs().declared()
    }

    /// Has so many threads learn from now on. The result is the same to the bit.
    pub fn set_threads(&mut self, threads: usize) -> Result<(), Error> {
        let config = OnlineBlsConfig { threads, ..self.config.clone() };
        config.check_rules()?;
        let threads = Threads::new(threads)?;
        self.features.share_threads(&threads);
        self.ensemble.share_threads(&threads);
        self.config = config;
        Ok(())
    }

    /// The broad features of a sample, as the model would use them to predict or learn it now.
    pub fn features_one(&self, x: Sample<'_>) -> Result<Vec<f64>, Error> {
        Ok(self.features.of(x)?.plain)
    }

    /// The broad features of a block's samples, a row each, as the model would use them to predict
    /// them now.
    pub fn features_many(&self, block: &Block) -> Result<Matrix, Error> {
        let features = self.features.of_all(block)?.plain;
        Ok(Matrix::new(block.len(), self.features(), features))
    }

    /// Samples between two refreshes of the regression on all features, if it forgets.
    pub fn refresh_every(&self) -> Option<usize> {
        self.ensemble.largest().refresh_every()
    }

    /// The leverage of a sample: how unlike the past it is, in the regression on all features. It is 0
    /// for a sample that adds nothing new and grows to |a|²/λ for one that is all new.
    pub fn leverage_one(&self, x: Sample<'_>) -> Result<f64, Error> {
        self.ensemble.largest().factor().leverage(&self.features_one(x)?)
    }

    /// The scores of a block's samples, as they would be predicted now, and the
    /// [leverage](Self::leverage_one) of each. Their classes and weights are not looked at. The scores are
    /// the same as one by one, to the bit, and come faster.
    pub fn scores_many(&self, block: &Block) -> Result<(Scores, Vec<f64>), Error> {
        let features = self.features.of_all(block)?;
        let (verdicts, leverages) =
            self.ensemble.judge_many(&features, block.len(), self.classes())?;
        let mut scores = Scores::new();
        verdicts.iter().for_each(|verdict| scores.push(&verdict.scores));
        Ok((scores, leverages))
    }

    /// As [`test_then_train`](Classifier::test_then_train), and appends to `leverages` how unlike the past
    /// each sample was just before it was learned. That comes with learning, at no cost.
    pub fn test_then_train_with_leverages(
        &mut self,
        block: &Block,
        scores: &mut Scores,
        leverages: &mut Vec<f64>,
    ) -> Result<(), Error> {
        self.learn_block(block, scores, leverages)
    }

    /// The output weights of the regression on all features: a row per broad feature, a column per class.
    pub fn weights(&self) -> Matrix {
        let weights = self.ensemble.largest().weights();
        Matrix::new(self.features(), self.classes(), weights)
    }

    /// The nested models of the regression on all features: how many features each has, and its weight
    /// in predictions now.
    pub fn nested_models(&self) -> Vec<(usize, f64)> {
        self.ensemble.nested_models()
    }

    /// Learns a block, and appends the scores and leverages of before.
    fn learn_block(
        &mut self,
        block: &Block,
        scores: &mut Scores,
        leverages: &mut Vec<f64>,
    ) -> Result<(), Error> {
        let mut known = self.classes();
        let classes = block.check(self.inputs(), known)?;
        for i in 0..block.len() {
            self.features.inputs().check_size(block.sample(i))?;
        }
        self.check_memory("the classes", self.inputs(), classes)?;
        self.ensemble.add_classes(classes);
        self.class_totals.resize(classes, 0.0);
        let mut start = 0;
        while start < block.len() {
            let end = self.end_of_run(block, start);
            let learned = if block.weight(start) > 0.0 {
                let learned = self.learn_run(block, start..end)?;
                leverages.extend_from_slice(learned.leverages());
                Some(learned)
            } else {
                leverages.push(self.leverage_one(block.sample(start))?);
                None
            };
            for i in start..end {
                let verdict = if let Some(learned) = &learned {
                    let (row, weight) = (i - start, self.batch.weights[i - start]);
                    self.ensemble.count(learned, row, known, block.class(i), weight)?
                } else {
                    self.ensemble.judge(&self.features.of(block.sample(i))?, known)?
                };
                scores.push(&verdict.scores);
                known = check_class(block.class(i), known)?;
                self.class_totals[block.class(i)] += block.weight(i);
            }
            start = end;
        }
        Ok(())
    }

    /// Where the samples from `start` on that can be learned at once end: samples of weight 0 are only
    /// scored.
    fn end_of_run(&self, block: &Block, start: usize) -> usize {
        if block.weight(start) == 0.0 {
            return start + 1;
        }
        let longest =
            if self.window.is_some() { 1 } else { BLOCK.min(self.ensemble.longest_run()) };
        let end = block.len().min(start + longest);
        (start..end).find(|&i| block.weight(i) == 0.0).unwrap_or(end)
    }

    /// Has the ensemble learn samples of positive weight.
    fn learn_run(
        &mut self,
        block: &Block,
        run: std::ops::Range<usize>,
    ) -> Result<LearnedBatch, Error> {
        self.batch.clear();
        let classes = self.ensemble.classes();
        for i in run.clone() {
            let weight = self.class_weights.weigh(block.class(i), block.weight(i));
            self.batch.push_target(block.class(i), classes, weight);
        }
        let (first, class) = (block.sample(run.start), block.class(run.start));
        let Batch { scaled, features, .. } = &mut self.batch;
        self.features.learn(block, run, scaled, features);
        self.learn_batch(first, class)
    }

    /// Has the ensemble learn the batch. With a window it holds one sample, whose inputs and class are
    /// given.
    fn learn_batch(&mut self, x: Sample<'_>, class: usize) -> Result<LearnedBatch, Error> {
        let Some(window) = &mut self.window else { return self.ensemble.learn(self.batch.view()) };
        let classes = self.ensemble.classes();
        let leaving = window.leaving(&self.features, classes);
        let (learned, is_sound) = self.ensemble.slide(self.batch.view(), leaving.as_ref())?;
        let x = ScaledSample::new(x, &self.batch.scaled);
        window.push(x, class, self.batch.weights[0]);
        if !is_sound || window.is_due() {
            let sums = window.sums(&self.features, classes)?;
            self.ensemble.rebuild(&sums, window.len() as u64)?;
        }
        Ok(learned)
    }

    /// What is needed to learn a sample later with the features that it has now.
    pub(crate) fn prepare(&self, x: Sample<'_>) -> Result<Prepared, Error> {
        self.features.prepare(x)
    }

    /// Learns a sample with the features that it had when it was prepared.
    pub(crate) fn learn_prepared(
        &mut self,
        prepared: &Prepared,
        class: usize,
        weight: f64,
    ) -> Result<(), Error> {
        check_weight(weight)?;
        self.features.check_prepared(prepared)?;
        let known = self.classes();
        let classes = check_class(class, known)?;
        self.check_memory("the classes", self.inputs(), classes)?;
        self.ensemble.add_classes(classes);
        self.class_totals.resize(classes, 0.0);
        if weight == 0.0 {
            return Ok(());
        }
        self.batch.clear();
        let counted = self.class_weights.weigh(class, weight);
        self.batch.push_target(class, classes, counted);
        self.batch.scaled.extend_from_slice(prepared.sample().values());
        self.features.learn_prepared(prepared, class, weight, &mut self.batch.features);
        let learned = self.learn_batch(prepared.sample(), class)?;
        self.ensemble.count(&learned, 0, known, class, counted)?;
        self.class_totals[class] += weight;
        Ok(())
    }

    /// Saves all that the model knows, its configuration apart: with the random weights of its features, or
    /// only with what they can be drawn from again.
    pub(crate) fn save(&self, to: &mut WriteScope<'_>, with_weights: bool) {
        self.features.save(&mut to.scope("features"), with_weights);
        self.ensemble.save(&mut to.scope("bank"));
        self.class_weights.save(&mut to.scope("class_weights"));
        to.floats("class_totals", self.class_totals.clone());
        if let Some(window) = &self.window {
            window.save(&mut to.scope("window"));
        }
    }

    /// A model of that configuration with what was saved.
    pub(crate) fn restore(config: OnlineBlsConfig, from: &ReadScope<'_>) -> Result<Self, Error> {
        config.check_rules()?;
        // A model of that size is made only if its arrays are all there.
        let regressions = from.scope("bank")?.scope("regressions")?;
        for (i, plan) in plan(&config).iter().enumerate() {
            let factor = regressions.scope(&i.to_string())?.scope("factor")?;
            let order = plan.features as u128;
            let sound = factor.length("l") as u128 == order * (order - 1) / 2;
            factor.check("l", sound, &format!("the triangle of {order} features"))?;
        }
        check_drawn(&config, &from.scope("features")?)?;
        let mut model = OnlineBls::new(config)?;
        model.ensemble.restore(&from.scope("bank")?)?;
        let classes = model.ensemble.classes();
        model.features.restore(&from.scope("features")?, classes)?;
        model.class_weights.restore(&from.scope("class_weights")?)?;
        model.class_totals = checked_totals(from, classes)?;
        let inputs = model.inputs();
        if let Some(window) = &mut model.window {
            window.restore(&from.scope("window")?, inputs, classes)?;
        }
        Ok(model)
    }

    fn check_memory(&self, what: &'static str, inputs: usize, classes: usize) -> Result<(), Error> {
        self.config.check_memory(what, self.config.bytes(inputs, classes))
    }
}

/// Checks that weights which are to be drawn again take no more memory than a model may by default,
/// whatever the file says: a name is short, and its weights are many.
fn check_drawn(config: &OnlineBlsConfig, features: &ReadScope<'_>) -> Result<(), Error> {
    let inputs = features.scope("inputs")?.texts("names")?.len();
    if features.scope("map")?.flag("has_weights")? {
        return Ok(());
    }
    let limit = config.memory_limit.min(OnlineBlsConfig::default().memory_limit);
    let config = OnlineBlsConfig { memory_limit: limit, ..config.clone() };
    config.check_memory("the inputs", config.feature_bytes(inputs))
}

/// The weights of samples by class, as they were saved.
fn checked_totals(from: &ReadScope<'_>, classes: usize) -> Result<Vec<f64>, ModelFileError> {
    let totals = from.floats("class_totals", classes)?;
    from.check_each("class_totals", &totals, "not negative", |total| *total >= 0.0)?;
    Ok(totals)
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
        self.ensemble.classes()
    }

    /// With stacking, probabilities. Without it, estimates of each class's indicator: aᵀW of the
    /// nested models, averaged by their weights.
    fn scores_one(&self, x: Sample<'_>) -> Result<Vec<f64>, Error> {
        Ok(self.ensemble.judge(&self.features.of(x)?, self.classes())?.scores)
    }

    /// With stacking the scores themselves. Without it, the point of the probability simplex nearest to
    /// the scores, smoothed.
    fn probabilities(&self, scores: &[f64]) -> Vec<f64> {
        self.ensemble.probabilities(scores)
    }

    fn learn_one(&mut self, x: Sample<'_>, class: usize, weight: f64) -> Result<(), Error> {
        let mut block = Block::new();
        block.push(x, class, weight)?;
        self.learn_many(&block)
    }

    /// The regressions; of a single one its nested models, if there are several.
    fn members(&self) -> Vec<Member> {
        self.ensemble.members()
    }

    /// When the regression on all samples since the last drift began anew: another that forgets had been
    /// better for long.
    fn restarts(&self) -> &[u64] {
        self.ensemble.restarts()
    }

    fn learn_many(&mut self, block: &Block) -> Result<(), Error> {
        self.learn_block(block, &mut Scores::new(), &mut Vec::new())
    }

    fn test_then_train(&mut self, block: &Block, scores: &mut Scores) -> Result<(), Error> {
        self.learn_block(block, scores, &mut Vec::new())
    }
}
