//! `POST /v1/models/{model}/unlearn`

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Path, State},
    http::HeaderMap,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::learn::{LearnBody, ask};
use crate::{
    http::{
        answers::Origin,
        app::{App, Caller},
        problem::Problem,
        rows,
    },
    learning::{Change, Outcome},
    security::Role,
};

/// Rows were unlearned.
#[derive(Serialize, ToSchema)]
pub(crate) struct UnlearnAnswer {
    #[serde(flatten)]
    origin: Origin,
    /// How many rows were unlearned.
    unlearned: u64,
    /// How far scores may be from those of a model that never saw them, relative to the largest.
    error: f64,
    /// The condition number of the regression.
    condition: f64,
}

/// Unlearn rows that were learned, with the weights and labels that they were learned with.
///
/// The model becomes exactly the one that never saw them. It must be a sum over its samples: see the guide on
/// unlearning. All rows are unlearned, or none.
#[utoipa::path(
    post,
    path = "/v1/models/{model}/unlearn",
    tag = "models",
    params(("model" = String, Path, description = "The name of a model or an alias")),
    request_body(content(
        (LearnBody = "application/json"),
        (String = "application/x-ndjson"),
        (String = "application/vnd.apache.arrow.stream"),
    )),
    responses(
        (status = 200, body = UnlearnAnswer, description = "The rows were unlearned"),
        (status = "4XX", body = Problem, content_type = "application/problem+json", description = "The request was refused, and nothing has changed"),
        (status = "5XX", body = Problem, content_type = "application/problem+json", description = "The service cannot unlearn now"),
    )
)]
pub(crate) async fn unlearn(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<UnlearnAnswer>, Problem> {
    let model = app.model(&caller, Role::Admin, &name)?;
    let rows = rows::rows(&headers, &body, &app.settings)?;
    let applied = ask(&model, &headers, Change::Unlearn(rows)).await?;
    let origin = Origin::after(&model, &applied);
    match applied.outcome {
        Outcome::Unlearned { rows: unlearned, error, condition } => {
            Ok(Json(UnlearnAnswer { origin, unlearned, error, condition }))
        }
        _ => Err(Problem::internal()),
    }
}
