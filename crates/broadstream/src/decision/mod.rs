//! From probabilities to decisions.
//!
//! A model estimates how probable each class is. What to decide is another question: whoever looks
//! for fraud does not want the most probable class of each payment, which is never fraud.
//! Decisions follow from the probabilities alone, so changing what they are made for needs no
//! learning.
//!
//! - [`DecisionRules`] decides for accuracy, balanced accuracy, F1 or Matthews correlation.
//! - [`Costs`] decides for the least expected cost, and may abstain.

mod cost_table;
mod costs;
mod rules;

pub use self::costs::{ABSTAIN, ClassCosts, Costs};
pub(crate) use self::rules::DecisionRules;
