//! `POST /v1/models/{model}/labels`

use std::sync::Arc;

use axum::{
    body::Bytes,
    extract::{Path, State},
    http::HeaderMap,
    response::Response,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::learn::ask;
use crate::{
    http::{
        answers::{Origin, respond},
        app::{App, Caller},
        ids,
        problem::Problem,
        rows,
    },
    learning::{Change, LabelOutcome, Outcome},
    security::Role,
};

/// Labels of rows that were predicted.
#[derive(Deserialize, ToSchema)]
#[expect(dead_code, reason = "describes the body")]
pub(crate) struct LabelsBody {
    /// The labels.
    labels: Vec<LabelItem>,
}

/// A label.
#[derive(Deserialize, ToSchema)]
#[expect(dead_code, reason = "describes the body")]
pub(crate) struct LabelItem {
    /// The id that the prediction came with.
    id: String,
    /// The label: a string, a number or a truth value.
    #[schema(value_type = Value, example = "yes")]
    label: serde_json::Value,
    /// How much the row counts; 1 if left out.
    weight: Option<f64>,
}

/// What became of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LabelStatus {
    /// The row was learned, with the features that it had when it was predicted.
    Learned,
    /// The prediction was labelled before. Nothing was learned.
    Repeated,
    /// The prediction has waited too long. Nothing was learned.
    Expired,
    /// Too many newer predictions were waiting. Nothing was learned.
    Evicted,
    /// The prediction is so old that it is not known any more what became of it. Nothing was learned.
    Forgotten,
    /// The model has made no such prediction.
    Unknown,
    /// The row cannot be learned with this label. It still waits.
    Refused,
}

/// What became of each label.
#[derive(Serialize, ToSchema)]
pub(crate) struct LabelsAnswer<'a> {
    #[serde(flatten)]
    origin: &'a Origin,
    /// How many rows were learned.
    learned: usize,
    /// One for each label, in their order.
    results: &'a [LabelResult],
}

/// What became of a label.
#[derive(Serialize, ToSchema)]
pub(crate) struct LabelResult {
    /// The id of the prediction.
    id: String,
    /// What became of the label.
    status: LabelStatus,
    /// Why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

/// Send the labels of rows that were predicted.
///
/// Each row is learned with the features that it had when it was predicted. Every label gets a result of its
/// own; those that cannot be learned do not keep the others from being learned.
#[utoipa::path(
    post,
    path = "/v1/models/{model}/labels",
    tag = "learning",
    params(
        ("model" = String, Path, description = "The name of a model or an alias"),
        ("Idempotency-Key" = Option<String>, Header, description = "A text by which the request is recognised if it is sent again"),
    ),
    request_body(content((LabelsBody = "application/json"), (String = "application/x-ndjson"))),
    responses(
        (status = 200, description = "What became of each label", content(
            (LabelsAnswer = "application/json"),
            (String = "application/x-ndjson"),
        )),
        (status = "4XX", body = Problem, content_type = "application/problem+json", description = "The request was refused, and nothing was learned"),
        (status = "5XX", body = Problem, content_type = "application/problem+json", description = "The service cannot learn now"),
    )
)]
pub(crate) async fn labels(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let model = app.model(&caller, Role::Learn, &name)?;
    let (texts, labels) =
        rows::labels(&headers, &body, &app.settings, |text| ids::read(&model, text))?;
    let applied = ask(&model, &headers, Change::Labels(labels)).await?;
    let origin = Origin::after(&model, &applied);
    let Outcome::Labels(outcomes) = applied.outcome else { return Err(Problem::internal()) };
    let results: Vec<LabelResult> =
        texts.into_iter().zip(outcomes).map(|(id, outcome)| LabelResult::of(id, outcome)).collect();
    let is_learned = |result: &&LabelResult| result.status == LabelStatus::Learned;
    let learned = results.iter().filter(is_learned).count();
    let answer = LabelsAnswer { origin: &origin, learned, results: &results };
    Ok(respond(&headers, &origin, &answer, &results))
}

impl LabelResult {
    fn of(id: String, outcome: LabelOutcome) -> Self {
        let (status, detail) = match outcome {
            LabelOutcome::Learned { .. } => (LabelStatus::Learned, None),
            LabelOutcome::Repeated => (LabelStatus::Repeated, None),
            LabelOutcome::Expired => (LabelStatus::Expired, None),
            LabelOutcome::Evicted => (LabelStatus::Evicted, None),
            LabelOutcome::Forgotten => (LabelStatus::Forgotten, None),
            LabelOutcome::Unknown => (LabelStatus::Unknown, None),
            LabelOutcome::Refused(reason) => (LabelStatus::Refused, Some(reason)),
        };
        LabelResult { id, status, detail }
    }
}
