//! What a run is about: a configuration, and where its samples come from.

use broadstream::{
    Activation, Affine, ClassWeight, EnhancementSource, Forgetting, Nodes, OnlineBlsConfig, Ridge,
    Scaling,
};

use super::{
    dice::Dice,
    sample::{NamedSample, input, is_indicator},
};

/// How many inputs and labels there are in a run, sooner or later.
pub(super) const INPUTS: usize = 6;
pub(super) const LABELS: usize = 5;

/// What a model of a run promises.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// One regression that is the sum over its samples.
    Exact,
    /// Several of these, whose shares in predictions follow the order of samples.
    Nested,
    /// One regression on the last samples.
    Window,
    /// One regression that forgets.
    Forgetting,
    /// The default: everything at once.
    Ensemble,
}

/// A configuration, and the distribution of samples.
pub(super) struct Problem {
    pub(super) kind: Kind,
    pub(super) config: OnlineBlsConfig,
    /// Whether inputs and ridge may be of any size.
    pub(super) is_hard: bool,
    ranges: Vec<Range>,
}

/// Where the values of an input lie.
struct Range {
    scale: f64,
    offset: f64,
    /// Whether it nearly copies the input before it.
    copies: bool,
}

impl Problem {
    pub(super) fn draw(dice: &mut Dice) -> Self {
        let kind = match dice.below(100) {
            0..60 => Kind::Exact,
            60..66 => Kind::Nested,
            66..78 => Kind::Window,
            78..90 => Kind::Forgetting,
            _ => Kind::Ensemble,
        };
        let is_hard = dice.one_in(5);
        let mut ranges: Vec<Range> = (0..INPUTS).map(|_| Range::draw(dice, is_hard)).collect();
        let scaling = match dice.below(4) {
            0 | 1 => Scaling::None,
            2 => {
                // A copy would be far outside its own range.
                ranges.iter_mut().for_each(|range| range.copies = false);
                Scaling::Given(given(&ranges))
            }
            _ => [Scaling::STANDARD, Scaling::ROBUST, Scaling::MinMax][dice.below(3)].clone(),
        };
        let config = configuration(dice, kind, is_hard, scaling);
        Problem { kind, config, is_hard, ranges }
    }

    /// Whether its models can be compared with a refit.
    pub(super) fn has_refit(&self) -> bool {
        matches!(self.kind, Kind::Exact | Kind::Window | Kind::Forgetting)
    }

    /// Whether a model's scaling follows its samples, at least at first.
    pub(super) fn scaling_runs(&self) -> bool {
        !matches!(self.config.scaling, Scaling::None | Scaling::Given(_))
    }

    /// A sample with some of these inputs and one of the first labels.
    pub(super) fn sample(&self, dice: &mut Dice, inputs: &[usize], labels: usize) -> NamedSample {
        let is_sparse = dice.one_in(3);
        let mut values: Vec<(usize, f64)> = Vec::new();
        for (i, number) in inputs.iter().enumerate() {
            // A window keeps a sample without inputs as dense or sparse, depending on the block.
            let may_be_absent = i > 0 || self.kind != Kind::Window;
            if is_sparse && may_be_absent && dice.one_in(3) {
                continue;
            }
            let range = &self.ranges[*number];
            let previous = values.last().filter(|_| range.copies).map(|(_, value)| *value);
            let value = match previous {
                _ if is_indicator(*number) => 1.0,
                Some(previous) => previous * (1.0 + 1e-9 * dice.signed()),
                None => range.offset + range.scale * dice.signed(),
            };
            values.push((*number, value));
        }
        // The total weight of a class, which tells whether samples of it are left, has 16 digits. So where
        // samples are unlearned, they are not as different as the rules permit. Neither are they in a model
        // that forgets: its estimate of errors is too small then for samples that resemble none before.
        let any_weight = self.is_hard && matches!(self.kind, Kind::Window | Kind::Ensemble);
        let weight = match dice.below(12) {
            0 => 0.0,
            1 if any_weight => dice.power(-12, 12),
            1..6 => dice.power(-2, 2) * (1.5 + dice.signed()),
            _ => 1.0,
        };
        let is_dense = self.kind != Kind::Window && dice.one_in(2);
        NamedSample { values, label: dice.below(labels), weight, is_dense }
    }
}

impl Range {
    fn draw(dice: &mut Dice, is_hard: bool) -> Self {
        if is_hard {
            let offset = if dice.one_in(2) { dice.power(-2, 9) } else { 0.0 };
            return Range { scale: dice.power(-8, 3), offset, copies: dice.one_in(4) };
        }
        let scale = dice.power(-1, 1);
        Range { scale, offset: scale * dice.signed(), copies: false }
    }
}

/// A configuration of that kind, with few features, since a refit takes the cube of their number.
fn configuration(dice: &mut Dice, kind: Kind, is_hard: bool, scaling: Scaling) -> OnlineBlsConfig {
    let scaling_runs = !matches!(scaling, Scaling::None | Scaling::Given(_));
    let any = OnlineBlsConfig {
        feature_groups: 1 + dice.below(2),
        feature_nodes: 1 + dice.below(3),
        enhancement_nodes: Nodes::Fixed(1 + dice.below(7)),
        enhancement_source: dice
            .pick(&[EnhancementSource::Inputs, EnhancementSource::FeatureNodes]),
        activation: dice.pick(&[Activation::Tanh, Activation::Sigmoid, Activation::Relu]),
        inputs_per_sample: Some(1 + dice.below(4)),
        scaling,
        freeze_scaling_after: (scaling_runs && !dice.one_in(4)).then(|| 2 + dice.next() % 30),
        seed: dice.next(),
        ..OnlineBlsConfig::default()
    };
    // The features of a model that takes this number from its first sample are not known before.
    let inputs_per_sample = any.inputs_per_sample.filter(|_| dice.one_in(2));
    let one = OnlineBlsConfig {
        ridge: Ridge::Fixed(if is_hard { dice.power(-12, 1) } else { dice.power(-3, 1) }),
        forgetting: Forgetting::Fixed(1.0),
        nested_models: 1,
        stacking: false,
        label_lags: 0,
        keep_weights: kind != Kind::Window && dice.one_in(4),
        ..any.clone()
    };
    match kind {
        Kind::Exact => one,
        Kind::Nested => OnlineBlsConfig { nested_models: 3, inputs_per_sample, ..one },
        Kind::Window => OnlineBlsConfig { window: Some(1 + dice.below(30)), ..one },
        Kind::Forgetting => OnlineBlsConfig {
            forgetting: Forgetting::Fixed(dice.pick(&[0.5, 0.9, 0.99])),
            refresh_every: dice.pick(&[None, Some(1), Some(7)]),
            enhancement_nodes: Nodes::Fixed(1 + dice.below(4)),
            ..one
        },
        Kind::Ensemble => OnlineBlsConfig {
            inputs_per_sample,
            class_weight: dice.pick(&[ClassWeight::None, ClassWeight::Balanced, ClassWeight::Auto]),
            ..any
        },
    }
}

/// The scaling that suits the ranges of the inputs.
fn given(ranges: &[Range]) -> std::collections::BTreeMap<String, Affine> {
    let affine = |range: &Range| Affine { centre: range.offset, scale: range.scale };
    ranges.iter().enumerate().map(|(i, range)| (input(i).name, affine(range))).collect()
}
