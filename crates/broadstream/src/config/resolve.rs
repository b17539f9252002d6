//! From a preset and given values to a configuration. This is the one place where defaults that
//! depend on other options are decided.

use serde_json::{Map, Value};

use super::{ConfigOption, Forgetting, Nodes, OnlineBlsConfig, Preset};
use crate::{
    error::{Error, ModelFileError},
    preprocessing::Scaling,
    state::ReadScope,
};

impl OnlineBlsConfig {
    /// The configuration of a preset, changed by the options that are given. Their names and values
    /// have the form of [`to_json`](Self::to_json).
    ///
    /// Some defaults depend on the options that are given: with a `window`, `forgetting` is 1 and
    /// `label_lags` is 0; otherwise `label_lags` is 1 with `stacking` and 0 without it. An option
    /// that would have no effect is refused, since whoever gives it expects one. All other rules
    /// are checked when a model is made.
    ///
    /// ```
    /// use broadstream::{OnlineBlsConfig, Preset, Ridge};
    /// use serde_json::json;
    ///
    /// let resolve = |options: serde_json::Value| {
    ///     OnlineBlsConfig::resolve(Preset::Single, options.as_object().unwrap())
    /// };
    /// let config = resolve(json!({ "ridge": 0.5, "stacking": true }))?;
    /// assert_eq!((config.ridge, config.label_lags), (Ridge::Fixed(0.5), 1));
    ///
    /// let refused = resolve(json!({ "activation": "sine" })).unwrap_err();
    /// let message = "activation must be one of tanh, sigmoid, relu, got \"sine\"";
    /// assert_eq!(refused.to_string(), message);
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn resolve(preset: Preset, given: &Map<String, Value>) -> Result<Self, Error> {
        let mut config = preset.config();
        for (name, value) in given {
            let unknown = || Error::UnknownOption { name: name.clone() };
            let option = Self::option(name).ok_or_else(unknown)?;
            option.set(&mut config, value).map_err(|rule| refused(option, rule, value))?;
        }
        // Derived defaults come after all given values, so that the order of options does not
        // matter, and never replace a value that was given: a contradiction is refused later, when
        // a model is made.
        if config.window.is_some() && !given.contains_key("forgetting") {
            config.forgetting = Forgetting::Fixed(1.0);
        }
        if !given.contains_key("label_lags") {
            config.label_lags = usize::from(config.stacking && config.window.is_none());
        }
        for (name, value) in given {
            if let (Some(option), Some(rule)) = (Self::option(name), config.without_effect(name)) {
                return Err(refused(option, rule, value));
            }
        }
        Ok(config)
    }

    /// The rule that a given option breaks if it has no effect together with the others.
    fn without_effect(&self, name: &str) -> Option<&'static str> {
        let remembers = self.forgetting == Forgetting::Fixed(1.0);
        match name {
            "most_nodes"
                if self.most_nodes != OnlineBlsConfig::default().most_nodes
                    && self.enhancement_nodes != Nodes::Auto =>
            {
                Some("left out unless enhancement_nodes is auto")
            }
            "refresh_every" if self.refresh_every.is_some() && remembers => {
                Some("left out while forgetting is 1: nothing is refreshed then")
            }
            "correction_steps" if self.correction_steps > 0 && remembers => {
                Some("0 while forgetting is 1: the ridge does not fade then")
            }
            "freeze_scaling_after"
                if self.freeze_scaling_after.is_some()
                    && matches!(self.scaling, Scaling::None | Scaling::Given(_)) =>
            {
                Some("left out unless the scaling is a running one: standard, robust or min-max")
            }
            _ => None,
        }
    }

    /// The configuration that was saved. Its rules are checked when a model is made.
    pub(crate) fn from_state(from: &ReadScope<'_>) -> Result<Self, ModelFileError> {
        let mut config = OnlineBlsConfig::default();
        for option in OnlineBlsConfig::options() {
            // Files of earlier versions lack them: they have a fixed number of nodes, and decide for
            // the most probable class.
            if ["most_nodes", "objective"].contains(&option.name) && !from.has(option.name) {
                continue;
            }
            let set = option.set(&mut config, from.value(option.name)?);
            set.map_err(|rule| from.invalid(option.name, rule))?;
        }
        Ok(config)
    }
}

fn refused(option: &ConfigOption, rule: &'static str, value: &Value) -> Error {
    Error::Config { option: option.name, rule, value: value.to_string() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn resolve(preset: Preset, given: &Value) -> Result<OnlineBlsConfig, String> {
        let given = given.as_object().unwrap().clone();
        OnlineBlsConfig::resolve(preset, &given).map_err(|error| error.to_string())
    }

    #[test]
    fn nothing_given_is_the_preset() {
        for (preset, _) in Preset::all() {
            assert_eq!(resolve(preset, &json!({})).unwrap(), preset.config());
        }
    }

    #[test]
    fn every_option_can_be_given_as_it_is_shown() {
        for (preset, _) in Preset::all() {
            let given = Value::Object(preset.config().to_json());
            assert_eq!(resolve(preset, &given).unwrap(), preset.config());
        }
    }

    #[test]
    fn what_depends_on_other_options_follows_them() {
        let config = resolve(Preset::Single, &json!({ "stacking": true })).unwrap();
        assert_eq!(config.label_lags, 1);
        let config = resolve(Preset::Default, &json!({ "stacking": false })).unwrap();
        assert_eq!(config.label_lags, 0);
        let config = resolve(Preset::Default, &json!({ "window": 100 })).unwrap();
        assert_eq!((config.forgetting, config.label_lags), (Forgetting::Fixed(1.0), 0));
        let given = json!({ "window": 100, "forgetting": 0.5, "label_lags": 3 });
        let config = resolve(Preset::Default, &given).unwrap();
        assert_eq!((config.forgetting, config.label_lags), (Forgetting::Fixed(0.5), 3));
    }

    #[test]
    fn options_without_effect_are_refused() {
        for (given, message) in [
            (
                json!({ "refresh_every": 5 }),
                "refresh_every must be left out while forgetting is 1: nothing is refreshed then, \
                 got 5",
            ),
            (
                json!({ "correction_steps": 2, "nested_models": 1 }),
                "correction_steps must be 0 while forgetting is 1: the ridge does not fade then, \
                 got 2",
            ),
            (
                json!({ "freeze_scaling_after": 9, "scaling": "none" }),
                "freeze_scaling_after must be left out unless the scaling is a running one: \
                 standard, robust or min-max, got 9",
            ),
            (json!({ "colour": 1 }), "a model has no option 'colour'"),
        ] {
            assert_eq!(resolve(Preset::Single, &given).unwrap_err(), message);
        }
    }
}
