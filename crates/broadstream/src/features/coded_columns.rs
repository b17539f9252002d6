//! Columns of codes: whole numbers that may be names.
//!
//! Whether a 3 lies between a 2 and a 4, or is as different from both as from a 7, cannot be told from
//! the numbers. So columns of few whole numbers are read in both ways: nodes of most kinds see numbers,
//! and those of [`NodeKind::Coded`](super::NodeKind::Coded) see an indicator for each value, as if the
//! column were categorical. The weights of value 3 of input `a` are those of the category `a=3`.
//!
//! The values are those of the first samples. All others of a column share the weights of one more
//! indicator, so that nothing has to be drawn later.

use std::collections::BTreeSet;

use crate::preprocessing::{NO_CODE, ScaledSample};

/// A column of codes has at least this many values and at most this many. Two values are the same to
/// a node whether they are numbers or names.
const LEAST_VALUES: usize = 3;
const MOST_VALUES: usize = 32;

/// If there would be more indicators, there are none: images and counts are no columns of codes, and
/// their nodes would take much memory.
const MOST_INDICATORS: usize = 512;

/// The columns of codes among a model's inputs, and their values.
#[derive(Clone, Debug, Default)]
pub(super) struct CodedColumns {
    /// For each input the values of which an indicator is known, in increasing order; empty for an
    /// input that is no column of codes.
    values: Vec<Vec<i8>>,
}

impl CodedColumns {
    /// The columns of codes in these samples, which have no inputs beyond the first `inputs`.
    pub(super) fn of(samples: &[ScaledSample], inputs: usize) -> Self {
        let mut seen: Vec<BTreeSet<i8>> = vec![BTreeSet::new(); inputs];
        for sample in samples {
            for ((input, _), code) in sample.sample().iter().zip(sample.codes()) {
                seen[input].insert(*code);
            }
        }
        let is_coded = |values: &BTreeSet<i8>| {
            (LEAST_VALUES..=MOST_VALUES).contains(&values.len()) && !values.contains(&NO_CODE)
        };
        let values: Vec<Vec<i8>> = seen
            .into_iter()
            .map(|values| if is_coded(&values) { values.into_iter().collect() } else { Vec::new() })
            .collect();
        let columns = CodedColumns { values };
        match columns.indicators() {
            1..=MOST_INDICATORS => columns,
            _ => CodedColumns::default(),
        }
    }

    /// Whether an input is a column of codes.
    pub(super) fn has(&self, input: usize) -> bool {
        self.values.get(input).is_some_and(|values| !values.is_empty())
    }

    /// The number of indicators.
    pub(super) fn indicators(&self) -> usize {
        self.values.iter().filter(|values| !values.is_empty()).map(|values| values.len() + 1).sum()
    }

    /// The names of the rows of weights that an input has: its own, or one for each of its values and
    /// one for all others.
    pub(super) fn names(&self, input: usize, name: &str) -> Vec<String> {
        match self.values.get(input) {
            Some(values) if !values.is_empty() => values
                .iter()
                .map(|value| format!("{name}={value}"))
                .chain([format!("{name}=other")])
                .collect(),
            _ => vec![name.to_owned()],
        }
    }

    /// The number of rows of weights of the first inputs.
    pub(super) fn rows_of(&self, inputs: usize) -> usize {
        let known = self.values.iter().take(inputs).map(|values| row_count(values));
        known.sum::<usize>() + inputs.saturating_sub(self.values.len())
    }

    /// The rows of weights that a sample takes, and their factors, given its scaled values and the
    /// codes that it had before scaling.
    pub(super) fn rows(
        &self,
        inputs: impl Iterator<Item = usize>,
        scaled: &[f64],
        codes: &[i8],
    ) -> (Vec<u32>, Vec<f64>) {
        let (mut rows, mut factors) =
            (Vec::with_capacity(scaled.len()), Vec::with_capacity(scaled.len()));
        let (mut start, mut next) = (0, 0);
        for ((input, value), code) in inputs.zip(scaled).zip(codes) {
            for values in self.values.iter().skip(next).take(input.saturating_sub(next)) {
                start += row_count(values);
            }
            // Inputs that were declared later have a row each.
            start += input.saturating_sub(next.max(self.values.len()));
            next = input;
            match self.values.get(input) {
                Some(values) if !values.is_empty() => {
                    let place = values.binary_search(code).unwrap_or(values.len());
                    rows.push((start + place) as u32);
                    factors.push(1.0);
                }
                _ => {
                    rows.push(start as u32);
                    factors.push(*value);
                }
            }
        }
        (rows, factors)
    }
}

/// The number of rows of weights of an input.
fn row_count(values: &[i8]) -> usize {
    values.len() + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{data::Sample, preprocessing::code};

    fn samples(rows: &[[f64; 4]]) -> Vec<ScaledSample> {
        rows.iter().map(|row| ScaledSample::new(Sample::dense(row), &[0.5; 4])).collect()
    }

    /// A code, a fraction, two values, and a code of three values.
    const ROWS: [[f64; 4]; 4] =
        [[3.0, 0.5, 0.0, 7.0], [1.0, 1.5, 1.0, 7.0], [-2.0, 2.0, 0.0, 8.0], [1.0, 1.0, 1.0, 9.0]];

    #[test]
    fn columns_of_few_whole_numbers_are_codes() {
        let columns = CodedColumns::of(&samples(&ROWS), 4);
        assert_eq!(columns.names(0, "a"), ["a=-2", "a=1", "a=3", "a=other"]);
        assert_eq!(columns.names(1, "b"), ["b"]);
        assert_eq!(columns.names(2, "c"), ["c"], "two values are the same as numbers and as names");
        assert_eq!(columns.names(3, "d"), ["d=7", "d=8", "d=9", "d=other"]);
        assert_eq!(columns.names(4, "later"), ["later"]);
        assert_eq!(columns.indicators(), 8);
    }

    #[test]
    fn each_sample_takes_the_rows_of_its_values() {
        let columns = CodedColumns::of(&samples(&ROWS), 4);
        let names: Vec<String> = ["a", "b", "c", "d", "later", "last"]
            .iter()
            .enumerate()
            .flat_map(|(input, name)| columns.names(input, name))
            .collect();
        let named = |inputs: &[usize], scaled: &[f64], raw: &[f64]| -> Vec<(&str, f64)> {
            let codes: Vec<i8> = raw.iter().map(|value| code(*value)).collect();
            let (rows, factors) = columns.rows(inputs.iter().copied(), scaled, &codes);
            assert!(rows.is_sorted_by(|a, b| a < b));
            rows.iter().map(|row| names[*row as usize].as_str()).zip(factors).collect()
        };
        let found = named(&[0, 1, 2, 3], &[0.1, 0.2, 0.3, 0.4], &[1.0, 2.0, 0.0, 9.0]);
        assert_eq!(found, [("a=1", 1.0), ("b", 0.2), ("c", 0.3), ("d=9", 1.0)]);
        let found = named(&[0, 3, 5], &[0.1, 0.4, 0.5], &[4.0, 0.5, 3.0]);
        assert_eq!(found, [("a=other", 1.0), ("d=other", 1.0), ("last", 0.5)]);
        let found = named(&[1, 4], &[0.2, 0.5], &[2.0, 3.0]);
        assert_eq!(found, [("b", 0.2), ("later", 0.5)]);
    }

    #[test]
    fn too_many_values_are_no_codes() {
        let rows: Vec<[f64; 4]> =
            (0..40).map(|i| [f64::from(i), f64::from(i % 32), f64::from(i % 3), 200.0]).collect();
        let columns = CodedColumns::of(&samples(&rows), 4);
        assert_eq!([0, 1, 2, 3].map(|input| columns.names(input, "x").len()), [1, 33, 4, 1]);
        let wide: Vec<f64> = (0..700).map(|i| f64::from(i % 3)).collect();
        let wider: Vec<f64> = (1..701).map(|i| f64::from(i % 3)).collect();
        let widest: Vec<f64> = (2..702).map(|i| f64::from(i % 3)).collect();
        let rows = [wide, wider, widest].map(|row| ScaledSample::new(Sample::dense(&row), &row));
        assert_eq!(CodedColumns::of(&rows, 700).indicators(), 0);
    }
}
