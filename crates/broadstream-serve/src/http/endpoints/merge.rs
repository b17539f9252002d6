//! `POST /v1/models/{model}/merge`

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
};

use super::{create::is_file, learn::ask, roll_back::TakenAnswer};
use crate::{
    http::{
        answers::Origin,
        app::{App, Caller},
        problem::Problem,
    },
    learning::{Change, Outcome},
    security::Role,
};

/// Add what another model has learned.
///
/// The other model is sent as a model file. Both must be sums over their samples: see the guide on merging.
#[utoipa::path(
    post,
    path = "/v1/models/{model}/merge",
    tag = "models",
    params(("model" = String, Path, description = "The name of a model or an alias")),
    request_body(content = String, content_type = "application/octet-stream"),
    responses(
        (status = 200, body = TakenAnswer, description = "The model has learned what both had"),
        (status = "4XX", body = Problem, content_type = "application/problem+json", description = "The models cannot be merged, and nothing has changed"),
        (status = "5XX", body = Problem, content_type = "application/problem+json", description = "The service cannot merge now"),
    )
)]
pub(crate) async fn merge(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<TakenAnswer>, Problem> {
    let model = app.model(&caller, Role::Admin, &name)?;
    if !is_file(&headers) {
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "media-type",
            "the format of the request is not known",
            "content-type must be application/octet-stream, with a model file as the body",
        ));
    }
    let applied = ask(&model, &headers, Change::Merge(body.to_vec().into())).await?;
    let origin = Origin::after(&model, &applied);
    match applied.outcome {
        Outcome::Taken { learned } => Ok(Json(TakenAnswer { origin, learned })),
        _ => Err(Problem::internal()),
    }
}
