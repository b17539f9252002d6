//! Presets: configurations to start from.

use super::{
    Forgetting, OnlineBlsConfig,
    choice::{Choice, Named},
};
use crate::stream::Categories;

/// A named configuration, which the options that a user gives change.
///
/// ```
/// use broadstream::{Forgetting, Preset};
///
/// assert_eq!(Preset::named("paper-drift"), Some(Preset::PaperDrift));
/// assert_eq!(Preset::PaperDrift.config().forgetting, Forgetting::Fixed(0.99));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Preset {
    /// Nothing to tune: [`OnlineBlsConfig::default`].
    #[default]
    Default,
    /// One exact regression: [`OnlineBlsConfig::single`].
    Single,
    /// The paper's settings for stationary streams: [`OnlineBlsConfig::paper`].
    Paper,
    /// The paper's settings for drifting streams: as [`Paper`](Self::Paper), with a `forgetting` of
    /// 0.99.
    PaperDrift,
}

impl Choice for Preset {
    const CHOICES: &'static [(Self, Named)] = &[
        (
            Preset::Default,
            Named::new(
                "default",
                "Nothing to tune: regressions with different memories and ridges, stacked and \
                 calibrated",
            ),
        ),
        (
            Preset::Single,
            Named::new(
                "single",
                "One regression that forgets nothing, with ridge 1: the exact optimum of all \
                 samples",
            ),
        ),
        (
            Preset::Paper,
            Named::new(
                "paper",
                "The paper's settings for stationary streams: ridge 1e-8, min-max scaling, \
                 categories as integer codes",
            ),
        ),
        (
            Preset::PaperDrift,
            Named::new(
                "paper-drift",
                "The paper's settings for drifting streams: as paper, with forgetting 0.99",
            ),
        ),
    ];
    const RULE: &'static str = "one of default, single, paper, paper-drift";
}

impl Preset {
    /// All presets, with their names.
    pub fn all() -> impl Iterator<Item = (Preset, Named)> {
        Self::CHOICES.iter().copied()
    }

    /// The preset of this name.
    pub fn named(name: &str) -> Option<Preset> {
        Self::all().find(|(_, named)| named.name == name).map(|(preset, _)| preset)
    }

    /// The rule that an unknown name breaks, for error messages: it lists the names.
    pub fn rule() -> &'static str {
        Self::RULE
    }

    /// The configuration of the preset.
    pub fn config(self) -> OnlineBlsConfig {
        match self {
            Preset::Default => OnlineBlsConfig::default(),
            Preset::Single => OnlineBlsConfig::single(),
            Preset::Paper => OnlineBlsConfig::paper(),
            Preset::PaperDrift => {
                OnlineBlsConfig { forgetting: Forgetting::Fixed(0.99), ..OnlineBlsConfig::paper() }
            }
        }
    }

    /// How the categories of a table become inputs by default.
    pub fn categories(self) -> Categories {
        if self.is_paper() { Categories::IntegerCodes } else { Categories::OneHot }
    }

    /// Whether a program that can read its stream twice should fit the scaling to the whole stream
    /// first, as the paper's authors could, with
    /// [`Scaling::fit_min_max`](crate::Scaling::fit_min_max).
    pub fn scales_by_whole_stream(self) -> bool {
        self.is_paper()
    }

    fn is_paper(self) -> bool {
        matches!(self, Preset::Paper | Preset::PaperDrift)
    }
}
