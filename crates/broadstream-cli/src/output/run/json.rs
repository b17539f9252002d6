//! The results of a run as a JSON object for programs.

use broadstream::metrics::{ALARM_RATE, Calibration, per_class};
use serde_json::{Value, json};

use super::Report;
use crate::output::{
    changes::{changes_json, members_json},
    health::health_json,
};

/// A confusion matrix with more classes than this is left out: it would be longer than all the rest.
const MOST_CLASSES: usize = 256;

impl Report<'_> {
    pub(super) fn json(&self) -> Value {
        let summary = self.evaluation.summary();
        let window = self.evaluation.window_summary();
        let times = &self.evaluation.times;
        let labels = self.schema.labels();
        json!({
            "source": self.source,
            "target": self.schema.target(),
            "samples": summary.samples,
            "inputs": self.schema.inputs().len(),
            "classes": labels.len(),
            "labels": labels,
            "delay": self.delay,
            "oca": summary.oca,
            "oce": summary.oce,
            "bacc": summary.bacc,
            "avrbacc": summary.avrbacc,
            "f1": summary.f1,
            "mcc": summary.mcc,
            "kappa": summary.kappa,
            "log_loss": summary.log_loss,
            "brier": summary.brier,
            "ece": summary.ece,
            "gmean": summary.gmean,
            "kappa_m": summary.kappa_m,
            "kappa_t": summary.kappa_t,
            "auc": summary.auc,
            "auprc": summary.auprc,
            "recall_at_alarms": summary.recall_at_alarms,
            "ece_by_class": summary.ece_by_class,
            "coverage": summary.coverage,
            "cost": summary.cost,
            "objectives": self.objectives(),
            "window": {
                "samples": window.samples,
                "oca": window.oca,
                "bacc": window.bacc,
                "f1": window.f1,
                "mcc": window.mcc,
                "kappa": window.kappa,
                "log_loss": window.log_loss,
                "brier": window.brier,
                "gmean": window.gmean,
                "kappa_m": window.kappa_m,
                "kappa_t": window.kappa_t,
                "auc": window.auc,
                "auprc": window.auprc,
                "recall_at_alarms": window.recall_at_alarms,
                "coverage": window.coverage,
                "cost": window.cost,
            },
            "drifts": self.evaluation.drifts,
            "restarts": self.evaluation.restarts,
            "members": members_json(&self.evaluation.members),
            "changes": changes_json(&self.evaluation.changes),
            "health": self.health(),
            "reliability": self.reliability(),
            "per_class": self.per_class(),
            "confusion": self.confusion_matrix(),
            "seconds": self.seconds,
            "samples_per_second": self.samples_per_second(),
            "times": {
                "reading": times.reading.as_secs_f64(),
                "test_then_train": times.test_then_train.as_secs_f64(),
                "predicting": times.predicting.map(|time| time.as_secs_f64()),
                "learning": times.learning.map(|time| time.as_secs_f64()),
            },
            "config": self.model.config,
            "version": env!("CARGO_PKG_VERSION"),
        })
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
            values["cost"] = json!(row.cost);
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
