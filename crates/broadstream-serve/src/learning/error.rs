//! Why the service refuses a request.

use std::sync::Arc;

use broadstream::{
    Error,
    stream::{Place, StreamError},
};
use broadstream_store::StoreError;

/// Why the service refuses a request. Each states the rule, the value that was received, and the place.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// There is no model of that name.
    #[error("there is no model '{name}'")]
    NoModel {
        /// The name that was asked for.
        name: String,
    },

    /// A name is not one that a model may have.
    #[error(
        "a name must have 1 to 64 of the characters a-z, 0-9, '-', '_' and '.', and begin with a \
         letter or digit, got '{name}'"
    )]
    Name {
        /// The name that was given.
        name: String,
    },

    /// A model or an alias of that name exists.
    #[error("there is a model or an alias '{name}' already")]
    Exists {
        /// The name that was given.
        name: String,
    },

    /// There is no snapshot of that version.
    #[error("model '{name}' has no snapshot of version {version}")]
    NoSnapshot {
        /// The model.
        name: String,
        /// The version that was asked for.
        version: u64,
    },

    /// The library refuses the rows, the options or the file.
    #[error("{0}")]
    Refused(Arc<Error>),

    /// The request does not have the form that it must have.
    #[error("{place} must be {rule}, got {value}")]
    Form {
        /// Where in the request.
        place: String,
        /// What it must be.
        rule: String,
        /// What it is.
        value: String,
    },

    /// The request is beyond a limit of the service.
    #[error("{what} must be at most {limit}, got {found}")]
    Limit {
        /// What is limited.
        what: &'static str,
        /// The most that is accepted.
        limit: u64,
        /// What was given.
        found: u64,
    },

    /// More rows are waiting to be learned than the service keeps.
    #[error("{waiting} rows are waiting already, and at most {limit} may: try again in a moment")]
    Busy {
        /// How many rows are waiting.
        waiting: u64,
        /// How many may wait.
        limit: u64,
    },

    /// An idempotency key was used for another request before.
    #[error("the idempotency key '{key}' was used with another request")]
    KeyReused {
        /// The key.
        key: String,
    },

    /// A request with this idempotency key is being carried out.
    #[error(
        "a request with the idempotency key '{key}' is being carried out: try again in a moment"
    )]
    InProgress {
        /// The key.
        key: String,
    },

    /// Nothing can be written, so nothing can be acknowledged.
    #[error("nothing was learned, since it could not be written: {0}")]
    Storage(Arc<StoreError>),

    /// The model could not be opened when the service started.
    #[error("model '{name}' cannot be used: {reason}")]
    Unusable {
        /// The model.
        name: String,
        /// Why it cannot.
        reason: String,
    },

    /// The system has no random numbers.
    #[error("the system has no random numbers: {reason}")]
    Random {
        /// What the system said.
        reason: String,
    },

    /// The service is about to end.
    #[error("the service is shutting down")]
    ShuttingDown,
}

impl ServeError {
    /// The row and the column that an error of the library is about, as far as it says.
    pub fn place(&self) -> (Option<u64>, Option<&str>) {
        let ServeError::Refused(error) = self else { return (None, None) };
        let error = match &**error {
            Error::Sample { sample, .. } => return (Some(*sample), None),
            Error::Stream(error) => error,
            _ => return (None, None),
        };
        let (place, column) = match error {
            StreamError::NotFinite { place, column, .. }
            | StreamError::DecimalSign { place, column, .. }
            | StreamError::NotANumber { place, column, .. }
            | StreamError::UnfamiliarColumn { place, column, .. }
            | StreamError::DuplicateCell { place, column }
            | StreamError::MissingLabel { place, column }
            | StreamError::SharedBefore { place, column, .. }
            | StreamError::CellTooLong { place, column, .. }
            | StreamError::InputNameTaken { place, column, .. }
            | StreamError::Array { place, column } => (place, Some(column.as_str())),
            StreamError::Json { place, .. }
            | StreamError::NotText { place, .. }
            | StreamError::NameTooLong { place, .. } => (place, None),
            _ => return (None, None),
        };
        match place {
            Place::Row(row) | Place::Line(row) => (Some(*row), column),
            _ => (None, column),
        }
    }
}

impl From<Error> for ServeError {
    fn from(error: Error) -> Self {
        ServeError::Refused(Arc::new(error))
    }
}

impl From<StreamError> for ServeError {
    fn from(error: StreamError) -> Self {
        Error::from(error).into()
    }
}

impl From<StoreError> for ServeError {
    fn from(error: StoreError) -> Self {
        ServeError::Storage(Arc::new(error))
    }
}
