//! Earlier labels as inputs: each label at each lag is an indicator input of its own.
//!
//! A regression on features of inputs and labels together can predict when a label will persist,
//! which the label alone cannot. But on a stream whose labels do not persist they are noise in
//! every feature. These features are therefore computed in addition to the plain ones, for the
//! regressions that use them. Labels reach the enhancement nodes directly, whichever source those
//! have.

use super::{
    Shape,
    draw::{self, Origin},
};
use crate::{
    error::ModelFileError,
    state::{ReadScope, WriteScope},
};

/// The weights of label inputs for the first nodes of a feature map.
#[derive(Clone, Debug, Default)]
pub(super) struct LabelInputs {
    /// How many of the first features depend on labels; 0 for none.
    features: usize,
    lags: usize,
    /// How many classes are declared, also while no feature depends on labels.
    classes: usize,
    /// The weights for these features, by class and lag.
    weights: Vec<Vec<Vec<f64>>>,
}

impl LabelInputs {
    pub(super) fn new(features: usize, lags: usize) -> Self {
        LabelInputs { features, lags, classes: 0, weights: Vec::new() }
    }

    /// The number of features that depend on labels.
    pub(super) fn features(&self) -> usize {
        self.features
    }

    /// How many labels back they go.
    pub(super) fn lags(&self) -> usize {
        self.lags
    }

    /// Declares the inputs of a class and of all classes before it.
    pub(super) fn declare(&mut self, class: usize, shape: &Shape, fan_in: usize) {
        if self.lags == 0 {
            return;
        }
        self.classes = self.classes.max(class + 1);
        if self.features == 0 {
            return;
        }
        let Shape { seed, version, linear, weight_scale, .. } = *shape;
        for class in self.weights.len()..=class {
            let row = |lag| {
                let name = format!("label {lag} ago is {class}");
                let mut row =
                    draw::linear(seed, Origin::Label, &name, linear, weight_scale, fan_in);
                let nodes = self.features - linear;
                row.extend(draw::from_inputs(seed, version, Origin::Label, &name, nodes, fan_in));
                row
            };
            self.weights.push((1..=self.lags).map(row).collect());
        }
    }

    /// The number of declared classes.
    pub(super) fn classes(&self) -> usize {
        self.classes
    }

    pub(super) fn save(&self, to: &mut WriteScope<'_>) {
        to.floats("weights", self.weights.iter().flatten().flatten().copied().collect());
    }

    /// Takes over the weights of `classes` classes.
    pub(super) fn restore(
        &mut self,
        from: &ReadScope<'_>,
        classes: usize,
    ) -> Result<(), ModelFileError> {
        self.classes = classes;
        let length = self.lags.saturating_mul(self.features);
        let weights = from.floats("weights", classes.saturating_mul(length))?;
        let rows = |class: &[f64]| class.chunks_exact(self.features).map(<[f64]>::to_vec).collect();
        self.weights = weights.chunks_exact(length.max(1)).map(rows).collect();
        Ok(())
    }

    /// Adds the contributions of the labels, the latest first, to the sums of a sample's nodes.
    pub(super) fn add(&self, labels: &[usize], sums: &mut [f64]) {
        if self.features == 0 {
            return;
        }
        for (lag, &class) in labels.iter().enumerate() {
            for (sum, weight) in sums.iter_mut().zip(&self.weights[class][lag]) {
                *sum += weight;
            }
        }
    }
}
