//! Who is admitted, what the log says about it, and the headers that every answer has.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use tracing::{debug, info};

use super::{
    app::{App, Caller},
    problem::Problem,
};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The longest request id that is taken over from a client.
const LONGEST_ID: usize = 128;

/// Admits a request, and notes what became of it.
pub(super) async fn admit(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    let id = request_id(request.headers());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let caller = identify(&app, request.headers());
    let name = match &caller {
        Ok(Caller::Token(token)) => token.name.clone(),
        Ok(Caller::Local) => "local".to_owned(),
        _ => "nobody".to_owned(),
    };
    let mut response = match caller {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    };
    let status = response.status();
    app.answers.count(status);
    let milliseconds = started.elapsed().as_secs_f64() * 1e3;
    // Neither query nor headers: they may have secrets.
    let code = status.as_u16();
    if status.is_client_error() || status.is_server_error() {
        info!(request = %id, %method, path, status = code, milliseconds, caller = name, "refused");
    } else {
        debug!(request = %id, %method, path, status = code, milliseconds, caller = name, "answered");
    }
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(&id) {
        headers.insert(REQUEST_ID, id);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Who sends a request. A secret that is not one of the service is refused, whatever is asked for.
fn identify(app: &App, headers: &HeaderMap) -> Result<Caller, Problem> {
    let unauthorized = |detail: &str| {
        let title = "a token is required";
        Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", title, detail)
    };
    if let Some(authorization) = headers.get(header::AUTHORIZATION) {
        let secret = authorization.to_str().ok().and_then(|value| {
            let (scheme, secret) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(secret.trim())
        });
        let secret = secret.ok_or_else(|| {
            unauthorized("expected a header 'Authorization: Bearer TOKEN', found another scheme")
        })?;
        return match app.tokens.find(secret) {
            Some(token) => Ok(Caller::Token(token)),
            None => Err(unauthorized("the token is not one of this service, or was revoked")),
        };
    }
    if !app.tokens.is_empty() {
        return Ok(Caller::Nobody);
    }
    // Without tokens everybody on this machine is trusted, but not every page in their browsers: it could
    // send requests here, also under a name of its own that leads to this machine.
    check_host(app, headers)?;
    Ok(Caller::Local)
}

fn check_host(app: &App, headers: &HeaderMap) -> Result<(), Problem> {
    let refused = |what: &str, value: &str| {
        let title = "the request does not come from this machine";
        let value = crate::learning::excerpt(value);
        let detail = format!(
            "while there are no tokens, {what} must be one of this machine or of the setting \
             'hosts', got '{value}'"
        );
        Problem::new(StatusCode::FORBIDDEN, "host", title, detail)
    };
    let is_own = |host: &str| {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        ["localhost", "127.0.0.1", "[::1]"].contains(&name)
            || app.settings.hosts.iter().any(|own| own == name)
    };
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    match text(header::HOST) {
        Some(host) if is_own(host) => {}
        host => return Err(refused("Host", host.unwrap_or("none"))),
    }
    match text(header::ORIGIN) {
        None => Ok(()),
        Some(origin) => {
            let host = origin.strip_prefix("http://").or(origin.strip_prefix("https://"));
            match host.is_some_and(is_own) {
                true => Ok(()),
                false => Err(refused("Origin", origin)),
            }
        }
    }
}

/// The id of a request: that of the client, or one that the log has not had since the service began.
fn request_id(headers: &HeaderMap) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let given = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok());
    let is_plain = |id: &&str| {
        !id.is_empty()
            && id.len() <= LONGEST_ID
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte))
    };
    match given.filter(is_plain) {
        Some(id) => id.to_owned(),
        None => format!("{:x}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)),
    }
}
