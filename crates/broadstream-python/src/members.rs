//! The members of a model and how they have changed, as dictionaries with the keys of `run --json`.

use broadstream::{Member, MemberChange};
use pyo3::{
    prelude::*,
    types::{PyDict, PyList},
};

pub(crate) fn members<'py>(py: Python<'py>, members: &[Member]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for Member { name, weight, features, nodes, rests } in members {
        let member = PyDict::new(py);
        member.set_item("name", name)?;
        member.set_item("weight", weight)?;
        member.set_item("features", features)?;
        member.set_item("nodes", nodes)?;
        member.set_item("rests", rests)?;
        list.append(member)?;
    }
    Ok(list)
}

pub(crate) fn changes<'py>(
    py: Python<'py>,
    changes: &[MemberChange],
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for MemberChange { learned, member, features_before, features, nodes, event, .. } in changes {
        let change = PyDict::new(py);
        change.set_item("learned", learned)?;
        change.set_item("member", member)?;
        change.set_item("features_before", features_before)?;
        change.set_item("features", features)?;
        change.set_item("nodes", nodes)?;
        change.set_item("event", event.as_str())?;
        change.set_item("reason", event.reason())?;
        list.append(change)?;
    }
    Ok(list)
}
