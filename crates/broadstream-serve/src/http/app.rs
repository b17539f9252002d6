//! What all endpoints share.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use axum::{
    extract::FromRequestParts,
    http::{StatusCode, request::Parts},
};
use tokio::sync::{Semaphore, watch};

use super::problem::Problem;
use crate::{
    Settings,
    learning::{Model, Published, Registry},
    security::{Role, Token, TokenFile},
};

/// The state of the service.
pub(crate) struct App {
    pub(crate) registry: Arc<Registry>,
    pub(crate) tokens: TokenFile,
    pub(crate) settings: Settings,
    /// Whether the service is about to end.
    pub(crate) ending: watch::Receiver<bool>,
    /// For work that would keep others from being answered.
    pub(crate) workers: Semaphore,
    /// How many live pages may be watched.
    pub(crate) watchers: Arc<Semaphore>,
    pub(crate) answers: Answers,
}

/// How many requests were answered, by the first digit of the status.
#[derive(Default)]
pub(crate) struct Answers([AtomicU64; 6]);

impl Answers {
    pub(crate) fn count(&self, status: StatusCode) {
        self.0[usize::from(status.as_u16() / 100).min(5)].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn counts(&self) -> impl Iterator<Item = (usize, u64)> {
        self.0
            .iter()
            .enumerate()
            .skip(1)
            .map(|(digit, count)| (digit, count.load(Ordering::Relaxed)))
    }
}

/// Who sent a request.
#[derive(Clone, Debug)]
pub(crate) enum Caller {
    /// Somebody on this machine, while there are no tokens.
    Local,
    Token(Token),
    Nobody,
}

impl Caller {
    /// Checks that the caller may do what a role does on a model, or on all of them.
    pub(crate) fn check(&self, role: Role, model: Option<&str>) -> Result<(), Problem> {
        match self {
            Caller::Local => Ok(()),
            Caller::Nobody => Err(Problem::new(
                StatusCode::UNAUTHORIZED,
                "unauthorized",
                "a token is required",
                "expected a header 'Authorization: Bearer TOKEN' with a token of this service",
            )),
            Caller::Token(token) if token.permits(role, model) => Ok(()),
            Caller::Token(token) => {
                let of = model.map_or("all models".to_owned(), |model| format!("model '{model}'"));
                Err(Problem::new(
                    StatusCode::FORBIDDEN,
                    "forbidden",
                    "the token does not permit this",
                    format!("this needs the role {role} on {of}, and the token has {}", token.role),
                ))
            }
        }
    }

    /// Whether the caller may look at a model.
    pub(crate) fn sees(&self, model: &str) -> bool {
        self.check(Role::Predict, Some(model)).is_ok()
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(parts.extensions.get::<Caller>().cloned().unwrap_or(Caller::Nobody))
    }
}

impl App {
    /// A model, if the caller may do this with it.
    pub(crate) fn model(
        &self,
        caller: &Caller,
        role: Role,
        name: &str,
    ) -> Result<Arc<Model>, Problem> {
        // Who may see no model must not learn which there are.
        if let Caller::Nobody = caller {
            caller.check(role, Some(name))?;
        }
        self.check_ready()?;
        let model = self.registry.get(name);
        let real = model.as_ref().map_or(name, |model| model.name.as_str());
        caller.check(role, Some(real))?;
        Ok(model?)
    }

    /// Checks that all models are open.
    pub(crate) fn check_ready(&self) -> Result<(), Problem> {
        if self.registry.is_ready() {
            return Ok(());
        }
        let title = "the service is not ready";
        let detail = "models are being opened, or the service is ending: try again in a moment";
        Err(Problem {
            retry_after: Some(1),
            ..Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not-ready", title, detail)
        })
    }

    /// The model to read: as it was published last, or as it is after everything that was asked for.
    pub(crate) async fn published(
        &self,
        model: &Model,
        is_latest: bool,
    ) -> Result<Arc<Published>, Problem> {
        if is_latest {
            model.publish_latest().await.map_err(|_| Problem::internal())?;
        }
        Ok(model.published())
    }
}
