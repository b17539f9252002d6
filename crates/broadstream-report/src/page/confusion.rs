//! A confusion matrix as a heat map, or as a list of pairs if it is too large to read.

use serde::Serialize;

use crate::number;

/// A matrix with more classes than this is shown as its most confused pairs.
const MOST_CLASSES: usize = 30;

/// The number of pairs in that list.
const MOST_PAIRS: usize = 30;

#[derive(Serialize)]
pub(crate) struct Confusion {
    /// The labels of the matrix; empty if pairs are shown.
    labels: Vec<String>,
    rows: Vec<Vec<Heat>>,
    pairs: Vec<Pair>,
    classes: usize,
}

#[derive(Serialize)]
struct Heat {
    count: String,
    /// The share of the row's samples, from 0 to 1.
    share: String,
    right: bool,
    none: bool,
    strong: bool,
    tip: String,
}

#[derive(Serialize)]
struct Pair {
    truth: String,
    predicted: String,
    count: String,
    share: String,
}

impl Confusion {
    /// Prepares a matrix with a row per true class and a column per predicted class; `None` if it is
    /// empty. Missing entries count as 0, and classes without a label are numbered.
    pub(crate) fn of(matrix: &[Vec<u64>], labels: &[String]) -> Option<Confusion> {
        let classes = matrix.len().max(matrix.iter().map(Vec::len).max().unwrap_or(0));
        let total: u64 = matrix.iter().flatten().sum();
        if classes == 0 || total == 0 {
            return None;
        }
        let label =
            |class: usize| labels.get(class).cloned().unwrap_or_else(|| format!("class {class}"));
        let count = |truth: usize, class: usize| {
            matrix.get(truth).and_then(|row| row.get(class)).copied().unwrap_or(0)
        };
        let of_truth = |truth: usize| (0..classes).map(|class| count(truth, class)).sum::<u64>();
        let share = |count: u64, sum: u64| count as f64 / sum.max(1) as f64;
        if classes <= MOST_CLASSES {
            let row = |truth: usize| {
                let sum = of_truth(truth);
                let heat = |class: usize| {
                    let share = share(count(truth, class), sum);
                    let percent = 100.0 * share;
                    Heat {
                        count: number::count(count(truth, class)),
                        share: format!("{share:.3}"),
                        right: truth == class,
                        none: count(truth, class) == 0,
                        strong: share > 0.5,
                        tip: format!(
                            "{} predicted as {}: {percent:.1} %",
                            label(truth),
                            label(class)
                        ),
                    }
                };
                (0..classes).map(heat).collect()
            };
            return Some(Confusion {
                labels: (0..classes).map(label).collect(),
                rows: (0..classes).map(row).collect(),
                pairs: Vec::new(),
                classes,
            });
        }
        let mut wrong: Vec<(u64, usize, usize)> = (0..classes)
            .flat_map(|truth| (0..classes).map(move |class| (truth, class)))
            .filter(|(truth, class)| truth != class)
            .map(|(truth, class)| (count(truth, class), truth, class))
            .filter(|(count, ..)| *count > 0)
            .collect();
        wrong.sort_by_key(|(count, truth, class)| (std::cmp::Reverse(*count), *truth, *class));
        let pair = |(count, truth, class): &(u64, usize, usize)| Pair {
            truth: label(*truth),
            predicted: label(*class),
            count: number::count(*count),
            share: number::fixed(100.0 * share(*count, of_truth(*truth)), 1),
        };
        let pairs = wrong.iter().take(MOST_PAIRS).map(pair).collect();
        Some(Confusion { labels: Vec::new(), rows: Vec::new(), pairs, classes })
    }
}
