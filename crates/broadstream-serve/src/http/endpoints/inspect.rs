//! `GET /v1/models/{model}`

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Json,
    extract::{Path, Query, State},
};
use broadstream::{InputKind, stream::ColumnCoding};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{
    http::{
        answers::{Consistency, Origin, ReadQuery, label},
        app::{App, Caller},
        problem::Problem,
    },
    learning::UnknownName,
    security::Role,
};

/// Everything about a model but what it predicts.
#[derive(Serialize, ToSchema)]
pub(crate) struct ModelAnswer {
    #[serde(flatten)]
    origin: Origin,
    /// When it was created, in milliseconds since 1970.
    created: u64,
    /// What it predicts.
    target: String,
    /// The columns of rows, and how they are read.
    columns: Vec<ColumnAnswer>,
    /// The labels, each with the total weight of its learned rows.
    labels: BTreeMap<String, f64>,
    /// How many inputs the columns have become.
    inputs: usize,
    /// How many of them are categories.
    indicators: usize,
    /// How many samples the model has learned, those before it came to the service included.
    learned: u64,
    /// How many rows the service has learned with it.
    rows_learned: u64,
    /// How many rows wait to be learned.
    waiting: u64,
    /// How many predictions wait for their labels.
    pending: usize,
    /// How much memory the model takes, in bytes.
    bytes: u64,
    /// What is done about columns that the model does not know.
    unknown_columns: UnknownName,
    /// After how many samples a part of the model was restarted, because a drift was detected.
    restarts: Vec<u64>,
    /// The options.
    #[schema(value_type = Object)]
    options: Map<String, Value>,
}

/// A column of rows.
#[derive(Serialize, ToSchema)]
pub(crate) struct ColumnAnswer {
    /// Its name.
    name: String,
    /// Whether it has numbers or categories; `undecided` if no row had it so far.
    kind: &'static str,
}

/// Inspect a model.
#[utoipa::path(
    get,
    path = "/v1/models/{model}",
    tag = "models",
    params(("model" = String, Path, description = "The name of a model or an alias"), ReadQuery),
    responses(
        (status = 200, body = ModelAnswer, description = "The model"),
        (status = "4XX", body = Problem, content_type = "application/problem+json", description = "The request was refused"),
        (status = "5XX", body = Problem, content_type = "application/problem+json", description = "The service cannot answer now"),
    )
)]
pub(crate) async fn inspect(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(name): Path<String>,
    Query(query): Query<ReadQuery>,
) -> Result<Json<ModelAnswer>, Problem> {
    let model = app.model(&caller, Role::Predict, &name)?;
    let published = app.published(&model, query.consistency == Consistency::Latest).await?;
    let (schema, inner) = (published.schema(), published.model());
    let columns = published.encoding().columns.into_iter().map(|column| ColumnAnswer {
        kind: match column.coding {
            ColumnCoding::Undecided => "undecided",
            ColumnCoding::Numeric => "numeric",
            ColumnCoding::OneHot | ColumnCoding::IntegerCodes(_) => "categorical",
            ColumnCoding::Text => "text",
            ColumnCoding::LeftOut => "left-out",
        },
        name: column.name,
    });
    let totals = inner.class_totals().iter().enumerate();
    let labels = totals.map(|(class, total)| (label(schema.labels(), class), *total));
    let indicators = schema.inputs().iter().filter(|input| input.kind == InputKind::Indicator);
    Ok(Json(ModelAnswer {
        origin: Origin::of(&model, &published),
        created: model.rules.created,
        target: schema.target().to_owned(),
        columns: columns.collect(),
        labels: labels.collect(),
        inputs: schema.inputs().len(),
        indicators: indicators.count(),
        learned: published.learned(),
        rows_learned: published.rows_learned,
        waiting: model.waiting(),
        pending: published.pending,
        bytes: inner.bytes(),
        unknown_columns: model.rules.unknown_columns,
        restarts: published.restarts().to_vec(),
        options: published.config().to_json(),
    }))
}
