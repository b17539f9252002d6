//! The result of an evaluation.

use super::{curve::CurvePoint, times::Times};
use crate::{classifier::Member, metrics::Metrics};

/// The result of an evaluation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Evaluation {
    /// The metrics of the whole stream and of its last window.
    pub metrics: Metrics,
    /// The metrics over time, if asked for.
    pub curve: Vec<CurvePoint>,
    /// The samples, numbered from 1, at which the model was found to err more than before. That it errs
    /// less is no drift, and is left out.
    pub drifts: Vec<u64>,
    /// After how many samples a part of the model [restarted](crate::Classifier::restarts) because the
    /// model itself detected a drift. Where it reacts fast enough, its errors show none.
    pub restarts: Vec<u64>,
    /// The [members](crate::Classifier::members) of the model in the end.
    pub members: Vec<Member>,
    /// Where the time went.
    pub times: Times,
}
