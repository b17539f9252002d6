//! The metrics over time as a CSV file: the names of its columns, and its rows.

use broadstream::{CurvePoint, Member};

/// The columns that every model has.
const COLUMNS: [&str; 33] = [
    "sample",
    "oca",
    "bacc",
    "avrbacc",
    "f1",
    "mcc",
    "kappa",
    "log_loss",
    "brier",
    "ece",
    "gmean",
    "kappa_m",
    "kappa_t",
    "auc",
    "auprc",
    "recall_at_alarms",
    "ece_by_class",
    "coverage",
    "window_oca",
    "window_bacc",
    "window_f1",
    "window_mcc",
    "window_kappa",
    "window_log_loss",
    "window_brier",
    "window_gmean",
    "window_kappa_m",
    "window_kappa_t",
    "window_auc",
    "window_auprc",
    "window_recall_at_alarms",
    "window_coverage",
    "drifts",
];

/// The names of the columns: those that every model has, two for costs if there are some, one for the weight
/// of each member, and one for the number of features of each member that has some.
pub(crate) fn columns(members: &[Member], has_costs: bool) -> Vec<String> {
    let weights = members.iter().map(|member| weight_of(&member.name));
    let sized = members.iter().filter(|member| member.features.is_some());
    let features = sized.map(|member| features_of(&member.name));
    let columns = COLUMNS.iter().map(|column| (*column).to_owned());
    let costs: &[&str] = if has_costs { &["cost", "window_cost"] } else { &[] };
    let columns = columns.chain(costs.iter().map(|column| (*column).to_owned()));
    columns.chain(weights).chain(features).collect()
}

/// The name of a member's number of features among the metrics of a point.
fn features_of(member: &str) -> String {
    format!("features:{member}")
}

/// The name of a member's weight among the metrics of a point.
pub(crate) fn weight_of(member: &str) -> String {
    format!("weight:{member}")
}

/// The row of a point, in the order of [`columns`].
pub(crate) fn row(point: &CurvePoint) -> Vec<String> {
    let CurvePoint { cumulative: c, window: w, drifts, weights, features, .. } = point;
    let values = [
        c.oca,
        c.bacc,
        c.avrbacc,
        c.f1,
        c.mcc,
        c.kappa,
        c.log_loss,
        c.brier,
        c.ece,
        c.gmean,
        c.kappa_m,
        c.kappa_t,
        c.auc,
        c.auprc,
        c.recall_at_alarms,
        c.ece_by_class,
        c.coverage,
        w.oca,
        w.bacc,
        w.f1,
        w.mcc,
        w.kappa,
        w.log_loss,
        w.brier,
        w.gmean,
        w.kappa_m,
        w.kappa_t,
        w.auc,
        w.auprc,
        w.recall_at_alarms,
        w.coverage,
    ];
    let mut row = vec![c.samples.to_string()];
    row.extend(values.iter().map(f64::to_string));
    row.push(drifts.to_string());
    row.extend(c.cost.iter().chain(&w.cost).map(f64::to_string));
    row.extend(weights.iter().map(f64::to_string));
    row.extend(features.iter().map(usize::to_string));
    row
}
