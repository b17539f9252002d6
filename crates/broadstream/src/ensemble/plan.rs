//! Which regressions a model is made of.
//!
//! No single forgetting suits every stream: a stream that never changes wants none, another wants a
//! memory of ten samples. So several regressions learn side by side, over one scaling and one feature
//! map. What remembers little can tell few features apart: its regression takes only the first ones,
//! and costs a small part of the largest.

use crate::{
    config::{Forgetting, OnlineBlsConfig, Ridge},
    regression::RegressionPlan,
};

/// The rates of [`Forgetting::Auto`], and how often each halves the number of enhancement nodes. From
/// one to the next the memory shrinks to about a third.
const RATES: [(f64, u32); 6] =
    [(0.9997, 2), (0.999, 2), (0.997, 3), (0.99, 3), (0.95, 3), (0.9, 4)];

/// The rates of the regressions that see the labels before, if the forgetting is chosen, and how often
/// each halves them. A forgetting that was given has one of them, with as many as the first.
const LABELLED_RATES: [(f64, u32); 2] = [(0.999, 2), (0.99, 3)];

/// Below this many enhancement nodes nothing is worth being spared.
const LEAST_NODES: usize = 125;

/// How often the regression that begins anew at a drift halves them.
const RESTARTING: u32 = 2;

/// The ridges of [`Ridge::Auto`] beside 1, and how often each halves them.
const RIDGES: [(f64, u32); 2] = [(10.0, 1), (0.1, 2)];

/// The regressions of a configuration, the one on all features first.
pub(crate) fn plan(config: &OnlineBlsConfig) -> Vec<RegressionPlan> {
    let usual = config.ridge.usual();
    let nodes = |halvings: u32| {
        (config.enhancement() >> halvings).max(LEAST_NODES.min(config.enhancement()))
    };
    let features = |halvings| config.linear().saturating_add(nodes(halvings));
    let share = config.forgetting.fixed().unwrap_or(1.0);
    let regression = |name: String, halvings, forgetting| RegressionPlan {
        name,
        features: features(halvings),
        forgetting,
        ridge: usual,
        restarts: false,
        sees_labels: false,
    };
    let name = match config.forgetting {
        Forgetting::Auto => "all samples".to_owned(),
        Forgetting::Fixed(share) => format!("forgetting {share}"),
    };
    let mut plans = vec![regression(name, 0, share)];
    if config.ridge == Ridge::Auto {
        plans.extend(RIDGES.map(|(ridge, halvings)| RegressionPlan {
            ridge,
            ..regression(format!("ridge {ridge}"), halvings, share)
        }));
    }
    let automatic = config.forgetting == Forgetting::Auto;
    if automatic {
        let plan = regression("since the last drift".to_owned(), RESTARTING, 1.0);
        plans.push(RegressionPlan { restarts: true, ..plan });
        let rates = RATES.into_iter();
        plans.extend(rates.map(|(rate, h)| regression(format!("forgetting {rate}"), h, rate)));
    }
    if config.label_lags > 0 {
        let rates = match automatic {
            true => LABELLED_RATES.to_vec(),
            false => vec![(share, LABELLED_RATES[0].1)],
        };
        plans.extend(rates.into_iter().map(|(rate, halvings)| RegressionPlan {
            sees_labels: true,
            ..regression(format!("forgetting {rate} with labels"), halvings, rate)
        }));
    }
    plans
}

/// How many features are made with the labels before.
pub(crate) fn labelled_features(plans: &[RegressionPlan]) -> usize {
    let seeing = plans.iter().filter(|plan| plan.sees_labels);
    seeing.map(|plan| plan.features).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(config: &OnlineBlsConfig) -> Vec<(usize, f64)> {
        plan(config).iter().map(|plan| (plan.features, plan.forgetting)).collect()
    }

    #[test]
    fn a_single_regression_is_what_was_configured() {
        let forgetting = Forgetting::Fixed(0.99);
        let config = OnlineBlsConfig { forgetting, ..OnlineBlsConfig::single() };
        assert_eq!(sizes(&config), [(1100, 0.99)]);
        let config = OnlineBlsConfig { ridge: Ridge::Auto, ..config };
        assert_eq!(sizes(&config), [(1100, 0.99), (600, 0.99), (350, 0.99)]);
    }

    #[test]
    fn the_default_has_a_regression_for_every_memory() {
        let plans = plan(&OnlineBlsConfig::default());
        assert_eq!(plans[0].features, 2100);
        assert_eq!(plans.iter().filter(|plan| plan.restarts).count(), 1);
        assert_eq!(labelled_features(&plans), 600);
        assert!(plans[1..].iter().all(|plan| plan.features <= 1100));
        let mut names: Vec<&str> = plans.iter().map(|plan| plan.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 12);
    }
}
