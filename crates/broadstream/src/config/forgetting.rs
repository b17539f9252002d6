//! How fast a model forgets.

use std::fmt;

/// The forgetting factor μ: each new sample multiplies the weight of all earlier samples by μ. The
/// default is [`Forgetting::Auto`].
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
    /// Several regressions learn side by side, each with its own forgetting factor, and are
    /// combined by their recent errors. One of them remembers everything, and one everything since
    /// the last drift.
    #[default]
    Auto,
    /// This μ in (0, 1\]: 0.999 remembers about a thousand samples, 1 all of them.
    Fixed(f64),
}

impl Forgetting {
    /// The forgetting factor, if one was given.
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
