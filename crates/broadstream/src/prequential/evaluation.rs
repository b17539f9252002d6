//! The result of an evaluation.

use super::{curve::CurvePoint, times::Times};
use crate::{
    classifier::{Member, MemberChange},
    metrics::Metrics,
};

/// The result of an evaluation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Evaluation {
    /// The metrics of the whole stream and of its last window.
    pub metrics: Metrics,
    /// The metrics over time; empty unless
    /// [`curve_every`](super::PrequentialOptions::curve_every) was set.
    pub curve: Vec<CurvePoint>,
    /// The samples, numbered from 1, at which a drift was detected: the model's error rate had
    /// risen. A falling error rate does not count as a drift.
    pub drifts: Vec<u64>,
    /// After how many samples a part of the model [restarted](crate::Classifier::restarts) because
    /// the model itself detected a drift. If it reacts fast enough, its errors show no drift.
    pub restarts: Vec<u64>,
    /// The [members](crate::Classifier::members) of the model after the last sample.
    pub members: Vec<Member>,
    /// How the members have [changed](crate::Classifier::changes): which came to rest or returned,
    /// and which became larger or smaller.
    pub changes: Vec<MemberChange>,
    /// How long reading, predicting and learning took.
    pub times: Times,
}
