//! How strongly output weights are pulled towards zero.

use std::fmt;

/// The ridge λ of a model's regressions. The default is [`Ridge::Auto`].
///
/// ```
/// use broadstream::{OnlineBlsConfig, Ridge};
///
/// assert_eq!(OnlineBlsConfig::default().ridge, Ridge::Auto);
/// assert_eq!(OnlineBlsConfig::paper().ridge, Ridge::Fixed(1e-8));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Ridge {
    /// A ridge of 1, which suits scaled inputs, and two further regressions on fewer nodes with
    /// ridges of 10 and 0.1. All are combined by their recent errors.
    #[default]
    Auto,
    /// This λ > 0.
    Fixed(f64),
}

impl Ridge {
    /// The ridge, if one was given.
    pub fn fixed(self) -> Option<f64> {
        match self {
            Ridge::Auto => None,
            Ridge::Fixed(ridge) => Some(ridge),
        }
    }

    /// The ridge of all regressions but those that [`Ridge::Auto`] adds.
    pub(crate) fn usual(self) -> f64 {
        match self {
            Ridge::Auto => 1.0,
            Ridge::Fixed(ridge) => ridge,
        }
    }
}

impl fmt::Display for Ridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ridge::Auto => f.write_str("auto"),
            Ridge::Fixed(ridge) => ridge.fmt(f),
        }
    }
}
