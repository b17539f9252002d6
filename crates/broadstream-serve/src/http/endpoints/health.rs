//! `GET /livez` and `GET /readyz`

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::{app::App, problem::Problem};

/// The service is well.
#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    /// Always `ok`.
    status: &'static str,
}

const OK: Json<Health> = Json(Health { status: "ok" });

/// Whether the program runs.
#[utoipa::path(
    get,
    path = "/livez",
    tag = "operation",
    responses(
        (status = 200, body = Health, description = "It does"),
        (status = "4XX", body = Problem, content_type = "application/problem+json", description = "The request has a token that is not one of the service, or does not come from this machine although there are no tokens"),
    ),
    security(())
)]
pub(crate) async fn livez() -> Json<Health> {
    OK
}

/// Whether requests are answered: all models are open, and the service is not about to end.
#[utoipa::path(
    get,
    path = "/readyz",
    tag = "operation",
    responses(
        (status = 200, body = Health, description = "They are"),
        (status = 503, body = Problem, content_type = "application/problem+json", description = "Not yet, or not any more"),
        (status = "4XX", body = Problem, content_type = "application/problem+json", description = "The request has a token that is not one of the service, or does not come from this machine although there are no tokens"),
    ),
    security(())
)]
pub(crate) async fn readyz(State(app): State<Arc<App>>) -> Result<Json<Health>, Problem> {
    app.check_ready()?;
    Ok(OK)
}
