//! The page of a single run.

use broadstream::metrics::per_class;
use broadstream_report::{ClassRow, RunReport, TimeBin, run_page};

use crate::{machine, output::Report, record};

/// Classes beyond which the confusion matrix would be larger than all else.
const MOST_CLASSES: usize = 1000;

pub(crate) fn page(report: &Report<'_>) -> anyhow::Result<String> {
    let evaluation = report.evaluation;
    let (summary, window) = (evaluation.metrics.summary(), evaluation.metrics.window_summary());
    let labels = report.schema.labels();
    let confusion = evaluation.metrics.confusion();
    let classes = if labels.len() <= MOST_CLASSES { labels.len() } else { 0 };
    let row = |truth| (0..classes).map(|class| confusion.count(truth, class)).collect();
    let class_row = |class: &broadstream::metrics::PerClass| ClassRow {
        label: labels.get(class.class).cloned().unwrap_or_default(),
        precision: Some(class.precision),
        recall: Some(class.recall),
        f1: Some(class.f1),
        support: class.support,
    };
    let times = &evaluation.times;
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
    let histogram = times.updates.bins().map(|(from, to, count)| TimeBin { from, to, count });
    let page = RunReport {
        source: report.source.clone(),
        model: report.model.title.clone(),
        target: Some(report.schema.target().to_owned()),
        samples: summary.samples,
        inputs: report.schema.inputs().len() as u64,
        labels: labels.to_vec(),
        metrics: record::metrics(&summary)
            .map(|(name, value)| (name.to_owned(), Some(value)))
            .into(),
        window: [
            ("oca", window.oca),
            ("bacc", window.bacc),
            ("f1", window.f1),
            ("mcc", window.mcc),
            ("kappa", window.kappa),
            ("log_loss", window.log_loss),
            ("brier", window.brier),
        ]
        .map(|(name, value)| (name.to_owned(), Some(value)))
        .into(),
        window_samples: window.samples,
        curve: evaluation.curve.iter().map(record::curve_point).collect(),
        confusion: (0..classes).map(row).collect(),
        per_class: per_class(confusion).iter().map(class_row).collect(),
        seconds: Some(report.seconds),
        times: parts,
        histogram: histogram.collect(),
        config: report.model.config.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        machine: machine::name(),
        ..RunReport::default()
    };
    Ok(run_page(&page)?)
}
