//! A service whose models learn: rows in, predictions out, labels when they are known.
//!
//! A [`Service`] has models in a folder, and answers requests over HTTP. What it acknowledges is in a log before,
//! so that it survives the end of the program, however that comes; the model that is replayed is to the bit
//! the one that was lost. Each model has one who learns and any number of readers, who never wait for it.
//!
//! `learning` is all that without HTTP, `http` the interface, `security` who may do what, and `service` the
//! program around them. Nothing below `learning` knows a request.

mod http;
mod learning;
mod security;
mod service;
mod settings;

pub use self::{
    learning::{Durability, ModelName, ServeError, UnknownName},
    security::{Role, Token, TokenError, TokenFile},
    service::{Service, StartError, log_to_stderr},
    settings::{LogLevel, Settings, VARIABLE_PREFIX},
};

/// The description of the interface, in the form of OpenAPI 3.1.
pub fn openapi() -> serde_json::Value {
    serde_json::to_value(http::openapi::description()).unwrap_or_default()
}
