//! `POST /v1/models/{model}/roll-back`

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Path, State},
    http::HeaderMap,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::learn::ask;
use crate::{
    http::{
        answers::Origin,
        app::{App, Caller},
        problem::Problem,
        rows,
    },
    learning::{Change, Outcome, ServeError},
    security::Role,
};

/// Where to go back to.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RollBackBody {
    /// The version of a snapshot.
    version: u64,
}

/// The model was replaced.
#[derive(Serialize, ToSchema)]
pub(crate) struct TakenAnswer {
    #[serde(flatten)]
    pub(crate) origin: Origin,
    /// How many samples the model has learned now.
    pub(crate) learned: u64,
}

/// Go back to a snapshot.
///
/// The model becomes what it was then, as a new version. Predictions that wait for labels go on waiting; they
/// are learned as rows that arrive with their labels.
#[utoipa::path(
    post,
    path = "/v1/models/{model}/roll-back",
    tag = "models",
    params(("model" = String, Path, description = "The name of a model or an alias")),
    request_body = RollBackBody,
    responses(
        (status = 200, body = TakenAnswer, description = "The model is that of the snapshot"),
        (status = "4XX", body = Problem, content_type = "application/problem+json", description = "The request was refused"),
        (status = "5XX", body = Problem, content_type = "application/problem+json", description = "The service cannot go back now"),
    )
)]
pub(crate) async fn roll_back(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<TakenAnswer>, Problem> {
    let model = app.model(&caller, Role::Admin, &name)?;
    let RollBackBody { version } =
        serde_json::from_slice(&body).map_err(|error| rows::json(&error))?;
    let folder = model.folder.clone();
    let file = tokio::task::spawn_blocking(move || folder.snapshot_bytes(version));
    let file = file.await.map_err(|_| Problem::internal())??;
    let missing = || ServeError::NoSnapshot { name: model.name.to_string(), version };
    let change = Change::Replace(file.ok_or_else(missing)?.into());
    let applied = ask(&model, &headers, change).await?;
    let origin = Origin::after(&model, &applied);
    match applied.outcome {
        Outcome::Taken { learned } => Ok(Json(TakenAnswer { origin, learned })),
        _ => Err(Problem::internal()),
    }
}
