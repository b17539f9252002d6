//! How important each column has been lately.
//!
//! Every now and then, just before a sample is learned, it is explained: by how much would the
//! probability of its most likely class change without each column? The importance of a column is the mean
//! size of that change, where newer samples count more. A sample that lacks the column counts as no change.
//! So this is a mean of exact explanations, of some of the samples. It needs no labels, and takes no part in
//! predictions.
//!
//! An explanation takes about as long as learning a sample, since it has to solve for the weights first, and
//! a few microseconds for each column. If a sample has many columns, only some are left out each time,
//! in turn.

// Lists of ranges often have one.
#![allow(clippy::single_range_in_vec_init)]

use std::ops::Range;

use super::{
    OnlineBls,
    explain::{ColumnChange, Explainer},
};
use crate::{
    data::Columns,
    error::{Error, ModelFileError},
    features::{PreparedSample, SampleColumns},
    state::{ReadScope, WriteScope},
};

/// A sample is explained after each of this many learned ones, which takes about a percent of the time. In
/// a model with 4n classes it is each n-th of these, since solving for the weights takes n times as long.
const EVERY: u64 = 256;
const CLASSES: usize = 4;

/// So that a short stream is explained too, the first intervals are a quarter of the largest power of two
/// that was learned, but at least this long.
const LEAST_EVERY: u64 = 16;

/// The most columns that are left out of an explained sample.
const MOST_COLUMNS: usize = 32;

/// The share of earlier explanations that remains with each new one: the last hundred make up most of the
/// mean.
const DECAY: f64 = 0.99;

/// A sum of weights is at most 1 / (1 − `DECAY`) in a model that was not merged.
const LARGEST_WEIGHT: f64 = 1e15;

/// The importance of the columns that explained samples had.
#[derive(Clone, Debug, Default)]
pub(super) struct Importance {
    /// For each column, up to the last one that an explained sample had, the decayed sum of changes, and how
    /// many samples were compared with themselves without the column, decayed alike.
    sums: Vec<f64>,
    weights: Vec<f64>,
    /// The column to go on with if a sample has too many.
    next: usize,
}

/// What to leave out of a sample.
#[derive(Debug, PartialEq)]
struct Selection {
    /// Places among the sample's columns.
    places: Vec<Range<usize>>,
    /// The columns that are counted with it, those included that the sample lacks.
    columns: Vec<Range<usize>>,
}

impl Importance {
    /// The columns of a sample to be left out, as far as possible all.
    fn select(&self, sample: &SampleColumns) -> Selection {
        let numbers = sample.numbers();
        let after_last = |place: usize| numbers[..place].last().map_or(0, |last| last + 1);
        let all = self.sums.len().max(after_last(numbers.len()));
        if numbers.len() <= MOST_COLUMNS {
            return Selection { places: vec![0..numbers.len()], columns: vec![0..all] };
        }
        let first = numbers.partition_point(|number| *number < self.next);
        let end = first + MOST_COLUMNS;
        match end.checked_sub(numbers.len()) {
            None | Some(0) => {
                Selection { places: vec![first..end], columns: vec![self.next..after_last(end)] }
            }
            Some(from_start) => Selection {
                places: vec![0..from_start, first..numbers.len()],
                columns: vec![0..after_last(from_start), self.next..all],
            },
        }
    }

    /// Counts an explained sample.
    fn observe(&mut self, selection: &Selection, changes: &[ColumnChange]) {
        let ends = selection.columns.iter().map(|columns| columns.end);
        let known = ends.fold(self.sums.len(), usize::max);
        self.sums.resize(known, 0.0);
        self.weights.resize(known, 0.0);
        self.sums.iter_mut().chain(&mut self.weights).for_each(|sum| *sum *= DECAY);
        for columns in &selection.columns {
            self.weights[columns.clone()].iter_mut().for_each(|weight| *weight += 1.0);
        }
        for ColumnChange { column, change, .. } in changes {
            self.sums[*column] += change.abs();
        }
        // Of two ranges the first holds the columns after the end of the others.
        self.next = selection.columns.first().map_or(0, |columns| columns.end);
    }

    /// The importance of each column that an explained sample had, the largest first.
    fn of_columns(&self, columns: &Columns) -> Vec<(String, f64)> {
        let means = self.sums.iter().zip(&self.weights).map(|(sum, weight)| sum / weight);
        let means = columns.names().iter().cloned().zip(means);
        let mut means: Vec<(String, f64)> = means.filter(|(_, mean)| mean.is_finite()).collect();
        means.sort_by(|a, b| b.1.total_cmp(&a.1));
        means
    }

    /// Adds the explanations of a model that learned other samples: those of the columns of the same
    /// names.
    pub(super) fn merge(&mut self, other: &Importance, own: &Columns, theirs: &Columns) {
        for (column, name) in theirs.names().iter().take(other.sums.len()).enumerate() {
            let Some(number) = own.number(name) else { continue };
            let known = self.sums.len().max(number + 1);
            self.sums.resize(known, 0.0);
            self.weights.resize(known, 0.0);
            self.sums[number] += other.sums[column];
            self.weights[number] += other.weights[column];
        }
    }

    pub(super) fn save(&self, to: &mut WriteScope<'_>) {
        to.floats("sums", self.sums.clone());
        to.floats("weights", self.weights.clone());
        to.integer("next", self.next);
    }

    /// Takes over what was saved of a model with `columns` columns.
    pub(super) fn restore(
        &mut self,
        from: &ReadScope<'_>,
        columns: usize,
    ) -> Result<(), ModelFileError> {
        let sums = from.any_floats("sums")?;
        from.check("sums", sums.len() <= columns, "at most as many as there are columns")?;
        let weights = from.floats("weights", sums.len())?;
        let sound = |sum: &f64| (0.0..=LARGEST_WEIGHT).contains(sum);
        from.check_each("sums", &sums, "not negative", sound)?;
        from.check_each("weights", &weights, "not negative", sound)?;
        let next = from.count("next", sums.len())?;
        *self = Importance { sums, weights, next };
        Ok(())
    }
}

impl OnlineBls {
    /// How important each column has been lately, the most important first: the mean size of the change
    /// of the probability of the most likely class without it, over the samples that were explained while
    /// the model learned. Columns that no explained sample had are not listed.
    ///
    /// One of 256 samples is explained, more of the first ones, fewer with many classes, and the last hundred
    /// explanations make up most of the mean. It takes no part in predictions. Unlearning does not change it,
    /// and merging adds it up.
    ///
    /// ```
    /// use broadstream::{Classifier, InputKind, OnlineBls, OnlineBlsConfig, Sample};
    ///
    /// let mut model = OnlineBls::new(OnlineBlsConfig::single())?;
    /// model.declare_input("noise", InputKind::Numeric)?;
    /// model.declare_input("size", InputKind::Numeric)?;
    /// for i in 0..1000 {
    ///     let x = [f64::from(i * 7 % 11), f64::from(i * 3 % 10)];
    ///     model.learn_one(Sample::dense(&x), usize::from(x[1] > 4.0), 1.0)?;
    /// }
    /// let importance = model.importance();
    /// assert_eq!(importance[0].0, "size");
    /// assert!(importance[0].1 > 5.0 * importance[1].1);
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn importance(&self) -> Vec<(String, f64)> {
        self.importance.of_columns(self.features.inputs().columns())
    }

    /// Whether the next sample is explained, given the number of classes that were seen.
    pub(super) fn is_explanation_due(&self, known: usize) -> bool {
        let learned = self.learned();
        let every = interval(learned) * known.div_ceil(CLASSES).max(1) as u64;
        learned > 0 && learned.is_multiple_of(every)
    }

    /// After how many more samples one may be explained.
    pub(super) fn until_explanation(&self) -> usize {
        let (learned, every) = (self.learned(), interval(self.learned()));
        (every - learned % every) as usize
    }

    /// Explains a sample that is about to be learned.
    pub(super) fn count_importance(
        &mut self,
        prepared: &PreparedSample,
        known: usize,
    ) -> Result<(), Error> {
        let (ensemble, absent) = (self.ensemble.predictor(), self.absent_classes());
        let explainer =
            Explainer { features: &self.features, ensemble: &ensemble, known, absent: &absent };
        let columns = self.features.columns_of(prepared);
        let selection = self.importance.select(&columns);
        let changes = explainer.changes_of_likeliest(prepared, &columns, &selection.places)?;
        self.importance.observe(&selection, &changes);
        Ok(())
    }
}

/// The number of samples between two explanations, in a model with few classes.
fn interval(learned: u64) -> u64 {
    let power = 1 << learned.max(1).ilog2();
    (power / 4).clamp(LEAST_EVERY, EVERY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Input, InputKind, Sample};

    fn columns(count: usize) -> Columns {
        let mut columns = Columns::default();
        for i in 0..count {
            columns.push(&Input { name: i.to_string(), kind: InputKind::Numeric });
        }
        columns
    }

    #[test]
    fn all_columns_of_a_wide_sample_have_their_turn() {
        let columns = columns(100);
        let mut importance = Importance::default();
        let mut counts = [0; 100];
        for round in 0..40 {
            // Every fourth column is absent, others in each round.
            let inputs: Vec<u32> = (0..100).filter(|i| (i + round) % 4 > 0).collect();
            let values = vec![1.0; inputs.len()];
            let x = Sample::sparse(&inputs, &values).unwrap();
            let sample = columns_of(x, &columns);
            let selection = importance.select(&sample);
            let places: Vec<usize> = selection.places.iter().cloned().flatten().collect();
            assert_eq!(places.len(), MOST_COLUMNS);
            assert!(places.is_sorted_by(|a, b| a < b));
            for counted in selection.columns.iter().cloned().flatten() {
                counts[counted] += 1;
            }
            let change = |place: &usize| ColumnChange::of(sample.numbers()[*place], -0.5);
            let changes: Vec<ColumnChange> = places.iter().map(change).collect();
            // Exactly the selected columns are counted, and those between them that are absent.
            for number in sample.numbers() {
                let is_counted = selection.columns.iter().any(|range| range.contains(number));
                assert_eq!(is_counted, changes.iter().any(|change| change.column == *number));
            }
            importance.observe(&selection, &changes);
        }
        let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        assert!(*least >= 16 && most - least <= 1, "{counts:?}");
        let found = importance.of_columns(&columns);
        assert_eq!(found.len(), 100);
        // Three of four samples have a column.
        assert!(found.iter().all(|(_, mean)| (0.2..=0.5).contains(mean)), "{found:?}");
    }

    fn columns_of(x: Sample<'_>, columns: &Columns) -> SampleColumns {
        SampleColumns::of(x, columns, |_, _| true)
    }

    #[test]
    fn what_is_saved_is_restored_and_what_is_broken_refused() {
        use crate::state::StateWriter;
        let importance =
            Importance { sums: vec![0.5, 0.0, 2.0], weights: vec![3.0, 0.0, 9.0], next: 2 };
        let mut state = StateWriter::default();
        importance.save(&mut state.root());
        let mut restored = Importance::default();
        state.read_back(|from| restored.restore(from, 3)).unwrap();
        assert_eq!(format!("{restored:?}"), format!("{importance:?}"));
        assert!(state.read_back(|from| restored.restore(from, 2)).is_err());
        for broken in [
            Importance { sums: vec![-0.5], weights: vec![1.0], next: 0 },
            Importance { sums: vec![0.5], weights: vec![-1.0], next: 0 },
            Importance { sums: vec![0.5], weights: vec![1.0, 1.0], next: 0 },
            Importance { sums: vec![0.5], weights: vec![1.0], next: 2 },
        ] {
            let mut state = StateWriter::default();
            broken.save(&mut state.root());
            assert!(state.read_back(|from| restored.restore(from, 3)).is_err(), "{broken:?}");
        }
    }
}
