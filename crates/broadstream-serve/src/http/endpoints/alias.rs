//! `PUT` and `DELETE /v1/aliases/{alias}`

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Path, State},
    http::StatusCode,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    http::{
        app::{App, Caller},
        problem::Problem,
        rows,
    },
    learning::ModelName,
    security::Role,
};

/// A name that stands for a model.
#[derive(Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Alias {
    /// The model.
    model: String,
}

/// Let a name stand for a model.
///
/// Requests for the name go to the model from now on. If the name stood for another model, it changes at once,
/// so that a new model can take the place of an old one.
#[utoipa::path(
    put,
    path = "/v1/aliases/{alias}",
    tag = "models",
    params(("alias" = String, Path, description = "The name that stands for the model")),
    request_body = Alias,
    responses(
        (status = 200, body = Alias, description = "The name stands for the model"),
        (status = "4XX", body = Problem, content_type = "application/problem+json", description = "The request was refused"),
        (status = "5XX", body = Problem, content_type = "application/problem+json", description = "The service cannot change names now"),
    )
)]
pub(crate) async fn set_alias(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(alias): Path<String>,
    body: Bytes,
) -> Result<Json<Alias>, Problem> {
    // A name may come to stand for any model, so this is for those who may do everything.
    caller.check(Role::Admin, None)?;
    app.check_ready()?;
    let Alias { model } = serde_json::from_slice(&body).map_err(|error| rows::json(&error))?;
    let (alias, name) = (ModelName::parse(&alias)?, ModelName::parse(&model)?);
    let registry = Arc::clone(&app.registry);
    let set = tokio::task::spawn_blocking(move || registry.set_alias(&alias, &name));
    set.await.map_err(|_| Problem::internal())??;
    Ok(Json(Alias { model }))
}

/// Delete an alias. The model stays.
#[utoipa::path(
    delete,
    path = "/v1/aliases/{alias}",
    tag = "models",
    params(("alias" = String, Path, description = "The name")),
    responses(
        (status = 204, description = "The name stands for nothing"),
        (status = "4XX", body = Problem, content_type = "application/problem+json", description = "The request was refused"),
        (status = "5XX", body = Problem, content_type = "application/problem+json", description = "The service cannot change names now"),
    )
)]
pub(crate) async fn delete_alias(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(alias): Path<String>,
) -> Result<StatusCode, Problem> {
    caller.check(Role::Admin, None)?;
    app.check_ready()?;
    let registry = Arc::clone(&app.registry);
    let deleted = tokio::task::spawn_blocking(move || registry.delete_alias(&alias));
    deleted.await.map_err(|_| Problem::internal())??;
    Ok(StatusCode::NO_CONTENT)
}
