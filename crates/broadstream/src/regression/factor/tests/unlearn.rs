//! Removed samples and corrected labels, against learning the right samples.

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
        let bits = InstructionSet::available().map(|instructions| {
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
        let bits: Vec<Vec<u64>> = bits.collect();
        assert!(bits.iter().all(|other| *other == bits[0]), "order {order}");
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
