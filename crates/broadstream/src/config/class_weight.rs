//! How much samples count by their class.

use super::choice::{Choice, Named};

/// How much a sample counts by how rare its class is so far.
///
/// ```
/// use broadstream::{ClassWeight, OnlineBls, OnlineBlsConfig};
///
/// let class_weight = ClassWeight::Balanced;
/// let model = OnlineBls::new(OnlineBlsConfig { class_weight, ..OnlineBlsConfig::default() })?;
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClassWeight {
    /// Every class alike.
    #[default]
    None,
    /// n / (c·nₖ) for the nₖ of n samples that are of class k, of c classes: rare classes count as much
    /// as frequent ones. Best for the balanced accuracy, at a cost in plain accuracy.
    Balanced,
    /// The square root of that, at most 10: halfway between.
    Auto,
}

impl Choice for ClassWeight {
    const CHOICES: &'static [(Self, Named)] = &[
        (ClassWeight::None, Named::new("none", "Every class counts alike")),
        (
            ClassWeight::Balanced,
            Named::new(
                "balanced",
                "Rare classes count as much as frequent ones, at a cost in plain accuracy",
            ),
        ),
        (ClassWeight::Auto, Named::new("auto", "Halfway: the square root of that, at most 10")),
    ];
    const RULE: &'static str = "one of none, balanced, auto";
}
