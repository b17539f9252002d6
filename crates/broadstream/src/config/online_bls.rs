//! What a learner is made of.

use super::{ClassWeight, EnhancementSource, Forgetting, Ridge, WeightScale};
use crate::{error::Error, numeric::Activation, preprocessing::Scaling};

/// The configuration of an [`OnlineBls`](crate::OnlineBls).
///
/// The field names are also those of the command line's options and of the JSON output.
///
/// ```
/// use broadstream::{OnlineBls, OnlineBlsConfig, Ridge};
///
/// let config = OnlineBlsConfig { enhancement_nodes: 500, ..OnlineBlsConfig::default() };
/// let model = OnlineBls::new(config)?;
/// let ridge = Ridge::Fixed(0.0);
/// let refused = OnlineBls::new(OnlineBlsConfig { ridge, ..OnlineBlsConfig::default() });
/// assert_eq!(refused.unwrap_err().to_string(), "ridge must be above 0, from 1e-100 to 1e100, got 0");
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct OnlineBlsConfig {
    /// Groups of linear feature nodes (the paper's n₂). Default 10.
    pub feature_groups: usize,
    /// Nodes per feature group (n₁). Default 10.
    pub feature_nodes: usize,
    /// Groups of non-linear enhancement nodes (n₄). Default 1.
    pub enhancement_groups: usize,
    /// Nodes per enhancement group (n₃). Default 2000; 1000 in [`single`](Self::single) and
    /// [`paper`](Self::paper).
    pub enhancement_nodes: usize,
    /// What the enhancement nodes see. Default the inputs.
    pub enhancement_source: EnhancementSource,
    /// The non-linearity of the enhancement nodes. Default tanh.
    pub activation: Activation,
    /// The size of the random weights. Default by fan-in.
    pub weight_scale: WeightScale,
    /// How many inputs a sample usually has present, by which the first layer's weights are scaled.
    /// Default `None`: as many as the first sample learned has.
    pub inputs_per_sample: Option<usize>,
    /// How numeric inputs are scaled. Default by distance and rank together, running.
    pub scaling: Scaling,
    /// After how many learned samples a running scaling stays as it is. Default `None`: never.
    pub freeze_scaling_after: Option<u64>,
    /// The ridge λ > 0: how strongly weights are drawn to zero. Default chosen on the way.
    pub ridge: Ridge,
    /// The share μ of the past that each new sample leaves, in (0, 1\]. Default chosen on the way.
    pub forgetting: Forgetting,
    /// How many of the last samples the regressions are the exact optimum of; what came before is
    /// taken back sample by sample. Needs a `forgetting` of 1, no `label_lags` and no kept weights.
    /// Default `None`: all samples.
    pub window: Option<usize>,
    /// Samples between two exact refreshes of a factor that forgets. Default `None`: as many as leave
    /// a quarter of the ridge, or down to a sixteenth if refreshes would otherwise take more time than
    /// all else. 1 is the paper's Algorithm 2.
    pub refresh_every: Option<usize>,
    /// Steps of conjugate gradients per sample that correct for the ridge which fades between two
    /// refreshes: with two to four the weights are near those of the paper's Algorithm 2, at some
    /// times the cost. Default 0. More need one regression alone: [`single`](Self::single) with
    /// `nested_models` of 1.
    pub correction_steps: usize,
    /// How many nested models share in a prediction: the one on all nodes, one on half of the
    /// enhancement nodes, a quarter and so on, and the one on the linear nodes alone. They are exact
    /// too, come for free with the largest, and are weighted by their recent error. Default 5. With
    /// 1 the scores are those of all nodes.
    pub nested_models: usize,
    /// Whether predictions are made by a regression on what the nested models of all regressions
    /// predict, and on the last labels, and are calibrated; without it they are averaged by their
    /// recent error. Default true.
    pub stacking: bool,
    /// How many of the labels before take part in stacking, and are inputs of a regression or two of
    /// their own: 1 helps wherever a stream dwells on a class, and costs little elsewhere. At most 100.
    /// Default 1.
    pub label_lags: usize,
    /// What samples count by how rare their class is. Default nothing.
    pub class_weight: ClassWeight,
    /// Whether the output weights are kept up to date. Predicting then takes a few microseconds
    /// instead of most of the time of learning, and learning nearly twice as long, also in blocks:
    /// for a model that predicts more often than it learns. Scores are the same but for rounding.
    /// Default false.
    pub keep_weights: bool,
    /// How many threads learn a block. The result is the same to the bit. Default 1.
    pub threads: usize,
    /// The seed of all random weights. Default 0.
    pub seed: u64,
    /// The most memory, in bytes, that the model may take. Default 4 GiB.
    pub memory_limit: u64,
}

impl Default for OnlineBlsConfig {
    fn default() -> Self {
        OnlineBlsConfig {
            feature_groups: 10,
            feature_nodes: 10,
            enhancement_groups: 1,
            enhancement_nodes: 2000,
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
            keep_weights: false,
            threads: 1,
            seed: 0,
            memory_limit: 4 << 30,
        }
    }
}

impl OnlineBlsConfig {
    /// One regression that forgets nothing, with a ridge of 1: after every sample the exact optimum of
    /// all samples. Nothing is left to the model to choose, but for the weights of its nested models.
    pub fn single() -> Self {
        OnlineBlsConfig {
            enhancement_nodes: 1000,
            ridge: Ridge::Fixed(1.0),
            forgetting: Forgetting::Fixed(1.0),
            stacking: false,
            label_lags: 0,
            ..Self::default()
        }
    }

    /// The paper's configuration: its sizes, λ = 10⁻⁸, and where it is silent the reading that comes
    /// closest to its figures. For drifting streams the paper sets `forgetting` to 0.99.
    ///
    /// Inputs are min–max scaled. The paper's authors could scale by the whole stream; to do that,
    /// pass [`Scaling::fit_min_max`] of a first pass.
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

    /// How many linear nodes there are.
    pub(crate) fn linear(&self) -> usize {
        self.feature_groups.saturating_mul(self.feature_nodes)
    }

    /// After how many features each nested model ends: the linear nodes alone first, then twice as
    /// many enhancement nodes with each model up to all of them.
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

    /// How many enhancement nodes there are.
    pub(crate) fn enhancement(&self) -> usize {
        self.enhancement_groups.saturating_mul(self.enhancement_nodes)
    }

    /// How many broad features there are.
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
                enhancement_nodes: nodes,
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
