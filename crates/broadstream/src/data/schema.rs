//! The names behind the numbers: a stream's inputs, labels and target.

use std::collections::HashMap;

/// How an input's values are interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// A measurement, which is scaled.
    Numeric,
    /// 1 when a category is present and absent otherwise, or the part of a word in a text; never scaled, since
    /// the values have the right size already.
    Indicator,
}

/// An input's name and kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The name, from which the input's random weights are derived.
    pub name: String,
    /// How its values are interpreted.
    pub kind: InputKind,
}

/// The inputs and labels that a stream has shown so far. Both are only ever appended to, so that
/// positions stay valid as the stream goes on.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    inputs: Vec<Input>,
    labels: Vec<String>,
    label_index: HashMap<String, usize>,
    target: String,
}

impl Schema {
    /// A schema without inputs or labels, for a target of that name.
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

    /// The name of the target, which is predicted.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// Appends an input and returns its position. The stream is responsible for unique names.
    pub fn push_input(&mut self, name: impl Into<String>, kind: InputKind) -> usize {
        self.inputs.push(Input { name: name.into(), kind });
        self.inputs.len() - 1
    }

    /// Removes the last input, which no sample may have used.
    pub(crate) fn pop_input(&mut self) -> Option<Input> {
        self.inputs.pop()
    }

    /// The class of a label, if the label is known.
    pub(crate) fn find_class(&self, label: &str) -> Option<usize> {
        self.label_index.get(label).copied()
    }

    /// Removes the last label, which no sample may have.
    pub(crate) fn pop_label(&mut self) {
        if let Some(label) = self.labels.pop() {
            self.label_index.remove(&label);
        }
    }

    /// The class of a label; a new label gets a new class.
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
