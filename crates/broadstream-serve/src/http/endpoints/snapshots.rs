//! `GET` and `POST /v1/models/{model}/snapshots`

use std::{sync::Arc, time::SystemTime};

use axum::{
    Json,
    extract::{Path, State},
    http::StatusCode,
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    http::{
        app::{App, Caller},
        problem::Problem,
    },
    learning::SnapshotFile,
    security::Role,
};

/// The snapshots of a model, the newest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct SnapshotList {
    snapshots: Vec<Snapshot>,
}

/// A snapshot of a model.
#[derive(Serialize, ToSchema)]
pub(crate) struct Snapshot {
    /// The version of the model that it is of.
    version: u64,
    /// The size of the model file.
    bytes: u64,
    /// When it was written, in milliseconds since 1970.
    written: Option<u64>,
}

impl From<SnapshotFile> for Snapshot {
    fn from(file: SnapshotFile) -> Self {
        let since = file.written.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        let written = since.map(|since| since.as_millis() as u64);
        Snapshot { version: file.version, bytes: file.bytes, written }
    }
}

/// List the snapshots of a model.
#[utoipa::path(
    get,
    path = "/v1/models/{model}/snapshots",
    tag = "models",
    params(("model" = String, Path, description = "The name of a model or an alias")),
    responses(
        (status = 200, body = SnapshotList, description = "The snapshots"),
        (status = "4XX", body = Problem, content_type = "application/problem+json", description = "The request was refused"),
        (status = "5XX", body = Problem, content_type = "application/problem+json", description = "The service cannot answer now"),
    )
)]
pub(crate) async fn list_snapshots(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Json<SnapshotList>, Problem> {
    let model = app.model(&caller, Role::Predict, &name)?;
    let snapshots = tokio::task::spawn_blocking(move || model.folder.snapshots());
    let snapshots = snapshots.await.map_err(|_| Problem::internal())??;
    Ok(Json(SnapshotList { snapshots: snapshots.into_iter().map(Snapshot::from).collect() }))
}

/// Write a snapshot of everything that was asked for before.
#[utoipa::path(
    post,
    path = "/v1/models/{model}/snapshots",
    tag = "models",
    params(("model" = String, Path, description = "The name of a model or an alias")),
    responses(
        (status = 201, body = SnapshotList, description = "The snapshot is the first of those that there are now"),
        (status = "4XX", body = Problem, content_type = "application/problem+json", description = "The request was refused"),
        (status = "5XX", body = Problem, content_type = "application/problem+json", description = "The snapshot could not be written"),
    )
)]
pub(crate) async fn write_snapshot(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<(StatusCode, Json<SnapshotList>), Problem> {
    let model = app.model(&caller, Role::Admin, &name)?;
    model.snapshot_now().await.map_err(|_| Problem::internal())??;
    let snapshots = tokio::task::spawn_blocking(move || model.folder.snapshots());
    let snapshots = snapshots.await.map_err(|_| Problem::internal())??;
    let snapshots = snapshots.into_iter().map(Snapshot::from).collect();
    Ok((StatusCode::CREATED, Json(SnapshotList { snapshots })))
}
