//! The record of an evaluation, from which tables and figures are made.

use std::collections::BTreeMap;

use broadstream::Evaluation;
use broadstream_report::{CurvePoint, RECORD_FORMAT, Record, UpdateTime};

/// The record of an evaluation. The caller fills in the stream, the method and the seed.
pub(crate) fn of(evaluation: &Evaluation, config: serde_json::Value) -> Record {
    let summary = evaluation.summary();
    let updates = &evaluation.times.updates;
    let speed = summary.samples as f64 / evaluation.times.test_then_train.as_secs_f64().max(1e-9);
    let metrics = summary.named().into_iter().chain([("samples_per_second", speed)]);
    Record {
        format: RECORD_FORMAT,
        samples: summary.samples,
        metrics: metrics.map(|(name, value)| (name.to_owned(), value)).collect(),
        curve: evaluation.curve.iter().map(curve_point).collect(),
        update_time: (updates.count() > 0).then(|| UpdateTime {
            mean: updates.mean(),
            sd: updates.sd(),
            min: updates.min(),
            median: updates.quantile(0.5),
            p95: updates.quantile(0.95),
            p99: updates.quantile(0.99),
            max: updates.max(),
            samples: updates.count(),
        }),
        config,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..Record::default()
    }
}

/// A point of a curve in the form that records use.
pub(crate) fn curve_point(point: &broadstream::CurvePoint) -> CurvePoint {
    let broadstream::CurvePoint { cumulative, window, update_time, .. } = point;
    let mut values: BTreeMap<String, f64> = [
        ("oca", cumulative.oca),
        ("bacc", cumulative.bacc),
        ("f1", cumulative.f1),
        ("window_oca", window.oca),
        ("window_bacc", window.bacc),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    if let Some(time) = update_time {
        values.insert("update_time".to_owned(), time.as_secs_f64());
    }
    CurvePoint { sample: cumulative.samples, values }
}
