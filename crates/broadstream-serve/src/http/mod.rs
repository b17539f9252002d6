//! The interface over HTTP.
//!
//! Every endpoint has a file in [`endpoints`] and describes itself there; [`openapi`] gathers the descriptions.
//! [`app`] is what they share, [`rows`] reads bodies, [`answers`] and [`problem`] are what they answer.

mod access;
mod answers;
pub(crate) mod app;
mod endpoints;
mod ids;
pub(crate) mod openapi;
mod page;
pub(crate) mod problem;
mod rows;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware,
    routing::{delete, get, post, put},
};
use tower_http::{catch_panic::CatchPanicLayer, timeout::TimeoutLayer};

use self::{
    app::App,
    endpoints::{
        alias, create, delete as delete_model, events, file, health, inference, inspect, labels,
        learn, list, live, merge, metrics, predict, roll_back, snapshots, test_then_train, unlearn,
    },
    problem::Problem,
};

/// All endpoints.
pub(crate) fn router(app: &Arc<App>) -> Router {
    let settings = &app.settings;
    let uploads = Router::new()
        .route("/v1/models/{model}", put(create::create))
        .route("/v1/models/{model}/merge", post(merge::merge))
        .layer(DefaultBodyLimit::max(settings.upload_bytes));
    let timeout = Duration::from_secs(settings.request_seconds);
    let limited = Router::new()
        .route("/v1/models", get(list::list))
        .route("/v1/models/{model}", get(inspect::inspect).delete(delete_model::delete))
        .route("/v1/models/{model}/file", get(file::file))
        .route(
            "/v1/models/{model}/snapshots",
            get(snapshots::list_snapshots).post(snapshots::write_snapshot),
        )
        .route("/v1/models/{model}/roll-back", post(roll_back::roll_back))
        .route("/v1/models/{model}/unlearn", post(unlearn::unlearn))
        .route("/v1/aliases/{alias}", put(alias::set_alias))
        .route("/v1/aliases/{alias}", delete(alias::delete_alias))
        .route("/v1/models/{model}/predict", post(predict::predict))
        .route("/v1/models/{model}/learn", post(learn::learn))
        .route("/v1/models/{model}/test-then-train", post(test_then_train::test_then_train))
        .route("/v1/models/{model}/labels", post(labels::labels))
        .route("/v1/models/{model}/live", get(live::live))
        .route("/v2/models/{model}", get(inference::metadata))
        .route("/v2/models/{model}/infer", post(inference::infer))
        .route("/v2/health/live", get(health::livez))
        .route("/v2/health/ready", get(health::readyz))
        .route("/metrics", get(metrics::metrics))
        .route("/livez", get(health::livez))
        .route("/readyz", get(health::readyz))
        .route("/openapi.json", get(openapi::openapi))
        .layer(DefaultBodyLimit::max(settings.body_bytes));
    limited
        .merge(uploads)
        .layer(TimeoutLayer::with_status_code(axum::http::StatusCode::REQUEST_TIMEOUT, timeout))
        // Has no end, and so no time limit.
        .route("/v1/models/{model}/events", get(events::events))
        .merge(page::router())
        .fallback(missing)
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::map_response(problem::from_plain))
        .layer(CatchPanicLayer::custom(|_| {
            axum::response::IntoResponse::into_response(Problem::internal())
        }))
        .layer(middleware::from_fn_with_state(Arc::clone(app), access::admit))
        .with_state(Arc::clone(app))
}

async fn missing(uri: axum::http::Uri) -> Problem {
    let path = crate::learning::excerpt(uri.path());
    let detail = format!("there is nothing at '{path}'; /openapi.json lists what there is");
    let title = "there is no such resource";
    Problem::new(axum::http::StatusCode::NOT_FOUND, "not-found", title, detail)
}

async fn wrong_method(method: axum::http::Method) -> Problem {
    let method = crate::learning::excerpt(method.as_str());
    let title = "the resource does not have this method";
    let detail = format!("the header Allow says which methods there are, got '{method}'");
    Problem::new(axum::http::StatusCode::METHOD_NOT_ALLOWED, "method", title, detail)
}
