//! Whether the probability of each class is as often right as it claims, for every class.
//!
//! The [calibration](super::Calibration) of the predicted class says little about a rare one, which is
//! hardly ever predicted. Here every sample counts for every class known to the model: of samples
//! to which a class was given a probability of 2 %, 2 % should belong to it. The class-wise
//! calibration error is the mean of the errors of the classes (Kull and others, NeurIPS 2019).

use super::{calibration::Calibration, ranking::MOST_CLASSES};
use crate::{
    error::ModelFileError,
    state::{ReadScope, WriteScope},
};

/// The calibration of each class, up to the 256th.
///
/// ```
/// use broadstream::metrics::ClassCalibration;
///
/// let mut calibration = ClassCalibration::new();
/// for truth in [0, 0, 0, 1] {
///     calibration.add(truth, &[0.75, 0.25]);
/// }
/// assert_eq!(calibration.ece(), 0.0);
/// assert_eq!(calibration.classes()[1].ece(), 0.0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ClassCalibration {
    classes: Vec<Calibration>,
}

impl ClassCalibration {
    /// The calibration before the first sample.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a sample of class `truth`, with the probability of each class known to the model.
    pub fn add(&mut self, truth: usize, probabilities: &[f64]) {
        let known = probabilities.len().min(MOST_CLASSES);
        if self.classes.len() < known {
            self.classes.resize_with(known, Calibration::new);
        }
        for (class, calibration) in self.classes.iter_mut().take(known).enumerate() {
            calibration.add(truth, Some(class), probabilities);
        }
    }

    /// The mean calibration error of the classes, from 0 to 1; 0 without samples.
    pub fn ece(&self) -> f64 {
        let errors: f64 = self.classes.iter().map(Calibration::ece).sum();
        errors / self.classes.len().max(1) as f64
    }

    /// The calibration of each class: its confidence is the probability of the class, and its accuracy the
    /// share of samples that belong to it.
    pub fn classes(&self) -> &[Calibration] {
        &self.classes
    }

    pub(super) fn save(&self, to: &mut WriteScope<'_>) {
        to.integer("classes", self.classes.len());
        for (class, calibration) in self.classes.iter().enumerate() {
            calibration.save(&mut to.scope(&class.to_string()));
        }
    }

    pub(super) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        let classes = from.count("classes", MOST_CLASSES)?;
        self.classes = Vec::new();
        for class in 0..classes {
            let mut calibration = Calibration::new();
            calibration.restore(&from.scope(&class.to_string())?)?;
            self.classes.push(calibration);
        }
        Ok(())
    }
}
