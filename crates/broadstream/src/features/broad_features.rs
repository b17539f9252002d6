//! The way from a sample's inputs to its broad features: names, scaling and the random map.
//!
//! Every broad learning system here goes it, so that two of them with the same configuration see the
//! same features to the bit and differ only in how they fit weights to them.

use std::ops::Range;

use crate::{
    config::OnlineBlsConfig,
    data::{Block, InputKind, Sample},
    error::Error,
    features::{FeatureMap, Features, RecentLabels, Shape},
    numeric::Threads,
    preprocessing::{ScaledInputs, ScaledSample},
    state::{ReadScope, WriteScope},
};

/// A sample with what its features depend on, besides the map that never changes: its values, as they
/// are and as they were scaled, and the labels before it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Prepared {
    values: Vec<f64>,
    scaled: ScaledSample,
    labels: Vec<usize>,
}

impl Prepared {
    /// The inputs with their scaled values.
    pub(crate) fn sample(&self) -> Sample<'_> {
        self.scaled.sample()
    }
}

/// Scaled inputs and the random map that they go through.
#[derive(Clone, Debug)]
pub(crate) struct BroadFeatures {
    inputs: ScaledInputs,
    map: FeatureMap,
    /// The labels before, for the features that are made with them.
    labels: RecentLabels,
    /// How many of the inputs, counted from the first, samples may have used.
    used: usize,
}

impl BroadFeatures {
    /// For a configuration that was checked.
    pub(crate) fn new(config: &OnlineBlsConfig) -> Result<Self, Error> {
        let inputs = ScaledInputs::new(config.scaling.clone(), config.freeze_scaling_after)?;
        let mut map = FeatureMap::new(Shape::of(config));
        if let Some(inputs) = config.inputs_per_sample {
            map.fix_fan_in(inputs);
        }
        let labels = RecentLabels::new(0);
        Ok(BroadFeatures { inputs, map, labels, used: 0 })
    }

    /// Has the first features be made with labels too, so many samples back.
    pub(crate) fn with_labels(mut self, features: usize, lags: usize) -> Self {
        self.map = self.map.with_labels(features, lags);
        self.labels = RecentLabels::new(lags);
        self
    }

    /// Shares threads with others.
    pub(crate) fn share_threads(&mut self, threads: &Threads) {
        self.map.share_threads(threads);
    }

    /// How many features a sample has.
    pub(crate) fn len(&self) -> usize {
        self.map.len()
    }

    /// The inputs and their scaling.
    pub(crate) fn inputs(&self) -> &ScaledInputs {
        &self.inputs
    }

    pub(crate) fn declare_input(&mut self, name: &str, kind: InputKind) -> Result<(), Error> {
        self.inputs.declare(name, kind)?;
        self.map.declare_input(name);
        Ok(())
    }

    /// Forgets the inputs beyond the first `keep`, but for those that samples have used.
    pub(crate) fn withdraw_inputs(&mut self, keep: usize) {
        for _ in keep.max(self.used)..self.inputs.len() {
            self.inputs.withdraw_last();
            self.map.withdraw_last();
        }
    }

    /// Shows a sample to the scaling alone.
    pub(crate) fn observe_scaling(&mut self, x: Sample<'_>, weight: f64) {
        self.used = self.used.max(x.reach());
        self.inputs.show(x, weight);
    }

    /// Keeps the scaling as it is from now on.
    pub(crate) fn freeze_scaling(&mut self) {
        self.inputs.freeze();
    }

    /// The features of a sample, as it would be predicted or learned now.
    pub(crate) fn of(&self, x: Sample<'_>) -> Result<Features, Error> {
        self.inputs.check(x)?;
        let mut scaled = Vec::with_capacity(x.len());
        self.inputs.transform(x, &mut scaled);
        let mut features = Features::default();
        let labels = [self.labels.classes().to_vec()];
        self.map.transform(std::iter::once(x), &scaled, &labels, &mut features);
        Ok(features)
    }

    /// The features of a block's samples, as they would be predicted now.
    pub(crate) fn of_all(&self, block: &Block) -> Result<Features, Error> {
        let samples = || (0..block.len()).map(|i| block.sample(i));
        let mut scaled = Vec::new();
        for x in samples() {
            self.inputs.check(x)?;
            self.inputs.transform(x, &mut scaled);
        }
        let mut features = Features::default();
        let labels = vec![self.labels.classes().to_vec(); block.len()];
        self.map.transform(samples(), &scaled, &labels, &mut features);
        Ok(features)
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>, with_weights: bool) {
        self.inputs.save(&mut to.scope("inputs"));
        self.map.save(&mut to.scope("map"), with_weights);
        self.labels.save(&mut to.scope("labels"));
    }

    /// Takes over the features of a model that knows so many classes.
    pub(crate) fn restore(&mut self, from: &ReadScope<'_>, classes: usize) -> Result<(), Error> {
        self.inputs.restore(&from.scope("inputs")?)?;
        self.used = self.inputs.len();
        self.map.restore(&from.scope("map")?, self.inputs.declared(), classes)?;
        self.labels.restore(&from.scope("labels")?, self.map.label_classes())?;
        Ok(())
    }

    /// What is needed to learn a sample later with the features that it has now.
    pub(crate) fn prepare(&self, x: Sample<'_>) -> Result<Prepared, Error> {
        self.inputs.check(x)?;
        let mut scaled = Vec::with_capacity(x.len());
        self.inputs.transform(x, &mut scaled);
        Ok(Prepared {
            values: x.values().to_vec(),
            scaled: ScaledSample::new(x, &scaled),
            labels: self.labels.classes().to_vec(),
        })
    }

    /// Checks that a sample was prepared by a model that knew no more than this one does.
    pub(crate) fn check_prepared(&self, prepared: &Prepared) -> Result<(), Error> {
        prepared.sample().check_declared(self.inputs.len())?;
        let known = self.map.label_classes();
        match prepared.labels.iter().find(|class| **class >= known) {
            Some(&class) if known > 0 => Err(Error::ClassGap { class, next: known }),
            _ => Ok(()),
        }
    }

    /// Appends the features of a prepared sample to `features`, and takes it into account: it is about
    /// to be learned.
    pub(crate) fn learn_prepared(
        &mut self,
        prepared: &Prepared,
        class: usize,
        weight: f64,
        features: &mut Features,
    ) {
        let x = prepared.scaled.sample();
        self.used = self.used.max(x.reach());
        self.map.fix_fan_in(x.len());
        let labels = std::slice::from_ref(&prepared.labels);
        self.map.transform(std::iter::once(x), x.values(), labels, features);
        self.inputs.observe(x.with_values(&prepared.values), weight);
        self.map.declare_label(class);
        self.labels.push(class);
    }

    /// Appends the features of samples that were scaled when they came, without the labels before them.
    pub(crate) fn of_scaled<'a>(
        &self,
        samples: impl Iterator<Item = &'a ScaledSample> + Clone,
        features: &mut Features,
    ) {
        let samples = samples.map(ScaledSample::sample);
        let scaled: Vec<f64> = samples.clone().flat_map(|x| x.values()).copied().collect();
        self.map.transform(samples, &scaled, &[], features);
    }

    /// Has inputs, of which none was declared yet, be scaled as they are elsewhere now, for ever.
    pub(crate) fn take_scaling(&mut self, other: &BroadFeatures) {
        if let Some(fan_in) = other.map.fan_in() {
            self.map.fix_fan_in(fan_in);
        }
        self.inputs.take_scaling(&other.inputs);
    }

    /// Checks that samples which others have learned would have the same features here.
    pub(crate) fn check_mergeable(&self, other: &BroadFeatures) -> Result<(), Error> {
        if let (Some(own), Some(other)) = (self.map.fan_in(), other.map.fan_in())
            && own != other
        {
            let (own, other) = (own.to_string(), other.to_string());
            return Err(Error::Unlike { what: "inputs_per_sample", own, other });
        }
        self.inputs.check_mergeable(&other.inputs)
    }

    /// Declares the inputs that only the other knows, with their scaling.
    pub(crate) fn take_inputs(&mut self, other: &BroadFeatures) -> Result<(), Error> {
        if let Some(fan_in) = other.map.fan_in() {
            self.map.fix_fan_in(fan_in);
        }
        for (position, input) in other.inputs.declared().iter().enumerate() {
            if self.inputs.position(&input.name).is_none() {
                self.inputs.declare_like(&other.inputs, position)?;
                self.map.declare_input(&input.name);
            }
        }
        self.used = self.inputs.len();
        Ok(())
    }

    /// Takes a learned sample into account, whose features were those [of](Self::of) before.
    pub(crate) fn observe(&mut self, x: Sample<'_>, weight: f64) {
        self.used = self.used.max(x.reach());
        self.map.fix_fan_in(x.len());
        self.inputs.observe(x, weight);
    }

    /// Appends the scaled inputs of a run of checked samples to `scaled` and their features to `features`,
    /// and takes each into account before the next: they are about to be learned.
    pub(crate) fn learn(
        &mut self,
        block: &Block,
        run: Range<usize>,
        scaled: &mut Vec<f64>,
        features: &mut Features,
    ) {
        self.map.fix_fan_in(block.sample(run.start).len());
        let first = scaled.len();
        let mut labels = Vec::with_capacity(run.len());
        for i in run.clone() {
            self.used = self.used.max(block.sample(i).reach());
            self.inputs.transform(block.sample(i), scaled);
            self.inputs.observe(block.sample(i), block.weight(i));
            labels.push(self.labels.classes().to_vec());
            self.map.declare_label(block.class(i));
            self.labels.push(block.class(i));
        }
        let samples = run.map(|i| block.sample(i));
        self.map.transform(samples, &scaled[first..], &labels, features);
    }
}
