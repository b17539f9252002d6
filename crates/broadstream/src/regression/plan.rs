//! What one regression is to be.

/// What one regression is to be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RegressionPlan {
    pub(crate) name: String,
    /// How many of the features it sees.
    pub(crate) features: usize,
    pub(crate) forgetting: f64,
    pub(crate) ridge: f64,
    /// Whether it begins anew at a drift.
    pub(crate) restarts: bool,
    /// Whether its features are made with the labels before.
    pub(crate) sees_labels: bool,
}
