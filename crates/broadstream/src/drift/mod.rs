//! Drift detection: detectors that watch a sequence of values, such as a model's errors.
//!
//! [`Adwin`] keeps a window of the last values for as long as they look alike, and reports a
//! [`Change`] when older and newer ones differ by more than chance.

mod adwin;
mod buckets;

pub use self::adwin::{Adwin, Change};
