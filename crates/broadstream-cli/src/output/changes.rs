//! How a model has changed its regressions, as JSON.

use broadstream::MemberChange;
use serde_json::{Value, json};

pub(crate) fn changes_json(changes: &[MemberChange]) -> Value {
    let change = |change: &MemberChange| {
        let MemberChange { learned, member, features, nodes, event, .. } = change;
        let event = event.as_str();
        json!({
            "learned": learned,
            "member": member,
            "features": features,
            "nodes": nodes,
            "event": event,
        })
    };
    changes.iter().map(change).collect()
}
