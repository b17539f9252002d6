//! From raw inputs to scaled ones: how each input is scaled, what is remembered of its past values,
//! and a sample after scaling.

mod quantiles;
mod scaled_inputs;
mod scaled_sample;
mod scaling;

pub use self::scaling::{Affine, Scaling};
pub(crate) use self::{
    scaled_inputs::ScaledInputs,
    scaled_sample::{NO_CODE, ScaledSample, code},
    scaling::LARGEST_SCALED,
};
