//! What the random features are made of.

use super::choice::{Choice, Named};
use crate::numeric::Activation;

/// How the random weights are distributed. All are uniform and differ in size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WeightScale {
    /// Unit variance divided by the number of a node's inputs: nodes are of the same size as
    /// standardised inputs, however many there are.
    #[default]
    FanIn,
    /// W_f on \[-1, 1\], W_e with orthonormal rows: the reading of the paper that comes closest to its
    /// figures (it states no distribution). The enhancement nodes must see the linear nodes.
    Paper,
}

/// What the non-linear enhancement nodes see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum EnhancementSource {
    /// The inputs: two nodes of three see all of them, the third sees a few, as suits a table of
    /// unlike columns. An input then takes memory for its weights in every node.
    #[default]
    Inputs,
    /// The linear feature nodes, as in the paper's appendix. Where there are more inputs than these
    /// nodes, something is lost on the way; but an input takes little memory.
    FeatureNodes,
}

impl Choice for WeightScale {
    const CHOICES: &'static [(Self, Named)] = &[
        (
            WeightScale::FanIn,
            Named::new("fan-in", "Unit variance divided by the number of a node's inputs"),
        ),
        (
            WeightScale::Paper,
            Named::new("paper", "The reading of the paper that comes closest to its figures"),
        ),
    ];
    const RULE: &'static str = "one of fan-in, paper";
}

impl Choice for EnhancementSource {
    const CHOICES: &'static [(Self, Named)] = &[
        (EnhancementSource::Inputs, Named::new("inputs", "The inputs")),
        (EnhancementSource::FeatureNodes, Named::new("feature-nodes", "The linear feature nodes")),
    ];
    const RULE: &'static str = "one of inputs, feature-nodes";
}

impl Choice for Activation {
    const CHOICES: &'static [(Self, Named)] = &[
        (Activation::Tanh, Named::new("tanh", "The hyperbolic tangent")),
        (Activation::Sigmoid, Named::new("sigmoid", "The logistic function")),
        (Activation::Relu, Named::new("relu", "max(x, 0)")),
    ];
    const RULE: &'static str = "one of tanh, sigmoid, relu";
}
