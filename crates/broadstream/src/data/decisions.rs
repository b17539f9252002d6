//! What a model decides for a sample, under each objective.

/// What decisions are made for. Probabilities are the same for all objectives. The default is
/// [`Objective::Accuracy`].
///
/// ```
/// use broadstream::{Objective, OnlineBls, OnlineBlsConfig};
///
/// let objective = Objective::F1;
/// let model = OnlineBls::new(OnlineBlsConfig { objective, ..OnlineBlsConfig::default() })?;
/// assert_eq!(model.config().objective.as_str(), "f1");
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objective {
    /// The most probable class, which is right most often.
    #[default]
    Accuracy,
    /// The class that became most probable in relation to its share of the samples, which
    /// is best for balanced accuracy.
    Balanced,
    /// The rule with the best macro F1 over the recent samples.
    F1,
    /// The rule with the best Matthews correlation over the recent samples.
    Mcc,
}

impl Objective {
    /// All objectives.
    pub const ALL: [Objective; 4] =
        [Objective::Accuracy, Objective::Balanced, Objective::F1, Objective::Mcc];

    /// The name of the objective, the same on the command line, in Python and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Objective::Accuracy => "accuracy",
            Objective::Balanced => "balanced",
            Objective::F1 => "f1",
            Objective::Mcc => "mcc",
        }
    }
}

/// The class that each objective decides for; `None` before any class was seen.
///
/// ```
/// use broadstream::{Classifier, Objective, OnlineBls, OnlineBlsConfig, Sample};
///
/// let mut model = OnlineBls::new(OnlineBlsConfig::single())?;
/// assert_eq!(model.decide(&[]).of(Objective::F1), None);
/// model.learn_one(Sample::dense(&[]), 0, 1.0)?;
/// let scores = model.scores_one(Sample::dense(&[]))?;
/// assert_eq!(model.decide(&scores).of(Objective::Balanced), Some(0));
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decisions([Option<usize>; 4]);

impl Decisions {
    /// The same decision under every objective.
    pub(crate) fn same(class: Option<usize>) -> Self {
        Decisions([class; 4])
    }

    /// A decision for each objective, in their order.
    pub(crate) fn new(classes: [Option<usize>; 4]) -> Self {
        Decisions(classes)
    }

    /// The decision under an objective.
    pub fn of(&self, objective: Objective) -> Option<usize> {
        self.0[objective as usize]
    }

    /// The decisions under all objectives, in the order of [`Objective::ALL`].
    pub fn all(&self) -> [Option<usize>; 4] {
        self.0
    }
}
