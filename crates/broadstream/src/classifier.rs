//! The trait that every model implements.

use crate::{
    data::{Block, Decisions, InputKind, Objective, Sample, Scores, arg_max},
    error::Error,
};

/// An online classifier.
///
/// Classes are numbered 0, 1, 2, … in order of first appearance; a sample may introduce the next
/// new class at any time. Inputs are declared by name before a sample uses them, also at any time.
///
/// Every implementation keeps this contract, which one test suite checks for all of them:
/// predicting changes nothing and works before learning; a block gives the same result as its
/// samples one by one; the same seed gives the same bits; a call that fails leaves no trace.
pub trait Classifier: Send {
    /// Declares an input. Samples refer to it by its position in the order of declaration.
    fn declare_input(&mut self, name: &str, kind: InputKind) -> Result<(), Error>;

    /// The number of declared inputs.
    fn inputs(&self) -> usize;

    /// The number of classes seen so far.
    fn classes(&self) -> usize;

    /// A score for each class seen so far. The class with the highest score is the most probable
    /// one.
    fn scores_one(&self, x: Sample<'_>) -> Result<Vec<f64>, Error>;

    /// Turns scores of this model into probabilities, which are not negative and sum to 1.
    fn probabilities(&self, scores: &[f64]) -> Vec<f64>;

    /// Learns one sample. A sample of weight 2 counts as much as two of weight 1. A sample of
    /// weight 0 leaves the model unchanged, except that its class counts as seen.
    fn learn_one(&mut self, x: Sample<'_>, class: usize, weight: f64) -> Result<(), Error>;

    /// What the model's decisions are made for, if it can decide for more than the most probable
    /// class. `None`, which is the default, for a model that cannot.
    fn objective(&self) -> Option<Objective> {
        None
    }

    /// What each objective decides for a sample with these scores, now. A model without objectives
    /// always decides for the class with the highest score.
    fn decide(&self, scores: &[f64]) -> Decisions {
        Decisions::same(arg_max(scores))
    }

    /// The class that the model decides for, or `None` before any class was seen. It is the most
    /// probable one unless the model has another [`objective`](Self::objective).
    fn predict_one(&self, x: Sample<'_>) -> Result<Option<usize>, Error> {
        let decisions = self.decide(&self.scores_one(x)?);
        Ok(decisions.of(self.objective().unwrap_or_default()))
    }

    /// The probability of each class seen so far.
    fn predict_proba_one(&self, x: Sample<'_>) -> Result<Vec<f64>, Error> {
        Ok(self.probabilities(&self.scores_one(x)?))
    }

    /// The members whose predictions the model combines, and their current weights. Their number,
    /// names and order are fixed when the model is made. Empty, which is the default, for a model
    /// that does not combine predictions.
    fn members(&self) -> Vec<Member> {
        Vec::new()
    }

    /// After how many learned samples of positive weight a part of the model was restarted, because
    /// the model detected a drift. Empty, which is the default, for a model that does not detect
    /// drifts.
    fn restarts(&self) -> &[u64] {
        &[]
    }

    /// How the members have changed: which came to rest or returned, and which became larger or
    /// smaller. Of a long stream only the last 1000 changes are remembered. Empty, which is the
    /// default, for a model whose members do not change.
    fn changes(&self) -> &[MemberChange] {
        &[]
    }

    /// Learns a block, with the same result as learning its samples one by one.
    fn learn_many(&mut self, block: &Block) -> Result<(), Error> {
        block.check(self.inputs(), self.classes())?;
        for i in 0..block.len() {
            self.learn_one(block.sample(i), block.class(i), block.weight(i))?;
        }
        Ok(())
    }

    /// Scores each sample of a block before learning it, and appends the scores to `scores`. They
    /// are the same as by calling [`scores_one`](Self::scores_one) and
    /// [`learn_one`](Self::learn_one) for one sample after the other.
    fn test_then_train(&mut self, block: &Block, scores: &mut Scores) -> Result<(), Error> {
        block.check(self.inputs(), self.classes())?;
        for i in 0..block.len() {
            let found = self.scores_one(block.sample(i))?;
            scores.push_decided(&found, self.decide(&found));
            self.learn_one(block.sample(i), block.class(i), block.weight(i))?;
        }
        Ok(())
    }
}

/// A member of a model that combines the predictions of several, and its current weight.
///
/// ```
/// use broadstream::{Classifier, OnlineBls, OnlineBlsConfig};
///
/// let model = OnlineBls::new(OnlineBlsConfig::single())?;
/// let members = model.members();
/// assert_eq!(members[0].name, "100 features");
/// assert_eq!(members[0].weight, 0.2);
/// assert_eq!((members[0].features, members[0].rests), (Some(100), false));
/// assert_eq!(members.len(), 5);
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The name, which is unique among the members of a model.
    pub name: String,
    /// The weight in the average of predictions, which depends on recent errors. Stacking starts
    /// from that average. The weights of all members sum to 1.
    pub weight: f64,
    /// The number of features that it predicts from; of a member that rests, how many it would have
    /// if it returned. `None` for a member without broad features.
    pub features: Option<usize>,
    /// The kind of its nodes, in words. `None` for a member without broad features.
    pub nodes: Option<&'static str>,
    /// Whether it takes no part in predictions, and learns nothing.
    pub rests: bool,
}

/// A change of a member of a model that chooses its members and their sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemberChange {
    /// After how many learned samples of positive weight.
    pub learned: u64,
    /// The name of the member.
    pub member: String,
    /// The number of features that it had until then: 0 for a member that did not take part.
    pub features_before: usize,
    /// The number of features that it has from then on: 0 for a member that rests.
    pub features: usize,
    /// The kind of its nodes, in words.
    pub nodes: &'static str,
    /// What happened.
    pub event: MemberEvent,
}

/// What happened to a member of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemberEvent {
    /// It takes part for the first time.
    Joined,
    /// It rests, since it contributed next to nothing.
    Rested,
    /// It has returned from its rest after a drift.
    ReturnedAfterDrift,
    /// It has returned from its rest without a reason, to be compared again.
    ReturnedForComparison,
    /// It has twice as many nodes, since the second half of them contributed much.
    Doubled,
    /// It has half of its nodes, since the other half contributed next to nothing.
    Halved,
    /// It has nodes of another kind, which proved better.
    ChangedNodes,
}

impl MemberEvent {
    /// Each in the place of its number in model files.
    pub(crate) const ALL: [MemberEvent; 7] = [
        MemberEvent::Joined,
        MemberEvent::Rested,
        MemberEvent::ReturnedAfterDrift,
        MemberEvent::ReturnedForComparison,
        MemberEvent::Doubled,
        MemberEvent::Halved,
        MemberEvent::ChangedNodes,
    ];

    /// Why it happened, in words.
    ///
    /// ```
    /// use broadstream::MemberEvent;
    ///
    /// assert_eq!(MemberEvent::Rested.as_str(), "rested");
    /// assert_eq!(MemberEvent::Rested.reason(), "it contributed next to nothing");
    /// ```
    pub fn reason(self) -> &'static str {
        match self {
            MemberEvent::Joined => "nodes of its kind are tried beside the others",
            MemberEvent::Rested => "it contributed next to nothing",
            MemberEvent::ReturnedAfterDrift => "a drift was detected",
            MemberEvent::ReturnedForComparison => "it had rested for long",
            MemberEvent::Doubled => "the second half of its nodes contributed much",
            MemberEvent::Halved => "the second half of its nodes contributed next to nothing",
            MemberEvent::ChangedNodes => "nodes of this kind predicted better",
        }
    }

    /// The event in words, as an answer to "what did it do?".
    pub fn as_str(self) -> &'static str {
        match self {
            MemberEvent::Joined => "joined",
            MemberEvent::Rested => "rested",
            MemberEvent::ReturnedAfterDrift => "returned after a drift",
            MemberEvent::ReturnedForComparison => "returned for comparison",
            MemberEvent::Doubled => "doubled its nodes",
            MemberEvent::Halved => "halved its nodes",
            MemberEvent::ChangedNodes => "changed its kind of nodes",
        }
    }
}
