//! What changes a model.

use std::fmt;

use broadstream::{Classifier, Error, Input, OnlineBls, Partial, Scores};

use super::{
    reference::Reference,
    sample::{NamedSample, block, class_of, input},
};

/// Something that changes a model, or that it refuses.
pub(super) enum Change {
    /// Adds inputs.
    Declare(Vec<usize>),
    Learn(Vec<NamedSample>),
    /// Predicts each sample before it is learned.
    TestThenTrain(Vec<NamedSample>),
    /// Unlearns the samples of these rows of the reference.
    Unlearn(Vec<usize>, Vec<NamedSample>),
    /// Gives the sample of a row another label.
    Correct(usize, NamedSample, usize),
    Merge(Other),
}

/// Another model, or the sums of one, with what it should remember.
pub(super) struct Other {
    pub(super) content: OtherContent,
    pub(super) labels: Vec<usize>,
    pub(super) reference: Reference,
}

pub(super) enum OtherContent {
    Model(Box<OnlineBls>),
    Sums(Box<Partial>),
}

impl Other {
    /// The numbers of its classes in a model with these labels.
    pub(super) fn classes(&self, labels: &mut Vec<usize>) -> Vec<usize> {
        self.labels.iter().map(|label| class_of(labels, *label)).collect()
    }
}

/// The scores and the leverage of each sample before it was learned.
#[derive(Default)]
pub(super) struct Observed {
    pub(super) scores: Vec<Vec<f64>>,
    pub(super) leverages: Vec<f64>,
}

impl Observed {
    /// Whether two are the same to the bit.
    pub(super) fn is_same(&self, other: &Observed) -> bool {
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        let all = |observed: &Observed| {
            let scores: Vec<Vec<u64>> = observed.scores.iter().map(|row| bits(row)).collect();
            (scores, bits(&observed.leverages))
        };
        all(self) == all(other)
    }
}

impl Change {
    /// Changes a model. Samples are learned in blocks whose sizes `next_size` chooses.
    pub(super) fn apply(
        &self,
        model: &mut OnlineBls,
        labels: &mut Vec<usize>,
        mut next_size: impl FnMut() -> usize,
    ) -> Result<Observed, Error> {
        let mut observed = Observed::default();
        match self {
            Change::Declare(inputs) => {
                let inputs: Vec<Input> = inputs.iter().map(|number| input(*number)).collect();
                model.declare_inputs(&inputs)?;
            }
            Change::Learn(samples) => {
                let mut left = &samples[..];
                while !left.is_empty() {
                    let (now, later) = left.split_at(next_size().clamp(1, left.len()));
                    model.learn_many(&block(now, model.declared_inputs(), labels)?)?;
                    left = later;
                }
            }
            Change::TestThenTrain(samples) => {
                let mut left = &samples[..];
                while !left.is_empty() {
                    let (now, later) = left.split_at(next_size().clamp(1, left.len()));
                    let (mut scores, block) =
                        (Scores::new(), block(now, model.declared_inputs(), labels)?);
                    let leverages = &mut observed.leverages;
                    model.test_then_train_with_leverages(&block, &mut scores, leverages)?;
                    observed.scores.extend(scores.iter().map(<[f64]>::to_vec));
                    left = later;
                }
            }
            Change::Unlearn(_, samples) => {
                model.unlearn_many(&block(samples, model.declared_inputs(), labels)?)?;
            }
            Change::Correct(_, sample, label) => {
                let x = sample.positioned(model.declared_inputs());
                let (class, new_class) = (class_of(labels, sample.label), class_of(labels, *label));
                model.correct_one(x.sample(), class, new_class, sample.weight)?;
            }
            Change::Merge(other) => {
                let classes = other.classes(labels);
                match &other.content {
                    OtherContent::Model(other) => model.merge(other, &classes)?,
                    OtherContent::Sums(sums) => model.merge_partial(sums, &classes)?,
                }
            }
        }
        Ok(observed)
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Declare(inputs) => write!(f, "declare inputs {inputs:?}"),
            Change::Learn(samples) => write!(f, "learn {}", Samples(samples)),
            Change::TestThenTrain(samples) => write!(f, "test, then train on {}", Samples(samples)),
            Change::Unlearn(_, samples) => write!(f, "unlearn {}", Samples(samples)),
            Change::Correct(_, sample, label) => {
                write!(f, "correct the label {} to {label}", sample.label)
            }
            Change::Merge(other) => {
                let what = match other.content {
                    OtherContent::Model(_) => "a model",
                    OtherContent::Sums(_) => "sums",
                };
                write!(f, "merge {what} of {} samples", other.reference.rows().len())
            }
        }
    }
}

struct Samples<'a>(&'a [NamedSample]);

impl fmt::Display for Samples<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} samples with the labels", self.0.len())?;
        self.0.iter().try_for_each(|sample| write!(f, " {}", sample.label))
    }
}
