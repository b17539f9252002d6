//! How often each class was predicted as which: the counts behind most metrics.
//!
//! C(t, p) is the number of samples of true class t that were predicted as class p. Its row sums
//! are the supports, its column sums the numbers of predictions of each class, its trace the number
//! of correct predictions. One more column counts the samples for which nothing was predicted, as
//! happens before a model has seen any class: these are wrong without counting as any class.

use std::collections::BTreeMap;

use super::MOST_SAMPLES;
use crate::{
    error::ModelFileError,
    state::{ReadScope, WriteScope},
};

/// Stands for "nothing was predicted" in a saved matrix. No class has this number, since a stream's
/// classes are 32-bit numbers.
const NOTHING: u64 = u64::MAX;

/// Counts of samples by true and predicted class.
///
/// Classes need no declaration and may be numbered with gaps: memory and time depend only on the
/// classes and pairs that occur. Row sums, column sums and the diagonal are updated with every
/// sample, so no metric reads the whole matrix.
///
/// ```
/// use broadstream::metrics::ConfusionMatrix;
///
/// let mut confusion = ConfusionMatrix::new();
/// confusion.add(0, None);
/// confusion.add(0, Some(0));
/// confusion.add(1, Some(0));
/// assert_eq!(confusion.count(1, 0), 1);
/// assert_eq!(confusion.unpredicted(0), 1);
/// assert_eq!((confusion.support(0), confusion.predicted_as(0)), (2, 2));
/// assert_eq!((confusion.correct(), confusion.samples()), (1, 3));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfusionMatrix {
    // A dense table would be simpler and, for few classes, faster. But if the target is an
    // identifier by mistake, every sample brings a new class, and a table would grow with the
    // square of their number. The maps are ordered rather than hashed because floating-point sums
    // over classes must not depend on a random hash seed.
    cells: BTreeMap<(usize, Option<usize>), u64>,
    classes: BTreeMap<usize, ClassCounts>,
    unpredicted: u64,
    correct: u64,
    samples: u64,
}

impl ConfusionMatrix {
    /// A matrix without samples.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts a sample.
    pub fn add(&mut self, truth: usize, predicted: Option<usize>) {
        self.add_many(truth, predicted, 1);
    }

    /// Counts several equal samples.
    fn add_many(&mut self, truth: usize, predicted: Option<usize>, count: u64) {
        *self.cells.entry((truth, predicted)).or_default() += count;
        let row = self.classes.entry(truth).or_default();
        row.support += count;
        if predicted == Some(truth) {
            row.correct += count;
            self.correct += count;
        }
        match predicted {
            Some(class) => self.classes.entry(class).or_default().predicted += count,
            None => self.unpredicted += count,
        }
        self.samples += count;
    }

    /// Removes a sample that was added before; removing one that was not changes nothing.
    pub(crate) fn remove(&mut self, truth: usize, predicted: Option<usize>) {
        let Some(cell) = self.cells.get_mut(&(truth, predicted)) else { return };
        *cell -= 1;
        if *cell == 0 {
            self.cells.remove(&(truth, predicted));
        }
        let correct = predicted == Some(truth);
        self.update_class(truth, |row| {
            row.support -= 1;
            row.correct -= u64::from(correct);
        });
        match predicted {
            Some(class) => self.update_class(class, |column| column.predicted -= 1),
            None => self.unpredicted -= 1,
        }
        self.correct -= u64::from(correct);
        self.samples -= 1;
    }

    /// The number of classes that occur, as truth or as prediction.
    pub fn classes(&self) -> usize {
        self.classes.len()
    }

    /// The classes that occur, as truth or as prediction, in ascending order.
    pub fn class_numbers(&self) -> impl Iterator<Item = usize> {
        self.classes.keys().copied()
    }

    /// The pairs of true and predicted class that occur, with their counts; `None` stands for no
    /// prediction.
    ///
    /// ```
    /// use broadstream::metrics::ConfusionMatrix;
    ///
    /// let mut confusion = ConfusionMatrix::new();
    /// confusion.add(1, None);
    /// confusion.add(0, Some(1));
    /// assert_eq!(confusion.cells().collect::<Vec<_>>(), [(0, Some(1), 1), (1, None, 1)]);
    /// ```
    pub fn cells(&self) -> impl Iterator<Item = (usize, Option<usize>, u64)> {
        self.cells.iter().map(|(&(truth, predicted), &count)| (truth, predicted, count))
    }

    /// The number of samples of class `truth` that were predicted as class `predicted`.
    pub fn count(&self, truth: usize, predicted: usize) -> u64 {
        self.cell(truth, Some(predicted))
    }

    /// The number of samples of class `truth` for which nothing was predicted.
    pub fn unpredicted(&self, truth: usize) -> u64 {
        self.cell(truth, None)
    }

    /// The number of samples.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The number of samples that were predicted correctly.
    pub fn correct(&self) -> u64 {
        self.correct
    }

    /// The number of samples of that class: the sum of its row.
    pub fn support(&self, class: usize) -> u64 {
        self.classes.get(&class).map_or(0, |counts| counts.support)
    }

    /// The number of samples predicted as that class: the sum of its column.
    pub fn predicted_as(&self, class: usize) -> u64 {
        self.classes.get(&class).map_or(0, |counts| counts.predicted)
    }

    /// The counts of each class that occurs, in ascending order of class.
    pub(super) fn class_counts(&self) -> impl Iterator<Item = (usize, ClassCounts)> {
        self.classes.iter().map(|(&class, &counts)| (class, counts))
    }

    /// The number of samples for which nothing was predicted: the sum of the extra column.
    pub(super) fn unpredicted_in_all(&self) -> u64 {
        self.unpredicted
    }

    /// Writes the cells; everything else is a sum of them.
    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        let cells = self.cells.iter().flat_map(|(&(truth, predicted), &count)| {
            [truth as u64, saved_class(predicted), count]
        });
        to.integers("cells", cells.collect());
    }

    pub(crate) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        let cells = from.any_integers("cells")?;
        let (cells, rest) = cells.as_chunks::<3>();
        from.check("cells", rest.is_empty(), "triples of truth, prediction and count")?;
        *self = ConfusionMatrix::new();
        for &[truth, predicted, count] in cells {
            let (truth, predicted) = restored_classes(from, "cells", truth, predicted)?;
            let sum = self.samples.checked_add(count).filter(|sum| *sum <= MOST_SAMPLES);
            from.check("cells", count > 0 && sum.is_some(), "counts that sum to at most 2^53")?;
            let new = !self.cells.contains_key(&(truth, predicted));
            from.check("cells", new, "triples that differ in truth or prediction")?;
            self.add_many(truth, predicted, count);
        }
        Ok(())
    }

    fn cell(&self, truth: usize, predicted: Option<usize>) -> u64 {
        self.cells.get(&(truth, predicted)).copied().unwrap_or(0)
    }

    /// Changes the counts of a class and drops the class if nothing is left of it, so that a matrix
    /// after removals equals one that never saw the removed samples.
    fn update_class(&mut self, class: usize, change: impl FnOnce(&mut ClassCounts)) {
        if let Some(counts) = self.classes.get_mut(&class) {
            change(counts);
            if counts.support == 0 && counts.predicted == 0 {
                self.classes.remove(&class);
            }
        }
    }
}

/// The sums of one class: of its row, of its column, and where they cross.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ClassCounts {
    pub(super) support: u64,
    pub(super) predicted: u64,
    pub(super) correct: u64,
}

/// The number under which a prediction is saved.
pub(super) fn saved_class(predicted: Option<usize>) -> u64 {
    predicted.map_or(NOTHING, |class| class as u64)
}

/// A saved truth and prediction.
pub(super) fn restored_classes(
    from: &ReadScope<'_>,
    name: &str,
    truth: u64,
    predicted: u64,
) -> Result<(usize, Option<usize>), ModelFileError> {
    let class = |class: u64| match u32::try_from(class) {
        Ok(class) => Ok(class as usize),
        Err(_) => Err(from.invalid(name, "made of classes below 2^32")),
    };
    let predicted = if predicted == NOTHING { None } else { Some(class(predicted)?) };
    Ok((class(truth)?, predicted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_appear_in_any_order() {
        let mut confusion = ConfusionMatrix::new();
        assert_eq!(confusion.classes(), 0);
        confusion.add(2, Some(5));
        confusion.add(0, Some(2));
        assert_eq!(confusion.classes(), 3);
        assert_eq!(confusion.class_numbers().collect::<Vec<_>>(), [0, 2, 5]);
        assert_eq!((confusion.support(5), confusion.predicted_as(5)), (0, 1));
        assert_eq!((confusion.support(1), confusion.count(1, 1)), (0, 0));
    }

    #[test]
    fn the_largest_class_number_costs_no_more_than_any_other() {
        let mut confusion = ConfusionMatrix::new();
        confusion.add(usize::MAX, Some(usize::MAX));
        assert_eq!((confusion.classes(), confusion.correct()), (1, 1));
    }

    #[test]
    fn no_prediction_is_wrong_but_no_class() {
        let mut confusion = ConfusionMatrix::new();
        confusion.add(0, None);
        assert_eq!((confusion.samples(), confusion.correct(), confusion.classes()), (1, 0, 1));
        assert_eq!((confusion.unpredicted(0), confusion.unpredicted_in_all()), (1, 1));
        assert_eq!(confusion.predicted_as(0), 0);
    }

    #[test]
    fn removal_leaves_no_trace() {
        let kept = [(0, Some(0)), (1, Some(0)), (1, Some(1)), (0, None)];
        let removed = [(2, Some(1)), (0, Some(3)), (0, Some(0)), (4, None)];
        let mut expected = ConfusionMatrix::new();
        let mut confusion = ConfusionMatrix::new();
        for (truth, predicted) in kept {
            expected.add(truth, predicted);
            confusion.add(truth, predicted);
        }
        for (truth, predicted) in removed {
            confusion.add(truth, predicted);
        }
        for (truth, predicted) in removed {
            confusion.remove(truth, predicted);
        }
        assert_eq!(confusion, expected);
    }

    #[test]
    fn removing_what_was_never_added_changes_nothing() {
        let mut confusion = ConfusionMatrix::new();
        confusion.add(0, Some(1));
        let before = confusion.clone();
        for (truth, predicted) in [(0, Some(0)), (1, Some(1)), (0, None), (7, Some(1))] {
            confusion.remove(truth, predicted);
        }
        assert_eq!(confusion, before);
    }
}
