//! Where the time of an evaluation went.

use std::time::Duration;

use serde_json::Value;

use crate::{
    error::ModelFileError,
    prequential::Durations,
    state::{ReadScope, WriteScope},
};

/// Where the time went.
#[derive(Clone, Debug, Default)]
pub struct Times {
    /// Reading the stream.
    pub reading: Duration,
    /// Predicting and learning.
    pub test_then_train: Duration,
    /// Of that, predicting; known when the times are measured apart.
    pub predicting: Option<Duration>,
    /// Of that, learning; known when the times are measured apart.
    pub learning: Option<Duration>,
    /// How long learning took sample by sample; empty unless the times are measured apart.
    pub updates: Durations,
}

impl Times {
    pub(super) fn save(&self, to: &mut WriteScope<'_>) {
        to.integer("reading", nanoseconds(self.reading));
        to.integer("test_then_train", nanoseconds(self.test_then_train));
        to.value("predicting", self.predicting.map(nanoseconds));
        to.value("learning", self.learning.map(nanoseconds));
        self.updates.save(&mut to.scope("updates"));
    }

    pub(super) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        let time = |name| from.integer(name).map(Duration::from_nanos);
        let optional = |name| match from.value(name)? {
            Value::Null => Ok(None),
            _ => time(name).map(Some),
        };
        (self.reading, self.test_then_train) = (time("reading")?, time("test_then_train")?);
        (self.predicting, self.learning) = (optional("predicting")?, optional("learning")?);
        self.updates.restore(&from.scope("updates")?)
    }
}

/// A time of less than 584 years.
pub(super) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
