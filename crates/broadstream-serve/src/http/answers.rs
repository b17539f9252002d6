//! What answers look like.

use std::collections::BTreeMap;

use axum::{
    Json,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::learning::{Applied, Model, Published, RowOutcome};

/// The headers with the version and the lag, for answers that have no room for them.
const VERSION: HeaderName = HeaderName::from_static("broadstream-version");
const LAG: HeaderName = HeaderName::from_static("broadstream-lag");

/// Whether readers see everything that was asked for before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Consistency {
    /// The model as it was published last, without waiting.
    #[default]
    Published,
    /// The model after everything that was accepted before this request.
    Latest,
}

/// The consistency of a request that reads.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ReadQuery {
    /// `published` answers at once, from the model as it was published last. `latest` waits until the model
    /// has learned everything that was accepted before.
    #[serde(default)]
    #[param(inline, default = "published")]
    pub(crate) consistency: Consistency,
}

/// Which state of a model an answer comes from.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Origin {
    /// The model, also if it was asked for by an alias.
    pub(crate) model: String,
    /// How many requests have changed the model.
    pub(crate) version: u64,
    /// How many rows were learned and acknowledged that this version does not have.
    pub(crate) lag: u64,
}

impl Origin {
    pub(crate) fn of(model: &Model, published: &Published) -> Self {
        let version = published.version;
        Origin { model: model.name.to_string(), version, lag: model.lag(published) }
    }

    pub(crate) fn after(model: &Model, applied: &Applied) -> Self {
        Origin { model: model.name.to_string(), version: applied.version, lag: 0 }
    }

    fn headers(&self) -> [(HeaderName, HeaderValue); 2] {
        [(VERSION, self.version.into()), (LAG, self.lag.into())]
    }
}

/// The prediction of a row.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct PredictionAnswer {
    /// Under which its label can be sent later; missing if the row is not to be remembered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    /// The most likely label; `null` before any was learned.
    pub(crate) label: Option<String>,
    /// The probability of each label.
    pub(crate) probabilities: BTreeMap<String, f64>,
    /// How much the row differs from all that was learned: close to 0 if it is like many.
    pub(crate) leverage: f64,
    /// What speaks for the prediction, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reasons: Option<Vec<ReasonAnswer>>,
}

/// What a column does for a prediction.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ReasonAnswer {
    /// The column.
    pub(crate) column: String,
    /// The probability of the predicted label, less what it would be without the column.
    pub(crate) change: f64,
    /// The same for the score behind the probability, which has no bounds.
    pub(crate) score_change: f64,
}

/// The prediction of a row just before it was learned.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct LearnedAnswer {
    /// The label that was most likely.
    pub(crate) label: Option<String>,
    /// The label of the row.
    pub(crate) truth: String,
    /// The probability of each label known until then.
    pub(crate) probabilities: BTreeMap<String, f64>,
    /// How much the row differed from all that was learned.
    pub(crate) leverage: f64,
}

impl LearnedAnswer {
    pub(crate) fn of(row: &RowOutcome, labels: &[String]) -> Self {
        LearnedAnswer {
            label: row.predicted.map(|class| label(labels, class)),
            truth: label(labels, row.class),
            probabilities: named(labels, &row.probabilities),
            leverage: row.leverage,
        }
    }
}

/// What a class is called.
pub(crate) fn label(labels: &[String], class: usize) -> String {
    labels.get(class).cloned().unwrap_or_else(|| class.to_string())
}

/// Probabilities by label.
pub(crate) fn named(labels: &[String], probabilities: &[f64]) -> BTreeMap<String, f64> {
    let named = probabilities.iter().enumerate();
    named.map(|(class, probability)| (label(labels, class), *probability)).collect()
}

/// An answer as one JSON object, or each of its items as a line of JSON if that is what the client accepts.
pub(crate) fn respond<A: Serialize, I: Serialize>(
    headers: &HeaderMap,
    origin: &Origin,
    answer: &A,
    items: &[I],
) -> Response {
    let accepted = headers.get(header::ACCEPT).and_then(|kind| kind.to_str().ok());
    let lines = accepted.is_some_and(|kind| kind.contains("application/x-ndjson"));
    if !lines {
        return (StatusCode::OK, origin.headers(), Json(answer)).into_response();
    }
    let mut body = Vec::new();
    for item in items {
        if let Ok(line) = serde_json::to_vec(item) {
            body.extend(line);
            body.push(b'\n');
        }
    }
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"))];
    (StatusCode::OK, origin.headers(), kind, body).into_response()
}
