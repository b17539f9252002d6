//! A sample without each of its columns in turn.
//!
//! The sums of nodes are linear in the inputs, so all of these samples share nearly all of their work:
//! the terms before a column and those after it are summed once, and what remains for each sample is one
//! addition for each node, and its non-linearity. A column that is left out contributes nothing, exactly
//! as a missing cell does.

use std::ops::Range;

use crate::data::{Columns, Sample};

/// How many samples without a column are computed together: the memory that they take is bounded, and the
/// weights of the map are read once for all of them.
pub(super) const TOGETHER: usize = 64;

/// The columns of a sample whose absence may change its features.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SampleColumns {
    /// The number of each column, in increasing order.
    columns: Vec<usize>,
    /// The places of the sample's values, those of one column after those of another.
    places: Vec<usize>,
    /// Where the places of each column end.
    ends: Vec<usize>,
}

impl SampleColumns {
    /// The columns of the values that count. The others stay where they are, in no column.
    pub(crate) fn of(
        x: Sample<'_>,
        columns: &Columns,
        counts: impl Fn(usize, f64) -> bool,
    ) -> Self {
        let placed = x.iter().enumerate().filter(|(_, (input, value))| counts(*input, *value));
        let mut placed: Vec<(usize, usize)> =
            placed.map(|(place, (input, _))| (columns.of_input(input), place)).collect();
        // Inputs are mostly declared column by column.
        if !placed.is_sorted() {
            placed.sort_unstable();
        }
        let mut found = SampleColumns::default();
        for (column, place) in placed {
            if found.columns.last() != Some(&column) {
                found.columns.push(column);
                found.ends.push(found.places.len());
            }
            found.places.push(place);
            if let Some(end) = found.ends.last_mut() {
                *end += 1;
            }
        }
        found
    }

    /// The number of each column, in increasing order.
    pub(crate) fn numbers(&self) -> &[usize] {
        &self.columns
    }

    /// The places of the values, column by column.
    pub(super) fn places(&self) -> &[usize] {
        &self.places
    }

    /// Where the places of some of the columns are.
    pub(super) fn places_of(&self, columns: Range<usize>) -> Range<usize> {
        let end = |columns: usize| columns.checked_sub(1).map_or(0, |last| self.ends[last]);
        end(columns.start)..end(columns.end)
    }

    /// Parts of some of the columns, none of which is too large.
    pub(super) fn parts(selected: &[Range<usize>]) -> Vec<Range<usize>> {
        let parts = |range: &Range<usize>| {
            let end = range.end;
            range.clone().step_by(TOGETHER).map(move |start| start..end.min(start + TOGETHER))
        };
        selected.iter().flat_map(parts).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Input, InputKind};

    #[test]
    fn the_values_of_a_column_are_brought_together() {
        let mut columns = Columns::default();
        for name in ["city=Rome", "age", "city=Oslo", "size", "flag"] {
            columns.push(&Input { name: name.to_owned(), kind: InputKind::Indicator });
        }
        let x = Sample::dense(&[1.0, 2.0, 1.0, 0.0, 5.0]);
        let found = SampleColumns::of(x, &columns, |_, value| value != 0.0);
        assert_eq!(found.numbers(), [0, 1, 3]);
        assert_eq!(found.places(), [0, 2, 1, 4]);
        assert_eq!(
            [0..1, 1..2, 2..3, 0..3, 1..1].map(|range| found.places_of(range)),
            [0..2, 2..3, 3..4, 0..4, 2..2]
        );
        let parts = SampleColumns::parts(&[0..3, 10..10 + 2 * TOGETHER + 1]);
        let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
        assert_eq!(lengths, [3, TOGETHER, TOGETHER, 1]);
    }
}
