//! The online broad learning system: random features, and ridge regressions on them. After every
//! sample each regression is the exact optimum of what it remembers.

mod class_weights;
mod exact;
mod explain;
mod importance;
mod inputs;
mod late_labels;
mod merge;
mod partial;
mod predictor;
mod prepared;
mod rules;
#[cfg(test)]
mod tests;
mod unlearn;
mod window;

pub use self::{
    explain::{Explanation, Reason},
    late_labels::{LateLabels, LatePrediction},
    partial::Partial,
    predictor::Predictor,
    unlearn::Certificate,
};

use self::{class_weights::ClassWeights, importance::Importance, window::SampleWindow};
use crate::{
    classifier::{Classifier, Member, MemberChange},
    config::OnlineBlsConfig,
    data::{Block, Decisions, Input, InputKind, Matrix, Objective, Sample, Scores, check_class},
    decision::DecisionRules,
    ensemble::{Ensemble, LearnedBatch, labelled_features, plan},
    error::{Error, ModelFileError},
    features::BroadFeatures,
    numeric::Threads,
    preprocessing::ScaledSample,
    regression::{Batch, RegressionHealth},
    state::{Precision, ReadScope, WriteScope},
};

/// How many samples go through the factor together. A larger block gains nothing; in a smaller one
/// fewer samples share the cost of reading and writing the factor.
const BLOCK: usize = 64;

/// A block of fewer samples is learned by the thread that calls, which shares single steps with others.
const LEAST_SHARED: usize = 16;

/// Says of a saved model that numbers of it were rounded.
const SINGLE_PRECISION: &str = "single_precision";

/// A model that chooses its nodes has a linear node for each input if the first sample has no more
/// inputs than this,
const MOST_INPUT_NODES: usize = 63;

/// and at least this many, for inputs that appear later.
const LEAST_INPUT_NODES: usize = 7;

/// A broad learning system that learns one sample at a time. By default it combines several
/// regressions that remember different amounts of the past, and learns which of them to trust. With
/// [`OnlineBlsConfig::single`] it is one ridge regression, at any moment the exact solution for all
/// samples so far.
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
    /// What decisions follow from, besides probabilities.
    decisions: DecisionRules,
    /// The total weight of the learned samples, by class.
    class_totals: Vec<f64>,
    /// The classes all of whose samples were unlearned.
    emptied: Vec<usize>,
    importance: Importance,
    /// In which precision it was stored when it was read last.
    precision: Precision,
    /// The last samples, if the model has a window.
    window: Option<SampleWindow>,
    /// A buffer for the samples that are being learned.
    batch: Batch,
}

impl OnlineBls {
    /// A model that has learned nothing. A configuration that breaks a rule is refused.
    pub fn new(config: OnlineBlsConfig) -> Result<Self, Error> {
        config.check()?;
        let threads = Threads::new(config.threads)?;
        let mut features = BroadFeatures::new(&config)?;
        features.feed_labels(labelled_features(&plan(&config)), config.label_lags);
        features.share_threads(&threads);
        Ok(OnlineBls {
            ensemble: Ensemble::new(&config, &threads),
            class_weights: ClassWeights::new(config.class_weight),
            decisions: DecisionRules::new(),
            class_totals: Vec::new(),
            emptied: Vec::new(),
            importance: Importance::default(),
            precision: Precision::Double,
            window: config.window.map(SampleWindow::new),
            features,
            config,
            batch: Batch::default(),
        })
    }

    /// The model's configuration.
    pub fn config(&self) -> &OnlineBlsConfig {
        &self.config
    }

    /// The number of broad features, which is the number of rows of the weights. In a model that
    /// chooses its own nodes it is that of the largest regression now.
    pub fn features(&self) -> usize {
        self.ensemble.largest().plan().features
    }

    /// The number of samples of positive weight that the model has learned.
    pub fn learned(&self) -> u64 {
        self.ensemble.learned()
    }

    /// Single if the model, or the one that it continues, was ever read from a file in single
    /// precision. What it learned before that has seven digits, so operations that need an exact
    /// model are refused.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// The total weight of the learned samples, by class, without those that were unlearned.
    pub fn class_totals(&self) -> &[f64] {
        &self.class_totals
    }

    /// The memory that the model takes in bytes, as counted for
    /// [`memory_limit`](OnlineBlsConfig::memory_limit).
    pub fn bytes(&self) -> u64 {
        let bytes = self.config.bytes(self.inputs(), self.classes());
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// For each regression, how far rounding has moved it from what it should be. This takes a pass
    /// over each factor.
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

    /// The number of samples in the window, or `None` if the model has no window.
    pub fn window_samples(&self) -> Option<usize> {
        self.window.as_ref().map(SampleWindow::len)
    }

    /// The inputs in the order of their declaration.
    pub fn declared_inputs(&self) -> &[Input] {
        self.features.inputs().declared()
    }

    /// Sets how many threads learn from now on. The result is the same to the bit.
    pub fn set_threads(&mut self, threads: usize) -> Result<(), Error> {
        let config = OnlineBlsConfig { threads, ..self.config.clone() };
        config.check_rules()?;
        let threads = Threads::new(threads)?;
        self.features.share_threads(&threads);
        self.ensemble.share_threads(&threads);
        self.config = config;
        Ok(())
    }

    /// Changes what decisions are made for. Nothing needs to be learned again: the statistics behind all
    /// objectives are always kept.
    ///
    /// ```
    /// use broadstream::{Classifier, InputKind, Objective, OnlineBls, OnlineBlsConfig, Sample};
    ///
    /// let mut model = OnlineBls::new(OnlineBlsConfig::single())?;
    /// model.declare_input("x", InputKind::Numeric)?;
    /// for i in 0..200 {
    ///     // A tenth of the samples near 1 belong to the rare class.
    ///     let x = f64::from(i % 2);
    ///     model.learn_one(Sample::dense(&[x]), usize::from(i % 20 == 19), 1.0)?;
    /// }
    /// assert_eq!(model.predict_one(Sample::dense(&[1.0]))?, Some(0));
    /// model.set_objective(Objective::Balanced);
    /// assert_eq!(model.predict_one(Sample::dense(&[1.0]))?, Some(1));
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn set_objective(&mut self, objective: Objective) {
        self.config.objective = objective;
    }

    /// The share of each class among recent samples, whose weight halves every 10 000 samples.
    pub fn class_shares(&self) -> Vec<f64> {
        self.decisions.shares(self.classes())
    }

    /// The factors by which each objective multiplies the probabilities of the classes before it decides
    /// for the largest, in the order of [`Objective::ALL`]. Only their ratios matter.
    pub fn decision_factors(&self) -> [Vec<f64>; 4] {
        self.decisions.factors(self.classes())
    }

    /// The broad features of a sample, as the model would use them to predict or learn it now.
    pub fn features_one(&self, x: Sample<'_>) -> Result<Vec<f64>, Error> {
        Ok(self.ensemble.largest().plan().features_of(&self.features.of(x)?, 1))
    }

    /// The broad features of a block's samples, one row per sample, as the model would use them to
    /// predict each sample now.
    pub fn features_many(&self, block: &Block) -> Result<Matrix, Error> {
        let features = self.features.of_all(block)?;
        let features = self.ensemble.largest().plan().features_of(&features, block.len());
        Ok(Matrix::new(block.len(), self.features(), features))
    }

    /// The number of samples between two refreshes of the regression on all features, or `None` if
    /// it does not forget.
    pub fn refresh_every(&self) -> Option<usize> {
        self.ensemble.largest().refresh_every()
    }

    /// The leverage of a sample in the regression on all features: how much it differs from the
    /// samples learned before. It is close to 0 for a sample that adds nothing new, and reaches
    /// |a|²/λ for one with features a that have nothing in common with the past.
    pub fn leverage_one(&self, x: Sample<'_>) -> Result<f64, Error> {
        self.ensemble.largest().factor().leverage(&self.features_one(x)?)
    }

    /// The scores of a block's samples, as they would be predicted now, and the
    /// [leverage](Self::leverage_one) of each. Classes and weights are ignored. The scores are the
    /// same to the bit as one by one, but faster to compute.
    pub fn scores_many(&self, block: &Block) -> Result<(Scores, Vec<f64>), Error> {
        let features = self.features.of_all(block)?;
        let (predictions, leverages) =
            self.ensemble.predict_many(&features, block.len(), self.classes())?;
        let absent = self.absent_classes();
        let mut scores = Scores::new();
        for mut prediction in predictions {
            self.ensemble.exclude(&mut prediction, &absent);
            scores.push_decided(&prediction.scores, self.decide(&prediction.scores));
        }
        Ok((scores, leverages))
    }

    /// Like [`test_then_train`](Classifier::test_then_train), but also appends to `leverages` the
    /// [leverage](Self::leverage_one) that each sample had just before it was learned. Learning
    /// computes it anyway, so it costs nothing.
    pub fn test_then_train_with_leverages(
        &mut self,
        block: &Block,
        scores: &mut Scores,
        leverages: &mut Vec<f64>,
    ) -> Result<(), Error> {
        self.learn_block(block, scores, leverages)
    }

    /// The output weights of the regression on all features: one row per broad feature, one column
    /// per class.
    pub fn weights(&self) -> Matrix {
        let weights = self.ensemble.largest().weights();
        Matrix::new(self.features(), self.classes(), weights)
    }

    /// The nested models of the regression on all features: the number of features of each, and its
    /// current weight in the average of predictions.
    pub fn nested_models(&self) -> Vec<(usize, f64)> {
        self.ensemble.nested_models()
    }

    /// Makes the inputs themselves the linear nodes of a model that chooses its nodes, if the first
    /// sample to be learned has few inputs and all of them in order, and unless another number of
    /// linear nodes was asked for. A hundred random sums of them
    /// would tell no more, and cost as much as other nodes.
    fn fit_linear_nodes(&mut self, first: Sample<'_>) {
        let is_usual = self.config.linear() == OnlineBlsConfig::default().linear();
        let is_new = self.config.is_adaptive() && self.learned() == 0;
        if is_new && is_usual && first.is_dense() && first.len() <= MOST_INPUT_NODES {
            self.use_input_nodes(first.len().max(LEAST_INPUT_NODES));
        }
    }

    /// Starts over with the inputs themselves as linear nodes. Nothing may have been learned.
    fn use_input_nodes(&mut self, inputs: usize) {
        let (feature_groups, feature_nodes) = (1, inputs + 1);
        let config = OnlineBlsConfig { feature_groups, feature_nodes, ..self.config.clone() };
        self.features.use_input_nodes(inputs);
        self.features.feed_labels(labelled_features(&plan(&config)), config.label_lags);
        let classes = self.classes();
        self.ensemble = Ensemble::new(&config, &self.ensemble.threads().clone());
        self.ensemble.add_classes(classes);
    }

    /// Learns a block. Appends the scores and the leverage that each sample had just before it was
    /// learned.
    ///
    /// The result must be the same, to the bit, as learning the samples one by one. The block is
    /// divided into runs that the regressions can learn at once; then the ensemble takes each
    /// sample of a run into account in order.
    fn learn_block(
        &mut self,
        block: &Block,
        scores: &mut Scores,
        leverages: &mut Vec<f64>,
    ) -> Result<(), Error> {
        if block.len() < LEAST_SHARED {
            return self.learn_samples(block, scores, leverages);
        }
        let threads = self.ensemble.threads().clone();
        threads.run(|| self.learn_samples(block, scores, leverages))
    }

    fn learn_samples(
        &mut self,
        block: &Block,
        scores: &mut Scores,
        leverages: &mut Vec<f64>,
    ) -> Result<(), Error> {
        self.check_window()?;
        let mut known = self.classes();
        // Everything that could be refused is checked before anything is learned, so that a refused
        // block leaves no trace.
        let classes = block.check(self.inputs(), known)?;
        for i in 0..block.len() {
            self.features.inputs().check_size(block.sample(i))?;
        }
        self.check_memory("the classes", self.inputs(), classes)?;
        if let Some(first) = (0..block.len()).find(|i| block.weight(*i) > 0.0) {
            self.fit_linear_nodes(block.sample(first));
        }
        // The regressions get room for all classes of the block at once, so that targets have the
        // same length throughout. `known` counts the classes seen before the current sample: only
        // these are scored, as they would be one by one.
        self.ensemble.add_classes(classes);
        self.class_totals.resize(classes, 0.0);
        let mut start = 0;
        while start < block.len() {
            let end = self.end_of_run(block, start);
            // With a window, learning a sample may remove the last one of another class.
            let absent = self.window.is_some().then(|| self.absent_classes());
            if block.weight(start) > 0.0 && self.is_explanation_due(known) {
                self.count_importance(&self.features.prepare(block.sample(start))?, known)?;
            }
            let learned = if block.weight(start) > 0.0 {
                let learned = self.learn_run(block, start..end)?;
                leverages.extend_from_slice(learned.leverages());
                Some(learned)
            } else {
                leverages.push(self.leverage_one(block.sample(start))?);
                None
            };
            // The regressions are ahead of the sample that is counted here, but `learned` holds
            // what they predicted before they learned it. How predictions are combined changes with
            // each sample, so that part goes one by one.
            for i in start..end {
                let mut prediction = if let Some(learned) = &learned {
                    let (row, weight) = (i - start, self.batch.weights[i - start]);
                    self.ensemble.count(learned, row, known, block.class(i), weight)?
                } else {
                    self.ensemble.predict(&self.features.of(block.sample(i))?, known)?
                };
                let absent = absent.as_ref().unwrap_or(&self.emptied);
                self.ensemble.exclude(&mut prediction, absent);
                let decisions =
                    self.count_decisions(&prediction.scores, block.class(i), block.weight(i));
                scores.push_decided(&prediction.scores, decisions);
                known = check_class(block.class(i), known)?;
                self.add_total(block.class(i), block.weight(i));
            }
            self.ensemble.adapt(&mut self.features)?;
            start = end;
        }
        Ok(())
    }

    /// The end of the run of samples from `start` on that can be learned at once. A sample of
    /// weight 0 is a run of its own, which is scored and not learned.
    fn end_of_run(&self, block: &Block, start: usize) -> usize {
        if block.weight(start) == 0.0 {
            return start + 1;
        }
        // With a window each new sample replaces the oldest one, so they go one by one. Otherwise a
        // run must end where a regression may restart, or the next sample may be explained.
        let until_explained = self.until_explanation();
        let longest = match self.window.is_some() {
            true => 1,
            false => BLOCK.min(self.ensemble.longest_run()).min(until_explained),
        };
        let end = block.len().min(start + longest);
        (start..end).find(|&i| block.weight(i) == 0.0).unwrap_or(end)
    }

    /// Learns samples of positive weight, at most one with a window.
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
        // Scales each sample by those before it, and only then updates the scaling with it, by its
        // own weight: class weights are for the regressions alone.
        self.features.learn(block, run.clone(), scaled, features);
        if self.ensemble.remembers() {
            let mut rest = self.batch.scaled.as_slice();
            for (i, weight) in run.zip(&self.batch.weights) {
                let values;
                (values, rest) = rest.split_at(block.sample(i).len());
                let x = ScaledSample::new(block.sample(i), values);
                self.ensemble.remember(x, block.class(i), *weight);
            }
        }
        self.learn_batch(first, class)
    }

    /// Learns `self.batch`. With a window the batch holds one sample, with the inputs `x` and this
    /// class, and the oldest sample is unlearned; without one `x` and `class` are not needed.
    fn learn_batch(&mut self, x: Sample<'_>, class: usize) -> Result<LearnedBatch, Error> {
        let Some(window) = &mut self.window else { return self.ensemble.learn(self.batch.view()) };
        let classes = self.ensemble.classes();
        let leaving = window.leaving(&self.features, classes);
        let (learned, is_sound) = self.ensemble.slide(self.batch.view(), leaving.as_ref())?;
        // The window keeps what exactly this sample added to the sums, so that the same can be
        // removed later: its inputs as they are scaled now, and its weight including its class
        // weight.
        let x = ScaledSample::new(x, &self.batch.scaled);
        window.push(x, class, self.batch.weights[0]);
        // The predictions in `learned` were made before the slide, so they are right even if the
        // slide has ruined the factor.
        if !is_sound {
            self.ensemble.rebuild(window.batches(&self.features, classes))?;
        }
        Ok(learned)
    }

    /// Saves everything but the configuration. Without the random weights of the features, the file
    /// is smaller and the weights are drawn again when it is read.
    pub(crate) fn save(&self, to: &mut WriteScope<'_>, with_weights: bool) {
        self.features.save(&mut to.scope("features"), with_weights);
        // Model files call the ensemble a bank; that name is part of format version 1.
        self.ensemble.save(&mut to.scope("bank"));
        self.class_weights.save(&mut to.scope("class_weights"));
        self.decisions.save(&mut to.scope("decisions"));
        to.floats("class_totals", self.class_totals.clone());
        to.integers("emptied", self.emptied.iter().map(|class| *class as u64).collect());
        self.importance.save(&mut to.scope("importance"));
        if let Some(window) = &self.window {
            window.save(&mut to.scope("window"));
        }
        if to.is_rounded() || self.precision == Precision::Single {
            to.value(SINGLE_PRECISION, true);
        }
    }

    /// The model that was saved, with this configuration.
    pub(crate) fn restore(config: OnlineBlsConfig, from: &ReadScope<'_>) -> Result<Self, Error> {
        config.check_rules()?;
        // The file must hold the arrays that its configuration claims before a model of that size
        // is allocated. Otherwise a few forged bytes could demand gigabytes.
        let regressions = from.scope("bank")?.scope("regressions")?;
        for (i, order) in Ensemble::saved_orders(&config, &from.scope("bank")?)?.iter().enumerate()
        {
            let factor = regressions.scope(&i.to_string())?.scope("factor")?;
            let order = *order as u128;
            let sound = factor.length("l") as u128 == order * (order - 1) / 2;
            factor.check("l", sound, &format!("the triangle of {order} features"))?;
        }
        check_drawn(&config, &from.scope("features")?)?;
        let mut model = OnlineBls::new(config)?;
        let map = from.scope("features")?.scope("map")?;
        if model.config.is_adaptive() && map.integer("input_nodes")? > 0 {
            let inputs = map.count("input_nodes", MOST_INPUT_NODES)?;
            map.check("input_nodes", inputs >= LEAST_INPUT_NODES, "at least that of a new model")?;
            model.use_input_nodes(inputs);
        }
        // The ensemble comes first: its arrays tell how many classes there are, and everything else
        // is checked against that number.
        let inputs = from.scope("features")?.scope("inputs")?.texts("names")?.len();
        model.ensemble.restore(&from.scope("bank")?, inputs)?;
        let classes = model.ensemble.classes();
        model.features.restore(&from.scope("features")?, classes)?;
        model.class_weights.restore(&from.scope("class_weights")?)?;
        model.class_totals = checked_totals(from, classes)?;
        model.emptied = checked_emptied(from, &model.class_totals)?;
        if from.has("decisions") {
            model.decisions.restore(&from.scope("decisions")?, classes)?;
        } else {
            // Files of earlier versions know how frequent classes are, and nothing else.
            let numbers: Vec<usize> = (0..classes).collect();
            model.decisions.add_totals(&model.class_totals, &numbers);
        }
        // Files of earlier versions lack it.
        if from.has("importance") {
            let columns = model.features.inputs().columns().len();
            model.importance.restore(&from.scope("importance")?, columns)?;
        }
        let inputs = model.inputs();
        if let Some(window) = &mut model.window {
            window.restore(&from.scope("window")?, inputs, classes)?;
        }
        if from.has(SINGLE_PRECISION) {
            model.precision = Precision::Single;
            if let Some(window) = &model.window {
                // The samples of a window have all their digits.
                model.ensemble.rebuild(window.batches(&model.features, classes))?;
            }
        }
        Ok(model)
    }

    /// The classes that were seen, but of which nothing is remembered: all their samples were
    /// unlearned, or have left the window. They take no part in predictions.
    fn absent_classes(&self) -> Vec<usize> {
        let Some(window) = &self.window else { return self.emptied.clone() };
        let learned = self.class_totals.iter().enumerate().filter(|(_, total)| **total > 0.0);
        learned.map(|(class, _)| class).filter(|class| !window.has(*class)).collect()
    }

    /// Decides for a sample with these scores, and learns how good that was.
    fn count_decisions(&mut self, scores: &[f64], class: usize, weight: f64) -> Decisions {
        let rules = self.decisions.judge(scores, &self.ensemble.probabilities(scores));
        let decisions = self.decisions.decisions(&rules);
        if weight > 0.0 {
            self.decisions.observe(&rules, class, weight);
        }
        decisions
    }

    /// Adds the weight of a learned sample to the total of its class.
    fn add_total(&mut self, class: usize, weight: f64) {
        self.class_totals[class] += weight;
        if weight > 0.0 {
            self.emptied.retain(|emptied| *emptied != class);
        }
    }

    fn check_memory(&self, what: &'static str, inputs: usize, classes: usize) -> Result<(), Error> {
        self.config.check_memory(what, self.ensemble.bytes(inputs, classes))
    }
}

/// Checks the memory of random weights that a file does not contain and that are to be drawn again.
///
/// The size of the file does not bound them: each input is a short name in the file, and thousands
/// of weights in memory. The memory limit in the file does not either, since it may be forged. So
/// the weights must also fit into the default limit.
fn check_drawn(config: &OnlineBlsConfig, features: &ReadScope<'_>) -> Result<(), Error> {
    let inputs = features.scope("inputs")?.texts("names")?.len();
    if features.scope("map")?.flag("has_weights")? {
        return Ok(());
    }
    let limit = config.memory_limit.min(OnlineBlsConfig::default().memory_limit);
    let config = OnlineBlsConfig { memory_limit: limit, ..config.clone() };
    config.check_memory("the inputs", config.feature_bytes(inputs))
}

/// The saved total weight of the samples of each class.
fn checked_totals(from: &ReadScope<'_>, classes: usize) -> Result<Vec<f64>, ModelFileError> {
    let totals = from.floats("class_totals", classes)?;
    from.check_each("class_totals", &totals, "not negative", |total| *total >= 0.0)?;
    Ok(totals)
}

/// The saved classes all of whose samples were unlearned; files of earlier versions have none.
fn checked_emptied(from: &ReadScope<'_>, totals: &[f64]) -> Result<Vec<usize>, ModelFileError> {
    let emptied = from.optional_integers("emptied");
    let emptied: Vec<usize> = emptied.into_iter().map(|class| class as usize).collect();
    let sound = |class: &usize| totals.get(*class).is_some_and(|total| *total == 0.0);
    from.check_each("emptied", &emptied, "classes without samples", sound)?;
    Ok(emptied)
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

    /// With stacking, the scores are probabilities. Without it, they estimate the indicator of each
    /// class: aᵀW of the nested models, averaged by their weights.
    fn scores_one(&self, x: Sample<'_>) -> Result<Vec<f64>, Error> {
        let mut prediction = self.ensemble.predict(&self.features.of(x)?, self.classes())?;
        self.ensemble.exclude(&mut prediction, &self.absent_classes());
        Ok(prediction.scores)
    }

    /// With stacking, the scores themselves. Without it, the point of the probability simplex
    /// nearest to the scores, smoothed.
    fn probabilities(&self, scores: &[f64]) -> Vec<f64> {
        self.ensemble.probabilities(scores)
    }

    fn objective(&self) -> Option<Objective> {
        Some(self.config.objective)
    }

    fn decide(&self, scores: &[f64]) -> Decisions {
        let rules = self.decisions.judge(scores, &self.ensemble.probabilities(scores));
        self.decisions.decisions(&rules)
    }

    fn learn_one(&mut self, x: Sample<'_>, class: usize, weight: f64) -> Result<(), Error> {
        let mut block = Block::new();
        block.push(x, class, weight)?;
        self.learn_many(&block)
    }

    /// The regressions, or the nested models of a single regression if it has several.
    fn members(&self) -> Vec<Member> {
        self.ensemble.members()
    }

    /// When the regression that remembers everything since the last drift was restarted, because
    /// one that forgets had been better for long.
    fn restarts(&self) -> &[u64] {
        self.ensemble.restarts()
    }

    fn changes(&self) -> &[MemberChange] {
        self.ensemble.changes()
    }

    fn learn_many(&mut self, block: &Block) -> Result<(), Error> {
        self.learn_block(block, &mut Scores::new(), &mut Vec::new())
    }

    fn test_then_train(&mut self, block: &Block, scores: &mut Scores) -> Result<(), Error> {
        self.learn_block(block, scores, &mut Vec::new())
    }
}
