//! The results of a run as a table for people.

use std::time::Duration;

use broadstream::metrics::{Summary, WindowSummary, per_class};

use super::Report;
use crate::output::printable::printable;

/// A confusion matrix with more classes than this does not fit on a screen.
const MOST_CLASSES_SHOWN: usize = 12;

/// More drifts than this do not fit on a line.
const MOST_DRIFTS_SHOWN: usize = 8;

impl Report<'_> {
    pub(super) fn table(&self) -> String {
        let summary = self.evaluation.summary();
        let window = self.evaluation.window_summary();
        let late = match self.delay {
            0 | 1 => String::new(),
            delay => format!(", labels {delay} samples late"),
        };
        let mut text = format!(
            "{}: {} samples, {} inputs, {} classes{late}\n{}\n\n",
            printable(&self.source),
            summary.samples,
            self.schema.inputs().len(),
            self.schema.labels().len(),
            printable(&self.model.title),
        );
        let last = format!("last {}", self.metrics_window.min(summary.samples as usize));
        text += &format!("{:<28}{:>8}{last:>14}\n", "", "all");
        for (name, all, last) in metric_rows(&summary, &window) {
            let last = last.map_or(String::new(), |value| format!("{value:.4}"));
            text += format!("{name:<28}{all:>8.4}{last:>14}").trim_end();
            text.push('\n');
        }
        text += &self.objective_table();
        text += &self.drift_lines();
        text += &self.confusion_table();
        text += &self.time_lines();
        text
    }

    /// The same predictions, decided for every objective.
    fn objective_table(&self) -> String {
        let rows = self.evaluation.trade_offs();
        let has_costs = rows.iter().any(|row| row.cost.is_some());
        if rows.is_empty() {
            return String::new();
        }
        let columns = ["OCA", "BACC", "macro F1", "MCC", "G-mean"];
        let mut text = format!("\n{:<18}", "decided for");
        columns.iter().for_each(|column| text += &format!("{column:>10}"));
        text += if has_costs { "      cost\n" } else { "\n" };
        for row in &rows {
            let name = if row.is_chosen { format!("{} *", row.name) } else { row.name.to_owned() };
            let s = &row.summary;
            text += &format!("{name:<18}");
            [s.oca, s.bacc, s.f1, s.mcc, s.gmean]
                .iter()
                .for_each(|x| text += &format!("{x:>10.4}"));
            text += &row.cost.map_or(String::new(), |cost| format!("{cost:>10.4}"));
            text.push('\n');
        }
        text
    }

    fn drift_lines(&self) -> String {
        let detected =
            sample_list(&self.evaluation.drifts).map(|at| format!("drift detected at: {at}\n"));
        let restarts = sample_list(&self.evaluation.restarts)
            .map(|at| format!("restarts after drift: {at}\n"));
        let lines: String = [detected, restarts].into_iter().flatten().collect();
        if lines.is_empty() { lines } else { format!("\n{lines}") }
    }

    fn confusion_table(&self) -> String {
        let labels: Vec<_> = self.schema.labels().iter().map(|label| printable(label)).collect();
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
        for label in &labels {
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
        let each = |time: Duration| time.as_secs_f64() * 1e6 / samples;
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
}

/// The positions of samples, as many as fit on a line; `None` if there are none.
fn sample_list(samples: &[u64]) -> Option<String> {
    let shown: Vec<String> = samples.iter().take(MOST_DRIFTS_SHOWN).map(u64::to_string).collect();
    let more = match samples.len().saturating_sub(MOST_DRIFTS_SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!shown.is_empty()).then(|| format!("{}{more}", shown.join(", ")))
}

/// The name of each metric, its value over the whole stream and, if it has one, over the window.
fn metric_rows(all: &Summary, last: &WindowSummary) -> Vec<(&'static str, f64, Option<f64>)> {
    let mut rows = vec![
        ("accuracy (OCA)", all.oca, Some(last.oca)),
        ("error (OCE)", all.oce, Some(1.0 - last.oca)),
        ("balanced accuracy (BACC)", all.bacc, Some(last.bacc)),
        ("average balanced accuracy", all.avrbacc, None),
        ("macro F1", all.f1, Some(last.f1)),
        ("Matthews correlation (MCC)", all.mcc, Some(last.mcc)),
        ("G-mean of recalls", all.gmean, Some(last.gmean)),
        ("Cohen's kappa", all.kappa, Some(last.kappa)),
        ("kappa M", all.kappa_m, Some(last.kappa_m)),
        ("temporal kappa", all.kappa_t, Some(last.kappa_t)),
        ("ROC AUC", all.auc, Some(last.auc)),
        ("area under PR (AUPRC)", all.auprc, Some(last.auprc)),
        ("recall at 5 % alarms", all.recall_at_alarms, Some(last.recall_at_alarms)),
        ("log loss", all.log_loss, Some(last.log_loss)),
        ("Brier score", all.brier, Some(last.brier)),
        ("calibration error (ECE)", all.ece, None),
        ("ECE by class", all.ece_by_class, None),
    ];
    if let Some(cost) = all.cost {
        rows.push(("mean cost", cost, last.cost));
        rows.push(("coverage", all.coverage, Some(last.coverage)));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_drifts_are_cut_short() {
        let all: Vec<u64> = (1..=11).map(|k| 100 * k).collect();
        assert_eq!(sample_list(&[]), None);
        assert_eq!(sample_list(&all[..2]).unwrap(), "100, 200");
        assert_eq!(sample_list(&all[..8]).unwrap(), "100, 200, 300, 400, 500, 600, 700, 800");
        let cut = "100, 200, 300, 400, 500, 600, 700, 800 and 3 more";
        assert_eq!(sample_list(&all).unwrap(), cut);
    }
}
