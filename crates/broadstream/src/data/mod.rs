//! What passes between streams, models and evaluation: one [`Sample`], a [`Block`] of them with
//! classes and weights, the [`Schema`] that names inputs and classes, the [`Scores`] that a model
//! gives with its [`Decisions`], and a [`Matrix`] of its weights or features.

mod block;
mod columns;
mod decisions;
mod matrix;
mod sample;
mod schema;
mod scores;

pub use self::{
    block::Block,
    decisions::{Decisions, Objective},
    matrix::Matrix,
    sample::Sample,
    schema::{Input, InputKind, Schema},
    scores::{Scores, arg_max},
};
pub(crate) use self::{
    block::{check_class, check_weight},
    columns::Columns,
};
