//! Removed samples, corrected labels, and their certificate, against dense definitions.

use super::*;

#[test]
fn unlearning_undoes_learning() {
    for order in ORDERS {
        let samples = Samples::new(order, 3, 20);
        let (learned, _) = swept(&samples, 20, 1.0, InstructionSet::detect());
        let mut factor = learned.clone();
        let extra = Samples::new(order, 3, 22);
        let mut scores = vec![0.0; 2 * factor.readouts().len() * 3];
        factor.sweep(extra.update(20..22, 1.0), &mut scores).unwrap();
        for i in 20..22 {
            factor.unlearn(extra.features(i), extra.one_hot(i), extra.weights[i]).unwrap();
        }
        assert_close(&factor.weights(), &learned.weights(), 1e-10);
        assert_close(&factor.d_inverse, &learned.d_inverse, 1e-10);
    }
}

#[test]
fn what_was_not_learned_cannot_be_unlearned() {
    let samples = Samples::new(13, 3, 4);
    let (mut factor, _) = swept(&samples, 4, 1.0, InstructionSet::detect());
    let before = bits(&factor);
    let foreign: Vec<f64> = (0..13).map(|i| (i as f64).sin() * 10.0).collect();
    let refused = factor.unlearn(&foreign, samples.one_hot(0), 1.0);
    assert!(matches!(refused, Err(Error::CannotUnlearn { .. })), "{refused:?}");
    assert_eq!(bits(&factor), before);
}

#[test]
fn a_corrected_label_is_one_that_was_learned_so() {
    for order in ORDERS {
        let samples = Samples::new(order, 6, 30);
        let mut changed = Samples::new(order, 6, 30);
        let corrected = [3, 17, 29];
        for i in corrected {
            changed.one_hot[i * 6..][..6].copy_from_slice(&[0.0, 0.0, 0.25, 0.0, 0.0, 0.75]);
        }
        let (expected, _) = swept(&changed, 30, 1.0, InstructionSet::detect());
        let bits = [InstructionSet::detect(), InstructionSet::Portable].map(|instructions| {
            let (mut factor, _) = swept(&samples, 30, 1.0, instructions);
            for i in corrected {
                let pairs = changed.one_hot(i).iter().zip(samples.one_hot(i));
                let change: Vec<f64> = pairs.map(|(new, old)| new - old).collect();
                factor.correct(samples.features(i), &change, samples.weights[i]).unwrap();
            }
            assert_close(&factor.weights(), &expected.weights(), 1e-11);
            assert_eq!(factor.d_inverse, expected.d_inverse);
            bits(&factor)
        });
        assert_eq!(bits[0], bits[1], "order {order}");
    }
}

#[test]
fn a_correction_that_does_not_fit_changes_nothing() {
    let samples = Samples::new(13, 3, 5);
    let (mut factor, _) = swept(&samples, 5, 1.0, InstructionSet::detect());
    let before = bits(&factor);
    let a = samples.features(0);
    assert!(factor.correct(a, &[1.0, -1.0], 1.0).is_err());
    assert!(factor.correct(&a[1..], &[1.0, -1.0, 0.0], 1.0).is_err());
    assert!(factor.correct(a, &[1.0, f64::NAN, 0.0], 1.0).is_err());
    assert!(factor.correct(a, &[1.0, -1.0, 0.0], -1.0).is_err());
    assert_eq!(bits(&factor), before);
}

/// ‖K W − Q‖ / ‖Q‖ by its definition.
fn residual(dense: &Dense, weights: &[f64]) -> f64 {
    let targets = dense.q.ncols();
    let weights = Mat::from_fn(dense.k.nrows(), targets, |i, k| weights[i * targets + k]);
    let difference = &dense.k * weights - &dense.q;
    difference.norm_l2() / if dense.q.norm_l2() == 0.0 { 1.0 } else { dense.q.norm_l2() }
}

#[test]
fn the_residual_is_that_of_the_definition() {
    for order in ORDERS {
        let samples = Samples::new(order, 6, 40);
        let (factor, _) = swept(&samples, 40, 1.0, InstructionSet::detect());
        for first_removed in [0, 22, 31, 40] {
            let mut dense = Dense::new(order, 6);
            for i in 0..first_removed {
                dense.learn(samples.features(i), samples.one_hot(i), samples.weights[i], 1.0);
            }
            let removed = samples.update(first_removed..40, 1.0);
            let mut random = Random::new(1, "weights", "");
            let any: Vec<f64> = (0..order * 6).map(|_| random.signed_unit()).collect();
            // With all samples removed, what is left of Q is rounding error.
            if first_removed > 0 {
                let found = factor.residual_without(removed, &any).unwrap();
                assert_close(&[found], &[residual(&dense, &any)], 1e-10);
            }
            let mut remaining = factor.clone();
            for i in first_removed..40 {
                let (a, y) = (samples.features(i), samples.one_hot(i));
                remaining.unlearn(a, y, samples.weights[i]).unwrap();
            }
            let weights = remaining.weights();
            let empty = samples.update(0..0, 1.0);
            assert!(remaining.residual_without(empty, &weights).unwrap() < 1e-13);
            if first_removed > 0 {
                assert!(factor.residual_without(removed, &weights).unwrap() < 1e-11);
                assert!(residual(&dense, &weights) < 1e-11);
            }
        }
    }
}

#[test]
fn a_residual_without_targets_is_absolute() {
    let mut factor = Factor::new(3, 2.0);
    factor.add_targets(1);
    let empty = Update { features: &[], targets: &[], weights: &[], forgetting: 1.0 };
    assert_eq!(factor.residual_without(empty, &[3.0, 0.0, 4.0]).unwrap(), 10.0);
    assert!(factor.residual_without(empty, &[3.0]).is_err());
    assert!(factor.residual_without(Update { weights: &[1.0], ..empty }, &[0.0; 3]).is_err());
}
