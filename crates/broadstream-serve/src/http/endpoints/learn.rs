//! `POST /v1/models/{model}/learn`

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Path, State},
    http::HeaderMap,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    http::{
        answers::Origin,
        app::{App, Caller},
        problem::Problem,
        rows,
    },
    learning::{Applied, Change, Model, Request},
    security::Role,
};

/// Rows to learn, as objects with the columns of the model and its target.
#[derive(Deserialize, ToSchema)]
#[expect(dead_code, reason = "describes the body, which is read row by row")]
pub(crate) struct LearnBody {
    /// The rows, each with its label.
    #[schema(value_type = Vec<Object>, example = json!([{ "age": 31, "job": "clerk", "label": "yes" }]))]
    rows: Vec<serde_json::Value>,
    /// How much each row counts; 1 if left out.
    weights: Option<Vec<f64>>,
}

/// Rows were learned.
#[derive(Serialize, ToSchema)]
pub(crate) struct LearnAnswer {
    #[serde(flatten)]
    origin: Origin,
    /// How many rows were learned.
    learned: usize,
}

/// Learn rows with labels.
///
/// All rows are learned, or none if one of them is refused. They are in the log before they are acknowledged.
/// A request that is repeated with the same `Idempotency-Key` gets the same answer, and nothing is learned
/// twice.
#[utoipa::path(
    post,
    path = "/v1/models/{model}/learn",
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
        (status = 200, body = LearnAnswer, description = "The rows were learned"),
        (status = 429, body = Problem, content_type = "application/problem+json", description = "Too much is waiting; Retry-After says when to try again"),
        (status = "4XX", body = Problem, content_type = "application/problem+json", description = "The request was refused, and nothing was learned"),
        (status = "5XX", body = Problem, content_type = "application/problem+json", description = "The service cannot learn now"),
    )
)]
pub(crate) async fn learn(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<LearnAnswer>, Problem> {
    let model = app.model(&caller, Role::Learn, &name)?;
    let rows = rows::rows(&headers, &body, &app.settings)?;
    let learned = rows.len();
    let applied = ask(&model, &headers, Change::Rows(rows)).await?;
    Ok(Json(LearnAnswer { origin: Origin::after(&model, &applied), learned }))
}

/// Asks for a change, and waits until it was made.
pub(crate) async fn ask(
    model: &Model,
    headers: &HeaderMap,
    change: Change,
) -> Result<Applied, Problem> {
    let key = rows::key(headers)?;
    let applied = model.submit(Request { change, key })?;
    Ok(applied.await.map_err(|_| Problem::internal())??)
}
