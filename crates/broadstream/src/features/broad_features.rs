//! From a sample's inputs to its broad features: names, scaling and the random map.
//!
//! All broad learning systems here share this code, so that two of them with the same configuration
//! see the same features to the bit and differ only in how they fit weights to them.

use std::ops::Range;

use crate::{
    config::OnlineBlsConfig,
    data::{Block, InputKind, Sample},
    error::Error,
    features::{
        FeatureMap, Features, NodeKind, PreparedSample, RecentLabels, SampleColumns, Shape,
    },
    numeric::Threads,
    preprocessing::{ScaledInputs, ScaledSample, code},
    state::{ReadScope, WriteScope},
};

/// The scaled inputs and the random map that they go through.
#[derive(Clone, Debug)]
pub(crate) struct BroadFeatures {
    inputs: ScaledInputs,
    map: FeatureMap,
    /// Earlier labels, for the features that depend on them.
    labels: RecentLabels,
    /// How many of the first inputs may have been used by samples.
    used: usize,
}

impl BroadFeatures {
    /// Features for a configuration that was checked.
    pub(crate) fn new(config: &OnlineBlsConfig) -> Result<Self, Error> {
        let inputs = ScaledInputs::new(config.scaling.clone(), config.freeze_scaling_after)?;
        let mut map = FeatureMap::new(Shape::of(config));
        if let Some(inputs) = config.inputs_per_sample {
            map.fix_fan_in(inputs);
        }
        let labels = RecentLabels::new(0);
        Ok(BroadFeatures { inputs, map, labels, used: 0 })
    }

    /// Feeds the last `lags` labels into the first `features` features.
    pub(crate) fn feed_labels(&mut self, features: usize, lags: usize) {
        self.map.feed_labels(features, lags);
        self.labels = RecentLabels::new(lags);
    }

    /// Makes the inputs themselves the linear nodes: one for each of `inputs` inputs, and a constant.
    /// Nothing may have been learned. Labels have to be [fed in](Self::feed_labels) again.
    pub(crate) fn use_input_nodes(&mut self, inputs: usize) {
        let mut map = self.map.with_input_nodes(inputs);
        if let Some(fan_in) = self.map.fan_in() {
            map.fix_fan_in(fan_in);
        }
        self.inputs.declared().iter().for_each(|input| map.declare_input(&input.name));
        self.map = map;
    }

    /// Uses the given threads, which others use too.
    pub(crate) fn share_threads(&mut self, threads: &Threads) {
        self.map.share_threads(threads);
    }

    /// The number of features of a sample.
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

    /// Removes the inputs beyond the first `keep`, except for those that samples have used.
    pub(crate) fn withdraw_inputs(&mut self, keep: usize) {
        for _ in keep.max(self.used)..self.inputs.len() {
            self.inputs.withdraw_last();
            self.map.withdraw_last();
        }
    }

    /// Updates the scaling with a sample that is not learned.
    pub(crate) fn observe_scaling(&mut self, x: Sample<'_>, weight: f64) {
        self.used = self.used.max(x.reach());
        self.inputs.show(x, weight);
    }

    /// Freezes the scaling.
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
        let codes = self.codes(std::iter::once(x));
        self.map.transform(std::iter::once(x), &scaled, &codes, &labels, &mut features);
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
        let codes = self.codes(samples());
        self.map.transform(samples(), &scaled, &codes, &labels, &mut features);
        Ok(features)
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>, with_weights: bool) {
        self.inputs.save(&mut to.scope("inputs"));
        self.map.save(&mut to.scope("map"), with_weights);
        self.labels.save(&mut to.scope("labels"));
    }

    /// Takes over the features of a model with `classes` known classes.
    pub(crate) fn restore(&mut self, from: &ReadScope<'_>, classes: usize) -> Result<(), Error> {
        self.inputs.restore(&from.scope("inputs")?)?;
        self.used = self.inputs.len();
        self.map.restore(&from.scope("map")?, self.inputs.declared(), classes)?;
        self.labels.restore(&from.scope("labels")?, self.map.label_classes())?;
        Ok(())
    }

    /// Everything that is needed to learn a sample later with the features that it has now.
    pub(crate) fn prepare(&self, x: Sample<'_>) -> Result<PreparedSample, Error> {
        self.inputs.check(x)?;
        let mut scaled = Vec::with_capacity(x.len());
        self.inputs.transform(x, &mut scaled);
        Ok(PreparedSample::new(x, &scaled, self.labels.classes()))
    }

    /// The features of a prepared sample.
    pub(crate) fn of_prepared(&self, prepared: &PreparedSample) -> Features {
        let (x, labels) = (prepared.sample(), std::slice::from_ref(prepared.labels()));
        let mut features = Features::default();
        let codes = if self.map.reads_codes() { prepared.scaled().codes() } else { &[] };
        self.map.transform(std::iter::once(x), x.values(), codes, labels, &mut features);
        features
    }

    /// The columns of a prepared sample whose absence may change its features.
    pub(crate) fn columns_of(&self, prepared: &PreparedSample) -> SampleColumns {
        self.map.columns_of(prepared.sample(), self.inputs.columns())
    }

    /// Calls `each` with the features of a prepared sample without some of its columns, one column after
    /// the other: a range of places in `columns`, and as many rows of features.
    pub(crate) fn without_each(
        &self,
        prepared: &PreparedSample,
        columns: &SampleColumns,
        selected: &[Range<usize>],
        each: impl FnMut(Range<usize>, &Features) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (x, codes) = (prepared.sample(), prepared.scaled().codes());
        self.map.without_each(x, codes, prepared.labels(), columns, selected, each)
    }

    /// Checks that a sample was prepared by a model whose inputs and classes this one knows.
    pub(crate) fn check_prepared(&self, prepared: &PreparedSample) -> Result<(), Error> {
        prepared.sample().check_declared(self.inputs.len())?;
        let known = self.map.label_classes();
        match prepared.labels().iter().find(|class| **class >= known) {
            Some(&class) if known > 0 => Err(Error::ClassGap { class, next: known }),
            _ => Ok(()),
        }
    }

    /// Appends the features of a prepared sample, which is about to be learned, to `features`, and
    /// updates the scaling and the labels with it.
    pub(crate) fn learn_prepared(
        &mut self,
        prepared: &PreparedSample,
        class: usize,
        weight: f64,
        features: &mut Features,
    ) {
        let x = prepared.sample();
        self.used = self.used.max(x.reach());
        self.map.fix_fan_in(x.len());
        let labels = std::slice::from_ref(prepared.labels());
        let codes = prepared.scaled().codes();
        self.map.transform(std::iter::once(x), x.values(), codes, labels, features);
        self.inputs.observe_sizes(x, x.values());
        self.inputs.observe(x.with_values(prepared.values()), weight);
        self.map.declare_label(class);
        self.labels.push(class);
    }

    /// Appends the features of samples that are scaled already, without earlier labels.
    pub(crate) fn of_scaled<'a>(
        &self,
        samples: impl Iterator<Item = &'a ScaledSample> + Clone,
        features: &mut Features,
    ) {
        self.of_labelled(samples, &[], features);
    }

    /// The same with the labels before each sample, the latest first.
    pub(crate) fn of_labelled<'a>(
        &self,
        samples: impl Iterator<Item = &'a ScaledSample> + Clone,
        labels: &[Vec<usize>],
        features: &mut Features,
    ) {
        let mut codes = Vec::new();
        if self.map.reads_codes() {
            codes.extend(samples.clone().flat_map(ScaledSample::codes));
        }
        let samples = samples.map(ScaledSample::sample);
        let scaled: Vec<f64> = samples.clone().flat_map(|x| x.values()).copied().collect();
        self.map.transform(samples, &scaled, &codes, labels, features);
    }

    /// Takes the samples that nodes of other kinds than random ones are drawn from.
    pub(crate) fn sample_nodes_from(&mut self, samples: Vec<ScaledSample>) {
        self.map.sample_nodes_from(samples, self.inputs.len());
    }

    /// Changes the number of nodes of each kind.
    pub(crate) fn set_nodes(&mut self, nodes: [usize; NodeKind::ALL.len()]) {
        for (kind, count) in NodeKind::ALL.into_iter().zip(nodes) {
            self.map.set_nodes(kind, count, self.inputs.declared());
        }
    }

    /// Feeds labels into this many features: the linear nodes and nodes of this kind.
    pub(crate) fn set_labelled(&mut self, features: usize, kind: NodeKind) {
        self.map.set_labelled(features, kind);
    }

    /// Scales inputs, none of which may be declared yet, as `other` scales them now, and freezes
    /// that.
    pub(crate) fn take_scaling(&mut self, other: &BroadFeatures) {
        self.map.draw_as(&other.map);
        if let Some(fan_in) = other.map.fan_in() {
            self.map.fix_fan_in(fan_in);
        }
        self.inputs.take_scaling(&other.inputs);
    }

    /// Checks that samples which another model learned would have the same features here.
    pub(crate) fn check_mergeable(&self, other: &BroadFeatures) -> Result<(), Error> {
        if let (Some(own), Some(other)) = (self.map.fan_in(), other.map.fan_in())
            && own != other
        {
            let (own, other) = (own.to_string(), other.to_string());
            return Err(Error::Unlike { what: "inputs_per_sample", own, other });
        }
        if self.map.version() != other.map.version() {
            let (own, other) = (self.map.version().to_string(), other.map.version().to_string());
            return Err(Error::Unlike { what: "generator of weights", own, other });
        }
        self.inputs.check_mergeable(&other.inputs)
    }

    /// Declares the inputs that only the other model has, with their scaling.
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
        self.inputs.merge_sizes(&other.inputs);
        self.used = self.inputs.len();
        Ok(())
    }

    /// Updates the scaling with a learned sample, whose features were computed by [`of`](Self::of)
    /// before.
    pub(crate) fn observe(&mut self, x: Sample<'_>, weight: f64) {
        self.used = self.used.max(x.reach());
        self.map.fix_fan_in(x.len());
        self.inputs.observe(x, weight);
    }

    /// Appends the scaled inputs of checked samples, which are about to be learned, to `scaled` and
    /// their features to `features`. Each sample updates the scaling before the next one.
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
            let start = scaled.len();
            self.inputs.transform(block.sample(i), scaled);
            self.inputs.observe_sizes(block.sample(i), &scaled[start..]);
            self.inputs.observe(block.sample(i), block.weight(i));
            labels.push(self.labels.classes().to_vec());
            self.map.declare_label(block.class(i));
            self.labels.push(block.class(i));
        }
        let samples = || run.clone().map(|i| block.sample(i));
        let codes = self.codes(samples());
        self.map.transform(samples(), &scaled[first..], &codes, &labels, features);
    }

    /// The codes of the values of samples as they were before scaling, if features depend on them.
    fn codes<'a>(&self, samples: impl Iterator<Item = Sample<'a>>) -> Vec<i8> {
        match self.map.reads_codes() {
            true => samples.flat_map(|x| x.values()).map(|value| code(*value)).collect(),
            false => Vec::new(),
        }
    }

    /// The number of indicators of codes; none before nodes are drawn from
    /// [samples](Self::sample_nodes_from).
    pub(crate) fn code_indicators(&self) -> usize {
        self.map.code_indicators()
    }
}
