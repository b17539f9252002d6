//! The endpoints, a file for each.

pub(crate) mod alias;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod events;
pub(crate) mod file;
pub(crate) mod health;
pub(crate) mod inference;
pub(crate) mod inspect;
pub(crate) mod labels;
pub(crate) mod learn;
pub(crate) mod list;
pub(crate) mod live;
pub(crate) mod merge;
pub(crate) mod metrics;
pub(crate) mod predict;
pub(crate) mod roll_back;
pub(crate) mod snapshots;
pub(crate) mod test_then_train;
pub(crate) mod unlearn;
