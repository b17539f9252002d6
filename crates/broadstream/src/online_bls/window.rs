//! The last samples, of which a windowed model is the exact optimum.
//!
//! A new sample is learned and the oldest taken back in one pass over the factor. What is kept of a
//! sample are its scaled inputs, from which its features follow to the bit, however much the scaling has
//! moved since. Taking back loses some digits where samples are few and the ridge is small, so the
//! regressions are built anew from the samples themselves after as many as the window holds, and at once
//! when a factor broke down.

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

/// A window shorter than this does not make for more frequent rebuilding, which would then take most of
/// the time.
const LEAST_INTERVAL: usize = 1024;

/// Samples whose features are made at once while building anew.
const BLOCK: usize = 64;

/// The samples that a windowed model remembers, the oldest first.
#[derive(Clone, Debug)]
pub(super) struct SampleWindow {
    capacity: usize,
    samples: VecDeque<PastSample>,
    /// Samples learned since the regressions were last built anew.
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

    /// How many samples there are.
    pub(super) fn len(&self) -> usize {
        self.samples.len()
    }

    /// Takes in a sample that was learned; the oldest leaves if there is no room for both.
    pub(super) fn push(&mut self, x: ScaledSample, class: usize, weight: f64) {
        if self.samples.len() == self.capacity {
            self.samples.pop_front();
        }
        self.samples.push_back(PastSample { x, class, weight });
        self.since_rebuild += 1;
    }

    /// The sample that leaves when one more is learned, if there is no room for both.
    pub(super) fn leaving(&self, features: &BroadFeatures, classes: usize) -> Option<Batch> {
        let oldest = self.samples.front()?;
        let full = self.samples.len() == self.capacity;
        full.then(|| rows(std::iter::once(oldest), features, classes))
    }

    /// Whether the regressions are due to be built anew.
    pub(super) fn is_due(&self) -> bool {
        self.since_rebuild >= self.capacity.max(LEAST_INTERVAL)
    }

    /// The sums of all samples, from which the regressions are to be built anew.
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

    /// Takes over the samples of a model that knows so many inputs and classes.
    pub(super) fn restore(
        &mut self,
        from: &ReadScope<'_>,
        inputs: usize,
        classes: usize,
    ) -> Result<(), ModelFileError> {
        self.since_rebuild = from.count("since_rebuild", self.capacity.max(LEAST_INTERVAL))?;
        let samples = ScaledSample::restore_all(&from.scope("samples")?, inputs)?;
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
