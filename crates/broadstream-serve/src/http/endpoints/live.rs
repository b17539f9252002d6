//! `GET /v1/models/{model}/live`

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::list::ModelSummary;
use crate::{
    http::{
        answers::label,
        app::{App, Caller},
        problem::Problem,
    },
    learning::{Histogram, Model, WINDOW},
    security::Role,
};

/// The most inputs and labels that are shown.
const MOST_INPUTS: usize = 8;
const MOST_LABELS: usize = 12;

/// How a model has been doing lately: everything that its live page shows.
#[derive(Serialize, ToSchema)]
pub(crate) struct LiveAnswer {
    /// The model in short.
    model: ModelSummary,
    /// How many of the last labelled rows the accuracies are of, at most.
    window: usize,
    /// The mean probability of the predicted label of the last predictions: the accuracy that the model expects.
    estimated_accuracy: Option<f64>,
    /// The accuracy of always predicting the label before, and the most frequent label.
    no_change_accuracy: Option<f64>,
    majority_accuracy: Option<f64>,
    /// How many labels came since the service began, with rows or after predictions.
    labels_seen: u64,
    /// How many rows were predicted since then.
    rows_predicted: u64,
    /// Accuracy over time.
    curve: Vec<LivePoint>,
    /// When rises of the error were noticed, in milliseconds since 1970.
    drifts: Vec<u64>,
    /// How often a part of the model was restarted because of a drift.
    restarts: usize,
    /// How right predictions of a probability are.
    reliability: Vec<LiveBin>,
    /// The expected calibration error.
    calibration_error: f64,
    /// The regressions that the model combines.
    members: Vec<LiveMember>,
    /// The leverage that a half, nine tenths and 99 of 100 of the last rows do not exceed.
    leverage: Option<[f64; 3]>,
    /// The inputs that have changed most.
    inputs: Vec<LiveInput>,
    /// The labels of the confusion matrix, and its rows: truth by row, prediction by column.
    confusion_labels: Vec<String>,
    confusion: Vec<Vec<u64>>,
    /// How long labels took.
    label_delays: Vec<LiveBucket>,
    /// The times that half and 99 of 100 requests do not exceed, in seconds.
    predict_seconds: Option<[f64; 2]>,
    learn_seconds: Option<[f64; 2]>,
    /// The last rows, the newest first.
    recent: Vec<LiveRow>,
}

/// A point of the curve.
#[derive(Serialize, ToSchema)]
pub(crate) struct LivePoint {
    /// In milliseconds since 1970.
    at: u64,
    accuracy: Option<f64>,
    estimated: Option<f64>,
    no_change: Option<f64>,
    majority: Option<f64>,
}

/// Predictions of about the same probability.
#[derive(Serialize, ToSchema)]
pub(crate) struct LiveBin {
    /// Their mean probability, how many were right, and how many they are.
    confidence: f64,
    accuracy: f64,
    count: u64,
}

/// A regression.
#[derive(Serialize, ToSchema)]
pub(crate) struct LiveMember {
    name: String,
    weight: f64,
    features: Option<usize>,
    rests: bool,
}

/// An input.
#[derive(Serialize, ToSchema)]
pub(crate) struct LiveInput {
    name: String,
    /// Its mean over all rows and over recent ones, and their distance in standard deviations.
    mean: f64,
    recent_mean: f64,
    shift: f64,
    /// The share of rows without it, of all and of recent ones.
    missing: f64,
    recent_missing: f64,
}

/// How many labels took at most that long, and longer than the bucket before.
#[derive(Serialize, ToSchema)]
pub(crate) struct LiveBucket {
    /// In seconds; `null` for the last.
    up_to: Option<f64>,
    count: u64,
}

/// A row that was predicted or learned.
#[derive(Serialize, ToSchema)]
pub(crate) struct LiveRow {
    /// In milliseconds since 1970.
    at: u64,
    predicted: Option<String>,
    probability: f64,
    /// Its label, if that is known.
    truth: Option<String>,
    leverage: Option<f64>,
}

/// How a model has been doing lately.
#[utoipa::path(
    get,
    path = "/v1/models/{model}/live",
    tag = "operation",
    params(("model" = String, Path, description = "The name of a model or an alias")),
    responses(
        (status = 200, body = LiveAnswer, description = "What the live page shows"),
        (status = "4XX", body = Problem, content_type = "application/problem+json", description = "The request was refused"),
        (status = "5XX", body = Problem, content_type = "application/problem+json", description = "The service cannot answer now"),
    )
)]
pub(crate) async fn live(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Json<LiveAnswer>, Problem> {
    let model = app.model(&caller, Role::Predict, &name)?;
    Ok(Json(LiveAnswer::of(&model)))
}

impl LiveAnswer {
    pub(crate) fn of(model: &Model) -> Self {
        let summary = ModelSummary::of(model);
        let (published, labels) = (model.published(), model.labels());
        let statistics = model.statistics();
        let points = statistics.curve.points().iter();
        let inputs = published.schema().inputs();
        let window = statistics.metrics.window().confusion();
        let classes = window.classes().min(MOST_LABELS);
        let row = |truth| (0..classes).map(|predicted| window.count(truth, predicted)).collect();
        let members = published.members().into_iter();
        LiveAnswer {
            model: summary,
            window: WINDOW,
            estimated_accuracy: statistics.estimated_accuracy(),
            no_change_accuracy: statistics.no_change_accuracy(),
            majority_accuracy: statistics.majority_accuracy(),
            labels_seen: statistics.metrics.confusion().samples(),
            rows_predicted: statistics.predicted,
            curve: points
                .map(|point| LivePoint {
                    at: point.at,
                    accuracy: point.accuracy,
                    estimated: point.estimated,
                    no_change: point.no_change,
                    majority: point.majority,
                })
                .collect(),
            drifts: statistics.drifts.iter().map(|(at, _)| *at).collect(),
            restarts: published.restarts().len(),
            reliability: statistics
                .reliability()
                .into_iter()
                .map(|bin| LiveBin {
                    confidence: bin.confidence,
                    accuracy: bin.accuracy,
                    count: bin.count,
                })
                .collect(),
            calibration_error: statistics.metrics.calibration().ece(),
            members: members
                .map(|member| LiveMember {
                    name: member.name,
                    weight: member.weight,
                    features: member.features,
                    rests: member.rests,
                })
                .collect(),
            leverage: statistics.leverage_quantiles([0.5, 0.9, 0.99]),
            inputs: statistics
                .inputs
                .most_changed(MOST_INPUTS)
                .into_iter()
                .map(|view| LiveInput {
                    name: inputs
                        .get(view.input)
                        .map_or_else(|| view.input.to_string(), |input| input.name.clone()),
                    mean: view.mean,
                    recent_mean: view.recent_mean,
                    shift: view.shift,
                    missing: view.missing,
                    recent_missing: view.recent_missing,
                })
                .collect(),
            confusion_labels: (0..classes).map(|class| label(&labels, class)).collect(),
            confusion: (0..classes).map(row).collect(),
            label_delays: statistics
                .label_delays
                .buckets()
                .filter(|(_, count)| *count > 0)
                .map(|(up_to, count)| LiveBucket { up_to, count })
                .collect(),
            predict_seconds: times(&statistics.predict_times),
            learn_seconds: times(&statistics.learn_times),
            recent: statistics
                .recent
                .iter()
                .rev()
                .map(|row| LiveRow {
                    at: row.at,
                    predicted: row.predicted.map(|class| label(&labels, class)),
                    probability: row.probability,
                    truth: row.truth.map(|class| label(&labels, class)),
                    leverage: row.leverage,
                })
                .collect(),
        }
    }
}

fn times(histogram: &Histogram) -> Option<[f64; 2]> {
    Some([histogram.quantile(0.5)?, histogram.quantile(0.99)?])
}
