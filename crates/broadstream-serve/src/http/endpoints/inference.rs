//! The Open Inference Protocol, version 2: what programs speak that know model servers in general.
//!
//! Inputs are named tensors, one per column, each with a value per row. Outputs are `label`, and `probability`
//! with a value per row and label. Rows are not remembered.

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Path, State},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use crate::{
    http::{
        answers::label,
        app::{App, Caller},
        problem::Problem,
        rows,
    },
    learning::{ServeError, Wanted},
    security::Role,
};

/// Rows by column.
#[derive(Deserialize, ToSchema)]
pub(crate) struct InferBody {
    /// A text that comes back with the answer.
    id: Option<String>,
    /// A tensor for each column, with a value for each row.
    inputs: Vec<InferInput>,
}

/// The values of a column.
#[derive(Deserialize, ToSchema)]
pub(crate) struct InferInput {
    /// The column.
    name: String,
    /// The number of rows; a second dimension must be 1.
    shape: Vec<usize>,
    /// The type of its values: a number type, `BOOL` or `BYTES` for texts.
    datatype: String,
    /// The values; `null` is missing.
    #[schema(value_type = Vec<Value>)]
    data: Vec<Value>,
}

/// Predictions by tensor.
#[derive(Serialize, ToSchema)]
pub(crate) struct InferAnswer {
    model_name: String,
    model_version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// `label`: the most likely label of each row. `probability`: of each row the probability of each label, in
    /// the order of `parameters.labels`.
    outputs: Vec<InferOutput>,
}

/// A tensor of an answer.
#[derive(Serialize, ToSchema)]
pub(crate) struct InferOutput {
    name: &'static str,
    shape: Vec<usize>,
    datatype: &'static str,
    #[schema(value_type = Vec<Value>)]
    data: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    parameters: Option<Value>,
}

/// What a model takes and gives.
#[derive(Serialize, ToSchema)]
pub(crate) struct InferMetadata {
    name: String,
    versions: Vec<String>,
    platform: &'static str,
    #[schema(value_type = Vec<Object>)]
    inputs: Vec<Value>,
    #[schema(value_type = Vec<Object>)]
    outputs: Vec<Value>,
}

/// Predict, by the Open Inference Protocol.
#[utoipa::path(
    post,
    path = "/v2/models/{model}/infer",
    tag = "open inference protocol",
    params(("model" = String, Path, description = "The name of a model or an alias")),
    request_body = InferBody,
    responses(
        (status = 200, body = InferAnswer, description = "The predictions"),
        (status = "4XX", body = Problem, content_type = "application/problem+json", description = "The request was refused"),
        (status = "5XX", body = Problem, content_type = "application/problem+json", description = "The service cannot answer now"),
    )
)]
pub(crate) async fn infer(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(name): Path<String>,
    body: Bytes,
) -> Result<Json<InferAnswer>, Problem> {
    let model = app.model(&caller, Role::Predict, &name)?;
    let InferBody { id, inputs } =
        serde_json::from_slice(&body).map_err(|error| rows::json(&error))?;
    let rows = by_row(inputs, app.settings.rows)?;
    let published = model.published();
    let _permit = app.workers.acquire().await.map_err(|_| Problem::internal())?;
    let work = {
        let published = Arc::clone(&published);
        move || published.predict(rows.iter().map(String::as_str), Wanted::default())
    };
    let predicted = tokio::task::spawn_blocking(work).await.map_err(|_| Problem::internal())??;
    let labels = published.schema().labels();
    let known = labels.get(..published.model().class_totals().len()).unwrap_or(labels);
    let data = predicted.iter().map(|row| json!(row.class.map(|class| label(labels, class))));
    let probabilities = predicted.iter().flat_map(|row| row.probabilities.iter());
    Ok(Json(InferAnswer {
        model_name: model.name.to_string(),
        model_version: published.version.to_string(),
        id,
        outputs: vec![
            InferOutput {
                name: "label",
                shape: vec![predicted.len()],
                datatype: "BYTES",
                data: data.collect(),
                parameters: None,
            },
            InferOutput {
                name: "probability",
                shape: vec![predicted.len(), known.len()],
                datatype: "FP64",
                data: probabilities.map(|probability| json!(probability)).collect(),
                parameters: Some(json!({ "labels": known })),
            },
        ],
    }))
}

/// Describe a model, by the Open Inference Protocol.
#[utoipa::path(
    get,
    path = "/v2/models/{model}",
    tag = "open inference protocol",
    params(("model" = String, Path, description = "The name of a model or an alias")),
    responses(
        (status = 200, body = InferMetadata, description = "What the model takes and gives"),
        (status = "4XX", body = Problem, content_type = "application/problem+json", description = "The request was refused"),
        (status = "5XX", body = Problem, content_type = "application/problem+json", description = "The service cannot answer now"),
    )
)]
pub(crate) async fn metadata(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Json<InferMetadata>, Problem> {
    let model = app.model(&caller, Role::Predict, &name)?;
    let published = model.published();
    let columns = published.encoding().columns.into_iter();
    let inputs = columns.map(|column| {
        let is_number = matches!(column.coding, broadstream::stream::ColumnCoding::Numeric);
        let datatype = if is_number { "FP64" } else { "BYTES" };
        json!({ "name": column.name, "datatype": datatype, "shape": [-1] })
    });
    Ok(Json(InferMetadata {
        name: model.name.to_string(),
        versions: vec![published.version.to_string()],
        platform: "broadstream",
        inputs: inputs.collect(),
        outputs: vec![
            json!({ "name": "label", "datatype": "BYTES", "shape": [-1] }),
            json!({ "name": "probability", "datatype": "FP64", "shape": [-1, -1] }),
        ],
    }))
}

/// The rows of named tensors, each as a JSON object.
fn by_row(inputs: Vec<InferInput>, most: usize) -> Result<Vec<String>, Problem> {
    let count = inputs.first().map_or(0, |input| input.data.len());
    if count == 0 {
        return Err(Problem::malformed("inputs must have at least one value, got none"));
    }
    if count > most {
        let (limit, found) = (most as u64, count as u64);
        return Err(ServeError::Limit { what: "the rows of a request", limit, found }.into());
    }
    let mut rows = vec![Map::new(); count];
    for InferInput { name, shape, datatype, data } in inputs {
        let shown = crate::learning::excerpt(&name);
        if data.len() != count || !matches!(shape[..], [n] | [n, 1] if n == count) {
            let rule = format!("input '{shown}': shape must be [{count}] or [{count}, 1]");
            let detail = format!("{rule}, got {shape:?} with {} values", data.len());
            return Err(Problem::malformed(detail));
        }
        let is_known = match datatype.as_str() {
            "BOOL" | "BYTES" => true,
            kind => ["INT", "UINT", "FP"].iter().any(|family| kind.starts_with(family)),
        };
        if !is_known {
            let datatype = crate::learning::excerpt(&datatype);
            let rule = "datatype must be one of the protocol";
            return Err(Problem::malformed(format!("input '{shown}': {rule}, got '{datatype}'")));
        }
        for (row, value) in rows.iter_mut().zip(data) {
            row.insert(name.clone(), value);
        }
    }
    Ok(rows.into_iter().map(|row| Value::Object(row).to_string()).collect())
}
