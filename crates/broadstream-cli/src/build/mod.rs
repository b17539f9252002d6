//! From arguments to objects: the source of the samples and the model that learns them.
//!
//! [`source`] opens streams, [`model`] makes models (those to compare with in [`baseline`]), [`applicable`]
//! refuses options that a model does not have, [`like`] copies a saved model's features and options, and
//! [`threads`] decides how many cores a model gets.

pub(crate) mod applicable;
pub(crate) mod baseline;
pub(crate) mod like;
pub(crate) mod model;
pub(crate) mod source;
pub(crate) mod threads;
