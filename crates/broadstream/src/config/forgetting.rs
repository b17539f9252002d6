//! How fast a model forgets.

use std::fmt;

/// The share of the past that each new sample leaves.
///
/// ```
/// use broadstream::{Forgetting, OnlineBls, OnlineBlsConfig};
///
/// let forgetting = Forgetting::Fixed(0.999);
/// let model = OnlineBls::new(OnlineBlsConfig { forgetting, ..OnlineBlsConfig::single() })?;
/// assert_eq!(model.config().forgetting.to_string(), "0.999");
/// assert_eq!(OnlineBlsConfig::default().forgetting, Forgetting::Auto);
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Forgetting {
    /// Regressions that forget at different rates learn side by side and share in predictions by how
    /// well they did of late; one remembers everything, one all since the last drift.
    #[default]
    Auto,
    /// This share μ in (0, 1\]: 0.999 remembers about a thousand samples, 1 all of them.
    Fixed(f64),
}

impl Forgetting {
    /// The rate, if one was given.
    pub fn fixed(self) -> Option<f64> {
        match self {
            Forgetting::Auto => None,
            Forgetting::Fixed(share) => Some(share),
        }
    }
}

impl fmt::Display for Forgetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Forgetting::Auto => f.write_str("auto"),
            Forgetting::Fixed(share) => share.fmt(f),
        }
    }
}
