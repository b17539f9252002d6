//! What a run prints: a table for people, or a JSON object for programs.

use std::{
    any::Any,
    io::{self, Write},
};

use anyhow::Result;
use broadstream::{
    Evaluation, OnlineBls, Schema,
    metrics::{Summary, WindowSummary, per_class},
};
use serde_json::{Value, json};

use crate::{
    build::model::Model, commands::saved::inspect::health_json, output::failure::to_stdout,
};

/// A confusion matrix with more classes than this does not fit a screen.
const MOST_CLASSES_SHOWN: usize = 12;

/// More drifts than this do not fit a line.
const MOST_DRIFTS_SHOWN: usize = 8;

/// A confusion matrix with more classes than this is left out of the JSON: it would take more than
/// all the rest.
const MOST_CLASSES_IN_JSON: usize = 256;

/// Everything that a run found out.
pub(crate) struct Report<'a> {
    pub(crate) source: String,
    pub(crate) schema: &'a Schema,
    pub(crate) model: &'a Model,
    pub(crate) evaluation: &'a Evaluation,
    pub(crate) metrics_window: usize,
    pub(crate) delay: u64,
    pub(crate) seconds: f64,
}

impl Report<'_> {
    pub(crate) fn print_json(&self) -> Result<()> {
        let text = format!("{}\n", self.json());
        to_stdout(io::stdout().write_all(text.as_bytes()))
    }

    pub(crate) fn print_table(&self) -> Result<()> {
        to_stdout(io::stdout().write_all(self.table().as_bytes()))
    }

    fn json(&self) -> Value {
        let summary = self.evaluation.metrics.summary();
        let window = self.evaluation.metrics.window_summary();
        let times = &self.evaluation.times;
        let confusion = self.evaluation.metrics.confusion();
        let labels = self.schema.labels();
        let classes = 0..labels.len();
        let matrix: Option<Vec<Vec<u64>>> = (labels.len() <= MOST_CLASSES_IN_JSON).then(|| {
            let row = |truth| classes.clone().map(|class| confusion.count(truth, class)).collect();
            classes.clone().map(row).collect()
        });
        let per_class: Vec<Value> = per_class(confusion)
            .iter()
            .map(|class| {
                json!({
                    "label": labels.get(class.class),
                    "precision": class.precision,
                    "recall": class.recall,
                    "f1": class.f1,
                    "support": class.support,
                })
            })
            .collect();
        let reliability: Vec<Value> = self
            .evaluation
            .metrics
            .calibration()
            .bins()
            .map(|bin| {
                json!({
                    "from": bin.from,
                    "to": bin.to,
                    "count": bin.count,
                    "confidence": bin.confidence,
                    "accuracy": bin.accuracy,
                })
            })
            .collect();
        let members: Vec<Value> = self
            .evaluation
            .members
            .iter()
            .map(|member| json!({ "name": member.name, "weight": member.weight }))
            .collect();
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
            "window": {
                "samples": window.samples,
                "oca": window.oca,
                "bacc": window.bacc,
                "f1": window.f1,
                "mcc": window.mcc,
                "kappa": window.kappa,
                "log_loss": window.log_loss,
                "brier": window.brier,
            },
            "drifts": self.evaluation.drifts,
            "restarts": self.evaluation.restarts,
            "members": members,
            "health": self.health(),
            "reliability": reliability,
            "per_class": per_class,
            "confusion": matrix,
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

    /// Whether rounding has left the regressions what they should be, if the model has any.
    fn health(&self) -> Vec<Value> {
        let model: &dyn Any = &*self.model.classifier;
        model
            .downcast_ref::<OnlineBls>()
            .map_or_else(Vec::new, |model| health_json(&model.health()))
    }

    fn table(&self) -> String {
        let summary = self.evaluation.metrics.summary();
        let window = self.evaluation.metrics.window_summary();
        let late = match self.delay {
            0 | 1 => String::new(),
            delay => format!(", labels {delay} samples late"),
        };
        let mut text = format!(
            "{}: {} samples, {} inputs, {} classes{late}\n{}\n\n",
            self.source,
            summary.samples,
            self.schema.inputs().len(),
            self.schema.labels().len(),
            self.model.title,
        );
        let last = format!("last {}", self.metrics_window.min(summary.samples as usize));
        text += &format!("{:<28}{:>8}{last:>14}\n", "", "all");
        for (name, all, last) in metric_rows(&summary, &window) {
            let last = last.map_or(String::new(), |value| format!("{value:.4}"));
            text += format!("{name:<28}{all:>8.4}{last:>14}").trim_end();
            text.push('\n');
        }
        text += &self.drift_lines();
        text += &self.confusion_table();
        text += &self.time_lines();
        text
    }

    fn drift_lines(&self) -> String {
        let seen = drifts(&self.evaluation.drifts).map(|at| format!("drifts seen at {at}\n"));
        let answered = drifts(&self.evaluation.restarts)
            .map(|at| format!("drifts answered by beginning anew at {at}\n"));
        let lines: String = [seen, answered].into_iter().flatten().collect();
        if lines.is_empty() { lines } else { format!("\n{lines}") }
    }

    fn confusion_table(&self) -> String {
        let labels = self.schema.labels();
        if labels.len() > MOST_CLASSES_SHOWN {
            return String::new();
        }
        let metrics = self.evaluation.metrics.confusion();
        let classes = per_class(metrics);
        let widest =
            |least: usize| labels.iter().map(|l| l.chars().count()).fold(least, usize::max);
        let (first, width) = (widest(5).min(24), widest(6).min(14) + 2);
        let cut = |label: &str, width: usize| label.chars().take(width).collect::<String>();
        let mut text = String::from("\nConfusion, truth by row and prediction by column\n");
        text += &format!("{:<first$}", "");
        for label in labels {
            text += &format!("{:>width$}", cut(label, width - 2));
        }
        text += &format!("{:>12}{:>9}\n", "precision", "recall");
        for (truth, label) in labels.iter().enumerate() {
            text += &format!("{:<first$}", cut(label, first));
            for class in 0..labels.len() {
                text += &format!("{:>width$}", metrics.count(truth, class));
            }
            if let Some(class) = classes.iter().find(|class| class.class == truth) {
                text += &format!("{:>12.4}{:>9.4}", class.precision, class.recall);
            }
            text.push('\n');
        }
        text
    }

    fn time_lines(&self) -> String {
        let times = &self.evaluation.times;
        let samples = self.evaluation.metrics.confusion().samples() as f64;
        let each = |time: std::time::Duration| time.as_secs_f64() * 1e6 / samples;
        let mut parts = vec![format!("reading {:.1} µs", each(times.reading))];
        match (times.predicting, times.learning) {
            (Some(predicting), Some(learning)) => {
                parts.push(format!("predicting {:.1} µs", each(predicting)));
                parts.push(format!("learning {:.1} µs", each(learning)));
            }
            _ => {
                let both = each(times.test_then_train);
                parts.push(format!("predicting and learning {both:.1} µs"));
            }
        }
        format!(
            "\n{:.1} s, {:.0} samples/s; per sample: {}\n",
            self.seconds,
            self.samples_per_second(),
            parts.join(", ")
        )
    }

    fn samples_per_second(&self) -> f64 {
        self.evaluation.metrics.confusion().samples() as f64 / self.seconds.max(1e-9)
    }
}

/// The samples of drifts, as far as they fit a line; `None` without any.
fn drifts(samples: &[u64]) -> Option<String> {
    let shown: Vec<String> = samples.iter().take(MOST_DRIFTS_SHOWN).map(u64::to_string).collect();
    let more = match samples.len().saturating_sub(MOST_DRIFTS_SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!shown.is_empty()).then(|| format!("{}{more}", shown.join(", ")))
}

/// Each metric's name, its value over the whole stream and, where it has one, over the window.
fn metric_rows(all: &Summary, last: &WindowSummary) -> [(&'static str, f64, Option<f64>); 10] {
    [
        ("accuracy (OCA)", all.oca, Some(last.oca)),
        ("error (OCE)", all.oce, Some(1.0 - last.oca)),
        ("balanced accuracy (BACC)", all.bacc, Some(last.bacc)),
        ("its average (AVRBACC)", all.avrbacc, None),
        ("macro F1", all.f1, Some(last.f1)),
        ("Matthews correlation (MCC)", all.mcc, Some(last.mcc)),
        ("Cohen's kappa", all.kappa, Some(last.kappa)),
        ("log loss", all.log_loss, Some(last.log_loss)),
        ("Brier score", all.brier, Some(last.brier)),
        ("calibration error (ECE)", all.ece, None),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_drifts_are_cut_short() {
        let all: Vec<u64> = (1..=11).map(|k| 100 * k).collect();
        assert_eq!(drifts(&[]), None);
        assert_eq!(drifts(&all[..2]).unwrap(), "100, 200");
        assert_eq!(drifts(&all[..8]).unwrap(), "100, 200, 300, 400, 500, 600, 700, 800");
        let cut = "100, 200, 300, 400, 500, 600, 700, 800 and 3 more";
        assert_eq!(drifts(&all).unwrap(), cut);
    }
}
