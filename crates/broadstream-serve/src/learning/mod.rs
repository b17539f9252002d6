//! Models that learn what they are told, lose nothing of it, and predict meanwhile. Nothing here knows HTTP.
//!
//! [`state`] is a model that applies [`record`]s; [`pending`] predictions wait for labels, and [`answers`]
//! for those who ask again. [`model`] logs records, applies and publishes them, with the threads of
//! [`workers`] and the files of [`folder`]. [`published`] is what readers see. [`registry`] has all models.

mod answers;
mod codec;
mod durability;
mod error;
mod folder;
mod model;
mod name;
mod pending;
mod published;
mod record;
mod registry;
mod state;
mod statistics;
#[cfg(test)]
mod tests;
mod workers;

pub use self::{durability::Durability, error::ServeError, folder::UnknownName, name::ModelName};

use self::registry::TICK;

pub(crate) use self::{
    folder::SnapshotFile,
    model::{Applied, Model, ModelOptions, Request, now},
    name::excerpt,
    published::{Published, RowPrediction, Wanted},
    record::{Change, Label, LabelledRow, Prediction},
    registry::{NewModel, Registry, make_private_folder},
    state::{LabelOutcome, Outcome, RowOutcome},
    statistics::{Histogram, Statistics, WINDOW},
};
