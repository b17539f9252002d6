//! How the random features are made.

use super::choice::{Choice, Named};
use crate::numeric::Activation;

/// The size of the random weights, which are uniformly distributed. The default is
/// [`WeightScale::FanIn`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WeightScale {
    /// Unit variance divided by the number of a node's inputs. Nodes then have the same size as
    /// standardised inputs, however many inputs there are.
    #[default]
    FanIn,
    /// W_f on \[-1, 1\], and W_e with orthonormal rows. The paper states no distribution; this is
    /// the interpretation that comes closest to its results. It needs
    /// [`EnhancementSource::FeatureNodes`].
    Paper,
}

/// What the non-linear enhancement nodes see. The default is [`EnhancementSource::Inputs`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum EnhancementSource {
    /// The inputs. Two nodes out of three see all of them, and the third sees only a few, which
    /// suits tables whose columns have little in common. Each input takes memory for its weights in
    /// every node.
    #[default]
    Inputs,
    /// The linear feature nodes, as in the paper's appendix. An input then takes little memory, but
    /// information is lost if there are more inputs than linear nodes.
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
            Named::new(
                "paper",
                "The interpretation of the paper that comes closest to its results",
            ),
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
