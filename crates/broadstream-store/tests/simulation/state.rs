//! The state that a model should be in.

use broadstream::{Block, Classifier, Error, OnlineBls, Schema, Scores, model_file::ModelFile};

use super::{
    change::{Change, Observed},
    problem::Problem,
    reference::Reference,
    sample::class_of,
};

/// A twin of the model that is never saved or killed and learns its samples one by one, the labels of its
/// classes, and what it should remember.
#[derive(Clone)]
pub(super) struct State {
    pub(super) twin: OnlineBls,
    pub(super) labels: Vec<usize>,
    pub(super) reference: Reference,
}

impl State {
    pub(super) fn new(problem: &Problem, threads: usize) -> Self {
        let mut twin = OnlineBls::new(problem.config.clone()).expect("the configuration is sound");
        twin.set_threads(threads).expect("a few threads");
        State { twin, labels: Vec::new(), reference: Reference::new(problem) }
    }

    /// Changes the twin, and what it should remember. After an error the state must be dropped.
    pub(super) fn apply(&mut self, change: &Change) -> Result<Observed, Error> {
        let mut observed = Observed::default();
        match change {
            Change::Learn(samples) | Change::TestThenTrain(samples) => {
                for sample in samples {
                    let x = sample.positioned(self.twin.declared_inputs());
                    let x = x.sample();
                    let features = self.twin.features_one(x)?;
                    observed.scores.push(self.twin.scores_one(x)?);
                    let class = class_of(&mut self.labels, sample.label);
                    let mut block = Block::new();
                    block.push(x, class, sample.weight)?;
                    let leverages = &mut observed.leverages;
                    let scores = &mut Scores::new();
                    self.twin.test_then_train_with_leverages(&block, scores, leverages)?;
                    self.reference.learn(sample, class, features);
                }
                if matches!(change, Change::Learn(_)) {
                    observed = Observed::default();
                }
                return Ok(observed);
            }
            _ => {}
        }
        change.apply(&mut self.twin, &mut self.labels, || usize::MAX)?;
        match change {
            Change::Unlearn(rows, _) => self.reference.unlearn(rows),
            Change::Correct(row, _, label) => {
                let class = class_of(&mut self.labels, *label);
                self.reference.correct(*row, *label, class);
            }
            Change::Merge(other) => {
                self.reference.merge(&other.reference, &other.classes(&mut self.labels));
            }
            Change::Declare(_) | Change::Learn(_) | Change::TestThenTrain(_) => {}
        }
        Ok(observed)
    }

    /// Whether a model is the twin, to the bit.
    ///
    /// Whole files are not compared: they round the sums that `health` compares a model with to 32 digits,
    /// so that those of a model that was read from a file differ beyond these from then on.
    pub(super) fn matches(&self, model: &OnlineBls, labels: &[usize]) -> bool {
        let samples = self.reference.rows().iter().rev().take(2).map(|row| &row.sample);
        labels == self.labels
            && model.declared_inputs() == self.twin.declared_inputs()
            && (model.learned(), model.classes()) == (self.twin.learned(), self.twin.classes())
            && model.window_samples() == self.twin.window_samples()
            && same_bits(model.class_totals(), self.twin.class_totals())
            && same_bits(model.weights().values(), self.twin.weights().values())
            && samples.into_iter().all(|sample| {
                let x = sample.positioned(model.declared_inputs());
                let observed = [model, &self.twin].map(|model| {
                    let leverage = model.leverage_one(x.sample()).expect("it was learned");
                    let features = model.features_one(x.sample()).expect("it was learned");
                    let scores = model.scores_one(x.sample()).expect("it was learned");
                    [scores, features, vec![leverage]].concat()
                });
                same_bits(&observed[0], &observed[1])
            })
    }
}

fn same_bits(some: &[f64], other: &[f64]) -> bool {
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    bits(some) == bits(other)
}

/// The complete state of a model with these labels.
pub(super) fn bytes(model: &OnlineBls, labels: &[usize]) -> Vec<u8> {
    let mut bytes = Vec::new();
    ModelFile::new(model, &schema(model, labels)).write(&mut bytes).expect("memory does not fail");
    bytes
}

/// The names of a model's inputs and classes.
pub(super) fn schema(model: &OnlineBls, labels: &[usize]) -> Schema {
    let mut schema = Schema::new("label");
    for input in model.declared_inputs() {
        schema.push_input(&input.name, input.kind);
    }
    for label in labels {
        schema.class_of(&label.to_string());
    }
    schema
}
