//! The regressions of a model and how it has changed them, as JSON.

use broadstream::{Member, MemberChange};
use serde_json::{Value, json};

pub(crate) fn members_json(members: &[Member]) -> Value {
    let member = |member: &Member| {
        let Member { name, weight, features, nodes, rests } = member;
        json!({
            "name": name,
            "weight": weight,
            "features": features,
            "nodes": nodes,
            "rests": rests,
        })
    };
    members.iter().map(member).collect()
}

pub(crate) fn changes_json(changes: &[MemberChange]) -> Value {
    let change = |change: &MemberChange| {
        let MemberChange { learned, member, features_before, features, nodes, event, .. } = change;
        json!({
            "learned": learned,
            "member": member,
            "features_before": features_before,
            "features": features,
            "nodes": nodes,
            "event": event.as_str(),
            "reason": event.reason(),
        })
    };
    changes.iter().map(change).collect()
}
