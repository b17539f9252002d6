//! The live page, which is part of the program: nothing is loaded from elsewhere.

use std::sync::Arc;

use axum::{
    Router,
    http::{HeaderName, HeaderValue, header},
    response::IntoResponse,
    routing::get,
};

use super::app::App;

/// What the page may do: load its own parts, and ask its own server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(super) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(|| part("text/html; charset=utf-8", include_str!("../page/index.html"))))
        .route(
            "/page.css",
            get(|| part("text/css; charset=utf-8", include_str!("../page/page.css"))),
        )
        .route(
            "/page.js",
            get(|| part("text/javascript; charset=utf-8", include_str!("../page/page.js"))),
        )
        .route(
            "/charts.js",
            get(|| part("text/javascript; charset=utf-8", include_str!("../page/charts.js"))),
        )
}

async fn part(kind: &'static str, content: &'static str) -> impl IntoResponse {
    let headers: [(HeaderName, HeaderValue); 4] = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    (headers, content)
}
