//! The commands on saved models: `predict`, `learn`, `unlearn`, `merge`, `fit-partial` and `inspect`.
//!
//! [`rows`] opens the rows that the first three take, and [`responder`] predicts and learns them as they
//! arrive. [`change`] reads a model that is to be written back, and [`journal`] keeps rows that were learned
//! since it last was.

mod change;
pub(crate) mod fit_partial;
pub(crate) mod inspect;
mod journal;
pub(crate) mod learn;
pub(crate) mod merge;
pub(crate) mod predict;
mod reasons;
mod responder;
mod rows;
pub(crate) mod unlearn;
