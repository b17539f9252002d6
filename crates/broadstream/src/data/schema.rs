//! The names behind the numbers: a stream's inputs, labels and target.

use std::collections::HashMap;

/// How an input's values are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// A measurement, subject to scaling.
    Numeric,
    /// 1 when a category is present and absent otherwise; never scaled, since the samples that
    /// carry it all carry the same value.
    Indicator,
}

/// An input's name and kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The name, from which the input's random weights are derived.
    pub name: String,
    /// How its values are to be read.
    pub kind: InputKind,
}

/// What a stream has shown so far. Inputs and labels are only ever appended, so that their
/// positions stay valid while the stream goes on.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    inputs: Vec<Input>,
    labels: Vec<String>,
    label_index: HashMap<String, usize>,
    target: String,
}

impl Schema {
    /// A schema with no inputs and no labels yet, for a target of that name.
    pub fn new(target: impl Into<String>) -> Self {
        Schema { target: target.into(), ..Self::default() }
    }

    /// The inputs in the order of their positions in samples.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// The labels in order of first appearance: a sample's class is a position in this list.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// The name of what is predicted.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// Appends an input and returns its position. Keeping names unique is the stream's business.
    pub fn push_input(&mut self, name: impl Into<String>, kind: InputKind) -> usize {
        self.inputs.push(Input { name: name.into(), kind });
        self.inputs.len() - 1
    }

    /// Takes the last input away, which no sample may have used.
    pub(crate) fn pop_input(&mut self) -> Option<Input> {
        self.inputs.pop()
    }

    /// The class of a label, a new one if the label is new.
    pub fn class_of(&mut self, label: &str) -> usize {
        match self.label_index.get(label) {
            Some(&class) => class,
            None => {
                self.labels.push(label.to_owned());
                self.label_index.insert(label.to_owned(), self.labels.len() - 1);
                self.labels.len() - 1
            }
        }
    }
}
