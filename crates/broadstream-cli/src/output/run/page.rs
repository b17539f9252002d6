//! The results of a run as a page with figures.

use std::collections::BTreeMap;

use broadstream::{
    Evaluation, Member, MemberChange, Times, TradeOff,
    metrics::{Calibration, Metrics, PerClass, ReliabilityBin, per_class},
};
use broadstream_report::{
    ChangeRow, ClassReliability, ClassRow, CurvePoint, Event, ImportanceRow, MemberRow,
    ObjectiveRow, ReliabilityRow, RunReport, TimeBin, run_page,
};

use super::Report;
use crate::output::{curve, machine, record};

/// A confusion matrix with more classes than this is left out: it would be larger than all the rest.
const MOST_CLASSES: usize = 1000;

/// More figures than this would make the page unwieldy.
const MOST_FIGURES: usize = 26;

impl Report<'_> {
    pub(crate) fn page(&self) -> anyhow::Result<String> {
        let evaluation = self.evaluation;
        let (summary, window) = (evaluation.summary(), evaluation.window_summary());
        let labels = self.schema.labels();
        let confusion = evaluation.metrics.confusion();
        let classes = if labels.len() <= MOST_CLASSES { labels.len() } else { 0 };
        let row = |truth| (0..classes).map(|class| confusion.count(truth, class)).collect();
        let histogram = evaluation.times.updates.bins();
        let page = RunReport {
            source: self.source.clone(),
            model: self.model.title.clone(),
            target: Some(self.schema.target().to_owned()),
            samples: summary.samples,
            inputs: self.schema.inputs().len() as u64,
            labels: labels.to_vec(),
            metrics: named(summary.named()),
            window: named(window.named().into_iter().filter(|(name, _)| *name != "oce")),
            objectives: evaluation.trade_offs().iter().map(objective_row).collect(),
            class_reliability: self.class_reliability(),
            window_samples: window.samples,
            curve: evaluation.curve.iter().map(|point| curve_point(evaluation, point)).collect(),
            events: evaluation.drifts.iter().chain(&evaluation.restarts).map(drift).collect(),
            members: evaluation.members.iter().map(member_row).collect(),
            changes: evaluation.changes.iter().map(change_row).collect(),
            importance: self.importance().into_iter().map(importance_row).collect(),
            reliability: evaluation.metrics.calibration().bins().map(reliability_row).collect(),
            confusion: (0..classes).map(row).collect(),
            per_class: per_class(confusion)
                .iter()
                .map(|class| class_row(class, labels, &evaluation.metrics))
                .collect(),
            seconds: Some(self.seconds),
            times: time_parts(&evaluation.times),
            histogram: histogram.map(|(from, to, count)| TimeBin { from, to, count }).collect(),
            config: self.model.config.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            machine: machine::name(),
            ..RunReport::default()
        };
        Ok(run_page(&page)?)
    }
}

impl Report<'_> {
    /// The reliability of each class, unless there are too many for a figure each.
    fn class_reliability(&self) -> Vec<ClassReliability> {
        let labels = self.schema.labels();
        if labels.len() > MOST_FIGURES {
            return Vec::new();
        }
        let classes = self.evaluation.metrics.class_calibration().classes();
        let class = |(label, calibration): (&String, &Calibration)| ClassReliability {
            label: label.clone(),
            error: calibration.ece(),
            bins: calibration.bins().map(reliability_row).collect(),
        };
        labels.iter().zip(classes).map(class).collect()
    }
}

fn named(values: impl IntoIterator<Item = (&'static str, f64)>) -> BTreeMap<String, Option<f64>> {
    values.into_iter().map(|(name, value)| (name.to_owned(), Some(value))).collect()
}

fn objective_row(row: &TradeOff) -> ObjectiveRow {
    let cost = row.cost.map(|cost| ("cost", cost));
    ObjectiveRow {
        name: row.name.to_owned(),
        is_chosen: row.is_chosen,
        metrics: named(row.summary.named().into_iter().chain(cost)),
    }
}

/// What the time was spent on, in seconds.
fn time_parts(times: &Times) -> Vec<(String, f64)> {
    let mut parts = vec![("reading".to_owned(), times.reading.as_secs_f64())];
    match (times.predicting, times.learning) {
        (Some(predicting), Some(learning)) => {
            parts.push(("predicting".to_owned(), predicting.as_secs_f64()));
            parts.push(("learning".to_owned(), learning.as_secs_f64()));
        }
        _ => {
            let both = times.test_then_train.as_secs_f64();
            parts.push(("predicting and learning".to_owned(), both));
        }
    }
    parts
}

fn class_row(class: &PerClass, labels: &[String], metrics: &Metrics) -> ClassRow {
    ClassRow {
        auc: metrics.ranking().auc_of(class.class),
        auprc: metrics.ranking().average_precision_of(class.class),
        label: labels.get(class.class).cloned().unwrap_or_default(),
        precision: Some(class.precision),
        recall: Some(class.recall),
        f1: Some(class.f1),
        support: class.support,
    }
}

/// A point of the curve with the weights of the members, which records do not have.
fn curve_point(evaluation: &Evaluation, point: &broadstream::CurvePoint) -> CurvePoint {
    let names = evaluation.members.iter().map(|member| curve::weight_of(&member.name));
    let mut shown = record::curve_point(point);
    shown.values.extend(names.zip(point.weights.iter().copied()));
    shown
}

fn drift(sample: &u64) -> Event {
    Event { sample: *sample, label: "drift".to_owned() }
}

fn member_row(member: &Member) -> MemberRow {
    let features = member.features.map(|features| if member.rests { 0 } else { features as u64 });
    MemberRow { name: member.name.clone(), weight: Some(member.weight), features }
}

fn change_row(change: &MemberChange) -> ChangeRow {
    let MemberChange { learned, member, features_before, features, nodes, event, .. } = change;
    ChangeRow {
        learned: *learned,
        member: member.clone(),
        features_before: *features_before as u64,
        features: *features as u64,
        nodes: (*nodes).to_owned(),
        event: event.as_str().to_owned(),
        reason: event.reason().to_owned(),
    }
}

fn importance_row((column, importance): (String, f64)) -> ImportanceRow {
    ImportanceRow { column, importance: Some(importance) }
}

fn reliability_row(bin: ReliabilityBin) -> ReliabilityRow {
    let ReliabilityBin { from, to, count, confidence, accuracy } = bin;
    ReliabilityRow { from, to, count, confidence: Some(confidence), accuracy: Some(accuracy) }
}
