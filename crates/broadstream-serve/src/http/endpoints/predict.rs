//! `POST /v1/models/{model}/predict`

use std::{sync::Arc, time::Instant};

use axum::{
    body::Bytes,
    extract::{Path, Query, State},
    http::HeaderMap,
    response::Response,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    http::{
        answers::{Consistency, Origin, PredictionAnswer, ReasonAnswer, label, named, respond},
        app::{App, Caller},
        ids,
        problem::Problem,
        rows,
    },
    learning::{
        Change, LabelledRow, Model, Prediction, Published, Request, RowPrediction, Wanted, now,
    },
    security::Role,
};

/// As many rows are predicted at once by the thread that answers; more go to another one.
const FEW: usize = 16;

/// The most reasons for one prediction.
const MOST_REASONS: usize = 50;

#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PredictQuery {
    /// `published` answers at once, from the model as it was published last. `latest` waits until the model
    /// has learned everything that was accepted before.
    #[serde(default)]
    #[param(inline, default = "published")]
    consistency: Consistency,
    /// Whether rows are remembered, so that their labels can be sent later by prediction id.
    #[serde(default = "yes")]
    #[param(default = true)]
    track: bool,
    /// How many columns are named that speak for or against each prediction.
    #[serde(default)]
    #[param(default = 0, maximum = 50)]
    reasons: usize,
}

fn yes() -> bool {
    true
}

/// Rows to predict, as objects with the columns of the model. Labels in them are passed over.
#[derive(Deserialize, ToSchema)]
#[expect(dead_code, reason = "describes the body, which is read row by row")]
pub(crate) struct PredictBody {
    /// The rows.
    #[schema(value_type = Vec<Object>, example = json!([{ "age": 31, "job": "clerk" }]))]
    rows: Vec<serde_json::Value>,
}

/// Predictions.
#[derive(Serialize, ToSchema)]
pub(crate) struct PredictAnswer<'a> {
    #[serde(flatten)]
    origin: &'a Origin,
    /// One for each row, in their order.
    predictions: &'a [PredictionAnswer],
}

/// Predict rows.
///
/// Predictions read a published state of the model and never wait for learning. With `track`, which is the
/// default, rows are logged, so that their labels can be sent later without them.
#[utoipa::path(
    post,
    path = "/v1/models/{model}/predict",
    tag = "learning",
    params(("model" = String, Path, description = "The name of a model or an alias"), PredictQuery),
    request_body(content(
        (PredictBody = "application/json"),
        (String = "application/x-ndjson"),
        (String = "application/vnd.apache.arrow.stream"),
    )),
    responses(
        (status = 200, description = "The predictions", content(
            (PredictAnswer = "application/json"),
            (String = "application/x-ndjson"),
        )),
        (status = "4XX", body = Problem, content_type = "application/problem+json", description = "The request was refused, and nothing has changed"),
        (status = "5XX", body = Problem, content_type = "application/problem+json", description = "The service cannot answer now"),
    )
)]
pub(crate) async fn predict(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(name): Path<String>,
    Query(query): Query<PredictQuery>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let model = app.model(&caller, Role::Predict, &name)?;
    let rows = rows::rows(&headers, &body, &app.settings)?;
    let reasons = query.reasons.min(MOST_REASONS);
    let published = app.published(&model, query.consistency == Consistency::Latest).await?;
    let wanted = Wanted { prepared: query.track };
    let (rows, predicted, explained) = if rows.len() <= FEW && reasons == 0 {
        let predicted = run(&model, &published, &rows, wanted, 0)?;
        (rows, predicted.0, predicted.1)
    } else {
        let _permit = app.workers.acquire().await.map_err(|_| Problem::internal())?;
        let (model, published) = (Arc::clone(&model), Arc::clone(&published));
        let work = move || {
            let (predicted, explained) = run(&model, &published, &rows, wanted, reasons)?;
            Ok::<_, Problem>((rows, predicted, explained))
        };
        tokio::task::spawn_blocking(work).await.map_err(|_| Problem::internal())??
    };
    let labels = published.schema().labels();
    let first_id = query.track.then(|| model.take_ids(rows.len()));
    let answers: Vec<PredictionAnswer> = predicted
        .iter()
        .zip(explained)
        .zip(0..)
        .map(|((row, reasons), i)| PredictionAnswer {
            id: first_id.map(|first| ids::write(&model, first + i)),
            label: row.class.map(|class| label(labels, class)),
            probabilities: named(labels, &row.probabilities),
            leverage: row.leverage,
            reasons,
        })
        .collect();
    if let Some(first) = first_id {
        remember(&model, first, rows, predicted).await?;
    }
    let origin = Origin::of(&model, &published);
    let answer = PredictAnswer { origin: &origin, predictions: &answers };
    Ok(respond(&headers, &origin, &answer, &answers))
}

type Reasons = Vec<Option<Vec<ReasonAnswer>>>;

fn run(
    model: &Model,
    published: &Published,
    rows: &[LabelledRow],
    wanted: Wanted,
    reasons: usize,
) -> Result<(Vec<RowPrediction>, Reasons), Problem> {
    let started = Instant::now();
    let predicted = published.predict(rows.iter().map(|row| &*row.text), wanted)?;
    let explain = |row: &RowPrediction| {
        if reasons == 0 {
            return Ok(None);
        }
        let reasons = published.explain(row, reasons)?.into_iter();
        let answers = reasons.map(|reason| ReasonAnswer {
            column: reason.column,
            change: reason.change,
            score_change: reason.score_change,
        });
        Ok(Some(answers.collect()))
    };
    let explained = predicted.iter().map(explain).collect::<Result<Reasons, Problem>>()?;
    model.statistics().predicted(&predicted, now(), started.elapsed());
    Ok((predicted, explained))
}

/// Waits until the log has the predictions, so that an id that was given can be relied on.
async fn remember(
    model: &Model,
    first: u64,
    rows: Vec<LabelledRow>,
    predicted: Vec<RowPrediction>,
) -> Result<(), Problem> {
    let predictions = rows.into_iter().zip(predicted).zip(first..);
    let predictions = predictions.map(|((row, predicted), id)| Prediction {
        id,
        row: row.text,
        prepared: predicted.prepared,
        class: predicted.class.map(|class| class as u64),
        probabilities: predicted.probabilities,
    });
    let change = Change::Predictions(predictions.collect());
    let logged = model.submit(Request { change, key: None })?;
    logged.await.map_err(|_| Problem::internal())??;
    Ok(())
}
