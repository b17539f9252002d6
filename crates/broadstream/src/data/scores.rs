//! A model's scores for the samples of a block, each computed before that sample was learned.

/// Scores of consecutive samples: for each sample one score per class known at that moment, so that
/// a class never competes before it was first seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores {
    values: Vec<f64>,
    ends: Vec<usize>,
}

impl Scores {
    /// No scores yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the scores of the next sample.
    pub fn push(&mut self, scores: &[f64]) {
        self.values.extend_from_slice(scores);
        self.ends.push(self.values.len());
    }

    /// The number of samples that have scores.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no scores.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Removes all scores and keeps the memory.
    pub fn clear(&mut self) {
        self.values.clear();
        self.ends.clear();
    }

    /// The scores of sample `i`. Panics when there is no such sample, as a slice would.
    pub fn row(&self, i: usize) -> &[f64] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.values[start..self.ends[i]]
    }

    /// The scores of each sample, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[f64]> {
        (0..self.len()).map(|i| self.row(i))
    }
}

/// The class with the highest score, the first of equals; `None` without any class.
pub fn arg_max(scores: &[f64]) -> Option<usize> {
    let mut best = None;
    for (class, &score) in scores.iter().enumerate() {
        if best.is_none_or(|(_, highest)| score > highest) {
            best = Some((class, score));
        }
    }
    best.map(|(class, _)| class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_may_differ_in_length() {
        let mut scores = Scores::new();
        scores.push(&[]);
        scores.push(&[0.1, 0.9]);
        assert_eq!(scores.iter().map(<[f64]>::len).collect::<Vec<_>>(), [0, 2]);
    }

    #[test]
    fn the_first_of_equal_scores_wins() {
        assert_eq!(arg_max(&[]), None);
        assert_eq!(arg_max(&[-1.0, 0.0, 0.0]), Some(1));
    }
}
