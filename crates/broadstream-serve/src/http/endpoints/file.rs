//! `GET /v1/models/{model}/file`

use std::sync::Arc;

use axum::{
    extract::{Path, State},
    http::header,
    response::{IntoResponse, Response},
};

use crate::{
    http::{
        app::{App, Caller},
        problem::Problem,
    },
    security::Role,
};

/// Download a model as a model file.
///
/// The file has everything that was learned before the request. `broadstream predict`, Python and another
/// service can read it.
#[utoipa::path(
    get,
    path = "/v1/models/{model}/file",
    tag = "models",
    params(("model" = String, Path, description = "The name of a model or an alias")),
    responses(
        (status = 200, body = String, content_type = "application/octet-stream", description = "The model file"),
        (status = "4XX", body = Problem, content_type = "application/problem+json", description = "The request was refused"),
        (status = "5XX", body = Problem, content_type = "application/problem+json", description = "The service cannot answer now"),
    )
)]
pub(crate) async fn file(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    // A model file has means and categories of the rows that were learned, not only predictions.
    let model = app.model(&caller, Role::Admin, &name)?;
    let file = model.latest_file().await.map_err(|_| Problem::internal())??;
    let disposition = format!("attachment; filename=\"{}.bsm\"", model.name);
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_DISPOSITION, disposition),
    ];
    Ok((headers, file).into_response())
}
