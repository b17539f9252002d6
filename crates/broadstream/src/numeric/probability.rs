//! From scores to probabilities.
//!
//! Least-squares scores estimate the indicators of the classes: they are near 0 and 1, but not
//! confined to that range. Their nearest point on the simplex {p ≥ 0, Σp = 1} keeps their order and
//! is never further from the truth than they were. It may contain a 0, which no finite number of
//! samples justifies, so a little of the uniform distribution is mixed in. The scores of some
//! baselines are logarithms up to a constant; those go through the softmax instead.

#![allow(clippy::inline_always)]

use crate::numeric::exp_m1;

/// The share of the uniform distribution in the mixture.
const SMOOTHING: f64 = 0.01;

/// Probabilities for a sample's scores; empty for no scores. A score of −∞ excludes its class: the
/// probability is 0, and the others are what they would be without it.
#[inline(always)]
pub(crate) fn from_scores(scores: &[f64]) -> Vec<f64> {
    let mut probabilities = Vec::with_capacity(2 * scores.len());
    append_from_scores(scores, &mut probabilities);
    probabilities
}

/// The same, appended to others. With members and classes this is called hundreds of times for a
/// sample, so it allocates nothing of its own.
#[inline(always)]
pub(crate) fn append_from_scores(scores: &[f64], probabilities: &mut Vec<f64>) {
    // The projection does not change when all scores move together, and scores more than 1 below
    // the highest have no influence on it. Shifting and clamping them thus avoids overflow.
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let first = probabilities.len();
    probabilities.extend(scores.iter().map(|score| (score - highest).max(-1.0)));
    // The end of the vector serves as a place to sort them in.
    let end = probabilities.len();
    probabilities.extend_from_within(first..);
    let threshold = threshold(&mut probabilities[end..]);
    probabilities.truncate(end);
    let excluded = |score: &f64| *score == f64::NEG_INFINITY;
    let share = SMOOTHING / scores.iter().filter(|score| !excluded(score)).count() as f64;
    for (p, score) in probabilities[first..].iter_mut().zip(scores) {
        *p = if excluded(score) {
            0.0
        } else {
            (1.0 - SMOOTHING).mul_add((*p - threshold).max(0.0), share)
        };
    }
}

/// e^score for each score, divided by their sum; empty for no scores.
#[inline(always)]
pub(crate) fn softmax(scores: &[f64]) -> Vec<f64> {
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut probabilities: Vec<f64> =
        scores.iter().map(|score| 1.0 / (1.0 + exp_m1((highest - score).min(700.0)))).collect();
    let sum: f64 = probabilities.iter().sum();
    probabilities.iter_mut().for_each(|p| *p /= sum);
    probabilities
}

/// The t for which Σ max(score − t, 0) = 1. Of the candidates (s₁ + … + s_k − 1)/k over descending
/// scores, it is the last one that is still below its s_k. The scores are sorted.
#[inline(always)]
fn threshold(scores: &mut [f64]) -> f64 {
    // Equal scores are alike, so their order is of no importance.
    scores.sort_unstable_by(|a, b| b.total_cmp(a));
    let mut sum = -1.0;
    let mut threshold = 0.0;
    for (k, score) in scores.iter().enumerate() {
        sum += score;
        let candidate = sum / (k + 1) as f64;
        if *score <= candidate {
            break;
        }
        threshold = candidate;
    }
    threshold
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_a_distribution() {
        for scores in [
            vec![0.0],
            vec![5.0],
            vec![0.2, 0.8],
            vec![-3.0, -3.0, -3.0],
            vec![1e17, 0.0, -1e17],
            vec![1e300, 1e300],
            vec![0.5, 0.4, 0.3, -0.2],
        ] {
            let probabilities = from_scores(&scores);
            let sum: f64 = probabilities.iter().sum();
            assert!((sum - 1.0).abs() < 1e-12, "{scores:?} gave {probabilities:?}");
            assert!(probabilities.iter().all(|p| (0.0..=1.0).contains(p)));
        }
        assert!(from_scores(&[]).is_empty());
    }

    #[test]
    fn an_excluded_class_leaves_no_trace() {
        let with = from_scores(&[0.2, f64::NEG_INFINITY, 0.9, 0.1]);
        let without = from_scores(&[0.2, 0.9, 0.1]);
        assert_eq!([with[0], with[2], with[3]], without[..]);
        assert_eq!(with[1], 0.0);
    }

    #[test]
    fn a_softmax_is_that_of_the_definition() {
        let found = softmax(&[0.5, -1.0, 2.0]);
        let powers = [0.5f64, -1.0, 2.0].map(f64::exp);
        let sum: f64 = powers.iter().sum();
        for (p, power) in found.iter().zip(powers) {
            assert!((p - power / sum).abs() < 1e-15);
        }
        assert_eq!(softmax(&[1e300, -1e300]), [1.0, 1.0 / (1.0 + exp_m1(700.0))]);
        assert!(softmax(&[]).is_empty());
    }

    #[test]
    fn scores_that_are_probabilities_stay_but_for_the_smoothing() {
        let probabilities = from_scores(&[0.2, 0.5, 0.3]);
        for (p, expected) in probabilities.iter().zip([0.2, 0.5, 0.3]) {
            assert!((p - (0.99 * expected + 0.01 / 3.0)).abs() < 1e-15);
        }
    }

    #[test]
    fn the_projection_is_the_nearest_point() {
        // The distribution nearest to (1.2, 0.4, -0.5) is (0.9, 0.1, 0).
        let probabilities = from_scores(&[1.2, 0.4, -0.5]);
        for (p, expected) in probabilities.iter().zip([0.9, 0.1, 0.0]) {
            assert!((p - (0.99 * expected + 0.01 / 3.0)).abs() < 1e-15);
        }
    }
}
