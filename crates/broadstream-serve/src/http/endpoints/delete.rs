//! `DELETE /v1/models/{model}`

use std::sync::Arc;

use axum::{
    extract::{Path, State},
    http::StatusCode,
};

use crate::{
    http::{
        app::{App, Caller},
        problem::Problem,
    },
    security::Role,
};

/// Delete a model, with everything that it has learned.
///
/// Names that stand for it are deleted too. A model is deleted by its own name only.
#[utoipa::path(
    delete,
    path = "/v1/models/{model}",
    tag = "models",
    params(("model" = String, Path, description = "The name of the model")),
    responses(
        (status = 204, description = "The model is gone"),
        (status = "4XX", body = Problem, content_type = "application/problem+json", description = "The request was refused"),
        (status = "5XX", body = Problem, content_type = "application/problem+json", description = "The service cannot delete models now"),
    )
)]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<StatusCode, Problem> {
    caller.check(Role::Admin, Some(&name))?;
    app.check_ready()?;
    let registry = Arc::clone(&app.registry);
    let deleted = tokio::task::spawn_blocking(move || registry.delete(&name));
    deleted.await.map_err(|_| Problem::internal())??;
    Ok(StatusCode::NO_CONTENT)
}
