//! The options of one regression of a model.

/// The options of one regression of a model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RegressionPlan {
    pub(crate) name: String,
    /// How many of the features it sees.
    pub(crate) features: usize,
    pub(crate) forgetting: f64,
    pub(crate) ridge: f64,
    /// Whether it restarts after a drift.
    pub(crate) restarts: bool,
    /// Whether its features depend on earlier labels.
    pub(crate) sees_labels: bool,
}
