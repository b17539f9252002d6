//! The last samples, of which a model with a window is the exact optimum.
//!
//! A new sample is learned and the oldest unlearned in one pass over the factor. Each sample is
//! kept as its scaled inputs, from which its features follow to the bit, however much the scaling
//! has changed since. Unlearning loses some digits if samples are few and the ridge is small. So
//! the regressions are rebuilt from the samples themselves each time the whole window has been
//! replaced, and at once when a factor breaks down.

use std::collections::VecDeque;

use crate::{
    data::check_weight,
    error::{Error, ModelFileError},
    features::BroadFeatures,
    preprocessing::{LARGEST_SCALED, ScaledSample},
    regression::factor::Sums,
    state::{ReadScope, WriteScope},
};

use crate::regression::Batch;

/// The smallest number of samples between two rebuilds. With a shorter window, rebuilding each time
/// that it has been replaced would take most of the time.
const LEAST_INTERVAL: usize = 1024;

/// How many samples are added to the sums at once when rebuilding.
const BLOCK: usize = 64;

/// The samples that the model remembers, the oldest first.
#[derive(Clone, Debug)]
pub(super) struct SampleWindow {
    capacity: usize,
    samples: VecDeque<PastSample>,
    /// The number of samples learned since the last rebuild.
    since_rebuild: usize,
}

#[derive(Clone, Debug)]
struct PastSample {
    x: ScaledSample,
    class: usize,
    weight: f64,
}

impl SampleWindow {
    pub(super) fn new(capacity: usize) -> Self {
        SampleWindow { capacity, samples: VecDeque::new(), since_rebuild: 0 }
    }

    /// The number of samples.
    pub(super) fn len(&self) -> usize {
        self.samples.len()
    }

    /// Adds a sample that was learned, and drops the oldest if the window is full.
    pub(super) fn push(&mut self, x: ScaledSample, class: usize, weight: f64) {
        if self.samples.len() == self.capacity {
            self.samples.pop_front();
        }
        self.samples.push_back(PastSample { x, class, weight });
        self.since_rebuild += 1;
    }

    /// The sample that the next one replaces, with its features: the oldest if the window is full.
    pub(super) fn leaving(&self, features: &BroadFeatures, classes: usize) -> Option<Batch> {
        let oldest = self.samples.front()?;
        let full = self.samples.len() == self.capacity;
        full.then(|| rows(std::iter::once(oldest), features, classes))
    }

    /// Whether a rebuild is due.
    pub(super) fn is_due(&self) -> bool {
        self.since_rebuild >= self.capacity.max(LEAST_INTERVAL)
    }

    /// The sums over all samples, for a rebuild. The next rebuild is due after a full interval.
    pub(super) fn sums(&mut self, features: &BroadFeatures, classes: usize) -> Result<Sums, Error> {
        let mut sums = Sums::new(features.len());
        sums.add_targets(classes);
        for start in (0..self.samples.len()).step_by(BLOCK) {
            let end = self.samples.len().min(start + BLOCK);
            let rows = rows(self.samples.range(start..end), features, classes);
            sums.add(&rows.features.plain, &rows.targets, &rows.weights)?;
        }
        self.since_rebuild = 0;
        Ok(sums)
    }

    pub(super) fn save(&self, to: &mut WriteScope<'_>) {
        to.integer("since_rebuild", self.since_rebuild);
        ScaledSample::save_all(
            self.samples.iter().map(|sample| &sample.x),
            &mut to.scope("samples"),
        );
        to.integers("classes", self.samples.iter().map(|sample| sample.class as u64).collect());
        to.floats("weights", self.samples.iter().map(|sample| sample.weight).collect());
    }

    /// Restores the samples of a model with this many inputs and classes.
    pub(super) fn restore(
        &mut self,
        from: &ReadScope<'_>,
        inputs: usize,
        classes: usize,
    ) -> Result<(), ModelFileError> {
        self.since_rebuild = from.count("since_rebuild", self.capacity.max(LEAST_INTERVAL))?;
        let samples = ScaledSample::restore_all(&from.scope("samples")?, inputs)?;
        // A restored sample must keep the limits that a new one has to keep.
        let bounded = |sample: &ScaledSample| {
            sample.sample().values().iter().all(|value| value.abs() <= LARGEST_SCALED)
        };
        from.check_each("samples", &samples, "bounded by their scaling", bounded)?;
        from.check("samples", samples.len() <= self.capacity, "no more than the window holds")?;
        let most = (classes as u64).saturating_sub(1);
        let labels = from.integers("classes", samples.len(), most)?;
        let weights = from.floats("weights", samples.len())?;
        let sound = |weight: &f64| *weight > 0.0 && check_weight(*weight).is_ok();
        from.check_each("weights", &weights, "weights of samples", sound)?;
        let samples = samples.into_iter().zip(labels).zip(weights);
        self.samples = samples
            .map(|((x, class), weight)| PastSample { x, class: class as usize, weight })
            .collect();
        Ok(())
    }
}

/// Samples as the regressions take them, with the features that they were learned with.
fn rows<'a>(
    samples: impl Iterator<Item = &'a PastSample> + Clone,
    features: &BroadFeatures,
    classes: usize,
) -> Batch {
    let mut rows = Batch::default();
    features.of_scaled(samples.clone().map(|sample| &sample.x), &mut rows.features);
    samples.for_each(|sample| rows.push_target(sample.class, classes, sample.weight));
    rows
}
