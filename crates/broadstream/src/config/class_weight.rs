//! How much a sample counts, by its class.

use super::choice::{Choice, Named};

/// How much a sample counts, by how rare its class has been so far. The default is
/// [`ClassWeight::None`].
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
    /// All samples count the same.
    #[default]
    None,
    /// A sample of class k counts n / (c·nₖ), where nₖ of the n samples so far are of class k and c
    /// classes were seen. All classes then count the same, however rare they are. This is best for
    /// the balanced accuracy, at a cost in plain accuracy.
    Balanced,
    /// The square root of the balanced weight, at most 10: a compromise between the two.
    Auto,
}

impl Choice for ClassWeight {
    const CHOICES: &'static [(Self, Named)] = &[
        (ClassWeight::None, Named::new("none", "All samples count the same")),
        (
            ClassWeight::Balanced,
            Named::new(
                "balanced",
                "Rare classes count as much as frequent ones, at a cost in plain accuracy",
            ),
        ),
        (
            ClassWeight::Auto,
            Named::new("auto", "A compromise: the square root of the balanced weight, at most 10"),
        ),
    ];
    const RULE: &'static str = "one of none, balanced, auto";
}
