//! The last samples, for regressions that begin later than the model.
//!
//! A sample is kept as its scaled inputs and the labels before it, from which its features follow to
//! the bit. So a regression that learns the kept samples is exactly the one that would have learned
//! them when they came.

use std::collections::VecDeque;

use crate::{
    data::check_weight,
    error::ModelFileError,
    features::{BroadFeatures, RecentLabels},
    preprocessing::{LARGEST_SCALED, ScaledSample},
    regression::Batch,
    state::{ReadScope, WriteScope},
};

/// What a sample takes besides its values.
const BYTES_PER_SAMPLE: usize = 96;

/// The last samples that a model has learned, the oldest first.
#[derive(Clone, Debug)]
pub(crate) struct RecentSamples {
    samples: VecDeque<RecentSample>,
    /// How many samples were dropped before the oldest.
    dropped: u64,
    bytes: usize,
    labels: RecentLabels,
}

#[derive(Clone, Debug)]
struct RecentSample {
    x: ScaledSample,
    /// The labels before it, the latest first.
    labels: Vec<usize>,
    class: usize,
    weight: f64,
}

impl RecentSamples {
    /// The memory that the samples may take. Of fifty inputs this holds some thirty thousand samples,
    /// and of a thousand inputs two thousand.
    pub(crate) const MOST_BYTES: usize = 16 << 20;

    pub(crate) fn new(lags: usize) -> Self {
        let (samples, labels) = (VecDeque::new(), RecentLabels::new(lags));
        RecentSamples { samples, dropped: 0, bytes: 0, labels }
    }

    /// Adds a sample that was learned, and drops the oldest ones if they take too much memory.
    pub(crate) fn push(&mut self, x: ScaledSample, class: usize, weight: f64) {
        self.bytes += bytes(&x);
        let labels = self.labels.classes().to_vec();
        self.labels.push(class);
        self.samples.push_back(RecentSample { x, labels, class, weight });
        while self.bytes > Self::MOST_BYTES
            && let Some(oldest) = self.samples.pop_front()
        {
            self.bytes -= bytes(&oldest.x);
            self.dropped += 1;
        }
    }

    /// The number of the oldest sample, from 0.
    pub(crate) fn first(&self) -> u64 {
        self.dropped
    }

    /// The number of the next sample.
    pub(crate) fn end(&self) -> u64 {
        self.dropped + self.samples.len() as u64
    }

    /// The inputs of the first `count` samples that are kept.
    pub(crate) fn oldest(&self, count: usize) -> Vec<ScaledSample> {
        self.samples.iter().take(count).map(|sample| sample.x.clone()).collect()
    }

    /// Samples as regressions learn them, from number `start` on, at most `most` of them.
    pub(crate) fn batch(
        &self,
        start: u64,
        most: usize,
        features: &BroadFeatures,
        classes: usize,
    ) -> Batch {
        let start = start.saturating_sub(self.dropped) as usize;
        let end = self.samples.len().min(start + most);
        let samples = self.samples.range(start.min(end)..end);
        let mut batch = Batch::default();
        let labels: Vec<Vec<usize>> = samples.clone().map(|sample| sample.labels.clone()).collect();
        let scaled = samples.clone().map(|sample| &sample.x);
        features.of_labelled(scaled, &labels, &mut batch.features);
        samples.for_each(|sample| batch.push_target(sample.class, classes, sample.weight));
        batch
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        let samples = self.samples.iter();
        ScaledSample::save_all(samples.clone().map(|sample| &sample.x), &mut to.scope("samples"));
        let labels = samples.clone().flat_map(|sample| &sample.labels);
        to.integers("labels", labels.map(|class| *class as u64).collect());
        to.integers("classes", samples.clone().map(|sample| sample.class as u64).collect());
        to.floats("weights", samples.map(|sample| sample.weight).collect());
        to.integer("dropped", self.dropped);
        self.labels.save(&mut to.scope("last_labels"));
    }

    /// Takes over the samples of a model with this many inputs and classes, which has learned
    /// `learned` samples.
    pub(crate) fn restore(
        &mut self,
        from: &ReadScope<'_>,
        inputs: usize,
        classes: usize,
        learned: u64,
    ) -> Result<(), ModelFileError> {
        let samples = ScaledSample::restore_all(&from.scope("samples")?, inputs)?;
        let bounded = |sample: &ScaledSample| {
            sample.sample().values().iter().all(|value| value.abs() <= LARGEST_SCALED)
        };
        from.check_each("samples", &samples, "bounded by their scaling", bounded)?;
        self.bytes = samples.iter().map(bytes).sum();
        from.check("samples", self.bytes <= Self::MOST_BYTES, "no more than are kept")?;
        self.dropped = from.integer("dropped")?;
        let sound = self.dropped.checked_add(samples.len() as u64) == Some(learned);
        from.check("dropped", sound, "the samples that were learned and are not kept")?;
        let most = (classes as u64).saturating_sub(1);
        let own = from.integers("classes", samples.len(), most)?;
        let weights = from.floats("weights", samples.len())?;
        let sound = |weight: &f64| *weight > 0.0 && check_weight(*weight).is_ok();
        from.check_each("weights", &weights, "weights of samples", sound)?;
        let lags = self.labels.lags() as u64;
        // Only the first samples of a stream have fewer labels before them.
        let before = |i: usize| lags.min(self.dropped.saturating_add(i as u64)) as usize;
        let all = (0..samples.len()).map(before).sum();
        let labels = from.integers("labels", all, most)?;
        let mut labels = labels.into_iter().map(|class| class as usize);
        let parts = samples.into_iter().zip(own).zip(weights).enumerate();
        self.samples = parts
            .map(|(i, ((x, class), weight))| {
                let labels = labels.by_ref().take(before(i)).collect();
                RecentSample { x, labels, class: class as usize, weight }
            })
            .collect();
        self.labels.restore(&from.scope("last_labels")?, classes)
    }
}

/// The memory that a sample takes.
fn bytes(x: &ScaledSample) -> usize {
    let sample = x.sample();
    let listed = sample.inputs().map_or(0, size_of_val);
    size_of_val(sample.values()) + x.codes().len() + listed + BYTES_PER_SAMPLE
}
