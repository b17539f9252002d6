//! The configuration of the learner.

use super::{ClassWeight, EnhancementSource, Forgetting, Nodes, Ridge, WeightScale};
use crate::{data::Objective, error::Error, numeric::Activation, preprocessing::Scaling};

/// How many enhancement nodes a model begins with if it chooses their number.
const FIRST_NODES: usize = 1000;

/// How many enhancement nodes a group has if the model should choose their number and cannot.
const UNCHOSEN_NODES: usize = 2000;

/// The configuration of an [`OnlineBls`](crate::OnlineBls).
///
/// The fields have the same names as the options of the command line, Python's keyword arguments
/// and the keys in JSON.
///
/// ```
/// use broadstream::{Nodes, OnlineBls, OnlineBlsConfig, Ridge};
///
/// let enhancement_nodes = Nodes::Fixed(500);
/// let config = OnlineBlsConfig { enhancement_nodes, ..OnlineBlsConfig::default() };
/// let model = OnlineBls::new(config)?;
/// let ridge = Ridge::Fixed(0.0);
/// let refused = OnlineBls::new(OnlineBlsConfig { ridge, ..OnlineBlsConfig::default() });
/// let message = "ridge must be above 0, from 1e-100 to 1e100, got 0";
/// assert_eq!(refused.unwrap_err().to_string(), message);
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct OnlineBlsConfig {
    /// Groups of linear feature nodes (the paper's n₂). Default 10.
    pub feature_groups: usize,
    /// Nodes per feature group (n₁). Default 10. A model that chooses its enhancement nodes and has ten
    /// groups of ten uses the inputs themselves instead if there are fewer than 64.
    pub feature_nodes: usize,
    /// Groups of non-linear enhancement nodes (n₄). Default 1.
    pub enhancement_groups: usize,
    /// Nodes per enhancement group (n₃). Default [`Nodes::Auto`]: chosen by the model; 1000 in
    /// [`single`](Self::single) and [`paper`](Self::paper).
    pub enhancement_nodes: Nodes,
    /// The largest number of enhancement nodes of a regression, where the model chooses it. Default
    /// 2000.
    pub most_nodes: usize,
    /// What the enhancement nodes see. Default the inputs.
    pub enhancement_source: EnhancementSource,
    /// The non-linearity of the enhancement nodes. Default tanh.
    pub activation: Activation,
    /// The size of the random weights. Default by fan-in.
    pub weight_scale: WeightScale,
    /// How many inputs are usually present in a sample, which determines the size of the first
    /// layer's weights. Default `None`: as many as are present in the first sample learned.
    pub inputs_per_sample: Option<usize>,
    /// How numeric inputs are scaled. Default [`Scaling::ROBUST`], which follows the samples so
    /// far.
    pub scaling: Scaling,
    /// After how many learned samples a running scaling is frozen. Default `None`: never.
    pub freeze_scaling_after: Option<u64>,
    /// The ridge λ > 0: how strongly output weights are pulled towards zero. Default
    /// [`Ridge::Auto`]: chosen by the model.
    pub ridge: Ridge,
    /// The forgetting factor μ in (0, 1\]: each new sample multiplies the weight of all earlier
    /// samples by μ. Default [`Forgetting::Auto`]: chosen by the model.
    pub forgetting: Forgetting,
    /// The number of last samples of which the regressions are the exact optimum; earlier samples
    /// are unlearned one by one. Needs a `forgetting` of 1, `label_lags` of 0 and no
    /// `keep_weights`. Default `None`: no window.
    pub window: Option<usize>,
    /// The number of samples between two exact refreshes of a factor that forgets. Default `None`:
    /// as many as leave a quarter of the ridge, or down to a sixteenth if refreshes would otherwise
    /// take more time than everything else. 1 is the paper's Algorithm 2.
    pub refresh_every: Option<usize>,
    /// Steps of conjugate gradients per sample, which correct for the ridge that fades between two
    /// refreshes. With two to four steps the weights are close to those of the paper's Algorithm 2,
    /// and learning takes several times as long. Default 0. Steps need a single regression:
    /// [`single`](Self::single) with `nested_models` of 1.
    pub correction_steps: usize,
    /// The number of nested models whose predictions are combined: one on all nodes, one on half of
    /// the enhancement nodes, one on a quarter and so on, and one on the linear nodes alone. All
    /// are exact, cost next to nothing beside the largest, and are weighted by their recent errors.
    /// Default 5. With 1 the scores are those of the model on all nodes.
    pub nested_models: usize,
    /// Whether predictions are made by a regression on the predictions of all nested models and on
    /// the last labels, and then calibrated. Without stacking the predictions are averaged,
    /// weighted by recent errors. Default true.
    pub stacking: bool,
    /// How many of the last labels are inputs of stacking, and of one or two regressions of their
    /// own. 1 helps wherever a stream stays with a class for a while, and costs little elsewhere.
    /// At most 100. Default 1.
    pub label_lags: usize,
    /// How much a sample counts, by how rare its class is. Default: all samples count the same.
    pub class_weight: ClassWeight,
    /// What decisions are made for. Probabilities do not depend on it, and it may be
    /// [changed](crate::OnlineBls::set_objective) at any time. Default [`Objective::Accuracy`].
    pub objective: Objective,
    /// Whether the output weights are kept up to date, for a model that predicts more often than it
    /// learns. Predicting then takes a few microseconds instead of nearly as long as learning, and
    /// learning takes nearly twice as long, also in blocks. Scores are the same up to rounding.
    /// Default false.
    pub keep_weights: bool,
    /// How many threads learn a block. The result is the same to the bit. Default 1.
    pub threads: usize,
    /// The seed of all random weights. Default 0.
    pub seed: u64,
    /// The largest amount of memory, in bytes, that the model may take. Default 4 GiB.
    pub memory_limit: u64,
}

impl Default for OnlineBlsConfig {
    fn default() -> Self {
        OnlineBlsConfig {
            feature_groups: 10,
            feature_nodes: 10,
            enhancement_groups: 1,
            enhancement_nodes: Nodes::Auto,
            most_nodes: 2000,
            enhancement_source: EnhancementSource::Inputs,
            activation: Activation::Tanh,
            weight_scale: WeightScale::FanIn,
            inputs_per_sample: None,
            scaling: Scaling::ROBUST,
            freeze_scaling_after: None,
            ridge: Ridge::Auto,
            forgetting: Forgetting::Auto,
            window: None,
            refresh_every: None,
            correction_steps: 0,
            nested_models: 5,
            stacking: true,
            label_lags: 1,
            class_weight: ClassWeight::None,
            objective: Objective::Accuracy,
            keep_weights: false,
            threads: 1,
            seed: 0,
            memory_limit: 4 << 30,
        }
    }
}

impl OnlineBlsConfig {
    /// One regression that forgets nothing, with a ridge of 1: after every sample it is the exact
    /// optimum of all samples. The model chooses nothing by itself except the weights of its nested
    /// models.
    pub fn single() -> Self {
        OnlineBlsConfig {
            enhancement_nodes: Nodes::Fixed(1000),
            ridge: Ridge::Fixed(1.0),
            forgetting: Forgetting::Fixed(1.0),
            stacking: false,
            label_lags: 0,
            ..Self::default()
        }
    }

    /// The paper's configuration: its sizes, λ = 10⁻⁸, and, where the paper says nothing, the
    /// interpretation that comes closest to its results. For drifting streams the paper sets
    /// `forgetting` to 0.99.
    ///
    /// Inputs are min–max scaled by the samples so far. The paper's authors could scale by the
    /// whole stream; to do the same, read the stream once with [`Scaling::fit_min_max`] and use the
    /// result.
    pub fn paper() -> Self {
        OnlineBlsConfig {
            enhancement_source: EnhancementSource::FeatureNodes,
            weight_scale: WeightScale::Paper,
            scaling: Scaling::MinMax,
            ridge: Ridge::Fixed(1e-8),
            nested_models: 1,
            ..Self::single()
        }
    }

    /// The number of linear nodes.
    pub(crate) fn linear(&self) -> usize {
        self.feature_groups.saturating_mul(self.feature_nodes)
    }

    /// The number of features of each nested model, the smallest first: the linear nodes alone, and
    /// then with twice as many enhancement nodes from one model to the next, up to all of them.
    /// Empty if there is only the model on all nodes.
    pub(crate) fn nested_features(&self) -> Vec<usize> {
        let halvings = (self.nested_models - 1).min(usize::BITS as usize) as u32;
        let enhancement =
            (0..halvings).rev().map(|k| self.enhancement().checked_shr(k).unwrap_or(0));
        let smallest = (self.nested_models > 1).then_some(0);
        let mut sizes: Vec<usize> = smallest
            .into_iter()
            .chain(enhancement)
            .map(|nodes| self.linear().saturating_add(nodes))
            .collect();
        sizes.dedup();
        sizes
    }

    /// The number of enhancement nodes, at the beginning if the model chooses it.
    pub(crate) fn enhancement(&self) -> usize {
        let first = if self.is_adaptive() { FIRST_NODES } else { UNCHOSEN_NODES };
        let nodes = self.enhancement_nodes.fixed().unwrap_or(first.min(self.most_nodes));
        self.enhancement_groups.saturating_mul(nodes)
    }

    /// The largest number of enhancement nodes of a kind.
    pub(crate) fn most_enhancement(&self) -> usize {
        self.enhancement().max(if self.is_adaptive() { self.most_nodes } else { 0 })
    }

    /// Whether the model chooses its nodes and regressions by what they contribute. That needs the
    /// stacking, which tells what they contribute, and regressions that can learn earlier samples later.
    pub(crate) fn is_adaptive(&self) -> bool {
        self.enhancement_nodes == Nodes::Auto
            && self.stacking
            && self.enhancement_source == EnhancementSource::Inputs
            && self.enhancement_groups == 1
            && self.window.is_none()
            && self.correction_steps == 0
            && !self.keep_weights
    }

    /// The number of broad features.
    pub(crate) fn features(&self) -> usize {
        self.linear().saturating_add(self.enhancement())
    }
}

/// Checks one rule of a configuration.
pub(crate) fn check(
    option: &'static str,
    sound: bool,
    rule: &'static str,
    value: &dyn ToString,
) -> Result<(), Error> {
    if sound { Ok(()) } else { Err(Error::Config { option, rule, value: value.to_string() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_models_double_in_size() {
        let nested = |models, nodes| {
            let config = OnlineBlsConfig {
                nested_models: models,
                enhancement_nodes: Nodes::Fixed(nodes),
                ..OnlineBlsConfig::single()
            };
            config.nested_features()
        };
        assert_eq!(nested(5, 1000), [100, 225, 350, 600, 1100]);
        assert_eq!(nested(2, 1000), [100, 1100]);
        assert!(nested(1, 1000).is_empty());
        assert_eq!(nested(100, 2), [100, 101, 102]);
        assert_eq!(nested(usize::MAX, 2), [100, 101, 102]);
    }
}
