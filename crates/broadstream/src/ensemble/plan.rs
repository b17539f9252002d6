//! The regressions that a model consists of.
//!
//! No single forgetting suits every stream: a stream that never changes needs none, another needs a
//! memory of ten samples. Several regressions therefore learn side by side, on one scaling and one
//! feature map. A regression with a short memory can tell few features apart, so it uses only the
//! first ones and costs a fraction of the largest. All use prefixes of one feature map rather than
//! maps of their own, so that features are computed once.

use crate::{
    config::{Forgetting, OnlineBlsConfig, Ridge},
    features::NodeKind,
    regression::RegressionPlan,
};

/// The rates of [`Forgetting::Auto`], and how often each halves the number of enhancement nodes.
/// The memory of each is about a third of that of the previous one.
const RATES: [(f64, u32); 6] =
    [(0.9997, 2), (0.999, 2), (0.997, 3), (0.99, 3), (0.95, 3), (0.9, 4)];

/// The rates of the regressions that see earlier labels under [`Forgetting::Auto`], and how often
/// each halves the number of nodes. A fixed forgetting has one such regression, with as many nodes
/// as the first. There are only two because labels in all regressions cost accuracy on Electricity
/// (0.5 points in a prototype), while two beside the others gained on Covertype and cost nothing.
const LABELLED_RATES: [(f64, u32); 2] = [(0.999, 2), (0.99, 3)];

/// Below this many enhancement nodes there is nothing worth saving.
pub(super) const LEAST_NODES: usize = 125;

/// How often the regression that restarts after a drift halves the number of nodes.
const RESTARTING: u32 = 2;

/// The ridges of [`Ridge::Auto`] besides 1, and how often each halves the number of nodes.
const RIDGES: [(f64, u32); 2] = [(10.0, 1), (0.1, 2)];

/// The regressions that a model begins with, the one on all features first.
pub(crate) fn plan(config: &OnlineBlsConfig) -> Vec<RegressionPlan> {
    if !config.is_adaptive() {
        return plan_with(config, config.enhancement());
    }
    // Others than random nodes need samples to be drawn from.
    let is_random = |slot: &Slot| slot.kind.is_none_or(|kind| kind == NodeKind::Random);
    slots(config).into_iter().filter(is_random).map(|slot| slot.plan).collect()
}

/// A regression that a model may have, if it chooses its regressions and their nodes.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    /// The regression as it begins.
    pub(crate) plan: RegressionPlan,
    /// The kind of its nodes, or `None` for the kind that has proved best.
    pub(crate) kind: Option<NodeKind>,
    /// The largest number of its features.
    pub(crate) most_features: usize,
}

/// The regressions that a model may have, if it chooses among them.
pub(crate) fn slots(config: &OnlineBlsConfig) -> Vec<Slot> {
    // The others begin with half as many nodes as they would have beside the first.
    let mut first = plan_with(config, config.enhancement() / 2);
    first[0].features = config.linear() + config.enhancement();
    let first = first.into_iter();
    let largest = plan_with(config, config.most_nodes).into_iter();
    let mut slots = first.zip(largest).map(|(plan, largest)| {
        let most_features = largest.features.max(plan.features);
        Slot { plan, kind: None, most_features }
    });
    let Some(main) = slots.next() else { return Vec::new() };
    let of_kind = |kind: NodeKind| {
        let name = match kind {
            NodeKind::Random => main.plan.name.clone(),
            _ => format!("{}, {}", main.plan.name, kind.name()),
        };
        // Two more regressions of full size would take most of the time of the first thousand samples.
        // With half the nodes they predict well enough to be compared.
        let features = match kind {
            NodeKind::Random => main.plan.features,
            _ => config.linear() + config.enhancement() / 2,
        };
        let plan = RegressionPlan { name, kind, features, ..main.plan.clone() };
        Slot { plan, kind: Some(kind), ..main.clone() }
    };
    NodeKind::ALL.into_iter().map(of_kind).chain(slots).collect()
}

/// The regressions of a model whose largest has this many enhancement nodes.
fn plan_with(config: &OnlineBlsConfig, enhancement: usize) -> Vec<RegressionPlan> {
    let usual = config.ridge.usual();
    let nodes = |halvings: u32| (enhancement >> halvings).max(LEAST_NODES.min(enhancement));
    let features = |halvings| config.linear().saturating_add(nodes(halvings));
    let share = config.forgetting.fixed().unwrap_or(1.0);
    let regression = |name: String, halvings, forgetting| RegressionPlan {
        name,
        kind: NodeKind::Random,
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

/// The number of features that are also computed with earlier labels.
pub(crate) fn labelled_features<'a>(plans: impl IntoIterator<Item = &'a RegressionPlan>) -> usize {
    let seeing = plans.into_iter().filter(|plan| plan.sees_labels);
    seeing.map(|plan| plan.features).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Nodes;

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
        let enhancement_nodes = Nodes::Fixed(2000);
        let plans = plan(&OnlineBlsConfig { enhancement_nodes, ..OnlineBlsConfig::default() });
        assert_eq!(plans[0].features, 2100);
        assert_eq!(plans.iter().filter(|plan| plan.restarts).count(), 1);
        assert_eq!(labelled_features(&plans), 600);
        assert!(plans[1..].iter().all(|plan| plan.features <= 1100));
        let mut names: Vec<&str> = plans.iter().map(|plan| plan.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 12);
    }

    #[test]
    fn a_model_that_chooses_may_have_all_of_these_and_more() {
        let config = OnlineBlsConfig::default();
        let enhancement_nodes = Nodes::Fixed(config.most_nodes);
        let fixed = plan(&OnlineBlsConfig { enhancement_nodes, ..config.clone() });
        let slots = slots(&config);
        // Three more kinds of nodes for the regression on all samples.
        assert_eq!(slots.len(), fixed.len() + 3);
        for plan in &fixed {
            let slot = slots.iter().find(|slot| slot.plan.name == plan.name).unwrap();
            assert_eq!(slot.most_features, plan.features, "{}", plan.name);
            assert!(slot.plan.features <= plan.features);
        }
        // Nodes that are drawn from samples have to wait for these.
        assert_eq!(super::plan(&config).len(), fixed.len());
    }
}
