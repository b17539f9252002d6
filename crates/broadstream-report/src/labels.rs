//! The printed names of streams, methods, metrics and parameters.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Labels by key. A key without an entry has its built-in label, or else is its own label.
///
/// ```
/// use broadstream_report::Labels;
///
/// let mut labels = Labels::default();
/// labels.methods.insert("online-bls".into(), "Ours".into());
/// assert_eq!(labels.method("online-bls"), "Ours");
/// assert_eq!(labels.method("ri-bls"), "RI-BLS");
/// assert_eq!(labels.metric("oca").label, "OCA (%)");
/// assert!(labels.metric("update_time").lower_is_better);
/// assert_eq!(labels.stream("my-stream"), "my-stream");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Labels {
    /// Streams, such as `letter = "Letter"`.
    pub streams: BTreeMap<String, String>,
    /// Methods, such as `online-bls = "Ours"`.
    pub methods: BTreeMap<String, String>,
    /// Metrics with their unit, such as `oca = "accuracy (%)"`.
    pub metrics: BTreeMap<String, String>,
    /// Parameters, such as `enhancement_nodes = "n₃"`.
    pub parameters: BTreeMap<String, String>,
}

/// How a metric is shown.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Metric {
    /// The label with its unit.
    pub label: String,
    /// The factor from stored to shown values: 100 for percent, 1e6 for microseconds.
    pub scale: f64,
    /// The number of decimals; `None` for three significant digits.
    pub decimals: Option<usize>,
    /// Whether lower values are better.
    pub lower_is_better: bool,
    /// The smallest and largest possible values, in the shown unit.
    pub bounds: (f64, f64),
}

const STREAMS: &[(&str, &str)] = &[
    ("adult", "Adult"),
    ("concept-drift", "ConceptDrift"),
    ("covertype", "CoverType"),
    ("electricity", "Electricity"),
    ("hyperplane", "Hyperplane"),
    ("image-segment", "Image Segment"),
    ("is", "IS"),
    ("letter", "Letter"),
    ("mnist", "MNIST"),
    ("sea", "SEA"),
    ("shuttle", "Shuttle"),
    ("usps", "USPS"),
];

const METHODS: &[(&str, &str)] = &[
    ("adl", "ADL"),
    ("arf", "ARF"),
    ("atnn", "ATNN"),
    ("bls-cil", "BLS-CIL"),
    ("cand", "CAND"),
    ("eodl", "EODL"),
    ("hbp", "HBP"),
    ("ht", "HT"),
    ("i-bls", "I-BLS"),
    ("majority", "Majority class"),
    ("no-change", "No change"),
    ("online-bls", "Online-BLS"),
    ("refactorise", "Online-BLS w/o EOUS"),
    ("ri-bls", "RI-BLS"),
];

const PARAMETERS: &[(&str, &str)] = &[
    ("enhancement_groups", "enhancement groups"),
    ("enhancement_nodes", "enhancement nodes"),
    ("feature_groups", "feature groups"),
    ("feature_nodes", "feature nodes"),
    ("forgetting", "forgetting factor μ"),
    ("ridge", "ridge λ"),
];

const PERCENT: (f64, f64) = (0.0, 100.0);

impl Labels {
    /// The label of a stream.
    pub fn stream(&self, key: &str) -> String {
        label(&self.streams, STREAMS, key)
    }

    /// The label of a method.
    pub fn method(&self, key: &str) -> String {
        label(&self.methods, METHODS, key)
    }

    /// The label of a parameter.
    pub fn parameter(&self, key: &str) -> String {
        label(&self.parameters, PARAMETERS, key)
    }

    /// How a metric is shown.
    pub fn metric(&self, key: &str) -> Metric {
        let mut metric = built_in(key);
        if let Some(label) = self.metrics.get(key) {
            metric.label.clone_from(label);
        }
        metric
    }
}

fn label(own: &BTreeMap<String, String>, built_in: &[(&str, &str)], key: &str) -> String {
    let known = || built_in.iter().find(|(known, _)| *known == key).map(|(_, label)| *label);
    own.get(key).map(String::as_str).or_else(known).unwrap_or(key).to_owned()
}

fn built_in(key: &str) -> Metric {
    if let Some(rest) = key.strip_prefix("window_") {
        let metric = built_in(rest);
        return Metric { label: format!("windowed {}", metric.label), ..metric };
    }
    if let Some(statistic) = key.strip_prefix("update_time") {
        let which = statistic.trim_start_matches('_');
        let label = format!("update time{}{which} (µs)", if which.is_empty() { "" } else { ", " });
        return Metric {
            label,
            scale: 1e6,
            decimals: None,
            lower_is_better: true,
            bounds: (0.0, f64::INFINITY),
        };
    }
    let percent = |label: &str, bounds| Metric {
        label: label.to_owned(),
        scale: 100.0,
        decimals: Some(2),
        lower_is_better: ["oce", "ece", "ece_by_class"].contains(&key),
        bounds,
    };
    let plain = |label: &str, lower_is_better, bounds| Metric {
        label: label.to_owned(),
        scale: 1.0,
        decimals: Some(3),
        lower_is_better,
        bounds,
    };
    match key {
        "oca" => percent("OCA (%)", PERCENT),
        "oce" => percent("OCE (%)", PERCENT),
        "bacc" => percent("BACC (%)", PERCENT),
        "avrbacc" => percent("AVRBACC (%)", PERCENT),
        "f1" => percent("F1 (%)", PERCENT),
        "mcc" => percent("MCC (%)", (-100.0, 100.0)),
        "kappa" => percent("kappa (%)", (-100.0, 100.0)),
        "ece" => percent("ECE (%)", PERCENT),
        "ece_by_class" => percent("ECE by class (%)", PERCENT),
        "gmean" => percent("G-mean (%)", PERCENT),
        "kappa_m" => percent("kappa M (%)", (f64::NEG_INFINITY, 100.0)),
        "kappa_t" => percent("temporal kappa (%)", (f64::NEG_INFINITY, 100.0)),
        "auc" => percent("ROC AUC (%)", PERCENT),
        "auprc" => percent("AUPRC (%)", PERCENT),
        "recall_at_alarms" => percent("recall at 5 % alarms (%)", PERCENT),
        "coverage" => percent("coverage (%)", PERCENT),
        "cost" => plain("mean cost", true, (f64::NEG_INFINITY, f64::INFINITY)),
        "log_loss" => plain("log loss", true, (0.0, f64::INFINITY)),
        "brier" => plain("Brier score", true, (0.0, 2.0)),
        "samples_per_second" => {
            Metric { decimals: Some(0), ..plain("samples per second", false, (0.0, f64::INFINITY)) }
        }
        _ => {
            let lower_is_better =
                ["loss", "error", "time", "seconds"].iter().any(|word| key.ends_with(word));
            let bounds = (f64::NEG_INFINITY, f64::INFINITY);
            Metric { decimals: None, ..plain(key, lower_is_better, bounds) }
        }
    }
}
