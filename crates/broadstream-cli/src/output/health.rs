//! How far rounding has moved the regressions of a model, for programs.

use broadstream::RegressionHealth;
use serde_json::{Value, json};

/// A JSON object for each regression.
pub(crate) fn health_json(health: &[RegressionHealth]) -> Vec<Value> {
    let regression = |regression: &RegressionHealth| {
        json!({
            "name": regression.name,
            "features": regression.features,
            "residual": regression.now.residual,
            "worst_residual": regression.worst_residual,
            "condition": regression.now.condition,
            "smallest_pivot": regression.now.smallest_pivot,
            "largest_pivot": regression.now.largest_pivot,
            "refreshes": regression.refreshes,
        })
    };
    health.iter().map(regression).collect()
}
