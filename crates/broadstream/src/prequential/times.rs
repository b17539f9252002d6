//! How long the parts of an evaluation took.

use std::time::Duration;

use serde_json::Value;

use crate::{
    error::ModelFileError,
    prequential::Durations,
    state::{ReadScope, WriteScope},
};

/// How long the parts of an evaluation took; all 0 without a clock.
#[derive(Clone, Debug, Default)]
pub struct Times {
    /// Reading the stream.
    pub reading: Duration,
    /// Predicting and learning together.
    pub test_then_train: Duration,
    /// Predicting alone, if
    /// [`separate_times`](crate::PrequentialOptions::separate_times) is on.
    pub predicting: Option<Duration>,
    /// Learning alone, if `separate_times` is on.
    pub learning: Option<Duration>,
    /// How long learning took for each sample; empty unless `separate_times` is on.
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

/// A time in nanoseconds, which fit into 64 bits for 584 years.
pub(super) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
