//! `GET /v1/models/{model}/events`

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::sse::{Event, KeepAlive, Sse},
};
use futures_util::stream::{self, Stream};
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::live::LiveAnswer;
use crate::{
    http::{
        app::{App, Caller},
        problem::Problem,
    },
    learning::Model,
    security::Role,
};

/// The time between two events.
const EVERY: Duration = Duration::from_secs(1);

/// How a model has been doing lately, again and again.
///
/// Server-sent events, one a second: the data of each is what `live` answers.
#[utoipa::path(
    get,
    path = "/v1/models/{model}/events",
    tag = "operation",
    params(("model" = String, Path, description = "The name of a model or an alias")),
    responses(
        (status = 200, body = String, content_type = "text/event-stream", description = "The events"),
        (status = "4XX", body = Problem, content_type = "application/problem+json", description = "The request was refused"),
        (status = "5XX", body = Problem, content_type = "application/problem+json", description = "The service cannot answer now"),
    )
)]
pub(crate) async fn events(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let model = app.model(&caller, Role::Predict, &name)?;
    let watcher = Arc::clone(&app.watchers).try_acquire_owned().map_err(|_| {
        let detail = "as many live pages are open as the service has room for";
        let title = "too many are watching";
        let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "watchers", title, detail);
        Problem { retry_after: Some(10), ..problem }
    })?;
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let watch = Watch { app, model, ticks, _watcher: watcher };
    Ok(Sse::new(stream::unfold(watch, Watch::next)).keep_alive(KeepAlive::default()))
}

struct Watch {
    app: Arc<App>,
    model: Arc<Model>,
    ticks: Interval,
    _watcher: tokio::sync::OwnedSemaphorePermit,
}

impl Watch {
    async fn next(mut self) -> Option<(Result<Event, Infallible>, Self)> {
        let mut ending = self.app.ending.clone();
        tokio::select! {
            _ = self.ticks.tick() => {}
            // The service ends, or has ended.
            _ = ending.wait_for(|ending| *ending) => return None,
        }
        let event = Event::default().json_data(LiveAnswer::of(&self.model)).ok()?;
        Some((Ok(event), self))
    }
}
