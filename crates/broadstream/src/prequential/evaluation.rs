//! The result of an evaluation.

use super::{curve::CurvePoint, times::Times};
use crate::{
    classifier::{Member, MemberChange},
    data::Objective,
    decision::ClassCosts,
    metrics::{ConfusionMatrix, Metrics, ObjectiveSummary, Summary, WindowSummary},
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
    /// What decisions cost by class, if [`costs`](super::PrequentialOptions::costs) were given.
    pub costs: Option<ClassCosts>,
    /// What the model's own decisions were made for, if it has objectives.
    pub objective: Option<Objective>,
}

/// What the same predictions would have been worth, decided in some way.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TradeOff {
    /// The objective, or `costs`.
    pub name: &'static str,
    /// The metrics.
    pub summary: ObjectiveSummary,
    /// The mean cost, if costs were given.
    pub cost: Option<f64>,
    /// Whether these are the decisions that the evaluation counts.
    pub is_chosen: bool,
}

impl Evaluation {
    /// The metrics of all samples, with the mean cost if costs were given.
    pub fn summary(&self) -> Summary {
        summary(&self.metrics, self.costs.as_ref())
    }

    /// The metrics of the last samples, with the mean cost if costs were given.
    pub fn window_summary(&self) -> WindowSummary {
        window_summary(&self.metrics, self.costs.as_ref())
    }

    /// What the decisions under every objective would have been worth, side by side: all of them
    /// follow from the same probabilities. Empty for a model without objectives.
    ///
    /// ```
    /// use broadstream::{OnlineBls, OnlineBlsConfig, PrequentialOptions, evaluate, stream::synth::Sea};
    ///
    /// let mut model = OnlineBls::new(OnlineBlsConfig::single())?;
    /// let result = evaluate(&mut Sea::new(0, 0.1, 1)?.take(500), &mut model, &Default::default())?;
    /// let names: Vec<&str> = result.trade_offs().iter().map(|row| row.name).collect();
    /// assert_eq!(names, ["accuracy", "balanced", "f1", "mcc"]);
    /// assert!(result.trade_offs()[0].is_chosen);
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn trade_offs(&self) -> Vec<TradeOff> {
        let own = self.metrics.confusion();
        let row = |name, confusion: &ConfusionMatrix, is_chosen| TradeOff {
            name,
            summary: ObjectiveSummary::of(confusion),
            cost: self.costs.as_ref().map(|costs| costs.mean(confusion)),
            is_chosen,
        };
        let decided = Objective::ALL.into_iter().filter_map(|objective| {
            let confusion = self.metrics.by_objective(objective)?;
            let is_chosen = self.costs.is_none() && self.objective == Some(objective);
            Some(row(objective.as_str(), confusion, is_chosen))
        });
        let mut rows: Vec<TradeOff> = decided.collect();
        if self.costs.is_some() {
            rows.push(row("costs", own, true));
        }
        rows
    }
}

/// The metrics of all samples, with the mean cost if there are costs.
pub(super) fn summary(metrics: &Metrics, costs: Option<&ClassCosts>) -> Summary {
    let cost = costs.map(|costs| costs.mean(metrics.confusion()));
    Summary { cost, ..metrics.summary() }
}

/// The metrics of the last samples, with the mean cost if there are costs.
pub(super) fn window_summary(metrics: &Metrics, costs: Option<&ClassCosts>) -> WindowSummary {
    let cost = costs.map(|costs| costs.mean(metrics.window().confusion()));
    WindowSummary { cost, ..metrics.window_summary() }
}
