//! The description of the interface, from the endpoints themselves.

use axum::Json;
use utoipa::{
    Modify, OpenApi,
    openapi::{
        self,
        security::{Http, HttpAuthScheme, SecurityScheme},
    },
};

use super::endpoints::{
    alias, create, delete, events, file, health, inference, inspect, labels, learn, list, live,
    merge, metrics, predict, roll_back, snapshots, test_then_train, unlearn,
};

/// The service and its endpoints.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "broadstream",
        description = "A service whose models learn: rows in, predictions out, labels when they are known."
    ),
    paths(
        list::list,
        create::create,
        inspect::inspect,
        delete::delete,
        file::file,
        snapshots::list_snapshots,
        snapshots::write_snapshot,
        roll_back::roll_back,
        merge::merge,
        unlearn::unlearn,
        alias::set_alias,
        alias::delete_alias,
        predict::predict,
        learn::learn,
        test_then_train::test_then_train,
        labels::labels,
        live::live,
        events::events,
        metrics::metrics,
        health::livez,
        health::readyz,
        inference::metadata,
        inference::infer,
    ),
    modifiers(&Tokens),
    security(("token" = []))
)]
struct Description;

struct Tokens;

impl Modify for Tokens {
    fn modify(&self, openapi: &mut openapi::OpenApi) {
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        let components = openapi.components.get_or_insert_default();
        components.add_security_scheme("token", scheme);
    }
}

/// The description.
pub(crate) fn description() -> openapi::OpenApi {
    Description::openapi()
}

pub(crate) async fn openapi() -> Json<openapi::OpenApi> {
    Json(description())
}
