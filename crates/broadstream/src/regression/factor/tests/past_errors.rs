//! What becomes of an error that a factor had when samples come and go.

use super::*;
use crate::regression::factor::PastErrors;

const ERROR: f64 = 1e-9;

/// A factor that has learned ordinary samples, and after them one of that size in one direction.
fn with_large_sample(size: f64) -> (Factor, Vec<f64>) {
    let samples = Samples::new(13, 3, 40);
    let (mut factor, _) = swept(&samples, 40, 1.0, InstructionSet::detect());
    let large: Vec<f64> = (0..13).map(|i| size * (1.0 + i as f64).sin()).collect();
    learn(&mut factor, &large);
    (factor, large)
}

fn learn(factor: &mut Factor, features: &[f64]) {
    let targets = &[1.0, 0.0, 0.0];
    let update = Update { features, targets, weights: &[1.0], forgetting: 1.0 };
    let mut scores = vec![0.0; 3 * factor.readouts().len()];
    factor.sweep(update, &mut scores).unwrap();
}

#[test]
fn an_error_counts_for_more_without_the_sample_that_dwarfed_it() {
    for size in [1e2, 1e3, 1e4] {
        let (mut factor, large) = with_large_sample(size);
        let mut past = PastErrors::default();
        assert_eq!(past.of_scores(&factor, RIDGE), 0.0);
        past.add(&factor, ERROR);
        let before = past.of_scores(&factor, RIDGE);
        assert!(before > ERROR && before < 13.0 * ERROR, "{before:e}");
        let leverage = factor.leverage(&large).unwrap();
        factor.unlearn(&large, &[1.0, 0.0, 0.0], 1.0).unwrap();
        // In its direction K is smaller by this factor.
        let amplified = ERROR / (1.0 - leverage);
        let after = past.of_scores(&factor, RIDGE);
        assert!(after > amplified / 8.0 && after < 8.0 * amplified, "{after:e}, {amplified:e}");
        learn(&mut factor, &large);
        let again = past.of_scores(&factor, RIDGE);
        assert!((again - before).abs() < 1e-3 * before, "{again:e}, {before:e}");
    }
}

#[test]
fn learning_makes_an_error_count_for_less_but_not_for_nothing() {
    let (mut factor, _) = with_large_sample(1.0);
    let mut past = PastErrors::default();
    past.add(&factor, ERROR);
    let before = past.of_scores(&factor, RIDGE);
    for i in 0..13 {
        let large: Vec<f64> = (0..13).map(|j| if i == j { 1e6 } else { 0.0 }).collect();
        learn(&mut factor, &large);
    }
    // An error of Q shrinks by the square root of what one of K shrinks by.
    let after = past.of_scores(&factor, RIDGE);
    assert!(after < 1e-4 * before && after > 1e-7 * before, "{after:e}, {before:e}");
}

#[test]
fn a_merge_adds_the_errors_of_both() {
    let (factor, _) = with_large_sample(1.0);
    let [mut one, mut other] = [PastErrors::default(), PastErrors::default()];
    one.add(&factor, ERROR);
    one.merge(&PastErrors::default());
    let alone = one.of_scores(&factor, RIDGE);
    let (another, _) = with_large_sample(10.0);
    other.add(&another, ERROR);
    other.merge(&one);
    let mut merged = factor.clone();
    merged.merge(&another, RIDGE, &[0, 1, 2]).unwrap();
    let [both, first] = [&other, &one].map(|past| past.of_scores(&merged, RIDGE));
    assert!(first < alone, "the others have made it count for less: {first:e}, {alone:e}");
    assert!(both > first, "{both:e}, {first:e}");
}

#[test]
fn restored_errors_are_those_that_were_saved() {
    let (factor, _) = with_large_sample(1e3);
    let mut past = PastErrors::default();
    past.add(&factor, ERROR);
    let restored = through_state(|to| past.save(to), |from| PastErrors::restore(from, &factor));
    let restored = restored.unwrap().of_scores(&factor, RIDGE);
    assert_eq!(restored.to_bits(), past.of_scores(&factor, RIDGE).to_bits());
}

#[test]
fn errors_of_an_earlier_version_count_for_the_factor_that_was_saved() {
    let (factor, _) = with_large_sample(1e3);
    let mut past = PastErrors::default();
    past.add(&factor, ERROR);
    let save = |to: &mut WriteScope<'_>| to.float("inherited_error", ERROR);
    let restored = through_state(save, |from| PastErrors::restore(from, &factor)).unwrap();
    assert_eq!(restored.of_scores(&factor, RIDGE), past.of_scores(&factor, RIDGE));
}
