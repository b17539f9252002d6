//! How far rounding has moved the regressions of a model, for programs, and as a warning for people.

use broadstream::{LARGEST_ERROR, OnlineBls, RegressionHealth};
use serde_json::{Value, json};

use super::printable::note;

/// A JSON object for each regression.
pub(crate) fn health_json(health: &[RegressionHealth]) -> Vec<Value> {
    let regression = |regression: &RegressionHealth| {
        json!({
            "name": regression.name,
            "features": regression.features,
            "error": regression.now.error,
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

/// Warns on standard error if the scores of a model cannot be trusted.
pub(crate) fn warn_of_rounding(model: &OnlineBls) {
    let health = model.health();
    let untrusted = health.iter().filter(|regression| regression.now.error > LARGEST_ERROR);
    let worst = untrusted.max_by(|a, b| a.now.error.total_cmp(&b.now.error));
    if let Some(RegressionHealth { name, now, .. }) = worst {
        let advice = model.condition_advice();
        note(&format!(
            "warning: the scores of the regression '{name}' may be off by {:.0e}, because its condition number \
             is {:.0e}; {advice}",
            now.error, now.condition
        ));
    }
}
