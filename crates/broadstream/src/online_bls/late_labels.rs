//! Samples whose labels arrive later.
//!
//! A payment is scored now, and known to be fraud a month later. If it were learned with the
//! features that it has by then, the model would learn something that it never saw: the scaling has
//! changed since, and so have the recent labels. So each prediction comes with a ticket, and the
//! label that arrives for a ticket is learned with the features of that prediction.

use std::collections::BTreeMap;

use crate::{
    classifier::Classifier, data::Sample, error::Error, features::PreparedSample,
    online_bls::OnlineBls,
};

/// Samples that were predicted and wait for their labels.
///
/// At most `capacity` samples wait. One more evicts the oldest, and the prediction says which one
/// that was; no sample is dropped silently.
///
/// ```
/// use broadstream::{Classifier, InputKind, LateLabels, OnlineBls, OnlineBlsConfig, Sample};
///
/// let mut model = OnlineBls::new(OnlineBlsConfig::default())?;
/// model.declare_input("amount", InputKind::Numeric)?;
/// let mut late = LateLabels::new(2);
/// let first = late.predict(&model, Sample::dense(&[12.5]))?;
/// let second = late.predict(&model, Sample::dense(&[99.0]))?;
/// assert_eq!(late.learn(&mut model, second.ticket, 0, 1.0)?, ());
/// assert_eq!(model.learned(), 1);
///
/// late.predict(&model, Sample::dense(&[1.0]))?;
/// let fourth = late.predict(&model, Sample::dense(&[2.0]))?;
/// assert_eq!(fourth.evicted, Some(first.ticket));
/// assert!(late.learn(&mut model, first.ticket, 0, 1.0).is_err());
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LateLabels {
    capacity: usize,
    waiting: BTreeMap<u64, PreparedSample>,
    next: u64,
    evicted: u64,
}

/// A prediction whose label will arrive later.
#[derive(Clone, Debug, PartialEq)]
pub struct LatePrediction {
    /// Identifies the sample when its label arrives; see [`LateLabels::learn`].
    pub ticket: u64,
    /// The probability of each class known at the time of the prediction.
    pub probabilities: Vec<f64>,
    /// The ticket of the sample that was evicted to make room, if any.
    pub evicted: Option<u64>,
}

impl LateLabels {
    /// Room for `capacity` waiting samples.
    pub fn new(capacity: usize) -> Self {
        LateLabels { capacity, waiting: BTreeMap::new(), next: 0, evicted: 0 }
    }

    /// The number of samples that are waiting.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// How many samples were evicted before their labels arrived.
    pub fn evicted(&self) -> u64 {
        self.evicted
    }

    /// Predicts a sample, and keeps what learning it will need. With a capacity of 0 the sample
    /// itself is evicted at once.
    pub fn predict(&mut self, model: &OnlineBls, x: Sample<'_>) -> Result<LatePrediction, Error> {
        let prepared = model.prepare(x)?;
        let probabilities = model.predict_proba_one(x)?;
        let ticket = self.next;
        self.next += 1;
        self.waiting.insert(ticket, prepared);
        let mut evicted = None;
        if self.waiting.len() > self.capacity {
            evicted = self.waiting.pop_first().map(|(ticket, _)| ticket);
            self.evicted += 1;
        }
        Ok(LatePrediction { ticket, probabilities, evicted })
    }

    /// Learns the sample of a ticket, with the features that it was predicted with. The sample
    /// stops waiting, unless learning is refused.
    pub fn learn(
        &mut self,
        model: &mut OnlineBls,
        ticket: u64,
        class: usize,
        weight: f64,
    ) -> Result<(), Error> {
        let capacity = self.capacity;
        let prepared = self.waiting.get(&ticket).ok_or(Error::NotWaiting { ticket, capacity })?;
        model.learn_prepared(prepared, class, weight)?;
        self.waiting.remove(&ticket);
        Ok(())
    }

    /// Drops a sample whose label will never arrive. Returns whether it was waiting.
    pub fn discard(&mut self, ticket: u64) -> bool {
        self.waiting.remove(&ticket).is_some()
    }
}
