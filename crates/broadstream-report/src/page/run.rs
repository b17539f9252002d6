//! The page of a single run.

use std::collections::BTreeMap;

use minijinja::Value;
use serde::{Deserialize, Serialize};

use crate::{
    error::Error,
    figure,
    labels::Labels,
    number,
    page::{confusion::Confusion, markup, render_template, settings},
    record::CurvePoint,
};

/// The content of the page of a run. Sections without content are omitted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunReport {
    /// The source of the samples.
    pub source: String,
    /// The model in a few words.
    pub model: String,
    /// The date of the run, as text; this crate reads no clock.
    pub date: Option<String>,
    /// The name of the target.
    pub target: Option<String>,
    /// The number of evaluated samples.
    pub samples: u64,
    /// The number of inputs of a sample.
    pub inputs: u64,
    /// The labels of the classes.
    pub labels: Vec<String>,
    /// The metrics over the whole run, such as `oca`, as fractions.
    pub metrics: BTreeMap<String, Option<f64>>,
    /// The metrics over the last window.
    pub window: BTreeMap<String, Option<f64>>,
    /// The number of samples in that window.
    pub window_samples: u64,
    /// The metrics over time, of which `oca`, `window_oca` and the members' `weight:NAME` are drawn.
    pub curve: Vec<CurvePoint>,
    /// Events to mark in that curve, such as drifts.
    pub events: Vec<Event>,
    /// The members whose predictions the model combines, in order.
    pub members: Vec<MemberRow>,
    /// How the members have changed, the first change first.
    pub changes: Vec<ChangeRow>,
    /// How important each column is, the most important first.
    pub importance: Vec<ImportanceRow>,
    /// Accuracy by confidence, in ascending order of confidence.
    pub reliability: Vec<ReliabilityRow>,
    /// The same for each class: how its probability compares with its share.
    pub class_reliability: Vec<ClassReliability>,
    /// The metrics of the same predictions, decided for every objective.
    pub objectives: Vec<ObjectiveRow>,
    /// The confusion matrix: samples by true class (rows) and predicted class (columns).
    pub confusion: Vec<Vec<u64>>,
    /// The metrics of each class.
    pub per_class: Vec<ClassRow>,
    /// The total time in seconds.
    pub seconds: Option<f64>,
    /// The parts of that time: seconds by name, shown in this order.
    pub times: Vec<(String, f64)>,
    /// The histogram of the time per sample.
    pub histogram: Vec<TimeBin>,
    /// The configuration.
    pub config: serde_json::Value,
    /// The version of the program.
    pub version: String,
    /// The machine.
    pub machine: String,
}

/// An event during a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The number of samples before it.
    pub sample: u64,
    /// The kind of event in a word, such as `drift`. Default empty.
    #[serde(default)]
    pub label: String,
}

/// The metrics of one class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClassRow {
    /// The label.
    pub label: String,
    /// The share of the samples predicted as this class that belong to it.
    pub precision: Option<f64>,
    /// The share of the samples of this class that were predicted as it.
    pub recall: Option<f64>,
    /// The harmonic mean of precision and recall.
    pub f1: Option<f64>,
    /// The area under its ROC curve against all others.
    pub auc: Option<f64>,
    /// The area under precision and recall.
    pub auprc: Option<f64>,
    /// The number of samples of this class.
    pub support: u64,
}

/// The metrics of the predictions, decided for one objective.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ObjectiveRow {
    /// The name of the objective.
    pub name: String,
    /// Whether the run counted these decisions.
    pub is_chosen: bool,
    /// The metrics by name, such as `oca`, as fractions.
    pub metrics: BTreeMap<String, Option<f64>>,
}

/// How the probability of a class compares with its share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClassReliability {
    /// The label.
    pub label: String,
    /// The calibration error of the class.
    pub error: f64,
    /// Its share by its probability, in ascending order.
    pub bins: Vec<ReliabilityRow>,
}

/// One member of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemberRow {
    /// The name.
    pub name: String,
    /// The weight after the last sample, as a fraction.
    pub weight: Option<f64>,
    /// The number of features after the last sample, and 0 if it rests. `None` if it has none.
    pub features: Option<u64>,
}

/// How important a column is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportanceRow {
    /// The name of the column.
    pub column: String,
    /// The mean change of a probability without it, as a fraction.
    pub importance: Option<f64>,
}

/// A change of a member.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangeRow {
    /// The number of learned samples before it.
    pub learned: u64,
    /// The name of the member.
    pub member: String,
    /// The number of its features until then, and 0 if it did not take part.
    pub features_before: u64,
    /// The number of its features from then on, and 0 if it rests.
    pub features: u64,
    /// The kind of its nodes, in words.
    pub nodes: String,
    /// What happened, in words.
    pub event: String,
    /// Why it happened, in words.
    pub reason: String,
}

/// A bin of predictions made with similar confidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReliabilityRow {
    /// The lower bound of the confidence.
    pub from: f64,
    /// The upper bound of the confidence.
    pub to: f64,
    /// The number of predictions.
    pub count: u64,
    /// Their mean confidence.
    pub confidence: Option<f64>,
    /// The share of them that are correct.
    pub accuracy: Option<f64>,
}

/// A bin of the histogram of the time per sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeBin {
    /// The lower bound in seconds.
    pub from: f64,
    /// The upper bound in seconds.
    pub to: f64,
    /// The number of samples.
    pub count: u64,
}

#[derive(Serialize)]
struct Context<'a> {
    title: &'a str,
    model: &'a str,
    facts: Vec<(&'static str, String)>,
    headlines: Vec<(String, String)>,
    curve: Value,
    members: Value,
    /// Name, weight and number of features.
    member_rows: Vec<(String, (String, String), String)>,
    more_members: usize,
    has_features: bool,
    changes: Vec<[String; 7]>,
    more_changes: usize,
    /// Column, and importance as text and as the width of a bar.
    importance: Vec<(String, (String, String))>,
    more_columns: usize,
    reliability: Value,
    reliability_rows: Vec<[String; 4]>,
    /// Label, calibration error and figure of each class.
    class_figures: Vec<(String, String, Value)>,
    objective_columns: Vec<String>,
    /// Name, whether it was chosen, and metrics.
    objectives: Vec<(String, bool, Vec<String>)>,
    metrics: Vec<[String; 3]>,
    window: String,
    confusion: Option<Confusion>,
    per_class: Vec<ClassContext>,
    more_classes: usize,
    times: Vec<TimePart>,
    histogram: Value,
    config: Vec<(String, String)>,
}

#[derive(Serialize)]
struct ClassContext {
    label: String,
    support: String,
    /// Precision, recall, F1 and the areas, each as text and as the width of a bar.
    shares: Vec<(String, String)>,
}

#[derive(Serialize)]
struct TimePart {
    label: String,
    share: String,
    percent: String,
    seconds: String,
    each: String,
}

/// The maximum number of members in the table, those with the largest weights.
const MOST_MEMBERS: usize = 24;

/// The maximum number of changes in the table, the last ones.
const MOST_CHANGES: usize = 100;

/// The maximum number of columns in the table, the most important ones.
const MOST_COLUMNS: usize = 30;

/// The maximum number of classes in the table, those with the most samples.
const MOST_CLASSES: usize = 60;

/// A self-contained page about one run.
///
/// ```
/// use broadstream_report::{RunReport, run_page};
///
/// let page = run_page(&RunReport {
///     source: "flowers.csv".into(),
///     samples: 150,
///     metrics: [("oca".to_owned(), Some(0.953))].into(),
///     confusion: vec![vec![70, 5], vec![2, 73]],
///     ..RunReport::default()
/// })?;
/// assert!(page.contains("flowers.csv") && page.contains("95.30"));
/// # Ok::<(), broadstream_report::Error>(())
/// ```
pub fn run_page(report: &RunReport) -> Result<String, Error> {
    let labels = Labels::default();
    let events: Vec<(u64, String)> =
        report.events.iter().map(|event| (event.sample, event.label.clone())).collect();
    let bins: Vec<(f64, f64, u64)> =
        report.histogram.iter().map(|bin| (bin.from, bin.to, bin.count)).collect();
    let curve = figure::accuracy_over_time(&report.curve, &events, &labels);
    let histogram = figure::histogram(&bins);
    let names: Vec<String> = report.members.iter().map(|member| member.name.clone()).collect();
    let members = figure::member_weights(&report.curve, &names, &events);
    let members_shown = member_rows(report);
    let confidence_bins = report.reliability.iter();
    let confidence_bins: Vec<(f64, f64, u64)> = confidence_bins
        .filter_map(|row| Some((row.confidence?, row.accuracy?, row.count)))
        .collect();
    let classes = classes(report);
    render_template(
        "run.html",
        Context {
            title: &report.source,
            model: &report.model,
            facts: facts(report),
            headlines: headlines(report, &labels),
            curve: markup(&curve.unwrap_or_default()),
            members: markup(&members.unwrap_or_default()),
            more_members: report.members.len() - members_shown.len(),
            member_rows: members_shown,
            has_features: report.members.iter().any(|member| member.features.is_some()),
            more_changes: report.changes.len().saturating_sub(MOST_CHANGES),
            changes: change_rows(report),
            more_columns: report.importance.len().saturating_sub(MOST_COLUMNS),
            importance: importance_rows(report),
            reliability: markup(
                &figure::reliability("reliability", &confidence_bins).unwrap_or_default(),
            ),
            reliability_rows: reliability_rows(report),
            class_figures: class_figures(report),
            objective_columns: objective_keys(report).map(|key| labels.metric(key).label).collect(),
            objectives: objective_rows(report, &labels),
            metrics: metric_rows(report, &labels),
            window: number::count(report.window_samples),
            confusion: Confusion::of(&report.confusion, &report.labels),
            more_classes: report.per_class.len() - classes.len(),
            per_class: classes,
            times: time_parts(report),
            histogram: markup(&histogram.unwrap_or_default()),
            config: settings(&report.config),
        },
    )
}

fn facts(report: &RunReport) -> Vec<(&'static str, String)> {
    let counted = |count: u64| if count == 0 { String::new() } else { number::count(count) };
    let mut facts = vec![
        ("Samples", counted(report.samples)),
        ("Inputs", counted(report.inputs)),
        ("Classes", counted(report.labels.len() as u64)),
        ("Drifts", drifts(report)),
        ("Target", report.target.clone().unwrap_or_default()),
        ("Time", finite(report.seconds).map_or(String::new(), number::seconds)),
        ("Machine", report.machine.clone()),
        ("Version", report.version.clone()),
        ("Date", report.date.clone().unwrap_or_default()),
    ];
    facts.retain(|(_, value)| !value.is_empty());
    facts
}

/// The number of drifts and the samples of the first few.
fn drifts(report: &RunReport) -> String {
    const MOST: usize = 4;
    let mut samples: Vec<u64> =
        report.events.iter().filter(|e| e.label == "drift").map(|e| e.sample).collect();
    samples.sort_unstable();
    let shown: Vec<String> = samples.iter().take(MOST).map(|at| number::count(*at)).collect();
    let all = match samples.len() {
        0 => return String::new(),
        1..=MOST => "at",
        _ => "first at",
    };
    format!("{}, {all} {}", number::count(samples.len() as u64), shown.join("; "))
}

fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|value| value.is_finite())
}

fn shown(values: &BTreeMap<String, Option<f64>>, key: &str, labels: &Labels) -> Option<String> {
    let metric = labels.metric(key);
    let value = finite(values.get(key).copied().flatten())? * metric.scale;
    Some(match metric.decimals {
        Some(decimals) => number::fixed(value, decimals),
        None => number::significant(value),
    })
}

fn headlines(report: &RunReport, labels: &Labels) -> Vec<(String, String)> {
    let keys = ["oca", "bacc", "f1", "mcc", "kappa"];
    let mut headlines: Vec<(String, String)> = keys
        .iter()
        .filter_map(|key| Some((labels.metric(key).label, shown(&report.metrics, key, labels)?)))
        .collect();
    if let Some(seconds) = finite(report.seconds).filter(|seconds| *seconds > 0.0) {
        let rate = report.samples as f64 / seconds;
        let rate =
            if rate >= 100.0 { number::count(rate as u64) } else { number::significant(rate) };
        headlines.push(("samples/s".to_owned(), rate));
    }
    headlines
}

fn metric_rows(report: &RunReport, labels: &Labels) -> Vec<[String; 3]> {
    let usual = [
        "oca",
        "oce",
        "bacc",
        "avrbacc",
        "f1",
        "mcc",
        "gmean",
        "kappa",
        "kappa_m",
        "kappa_t",
        "auc",
        "auprc",
        "recall_at_alarms",
        "log_loss",
        "brier",
        "ece",
        "ece_by_class",
        "cost",
        "coverage",
    ];
    let others = report.metrics.keys().map(String::as_str).filter(|key| !usual.contains(key));
    let keys = usual.into_iter().chain(others);
    keys.filter_map(|key| {
        let all = shown(&report.metrics, key, labels);
        let last = shown(&report.window, key, labels);
        (all.is_some() || last.is_some()).then(|| {
            let absent = || "–".to_owned();
            [labels.metric(key).label, all.unwrap_or_else(absent), last.unwrap_or_else(absent)]
        })
    })
    .collect()
}

fn classes(report: &RunReport) -> Vec<ClassContext> {
    let mut classes: Vec<&ClassRow> = report.per_class.iter().collect();
    if classes.len() > MOST_CLASSES {
        classes.sort_by_key(|class| std::cmp::Reverse(class.support));
        classes.truncate(MOST_CLASSES);
    }
    let class = |class: &ClassRow| ClassContext {
        label: class.label.clone(),
        support: number::count(class.support),
        shares: [class.precision, class.recall, class.f1, class.auc, class.auprc]
            .map(share)
            .to_vec(),
    };
    classes.into_iter().map(class).collect()
}

/// A share as text in percent, and as the width of a bar.
fn share(value: Option<f64>) -> (String, String) {
    match finite(value) {
        Some(value) => {
            let percent = 100.0 * value.clamp(0.0, 1.0);
            (number::fixed(percent, 1), format!("{percent:.1}"))
        }
        None => ("–".to_owned(), "0".to_owned()),
    }
}

/// The last changes.
fn change_rows(report: &RunReport) -> Vec<[String; 7]> {
    let first = report.changes.len().saturating_sub(MOST_CHANGES);
    let row = |change: &ChangeRow| {
        let [learned, before, after] =
            [change.learned, change.features_before, change.features].map(number::count);
        let [member, event, nodes, reason] =
            [&change.member, &change.event, &change.nodes, &change.reason].map(String::clone);
        [learned, member, event, before, after, nodes, reason]
    };
    report.changes[first..].iter().map(row).collect()
}

fn member_rows(report: &RunReport) -> Vec<(String, (String, String), String)> {
    let mut members: Vec<&MemberRow> = report.members.iter().collect();
    if members.len() > MOST_MEMBERS {
        let weight = |member: &MemberRow| finite(member.weight).unwrap_or(0.0);
        members.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
        members.truncate(MOST_MEMBERS);
    }
    let row = |member: &&MemberRow| {
        let features = member.features.map_or_else(|| "–".to_owned(), number::count);
        (member.name.clone(), share(member.weight), features)
    };
    members.iter().map(row).collect()
}

/// The most important columns; the largest importance has the longest bar.
fn importance_rows(report: &RunReport) -> Vec<(String, (String, String))> {
    let importance = |row: &ImportanceRow| finite(row.importance).map(|mean| mean.clamp(0.0, 1.0));
    let largest = report.importance.iter().filter_map(importance).fold(0.0, f64::max);
    let row = |row: &ImportanceRow| {
        let mean = importance(row);
        let text = mean.map_or_else(|| "–".to_owned(), |mean| number::fixed(100.0 * mean, 2));
        let width = mean.filter(|mean| *mean > 0.0).map_or(0.0, |mean| mean / largest);
        (row.column.clone(), (text, format!("{:.1}", 100.0 * width)))
    };
    report.importance.iter().take(MOST_COLUMNS).map(row).collect()
}

/// The bounds, count, confidence and accuracy of each bin that has predictions.
fn reliability_rows(report: &RunReport) -> Vec<[String; 4]> {
    let percent = |value: f64| number::fixed(100.0 * value, 1);
    let row = |row: &ReliabilityRow| {
        let bounds = format!("{} – {}", percent(row.from), percent(row.to));
        [bounds, number::count(row.count), share(row.confidence).0, share(row.accuracy).0]
    };
    report.reliability.iter().filter(|row| row.count > 0).map(row).collect()
}

/// A figure for each class whose bins are not all empty.
fn class_figures(report: &RunReport) -> Vec<(String, String, Value)> {
    let figure = |(number, class): (usize, &ClassReliability)| {
        let bins: Vec<(f64, f64, u64)> = class
            .bins
            .iter()
            .filter_map(|bin| Some((bin.confidence?, bin.accuracy?, bin.count)))
            .collect();
        let error = number::fixed(100.0 * finite(Some(class.error))?, 2);
        Some((
            class.label.clone(),
            error,
            markup(&figure::reliability(&format!("reliability-{number}"), &bins)?),
        ))
    };
    report.class_reliability.iter().enumerate().filter_map(figure).collect()
}

/// The metrics that the objectives are compared by.
fn objective_keys(report: &RunReport) -> impl Iterator<Item = &'static str> {
    let has = |key: &&str| report.objectives.iter().any(|row| row.metrics.contains_key(*key));
    ["oca", "bacc", "f1", "mcc", "kappa", "gmean", "cost"].into_iter().filter(has)
}

fn objective_rows(report: &RunReport, labels: &Labels) -> Vec<(String, bool, Vec<String>)> {
    let row = |row: &ObjectiveRow| {
        let value = |key| shown(&row.metrics, key, labels).unwrap_or_else(|| "–".to_owned());
        (row.name.clone(), row.is_chosen, objective_keys(report).map(value).collect())
    };
    report.objectives.iter().map(row).collect()
}

fn time_parts(report: &RunReport) -> Vec<TimePart> {
    let proper = |seconds: f64| seconds.is_finite() && seconds > 0.0;
    let total: f64 = report.times.iter().map(|(_, t)| *t).filter(|t| proper(*t)).sum();
    let part = |(label, seconds): &(String, f64)| TimePart {
        label: label.clone(),
        share: format!("{:.2}", 100.0 * seconds / total),
        percent: number::fixed(100.0 * seconds / total, 1),
        seconds: number::seconds(*seconds),
        each: number::seconds(seconds / report.samples.max(1) as f64),
    };
    report.times.iter().filter(|(_, seconds)| proper(*seconds)).map(part).collect()
}
