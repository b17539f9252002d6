//! How strongly weights are drawn to zero.

use std::fmt;

/// The ridge λ of a model's regressions.
///
/// ```
/// use broadstream::{OnlineBlsConfig, Ridge};
///
/// assert_eq!(OnlineBlsConfig::default().ridge, Ridge::Auto);
/// assert_eq!(OnlineBlsConfig::paper().ridge, Ridge::Fixed(1e-8));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Ridge {
    /// 1, which suits scaled inputs, with further regressions at a ridge of 10 and of 0.1 beside it.
    /// They have fewer nodes, and share in predictions by how well they did of late.
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

    /// The ridge of most regressions.
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
