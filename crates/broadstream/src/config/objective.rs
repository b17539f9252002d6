//! The names of the objectives.

use super::choice::{Choice, Named};
use crate::data::Objective;

impl Choice for Objective {
    const CHOICES: &'static [(Self, Named)] = &[
        (Objective::Accuracy, Named::new("accuracy", "The most probable class")),
        (
            Objective::Balanced,
            Named::new("balanced", "The class most probable in relation to how frequent it is"),
        ),
        (Objective::F1, Named::new("f1", "What has given the best macro F1 lately")),
        (Objective::Mcc, Named::new("mcc", "What has given the best Matthews correlation lately")),
    ];
    const RULE: &'static str = "one of accuracy, balanced, f1, mcc";
}
