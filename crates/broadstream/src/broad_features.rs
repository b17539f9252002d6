//! The way from a sample's inputs to its broad features: names, scaling and the random map.
//!
//! Every broad learning system here goes it, so that two of them with the same configuration see the
//! same features to the bit and differ only in how they fit weights to them.

use std::ops::Range;

use crate::{
    block::Block,
    error::Error,
    features::{FeatureMap, Features},
    online_bls::OnlineBlsConfig,
    recent_labels::RecentLabels,
    sample::Sample,
    scaled_inputs::ScaledInputs,
    schema::InputKind,
    threads::Threads,
};

/// Scaled inputs and the random map that they go through.
#[derive(Clone, Debug)]
pub(crate) struct BroadFeatures {
    inputs: ScaledInputs,
    map: FeatureMap,
    /// The labels before, for the features that are made with them.
    labels: RecentLabels,
    /// A buffer for scaled values; kept to spare allocations.
    scaled: Vec<f64>,
}

impl BroadFeatures {
    /// For a configuration that was checked.
    pub(crate) fn new(config: &OnlineBlsConfig) -> Result<Self, Error> {
        let inputs = ScaledInputs::new(config.scaling.clone(), config.freeze_scaling_after)?;
        let mut map = FeatureMap::new(config.shape());
        if let Some(inputs) = config.inputs_per_sample {
            map.fix_fan_in(inputs);
        }
        Ok(BroadFeatures { inputs, map, labels: RecentLabels::new(0), scaled: Vec::new() })
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

    /// Takes a learned sample into account, whose features were those [of](Self::of) before.
    pub(crate) fn observe(&mut self, x: Sample<'_>, weight: f64) {
        self.map.fix_fan_in(x.len());
        self.inputs.observe(x, weight);
    }

    /// Appends the features of a run of checked samples to `features`, and takes each into account before
    /// the next: they are about to be learned.
    pub(crate) fn learn(&mut self, block: &Block, run: Range<usize>, features: &mut Features) {
        self.map.fix_fan_in(block.sample(run.start).len());
        self.scaled.clear();
        let mut labels = Vec::with_capacity(run.len());
        for i in run.clone() {
            self.inputs.transform(block.sample(i), &mut self.scaled);
            self.inputs.observe(block.sample(i), block.weight(i));
            labels.push(self.labels.classes().to_vec());
            self.map.declare_label(block.class(i));
            self.labels.push(block.class(i));
        }
        self.map.transform(run.map(|i| block.sample(i)), &self.scaled, &labels, features);
    }
}
