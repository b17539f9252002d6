//! `GET /v1/models`

use std::{collections::BTreeMap, sync::Arc};

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    http::{
        app::{App, Caller},
        problem::Problem,
    },
    learning::Model,
};

/// All models that the caller may see.
#[derive(Serialize, ToSchema)]
pub(crate) struct ModelList {
    /// The models.
    models: Vec<ModelSummary>,
    /// The models that cannot be used, with the reason.
    unusable: BTreeMap<String, String>,
    /// Names that stand for models.
    aliases: BTreeMap<String, String>,
}

/// A model in short.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ModelSummary {
    /// The name.
    pub(crate) name: String,
    /// How many requests have changed the model.
    pub(crate) version: u64,
    /// How many rows were learned and acknowledged that this version does not have.
    pub(crate) lag: u64,
    /// How many rows wait to be learned.
    pub(crate) waiting: u64,
    /// How many rows the service has learned with it.
    pub(crate) rows_learned: u64,
    /// How many predictions wait for their labels.
    pub(crate) pending: usize,
    /// What it predicts.
    pub(crate) target: String,
    /// How many inputs and labels it knows.
    pub(crate) inputs: usize,
    pub(crate) labels: usize,
    /// The share of the last rows that were predicted right; `null` before the first label.
    pub(crate) accuracy: Option<f64>,
}

impl ModelSummary {
    pub(crate) fn of(model: &Model) -> Self {
        let published = model.published();
        let accuracy = model.statistics().accuracy();
        ModelSummary {
            name: model.name.to_string(),
            version: published.version,
            lag: model.lag(&published),
            waiting: model.waiting(),
            rows_learned: published.rows_learned,
            pending: published.pending,
            target: published.schema().target().to_owned(),
            inputs: published.schema().inputs().len(),
            labels: published.schema().labels().len(),
            accuracy,
        }
    }
}

/// List all models.
///
/// With a token that is for some models, only those are listed.
#[utoipa::path(
    get,
    path = "/v1/models",
    tag = "models",
    responses(
        (status = 200, body = ModelList, description = "The models"),
        (status = "4XX", body = Problem, content_type = "application/problem+json", description = "The request was refused"),
        (status = "5XX", body = Problem, content_type = "application/problem+json", description = "The service cannot answer now"),
    )
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
) -> Result<Json<ModelList>, Problem> {
    if let Caller::Nobody = caller {
        caller.check(crate::security::Role::Predict, None)?;
    }
    app.check_ready()?;
    let (usable, unusable) = app.registry.all();
    let sees = |name: &str| caller.sees(name);
    Ok(Json(ModelList {
        models: usable
            .iter()
            .filter(|model| sees(model.name.as_str()))
            .map(|model| ModelSummary::of(model))
            .collect(),
        unusable: unusable
            .into_iter()
            .filter(|(name, _)| sees(name.as_str()))
            .map(|(name, error)| (name.to_string(), error.to_string()))
            .collect(),
        aliases: app
            .registry
            .aliases()
            .into_iter()
            .filter(|(_, model)| sees(model.as_str()))
            .map(|(alias, model)| (alias.to_string(), model.to_string()))
            .collect(),
    }))
}
