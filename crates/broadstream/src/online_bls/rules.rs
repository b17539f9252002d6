//! The rules that a configuration must satisfy, and how much memory a model with it takes.

use super::BLOCK;
use crate::{
    config::{EnhancementSource, Forgetting, OnlineBlsConfig, WeightScale, check},
    ensemble::{RecentSamples, labelled_features, plan},
    error::Error,
    features::Shape,
    regression::{RegressionPlan, factor::Factor},
};

impl OnlineBlsConfig {
    /// Checks every rule that does not depend on the data.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.check_rules()?;
        self.check_memory("the nodes", self.bytes(0, 0))
    }

    /// Checks that this many bytes are within the limit. `what` names in an error what needs them.
    pub(crate) fn check_memory(&self, what: &'static str, needed: u128) -> Result<(), Error> {
        let limit = self.memory_limit;
        if needed > u128::from(limit) { Err(Error::Memory { what, needed, limit }) } else { Ok(()) }
    }

    /// Checks every rule except the memory limit.
    pub(crate) fn check_rules(&self) -> Result<(), Error> {
        OnlineBlsConfig::options().iter().try_for_each(|option| option.check(self))?;
        let least = plan(self).iter().map(|plan| plan.forgetting).fold(1.0, f64::min);
        let faded = least.powf(self.refresh_every.unwrap_or(1) as f64);
        let rule = "small enough that the smallest forgetting to its power is at least 1e-6";
        check("refresh_every", faded >= 1e-6, rule, &self.refresh_every.unwrap_or(1))?;
        let alone = self.nested_models == 1 && plan(self).len() == 1;
        let sound = self.correction_steps == 0 || alone;
        let rule =
            "0 unless nested_models is 1, label_lags is 0, and forgetting and ridge are given";
        check("correction_steps", sound, rule, &self.correction_steps)?;
        let forgets = self.forgetting != Forgetting::Fixed(1.0);
        let sound = !(forgets || self.label_lags > 0 || self.keep_weights);
        let rule = "none unless forgetting is 1, label_lags is 0 and keep_weights is false";
        let window = self.window.unwrap_or(0);
        check("window", self.window.is_none() || sound, rule, &window)?;
        let sound = self.stacking || self.label_lags == 0;
        check("label_lags", sound, "0 without stacking", &self.label_lags)?;
        let sees_nodes = self.enhancement_source == EnhancementSource::FeatureNodes;
        let sound = self.weight_scale != WeightScale::Paper || sees_nodes;
        let rule = "feature-nodes if weight_scale is paper";
        check("enhancement_source", sound, rule, &"inputs")
    }

    /// How many bytes a model with this many inputs and classes takes when it begins.
    pub(crate) fn bytes(&self, inputs: usize, classes: usize) -> u128 {
        self.bytes_of(&plan(self).iter().collect::<Vec<_>>(), inputs, classes)
    }

    /// How many bytes a model with these regressions takes.
    pub(crate) fn bytes_of(
        &self,
        plans: &[&RegressionPlan],
        inputs: usize,
        classes: usize,
    ) -> u128 {
        let labels = labelled_features(plans.iter().copied()) as u128
            * (self.label_lags * size_of::<f64>()) as u128;
        let recent = if self.is_adaptive() { RecentSamples::MOST_BYTES as u128 } else { 0 };
        plans
            .iter()
            .map(|plan| self.regression_bytes(plan, classes))
            .chain([labels.saturating_mul(classes as u128), recent])
            .fold(self.feature_bytes(inputs), u128::saturating_add)
    }

    fn regression_bytes(&self, plan: &RegressionPlan, classes: usize) -> u128 {
        let order = plan.features;
        // A regression that forgets also keeps the matrix that its factor is refreshed from.
        let triangles = if plan.forgetting < 1.0 { 2 } else { 1 };
        // The rows of Z, and of the weights of nested models if these are kept.
        let rows = if self.keep_weights || self.correction_steps > 0 {
            let nested = self.nested_features().into_iter().filter(|nested| *nested <= order);
            nested.fold(order.saturating_mul(2), usize::saturating_add)
        } else {
            order
        };
        // The scores of a block's samples are kept between calls.
        let scores = BLOCK * self.nested_features().len().max(1);
        let per_class = (rows as u128 + scores as u128) * size_of::<f64>() as u128;
        let targets = per_class.saturating_mul(classes as u128);
        Factor::bytes(order).saturating_mul(triangles).saturating_add(targets)
    }

    /// How many bytes this many inputs take: their random weights, and the state of their scaling.
    pub(crate) fn feature_bytes(&self, inputs: usize) -> u128 {
        let scaling = self.scaling.bytes_per_input().saturating_mul(inputs as u128);
        Shape::of(self).bytes(inputs).saturating_add(scaling)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Forgetting, Nodes, Ridge};

    #[test]
    fn rules_are_checked_when_the_model_is_made() {
        let default = OnlineBlsConfig::default;
        for (config, message) in [
            (
                OnlineBlsConfig { ridge: Ridge::Fixed(-1.0), ..default() },
                "ridge must be above 0, from 1e-100 to 1e100, got -1",
            ),
            (
                OnlineBlsConfig { ridge: Ridge::Fixed(f64::NAN), ..default() },
                "ridge must be above 0, from 1e-100 to 1e100, got NaN",
            ),
            (
                OnlineBlsConfig { forgetting: Forgetting::Fixed(0.0), ..default() },
                "forgetting must be in (0, 1], and at least 1e-6, got 0",
            ),
            (
                OnlineBlsConfig { forgetting: Forgetting::Fixed(1.5), ..default() },
                "forgetting must be in (0, 1], and at least 1e-6, got 1.5",
            ),
            (
                OnlineBlsConfig { enhancement_nodes: Nodes::Fixed(0), ..default() },
                "enhancement_nodes must be at least 1, got 0",
            ),
            (
                OnlineBlsConfig { enhancement_nodes: Nodes::Fixed(usize::MAX), ..default() },
                "the nodes need ",
            ),
        ] {
            let refused = config.check().unwrap_err().to_string();
            assert!(refused.starts_with(message), "{refused}");
        }
    }
}
