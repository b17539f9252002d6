//! The last labels.
//!
//! In many streams labels persist: a price that rose half an hour ago is still rising, the next
//! patch of forest is of the same kind. The previous label is then worth more than many inputs.
//! Only labels that were learned count, so that predictions do not cheat where labels arrive late.

use crate::{
    error::ModelFileError,
    state::{ReadScope, WriteScope},
};

/// The last few labels learned, the latest first.
#[derive(Clone, Debug)]
pub(crate) struct RecentLabels {
    lags: usize,
    classes: Vec<usize>,
}

impl RecentLabels {
    /// Remembers the last `lags` labels.
    pub(crate) fn new(lags: usize) -> Self {
        RecentLabels { lags, classes: Vec::with_capacity(lags) }
    }

    /// The number of labels that are remembered.
    pub(crate) fn lags(&self) -> usize {
        self.lags
    }

    /// The labels, the latest first; fewer at the beginning.
    pub(crate) fn classes(&self) -> &[usize] {
        &self.classes
    }

    pub(crate) fn push(&mut self, class: usize) {
        self.classes.insert(0, class);
        self.classes.truncate(self.lags);
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        to.integers("classes", self.classes.iter().map(|class| *class as u64).collect());
    }

    /// Takes over the labels of a model with `classes` known classes.
    pub(crate) fn restore(
        &mut self,
        from: &ReadScope<'_>,
        classes: usize,
    ) -> Result<(), ModelFileError> {
        let labels = from.any_integers("classes")?;
        let sound = labels.len() <= self.lags && labels.iter().all(|k| *k < classes as u64);
        from.check("classes", sound, "known classes, no more than are remembered")?;
        self.classes.clear();
        self.classes.extend(labels.iter().map(|class| *class as usize));
        Ok(())
    }

    /// Appends each label as a prediction that is certain of its class among the `classes` known
    /// ones. Where there is no label yet, the prediction is uniform.
    pub(crate) fn append_to(&self, predictions: &mut Vec<f64>, classes: usize) {
        for lag in 0..self.lags {
            let row = predictions.len();
            match self.classes.get(lag) {
                Some(&class) => {
                    predictions.resize(row + classes, 0.0);
                    predictions[row + class] = 1.0;
                }
                None => predictions.resize(row + classes, 1.0 / classes as f64),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_comes_first() {
        let mut labels = RecentLabels::new(2);
        let rows = |labels: &RecentLabels| {
            let mut rows = Vec::new();
            labels.append_to(&mut rows, 2);
            rows
        };
        assert_eq!(rows(&labels), [0.5, 0.5, 0.5, 0.5]);
        labels.push(1);
        assert_eq!(rows(&labels), [0.0, 1.0, 0.5, 0.5]);
        labels.push(0);
        labels.push(0);
        assert_eq!(rows(&labels), [1.0, 0.0, 1.0, 0.0]);
        let mut none = RecentLabels::new(0);
        none.push(1);
        assert!(rows(&none).is_empty());
    }
}
