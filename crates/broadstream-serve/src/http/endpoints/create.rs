//! `PUT /v1/models/{model}`

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Path, Query, State},
    http::{HeaderMap, StatusCode, header},
};
use broadstream::{Preset, stream::TableOptions};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use super::list::ModelSummary;
use crate::{
    http::{
        app::{App, Caller},
        problem::Problem,
        rows,
    },
    learning::{ModelName, NewModel, ServeError, UnknownName},
    security::Role,
};

/// The longest name of a target.
const LONGEST_TARGET: usize = 255;

/// What a new model is.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct CreateBody {
    /// The column with the labels.
    #[schema(default = "label", example = "label")]
    target: Option<String>,
    /// The options to start from: `default`, `single` or `paper`.
    #[schema(default = "default")]
    preset: Option<String>,
    /// Options that differ from these, as in the reference of options.
    #[schema(value_type = Object, example = json!({ "enhancement_nodes": 200 }))]
    options: Map<String, Value>,
    /// The most inputs that the categories of a column may have; rare ones share some of them.
    #[schema(default = 2000, minimum = 1)]
    max_categories: Option<usize>,
    /// Columns of texts, whose words and sequences of characters become inputs.
    #[schema(default = json!([]), example = json!(["message"]))]
    text: Vec<String>,
    /// What is done about columns that the model does not know.
    #[schema(default = "learn")]
    unknown_columns: Option<UnknownName>,
}

#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CreateQuery {
    /// For a model file: what is done about columns that the model does not know.
    #[param(inline, default = "learn")]
    unknown_columns: Option<UnknownName>,
}

/// Create a model from options, or from a model file.
///
/// A model file is sent as `application/octet-stream`. Everything that the model has learned comes with it.
#[utoipa::path(
    put,
    path = "/v1/models/{model}",
    tag = "models",
    params(("model" = String, Path, description = "The name of the new model"), CreateQuery),
    request_body(content((CreateBody = "application/json"), (String = "application/octet-stream"))),
    responses(
        (status = 201, body = ModelSummary, description = "The model was created"),
        (status = 409, body = Problem, content_type = "application/problem+json", description = "The name is taken"),
        (status = "4XX", body = Problem, content_type = "application/problem+json", description = "The request was refused"),
        (status = "5XX", body = Problem, content_type = "application/problem+json", description = "The service cannot create models now"),
    )
)]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(name): Path<String>,
    Query(query): Query<CreateQuery>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<(StatusCode, Json<ModelSummary>), Problem> {
    caller.check(Role::Admin, Some(&name))?;
    app.check_ready()?;
    let name = ModelName::parse(&name)?;
    let (new, unknown) = match is_file(&headers) {
        true => (NewModel::File(body.to_vec()), query.unknown_columns),
        false => {
            check_size(&body, app.settings.body_bytes)?;
            read_options(&body, app.settings.model_bytes)?
        }
    };
    let unknown = unknown.unwrap_or(UnknownName::Learn);
    let registry = Arc::clone(&app.registry);
    let created = tokio::task::spawn_blocking(move || registry.create(&name, new, unknown));
    let model = created.await.map_err(|_| Problem::internal())??;
    Ok((StatusCode::CREATED, Json(ModelSummary::of(&model))))
}

/// Whether the body is a model file.
pub(crate) fn is_file(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/octet-stream")
}

/// Model files may be larger than other bodies.
fn check_size(body: &[u8], most: usize) -> Result<(), Problem> {
    if body.len() <= most {
        return Ok(());
    }
    let (limit, found) = (most as u64, body.len() as u64);
    Err(ServeError::Limit { what: "the bytes of a request", limit, found }.into())
}

fn read_options(body: &[u8], most: u64) -> Result<(NewModel, Option<UnknownName>), Problem> {
    let body = if body.is_empty() { b"{}" } else { body };
    let read: CreateBody = serde_json::from_slice(body).map_err(|error| rows::json(&error))?;
    let CreateBody { target, preset, mut options, max_categories, text, unknown_columns } = read;
    let target = target.unwrap_or_else(|| "label".to_owned());
    if target.is_empty() || target.len() > LONGEST_TARGET {
        let detail = format!("target must have 1 to {LONGEST_TARGET} bytes, got {}", target.len());
        return Err(Problem::malformed(detail));
    }
    let preset = preset.as_deref().unwrap_or("default");
    let preset = Preset::named(preset).ok_or_else(|| {
        let preset = crate::learning::excerpt(preset);
        Problem::malformed(format!("preset must be the name of a preset, got '{preset}'"))
    })?;
    // A model must not take more than the service gives it, whatever was asked for.
    let asked = options.get("memory_limit").and_then(Value::as_u64);
    let usual = preset.config().memory_limit;
    options.insert("memory_limit".to_owned(), asked.unwrap_or(usual).min(most).into());
    // How many threads learn is the service's own choice.
    options.remove("threads");
    let columns = TableOptions { max_categories, text, ..TableOptions::default() };
    Ok((NewModel::Options { preset, options, target, columns: Box::new(columns) }, unknown_columns))
}
