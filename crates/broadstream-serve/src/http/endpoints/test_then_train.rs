//! `POST /v1/models/{model}/test-then-train`

use std::sync::Arc;

use axum::{
    body::Bytes,
    extract::{Path, State},
    http::HeaderMap,
    response::Response,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::learn::{LearnBody, ask};
use crate::{
    http::{
        answers::{LearnedAnswer, Origin, respond},
        app::{App, Caller},
        problem::Problem,
        rows,
    },
    learning::{Change, Outcome},
    security::Role,
};

/// Rows were predicted and learned.
#[derive(Serialize, ToSchema)]
pub(crate) struct TestThenTrainAnswer<'a> {
    #[serde(flatten)]
    origin: &'a Origin,
    /// One for each row, in their order: what the model said just before it learned the row.
    predictions: &'a [LearnedAnswer],
}

/// Predict rows with labels, each just before it is learned.
///
/// As in prequential evaluation, every row is predicted by the model that has learned all rows before it.
#[utoipa::path(
    post,
    path = "/v1/models/{model}/test-then-train",
    tag = "learning",
    params(
        ("model" = String, Path, description = "The name of a model or an alias"),
        ("Idempotency-Key" = Option<String>, Header, description = "A text by which the request is recognised if it is sent again"),
    ),
    request_body(content(
        (LearnBody = "application/json"),
        (String = "application/x-ndjson"),
        (String = "application/vnd.apache.arrow.stream"),
    )),
    responses(
        (status = 200, description = "The rows were predicted and learned", content(
            (TestThenTrainAnswer = "application/json"),
            (String = "application/x-ndjson"),
        )),
        (status = "4XX", body = Problem, content_type = "application/problem+json", description = "The request was refused, and nothing was learned"),
        (status = "5XX", body = Problem, content_type = "application/problem+json", description = "The service cannot learn now"),
    )
)]
pub(crate) async fn test_then_train(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let model = app.model(&caller, Role::Learn, &name)?;
    let rows = rows::rows(&headers, &body, &app.settings)?;
    let applied = ask(&model, &headers, Change::Rows(rows)).await?;
    let origin = Origin::after(&model, &applied);
    let Outcome::Rows(rows) = applied.outcome else { return Err(Problem::internal()) };
    let labels = model.labels();
    let answers: Vec<LearnedAnswer> =
        rows.iter().map(|row| LearnedAnswer::of(row, &labels)).collect();
    let answer = TestThenTrainAnswer { origin: &origin, predictions: &answers };
    Ok(respond(&headers, &origin, &answer, &answers))
}
