//! The sums over a part of the samples, without a model.
//!
//! Several workers can each add up a part of a stream, and their sums together make one model. A
//! block of b samples takes one rank-b update of a symmetric matrix, which is a matrix product.
//! There is no factor and there are no predictions, so the order of samples does not matter.

use super::{
    BLOCK, OnlineBls,
    merge::{check_alike, check_numbering},
};
use crate::{
    config::OnlineBlsConfig,
    data::{Block, Input, InputKind},
    ensemble::plan,
    error::{Error, ModelFileError},
    features::{BroadFeatures, Features},
    numeric::Threads,
    regression::factor::{Probe, Sums},
    state::{ReadScope, WriteScope},
};

/// The sums over some samples, for models of one configuration.
///
/// ```
/// use broadstream::{Block, InputKind, OnlineBlsConfig, Partial, Sample, Scaling};
///
/// let config = OnlineBlsConfig { scaling: Scaling::None, ..OnlineBlsConfig::single() };
/// let mut workers = [Partial::new(config.clone())?, Partial::new(config)?];
/// for (part, worker) in workers.iter_mut().enumerate() {
///     worker.declare_input("x", InputKind::Numeric)?;
///     let mut block = Block::new();
///     for i in 0..10 {
///         block.push(Sample::dense(&[f64::from(i) + part as f64]), usize::from(i > 4), 1.0)?;
///     }
///     worker.learn_many(&block)?;
/// }
/// let [mut all, other] = workers;
/// all.merge(&other, &[0, 1])?;
/// let model = all.into_model()?;
/// assert_eq!(model.learned(), 20);
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Partial {
    config: OnlineBlsConfig,
    features: BroadFeatures,
    sums: Sums,
    /// For each regression of a model, what tells how exact its factor is.
    probes: Vec<Probe>,
    /// The total weight of the samples, by class.
    class_totals: Vec<f64>,
    learned: u64,
}

impl Partial {
    /// The sums over no samples. The configuration must be one whose models can be merged; in
    /// particular its scaling must be given or none. [`like`](Self::like) takes the scaling from a
    /// model.
    pub fn new(config: OnlineBlsConfig) -> Result<Self, Error> {
        Partial::like(&OnlineBls::new(config)?)
    }

    /// The sums over no samples, for models that can be merged with this one: with its
    /// configuration, and its scaling as it is now.
    pub fn like(model: &OnlineBls) -> Result<Self, Error> {
        let config = model.config().clone();
        // The copy is what is checked, since its scaling is frozen where that of `model` may not
        // be.
        let like = model.like()?;
        like.check_exact("add up samples without a model")?;
        let mut features = like.features;
        let mut sums = Sums::new(features.len());
        let threads = Threads::new(config.threads)?;
        features.share_threads(&threads);
        sums.share_threads(&threads);
        let probes = new_probes(&config);
        Ok(Partial { config, features, sums, probes, class_totals: Vec::new(), learned: 0 })
    }

    /// The configuration of the models that the sums are for.
    pub fn config(&self) -> &OnlineBlsConfig {
        &self.config
    }

    /// The number of samples of positive weight that were added up.
    pub fn learned(&self) -> u64 {
        self.learned
    }

    /// The inputs in the order of their declaration.
    pub fn declared_inputs(&self) -> &[Input] {
        self.features.inputs().declared()
    }

    /// The number of classes seen so far.
    pub fn classes(&self) -> usize {
        self.class_totals.len()
    }

    /// The total weight of the samples, by class.
    pub fn class_totals(&self) -> &[f64] {
        &self.class_totals
    }

    /// Adds an input, as [`Classifier::declare_input`](crate::Classifier::declare_input) does.
    pub fn declare_input(&mut self, name: &str, kind: InputKind) -> Result<(), Error> {
        self.features.inputs().check_new(name)?;
        self.check_memory("the inputs", self.declared_inputs().len() + 1, self.classes())?;
        self.features.declare_input(name, kind)
    }

    /// Adds the samples of a block, or none if one of them is refused.
    pub fn learn_many(&mut self, block: &Block) -> Result<(), Error> {
        let classes = block.check(self.declared_inputs().len(), self.classes())?;
        for i in 0..block.len() {
            self.features.inputs().check_size(block.sample(i))?;
        }
        self.check_memory("the classes", self.declared_inputs().len(), classes)?;
        self.class_totals.resize(classes, 0.0);
        self.sums.add_targets(classes);
        let counted: Vec<usize> = (0..block.len()).filter(|i| block.weight(*i) > 0.0).collect();
        let (mut scaled, mut features) = (Vec::new(), Features::default());
        // Consecutive samples of positive weight go together: samples of weight 0 add nothing, and
        // features are made of a range of the block.
        for run in counted.chunk_by(|a, b| a + 1 == *b).flat_map(|run| run.chunks(BLOCK)) {
            let samples = run[0]..run[0] + run.len();
            let mut targets = vec![0.0; run.len() * classes];
            let mut weights = Vec::with_capacity(run.len());
            for (row, i) in samples.clone().enumerate() {
                targets[row * classes + block.class(i)] = 1.0;
                weights.push(block.weight(i));
                self.class_totals[block.class(i)] += block.weight(i);
            }
            scaled.clear();
            features.plain.clear();
            self.features.learn(block, samples, &mut scaled, &mut features);
            self.sums.add(&features.plain, &targets, &weights)?;
            for probe in &mut self.probes {
                probe.follow_prefix(&features.plain, &targets, &weights);
            }
            self.learned += run.len() as u64;
        }
        Ok(())
    }

    /// Adds other sums. `classes[k]` is the number here of the other's class k; it may be a new
    /// class.
    pub fn merge(&mut self, other: &Partial, classes: &[usize]) -> Result<(), Error> {
        check_alike(&self.config, &other.config)?;
        self.features.check_mergeable(&other.features)?;
        let known = check_numbering(classes, other.classes(), self.classes())?;
        let inputs = self.features.inputs();
        let added = other.declared_inputs().iter();
        let added = added.filter(|input| inputs.position(&input.name).is_none()).count();
        self.check_memory("the inputs and classes", inputs.len() + added, known)?;
        self.features.take_inputs(&other.features)?;
        // A given scaling has grown by the other's inputs, and the configuration must say so.
        self.config.scaling = self.features.inputs().rule().clone();
        self.sums.add_targets(known);
        self.sums.merge(&other.sums.renumbered(classes, known))?;
        for (own, probe) in self.probes.iter_mut().zip(&other.probes) {
            other.sums.add_probe(probe, own, classes);
        }
        self.class_totals.resize(known, 0.0);
        for (total, class) in other.class_totals.iter().zip(classes) {
            self.class_totals[*class] += total;
        }
        self.learned += other.learned;
        Ok(())
    }

    /// The model that has learned these samples.
    pub fn into_model(self) -> Result<OnlineBls, Error> {
        let mut model = OnlineBls::new(self.config.clone())?;
        // The scaling of a new model may be a running one, into which nothing can be merged. That
        // of these features is frozen.
        model.features = self.features.clone();
        let classes: Vec<usize> = (0..self.classes()).collect();
        model.merge_partial(&self, &classes)?;
        Ok(model)
    }

    pub(super) fn features(&self) -> &BroadFeatures {
        &self.features
    }

    pub(super) fn sums(&self) -> &Sums {
        &self.sums
    }

    pub(super) fn probes(&self) -> &[Probe] {
        &self.probes
    }

    fn check_memory(&self, what: &'static str, inputs: usize, classes: usize) -> Result<(), Error> {
        self.config.check_memory(what, self.config.bytes(inputs, classes))
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>, with_weights: bool) {
        self.features.save(&mut to.scope("features"), with_weights);
        self.sums.save(&mut to.scope("sums"));
        for (i, probe) in self.probes.iter().enumerate() {
            probe.save(&mut to.scope("probes").scope(&i.to_string()));
        }
        to.floats("class_totals", self.class_totals.clone());
        to.integer("learned", self.learned);
    }

    pub(crate) fn restore(config: OnlineBlsConfig, from: &ReadScope<'_>) -> Result<Self, Error> {
        config.check_rules()?;
        // As for a model, the file must hold the arrays before memory for them is allocated.
        let order = plan(&config).first().map_or(0, |plan| plan.features);
        let sums = from.scope("sums")?;
        Sums::check_size(&sums, order)?;
        super::check_drawn(&config, &from.scope("features")?)?;
        let mut features = BroadFeatures::new(&config)?;
        let totals = from.any_floats("class_totals")?;
        features.restore(&from.scope("features")?, totals.len())?;
        let mut partial = Partial {
            sums: Sums::new(order),
            probes: new_probes(&config),
            class_totals: super::checked_totals(from, totals.len())?,
            learned: from.integer("learned")?,
            features,
            config,
        };
        partial.sums.restore(&sums)?;
        partial.restore_probes(from)?;
        let sound = partial.sums.targets() == totals.len();
        from.check("class_totals", sound, "as many as there are targets")?;
        Ok(partial)
    }

    fn restore_probes(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        for (i, probe) in self.probes.iter_mut().enumerate() {
            if from.has("probes") {
                probe.restore(&from.scope("probes")?.scope(&i.to_string())?)?;
            } else {
                // Sums of earlier versions count as exact.
                *probe = self.sums.prefix(probe.order()).probe(probe.ridge(), self.learned);
            }
        }
        Ok(())
    }
}

/// A probe for each regression of a model with this configuration.
fn new_probes(config: &OnlineBlsConfig) -> Vec<Probe> {
    plan(config).iter().map(|plan| Probe::new(plan.features, plan.ridge)).collect()
}
