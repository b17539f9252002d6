//! The one trait that every model implements.

use crate::{
    data::{Block, InputKind, Sample, Scores, arg_max},
    error::Error,
};

/// An online classifier.
///
/// Classes are numbered 0, 1, 2, … in order of first appearance; a sample may bring the next new
/// class at any time. Inputs are declared by name before a sample uses them, also at any time.
///
/// Every implementation keeps this contract, which one test suite checks for all of them:
/// predicting changes nothing and works before learning; a block gives the same result as its
/// samples one by one; the same seed gives the same bits; a call that fails leaves no trace.
pub trait Classifier: Send {
    /// Adds an input. Samples name it by its position in the order of declaration.
    fn declare_input(&mut self, name: &str, kind: InputKind) -> Result<(), Error>;

    /// How many inputs are declared.
    fn inputs(&self) -> usize;

    /// How many classes were seen.
    fn classes(&self) -> usize;

    /// A score per class seen so far; the highest wins.
    fn scores_one(&self, x: Sample<'_>) -> Result<Vec<f64>, Error>;

    /// Turns scores of this model into probabilities: none negative, summing to 1.
    fn probabilities(&self, scores: &[f64]) -> Vec<f64>;

    /// Learns one sample. Weight 1 is a plain sample, 2 counts twice as much, 0 leaves the model
    /// unchanged but for a class first seen here.
    fn learn_one(&mut self, x: Sample<'_>, class: usize, weight: f64) -> Result<(), Error>;

    /// The most likely class, or `None` before any class was seen.
    fn predict_one(&self, x: Sample<'_>) -> Result<Option<usize>, Error> {
        Ok(arg_max(&self.scores_one(x)?))
    }

    /// The probability of each class seen so far.
    fn predict_proba_one(&self, x: Sample<'_>) -> Result<Vec<f64>, Error> {
        Ok(self.probabilities(&self.scores_one(x)?))
    }

    /// The parts whose predictions the model combines, and what each is worth now. Their number, names
    /// and order are fixed when the model is made. Empty for a model that is one piece, as most are.
    fn members(&self) -> Vec<Member> {
        Vec::new()
    }

    /// After how many learned samples of positive weight a part of the model began anew, since the model
    /// saw a drift. Empty for a model that looks for none, as most do.
    fn restarts(&self) -> &[u64] {
        &[]
    }

    /// Learns a block exactly as its samples one by one.
    fn learn_many(&mut self, block: &Block) -> Result<(), Error> {
        block.check(self.inputs(), self.classes())?;
        for i in 0..block.len() {
            self.learn_one(block.sample(i), block.class(i), block.weight(i))?;
        }
        Ok(())
    }

    /// Scores each sample of a block before learning it, and appends the scores to `scores`: the
    /// same scores that [`scores_one`](Self::scores_one) and [`learn_one`](Self::learn_one) in turn
    /// would give.
    fn test_then_train(&mut self, block: &Block, scores: &mut Scores) -> Result<(), Error> {
        block.check(self.inputs(), self.classes())?;
        for i in 0..block.len() {
            scores.push(&self.scores_one(block.sample(i))?);
            self.learn_one(block.sample(i), block.class(i), block.weight(i))?;
        }
        Ok(())
    }
}

/// One of the parts whose predictions a model combines, and what it is worth now.
///
/// ```
/// use broadstream::{Classifier, OnlineBls, OnlineBlsConfig};
///
/// let model = OnlineBls::new(OnlineBlsConfig::single())?;
/// let members = model.members();
/// assert_eq!(members[0].name, "100 features");
/// assert_eq!(members[0].weight, 0.2);
/// assert_eq!(members.len(), 5);
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// What it is called; no two members of a model share a name.
    pub name: String,
    /// Its share in the average of predictions, by recent error; stacking starts from that average.
    /// Those of all members sum to 1.
    pub weight: f64,
}
