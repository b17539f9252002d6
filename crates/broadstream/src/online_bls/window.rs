//! The last samples, of which a model with a window is the exact optimum.
//!
//! A new sample is learned and the oldest unlearned in one pass over the factor. Each sample is
//! kept as its scaled inputs, from which its features follow to the bit, however much the scaling
//! has changed since. Unlearning loses some digits if samples are few and the ridge is small. So the
//! regressions are checked at regular intervals, and learn the window's samples again as soon as too
//! many digits are lost.

use std::collections::VecDeque;

use crate::{
    data::check_weight,
    error::ModelFileError,
    features::BroadFeatures,
    preprocessing::{LARGEST_SCALED, ScaledSample},
    state::{ReadScope, WriteScope},
};

use crate::regression::Batch;

/// How many samples are learned at once when rebuilding.
const BLOCK: usize = 64;

/// The samples that the model remembers, the oldest first.
#[derive(Clone, Debug)]
pub(super) struct SampleWindow {
    capacity: usize,
    samples: VecDeque<PastSample>,
    /// How many samples there are of each class.
    counts: Vec<usize>,
}

#[derive(Clone, Debug)]
struct PastSample {
    x: ScaledSample,
    class: usize,
    weight: f64,
}

impl SampleWindow {
    pub(super) fn new(capacity: usize) -> Self {
        SampleWindow { capacity, samples: VecDeque::new(), counts: Vec::new() }
    }

    /// The number of samples.
    pub(super) fn len(&self) -> usize {
        self.samples.len()
    }

    /// Adds a sample that was learned, and drops the oldest if the window is full.
    pub(super) fn push(&mut self, x: ScaledSample, class: usize, weight: f64) {
        if self.samples.len() == self.capacity
            && let Some(oldest) = self.samples.pop_front()
        {
            self.counts[oldest.class] -= 1;
        }
        self.samples.push_back(PastSample { x, class, weight });
        self.count(class);
    }

    fn count(&mut self, class: usize) {
        self.counts.resize(self.counts.len().max(class + 1), 0);
        self.counts[class] += 1;
    }

    /// Whether there are samples of a class.
    pub(super) fn has(&self, class: usize) -> bool {
        self.counts.get(class).is_some_and(|count| *count > 0)
    }

    /// The sample that the next one replaces, with its features: the oldest if the window is full.
    pub(super) fn leaving(&self, features: &BroadFeatures, classes: usize) -> Option<Batch> {
        let oldest = self.samples.front()?;
        let full = self.samples.len() == self.capacity;
        full.then(|| rows(std::iter::once(oldest), features, classes))
    }

    /// All samples, for a rebuild, in batches.
    pub(super) fn batches<'a>(
        &'a self,
        features: &'a BroadFeatures,
        classes: usize,
    ) -> impl Iterator<Item = Batch> + 'a {
        (0..self.samples.len()).step_by(BLOCK).map(move |start| {
            let end = self.samples.len().min(start + BLOCK);
            rows(self.samples.range(start..end), features, classes)
        })
    }

    pub(super) fn save(&self, to: &mut WriteScope<'_>) {
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
        self.counts.clear();
        for class in self.samples.iter().map(|sample| sample.class).collect::<Vec<_>>() {
            self.count(class);
        }
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
