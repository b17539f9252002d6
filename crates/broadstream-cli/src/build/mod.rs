//! From arguments to objects: the source of samples and the model.

pub(crate) mod applicable;
pub(crate) mod baseline;
pub(crate) mod model;
pub(crate) mod source;
