//! Errors as `application/problem+json` (RFC 9457).

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::learning::ServeError;

/// What went wrong.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// What kind of problem it is, for programs: `urn:broadstream:` and a name.
    #[serde(rename = "type")]
    #[schema(example = "urn:broadstream:refused")]
    pub(crate) kind: String,
    /// The kind in words.
    pub(crate) title: &'static str,
    /// The status of the answer.
    pub(crate) status: u16,
    /// The rule, the value that was received, and the place.
    #[schema(example = "row 3, column 'age': expected a number, found 'n/a'")]
    pub(crate) detail: String,
    /// The row that it is about, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) row: Option<u64>,
    /// The column that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<String>,
    /// When to try again, in seconds.
    #[serde(skip)]
    pub(crate) retry_after: Option<u32>,
}

impl Problem {
    pub(crate) fn new(
        status: StatusCode,
        kind: &str,
        title: &'static str,
        detail: impl Into<String>,
    ) -> Self {
        Problem {
            kind: format!("urn:broadstream:{kind}"),
            title,
            status: status.as_u16(),
            detail: detail.into(),
            row: None,
            column: None,
            retry_after: None,
        }
    }

    /// A request that is malformed.
    pub(crate) fn malformed(detail: impl Into<String>) -> Self {
        Problem::new(StatusCode::BAD_REQUEST, "malformed", "the request is malformed", detail)
    }

    pub(crate) fn internal() -> Self {
        let title = "the service has a bug";
        let detail = "the request could not be carried out; the log of the service says more";
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", title, detail)
    }

    fn retry_after(self, seconds: u32) -> Self {
        Problem { retry_after: Some(seconds), ..self }
    }
}

impl From<ServeError> for Problem {
    fn from(error: ServeError) -> Self {
        let (row, column) = error.place();
        let (row, column) = (row, column.map(str::to_owned));
        let (status, kind, title) = match &error {
            ServeError::NoModel { .. } => {
                (StatusCode::NOT_FOUND, "no-model", "there is no such model")
            }
            ServeError::NoSnapshot { .. } => {
                (StatusCode::NOT_FOUND, "no-snapshot", "there is no such snapshot")
            }
            ServeError::Name { .. } => {
                (StatusCode::BAD_REQUEST, "name", "a model cannot have this name")
            }
            ServeError::Exists { .. } => (StatusCode::CONFLICT, "exists", "the name is taken"),
            ServeError::Form { .. } => {
                (StatusCode::BAD_REQUEST, "malformed", "the request is malformed")
            }
            ServeError::Limit { .. } => {
                (StatusCode::PAYLOAD_TOO_LARGE, "limit", "the request is beyond a limit")
            }
            ServeError::Busy { .. } => {
                (StatusCode::TOO_MANY_REQUESTS, "busy", "too much is waiting to be learned")
            }
            ServeError::KeyReused { .. } => (
                StatusCode::UNPROCESSABLE_ENTITY,
                "key-reused",
                "an idempotency key is for one request",
            ),
            ServeError::InProgress { .. } => {
                (StatusCode::CONFLICT, "in-progress", "this request is being carried out")
            }
            ServeError::Storage(_) => {
                (StatusCode::SERVICE_UNAVAILABLE, "storage", "nothing can be written")
            }
            ServeError::Unusable { .. } => {
                (StatusCode::SERVICE_UNAVAILABLE, "unusable", "the model cannot be used")
            }
            ServeError::ShuttingDown => {
                (StatusCode::SERVICE_UNAVAILABLE, "shutting-down", "the service is ending")
            }
            ServeError::Random { .. } => {
                (StatusCode::SERVICE_UNAVAILABLE, "random", "there are no random numbers")
            }
            ServeError::Refused(_) => {
                (StatusCode::UNPROCESSABLE_ENTITY, "refused", "the request breaks a rule")
            }
        };
        let problem =
            Problem { row, column, ..Problem::new(status, kind, title, error.to_string()) };
        match status {
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                problem.retry_after(1)
            }
            StatusCode::CONFLICT if kind == "in-progress" => problem.retry_after(1),
            _ => problem,
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let retry_after = self.retry_after;
        let mut response = (status, Json(self)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

/// Answers of the framework in the form of all others: what it refuses by itself is plain text.
pub(crate) async fn from_plain(response: Response) -> Response {
    let status = response.status();
    let kind = response.headers().get(header::CONTENT_TYPE);
    let is_plain = kind.is_none_or(|kind| kind.as_bytes().starts_with(b"text/plain"));
    if !(status.is_client_error() || status.is_server_error()) || !is_plain {
        return response;
    }
    const MOST: usize = 4096;
    let body = axum::body::to_bytes(response.into_body(), MOST).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&body);
    let (kind, title, usual) = match status {
        StatusCode::PAYLOAD_TOO_LARGE => {
            ("limit", "the request is beyond a limit", "the body has too many bytes")
        }
        StatusCode::REQUEST_TIMEOUT => {
            ("timeout", "the request took too long", "it took longer than request_seconds")
        }
        _ if status.is_server_error() => return Problem::internal().into_response(),
        _ => ("malformed", "the request is malformed", "it could not be read"),
    };
    let text = crate::learning::excerpt(&text);
    let detail = if text.is_empty() { usual.to_owned() } else { text };
    Problem::new(status, kind, title, detail).into_response()
}
