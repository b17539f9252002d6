//! How often each class was predicted as which: the counts that most metrics are made of.
//!
//! C(t, p) is the number of samples of true class t that were predicted as class p. Its row sums
//! are the supports, its column sums how often each class was predicted, its trace the number of
//! correct predictions. One more column counts the samples for which nothing was predicted, as
//! happens before a model saw any class: those are wrong without having been taken for a class.

use std::collections::BTreeMap;

use super::MOST_SAMPLES;
use crate::{
    error::ModelFileError,
    state::{ReadScope, WriteScope},
};

/// Stands for "nothing was predicted" among saved classes. No class has this number: a stream's are
/// 32-bit numbers.
const NOTHING: u64 = u64::MAX;

/// Counts of samples by true and predicted class.
///
/// Classes need not be announced, nor numbered without gaps: memory and time follow the classes and
/// pairs that occur. Row sums, column sums and the diagonal are kept as samples come, so a metric
/// never reads the whole matrix.
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
    // A dense table would be simpler and, for few classes, faster. But a stream whose target is by
    // mistake an identifier brings a class per sample, and a table would then grow as the square.
    // Ordered maps rather than hashed ones: floating-point sums over classes must not depend on a
    // random hash seed.
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

    /// Counts samples that are alike.
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

    /// Takes a sample back that was added before; taking back one that was not changes nothing.
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

    /// How many classes occur, as truth or as prediction.
    pub fn classes(&self) -> usize {
        self.classes.len()
    }

    /// The classes that occur, as truth or as prediction, in ascending order.
    pub fn class_numbers(&self) -> impl Iterator<Item = usize> {
        self.classes.keys().copied()
    }

    /// The pairs of true and predicted class that occur, with their counts; nothing predicted is `None`.
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

    /// How many samples of class `truth` were predicted as class `predicted`.
    pub fn count(&self, truth: usize, predicted: usize) -> u64 {
        self.cell(truth, Some(predicted))
    }

    /// For how many samples of class `truth` nothing was predicted.
    pub fn unpredicted(&self, truth: usize) -> u64 {
        self.cell(truth, None)
    }

    /// How many samples were counted.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// How many of them were predicted correctly.
    pub fn correct(&self) -> u64 {
        self.correct
    }

    /// How many samples are of that class: the sum of its row.
    pub fn support(&self, class: usize) -> u64 {
        self.classes.get(&class).map_or(0, |counts| counts.support)
    }

    /// How many samples were predicted as that class: the sum of its column.
    pub fn predicted_as(&self, class: usize) -> u64 {
        self.classes.get(&class).map_or(0, |counts| counts.predicted)
    }

    /// What is known of each class that occurs, in ascending order of class.
    pub(super) fn class_counts(&self) -> impl Iterator<Item = (usize, ClassCounts)> {
        self.classes.iter().map(|(&class, &counts)| (class, counts))
    }

    /// For how many samples nothing was predicted: the sum of the extra column.
    pub(super) fn unpredicted_in_all(&self) -> u64 {
        self.unpredicted
    }

    /// Writes the cells; all the rest are sums of them.
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

    /// Changes the counts of a class and drops the class if nothing is left of it, so that a
    /// matrix after removals equals one that never saw the removed samples.
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

/// How a prediction is saved.
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
