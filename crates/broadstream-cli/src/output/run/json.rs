//! The results of a run as a JSON object for programs.

use broadstream::metrics::{ALARM_RATE, Calibration, per_class};
use serde_json::{Map, Value, json};

use super::Report;
use crate::output::{
    changes::{changes_json, members_json},
    health::health_json,
    importance::importance_json,
};

/// A confusion matrix with more classes than this is left out: it would be longer than all the rest.
const MOST_CLASSES: usize = 256;

impl Report<'_> {
    pub(super) fn json(&self) -> Value {
        let summary = self.evaluation.summary();
        let window = self.evaluation.window_summary();
        let times = &self.evaluation.times;
        let labels = self.schema.labels();
        let mut report = Map::new();
        let mut add = |name: &str, value: Value| report.insert(name.to_owned(), value);
        add("source", json!(self.source));
        add("target", json!(self.schema.target()));
        add("samples", json!(summary.samples));
        add("inputs", json!(self.schema.inputs().len()));
        add("classes", json!(labels.len()));
        add("labels", json!(labels));
        add("delay", json!(self.delay));
        for (name, value) in summary.named() {
            add(name, json!(value));
        }
        add("objectives", json!(self.objectives()));
        let mut last = Map::from_iter([("samples".to_owned(), json!(window.samples))]);
        last.extend(
            window.named().into_iter().map(|(name, value)| (name.to_owned(), json!(value))),
        );
        add("window", Value::Object(last));
        add("drifts", json!(self.evaluation.drifts));
        add("restarts", json!(self.evaluation.restarts));
        add("members", json!(members_json(&self.evaluation.members)));
        add("changes", json!(changes_json(&self.evaluation.changes)));
        add("importance", importance_json(&self.importance()));
        add("health", json!(self.health()));
        add("reliability", json!(self.reliability()));
        add("per_class", json!(self.per_class()));
        add("confusion", json!(self.confusion_matrix()));
        add("seconds", json!(self.seconds));
        add("samples_per_second", json!(self.samples_per_second()));
        let times = json!({
            "reading": times.reading.as_secs_f64(),
            "test_then_train": times.test_then_train.as_secs_f64(),
            "predicting": times.predicting.map(|time| time.as_secs_f64()),
            "learning": times.learning.map(|time| time.as_secs_f64()),
        });
        add("times", times);
        add("config", self.model.config.clone());
        add("version", json!(env!("CARGO_PKG_VERSION")));
        Value::Object(report)
    }

    /// The numerical health of the regressions; empty for a model that has none.
    fn health(&self) -> Vec<Value> {
        let model = self.model.online_bls();
        model.map_or_else(Vec::new, |model| health_json(&model.health()))
    }

    /// The metrics under every objective; empty for a model without objectives.
    fn objectives(&self) -> Vec<Value> {
        let rows = self.evaluation.trade_offs();
        let rows = rows.iter().map(|row| {
            let mut values = json!({ "name": row.name, "is_chosen": row.is_chosen });
            for (name, value) in row.summary.named() {
                values[name] = json!(value);
            }
            if let Some(cost) = row.cost {
                values["cost"] = json!(cost);
            }
            values
        });
        rows.collect()
    }

    fn reliability(&self) -> Vec<Value> {
        reliability_bins(self.evaluation.metrics.calibration())
    }

    fn per_class(&self) -> Vec<Value> {
        let labels = self.schema.labels();
        let metrics = &self.evaluation.metrics;
        let (ranking, calibration) = (metrics.ranking(), metrics.class_calibration().classes());
        let classes = per_class(metrics.confusion());
        let classes = classes.iter().map(|class| {
            let number = class.class;
            let calibration = calibration.get(number);
            json!({
                "label": labels.get(class.class),
                "precision": class.precision,
                "recall": class.recall,
                "f1": class.f1,
                "support": class.support,
                "auc": ranking.auc_of(number),
                "auprc": ranking.average_precision_of(number),
                "recall_at_alarms": ranking.recall_at(number, ALARM_RATE),
                "ece": calibration.map(Calibration::ece),
                "reliability": calibration.map(reliability_bins),
            })
        });
        classes.collect()
    }

    /// By truth and prediction, how often the two met.
    fn confusion_matrix(&self) -> Option<Vec<Vec<u64>>> {
        let confusion = self.evaluation.metrics.confusion();
        let classes = 0..self.schema.labels().len();
        (classes.len() <= MOST_CLASSES).then(|| {
            let row = |truth| classes.clone().map(|class| confusion.count(truth, class)).collect();
            classes.clone().map(row).collect()
        })
    }
}

fn reliability_bins(calibration: &Calibration) -> Vec<Value> {
    let bins = calibration.bins().map(|bin| {
        json!({
            "from": bin.from,
            "to": bin.to,
            "count": bin.count,
            "confidence": bin.confidence,
            "accuracy": bin.accuracy,
        })
    });
    bins.collect()
}
