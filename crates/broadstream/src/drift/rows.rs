//! A window of values, summed up in ever coarser groups towards its past.
//!
//! Row r holds up to five groups of 2^r values each, the oldest first; a sixth makes the two oldest one
//! group of the next row. So a window of n values takes O(log n) memory, and its borders can lie at all
//! ages, finely where it is young.

use crate::{
    error::ModelFileError,
    state::{ReadScope, WriteScope},
};

/// The most values that a restored window may hold: their number is exact as a floating-point number.
pub(super) const MOST_VALUES: u64 = 1 << 53;

/// The most rows of that many values.
const MOST_ROWS: usize = 53;

/// The largest sum and the largest spread of restored groups, far from overflow.
const LARGEST: [f64; 2] = [1e120, 1e240];

/// The most groups of one size.
const MOST_GROUPS: usize = 5;

/// Values taken together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// How many values they are.
    pub(super) count: f64,
    /// Their sum.
    pub(super) sum: f64,
    /// The sum of their squared distances from their mean.
    spread: f64,
}

impl Group {
    const NONE: Group = Group { count: 0.0, sum: 0.0, spread: 0.0 };

    /// The mean of the values.
    pub(super) fn mean(&self) -> f64 {
        self.sum / self.count
    }

    /// Their variance. Taking groups away may leave a rounding error below 0.
    pub(super) fn variance(&self) -> f64 {
        (self.spread / self.count).max(0.0)
    }

    /// What uniting with another group adds to the sum of both spreads.
    fn apart(&self, other: &Group) -> f64 {
        let distance = self.mean() - other.mean();
        self.count * other.count * distance * distance / (self.count + other.count)
    }

    fn with(self, other: Group) -> Group {
        if self.count == 0.0 {
            return other;
        }
        Group {
            count: self.count + other.count,
            sum: self.sum + other.sum,
            spread: self.spread + other.spread + self.apart(&other),
        }
    }

    /// What is left without a part that is not all.
    fn without(self, part: Group) -> Group {
        let rest = Group { count: self.count - part.count, sum: self.sum - part.sum, spread: 0.0 };
        Group { spread: self.spread - part.spread - rest.apart(&part), ..rest }
    }
}

/// The window.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    rows: Vec<Vec<Group>>,
    all: Group,
}

impl Rows {
    pub(super) fn new() -> Self {
        Rows { rows: Vec::new(), all: Group::NONE }
    }

    /// All values together.
    pub(super) fn all(&self) -> Group {
        self.all
    }

    /// The groups, the oldest first.
    pub(super) fn groups(&self) -> impl Iterator<Item = &Group> {
        self.rows.iter().rev().flatten()
    }

    pub(super) fn push(&mut self, value: f64) {
        let mut group = Group { count: 1.0, sum: value, spread: 0.0 };
        self.all = self.all.with(group);
        for row in &mut self.rows {
            row.push(group);
            if row.len() <= MOST_GROUPS {
                return;
            }
            group = row[0].with(row[1]);
            row.drain(..2);
        }
        self.rows.push(vec![group]);
    }

    /// Forgets the oldest group of several.
    pub(super) fn drop_oldest(&mut self) {
        let Some(row) = self.rows.last_mut() else { return };
        self.all = self.all.without(row.remove(0));
        if row.is_empty() {
            self.rows.pop();
        }
    }

    /// Writes the groups, the newest first, and all of them together. How many values each has
    /// follows from its row.
    pub(super) fn save(&self, to: &mut WriteScope<'_>) {
        to.integers("rows", self.rows.iter().map(|row| row.len() as u64).collect());
        let groups = self.rows.iter().flatten().chain([&self.all]);
        to.floats("groups", groups.flat_map(|group| [group.sum, group.spread]).collect());
    }

    pub(super) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        let lengths = from.any_integers("rows")?;
        let rule = format!("at most {MOST_ROWS} rows of 1 to {MOST_GROUPS} groups");
        let full = |length: &u64| (1..=MOST_GROUPS as u64).contains(length);
        from.check("rows", lengths.len() <= MOST_ROWS && lengths.iter().all(full), &rule)?;
        let groups: u64 = lengths.iter().sum();
        let sums = from.floats("groups", 2 * groups as usize + 2)?;
        let (sums, _) = sums.as_chunks::<2>();
        let bounded =
            |[sum, spread]: &[f64; 2]| sum.abs() <= LARGEST[0] && spread.abs() <= LARGEST[1];
        from.check_each("groups", sums, "sums that are far from overflow", bounded)?;
        let group = |count, &[sum, spread]: &[f64; 2]| Group { count, sum, spread };
        let (mut rows, mut next, mut values) = (Vec::new(), 0, 0.0);
        for (row, length) in lengths.iter().enumerate() {
            let (count, end) = ((1_u64 << row) as f64, next + *length as usize);
            rows.push(sums[next..end].iter().map(|sums| group(count, sums)).collect());
            values += count * *length as f64;
            next = end;
        }
        from.check("rows", values <= MOST_VALUES as f64, "of at most 2^53 values")?;
        *self = Rows { rows, all: group(values, &sums[next]) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;

    fn assert_summed_up(found: &Group, values: &[f64]) {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
        assert_eq!(found.count, count);
        assert!((found.mean() - mean).abs() < 1e-12);
        assert!((found.variance() - variance).abs() < 1e-12);
    }

    #[test]
    fn groups_sum_up_their_values_in_order() {
        let mut random = Random::new(1, "test", "rows");
        let mut rows = Rows::new();
        let mut values = Vec::new();
        for count in 1..=700_usize {
            values.push(random.signed_unit());
            rows.push(values[count - 1]);
            assert_summed_up(&rows.all(), &values);
            let mut start = 0;
            for group in rows.groups() {
                let end = start + group.count as usize;
                assert_summed_up(group, &values[start..end]);
                start = end;
            }
            assert_eq!(start, count);
            assert!(rows.groups().count() <= MOST_GROUPS * (count.ilog2() as usize + 1));
        }
        while rows.groups().count() > 1 {
            rows.drop_oldest();
            let left = rows.all().count as usize;
            assert_summed_up(&rows.all(), &values[values.len() - left..]);
        }
    }
}
