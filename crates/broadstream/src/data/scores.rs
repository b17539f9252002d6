//! A model's scores for the samples of a block, each computed before that sample was learned.

use super::Decisions;

/// Scores of consecutive samples: for each sample one score per class known at that moment, so that
/// a class never competes before it was first seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores {
    values: Vec<f64>,
    ends: Vec<usize>,
    decisions: Vec<Decisions>,
}

impl Scores {
    /// No scores yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the scores of the next sample, for which the class with the highest one is decided.
    pub fn push(&mut self, scores: &[f64]) {
        self.push_decided(scores, Decisions::same(arg_max(scores)));
    }

    /// Appends the scores of the next sample, and what a model decided at that moment. Decisions
    /// depend on earlier samples too, so they cannot be made up for later.
    pub fn push_decided(&mut self, scores: &[f64], decisions: Decisions) {
        self.values.extend_from_slice(scores);
        self.ends.push(self.values.len());
        self.decisions.push(decisions);
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
        self.decisions.clear();
    }

    /// The scores of sample `i`. Panics when there is no such sample, as a slice would.
    pub fn row(&self, i: usize) -> &[f64] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.values[start..self.ends[i]]
    }

    /// What was decided for sample `i`. Panics when there is no such sample.
    pub fn decisions(&self, i: usize) -> Decisions {
        self.decisions[i]
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
