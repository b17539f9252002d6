//! How important the columns of a model are, as JSON.

use serde_json::{Value, json};

/// The columns with their importance, the most important first.
pub(crate) fn importance_json(importance: &[(String, f64)]) -> Value {
    let row = |(column, importance): &(String, f64)| json!({ "column": column, "importance": importance });
    importance.iter().map(row).collect()
}
