//! From arguments to objects: the source of the samples and the model that learns them.
//!
//! [`source`] opens streams, [`model`] makes models (those to compare with in [`baseline`]), [`applicable`]
//! refuses options that a model does not have, [`decisions`] says what decisions are
//! made for, [`like`] copies a saved model's features and options,
//! [`threads`] decides how many cores a model gets, and [`stop`] has the signals that ask a program to end.

pub(crate) mod applicable;
pub(crate) mod baseline;
pub(crate) mod decisions;
pub(crate) mod like;
pub(crate) mod model;
pub(crate) mod source;
pub(crate) mod stop;
pub(crate) mod threads;
