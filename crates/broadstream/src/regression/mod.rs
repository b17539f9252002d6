//! One ridge regression on broad features, exact after every sample: its triangular [`factor`], the
//! refresh that preserves the ridge of a regression that forgets, and the check for rounding
//! errors.

mod batch;
pub mod factor;
mod health;
mod plan;
mod ridge_refresh;
mod ridge_regression;

pub use self::health::{LARGEST_ERROR, RegressionHealth};
pub(crate) use self::{
    batch::{Batch, BatchView},
    plan::RegressionPlan,
    ridge_regression::{Learned, RidgeRegression},
};
