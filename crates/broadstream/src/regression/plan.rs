//! The options of one regression of a model.

use crate::{
    classifier::Member,
    config::OnlineBlsConfig,
    features::{Features, NodeKind},
};

/// The options of one regression of a model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RegressionPlan {
    pub(crate) name: String,
    /// The kind of enhancement nodes that it sees beside the linear ones.
    pub(crate) kind: NodeKind,
    /// How many features it sees: the linear nodes, and the first ones of its kind.
    pub(crate) features: usize,
    pub(crate) forgetting: f64,
    pub(crate) ridge: f64,
    /// Whether it restarts after a drift.
    pub(crate) restarts: bool,
    /// Whether its features depend on earlier labels.
    pub(crate) sees_labels: bool,
}

/// Below this many enhancement nodes a nested model would be hardly better than the linear one.
const LEAST_NESTED: usize = 60;

impl RegressionPlan {
    /// The regression as a member that takes part with this weight.
    pub(crate) fn member(&self, weight: f64) -> Member {
        Member {
            name: self.name.clone(),
            weight,
            features: Some(self.features),
            nodes: Some(self.kind.name()),
            rests: false,
        }
    }

    /// Appends to `rows` those of the samples' features that the regression sees, one row for each
    /// sample.
    pub(crate) fn gather(&self, features: &Features, samples: usize, rows: &mut Vec<f64>) {
        let RegressionPlan { features: order, kind, sees_labels, .. } = *self;
        if sees_labels {
            let length = features.labelled.len().checked_div(samples).unwrap_or(0).max(1);
            for row in features.labelled.chunks_exact(length) {
                rows.extend_from_slice(&row[..order]);
            }
        } else {
            for row in features.plain.chunks_exact(features.layout.len().max(1)) {
                features.layout.gather(row, kind, order, rows);
            }
        }
    }

    /// Those of the samples' features that the regression sees, one row for each sample.
    pub(crate) fn features_of(&self, features: &Features, samples: usize) -> Vec<f64> {
        let mut rows = Vec::with_capacity(samples * self.features);
        self.gather(features, samples, &mut rows);
        rows
    }

    /// The number of features of each nested model, the smallest first, without that on all
    /// features.
    pub(crate) fn nested_features(&self, config: &OnlineBlsConfig) -> Vec<usize> {
        if !config.is_adaptive() {
            let sizes = config.nested_features().into_iter();
            return sizes.filter(|size| *size < self.features).collect();
        }
        let linear = config.linear();
        let halves = std::iter::successors(Some((self.features - linear) / 2), |n| Some(n / 2));
        let halves = halves.take(config.nested_models.saturating_sub(2));
        let mut sizes: Vec<usize> =
            halves.take_while(|n| *n >= LEAST_NESTED).map(|nodes| linear + nodes).collect();
        if config.nested_models > 1 {
            sizes.push(linear);
        }
        sizes.reverse();
        sizes
    }
}
