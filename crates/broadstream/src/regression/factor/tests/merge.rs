//! Merged factors, and factors with another ridge, against learning all samples.

use super::*;

/// A factor that has learned a part of the samples, with `targets` targets, and its probe.
fn learned(samples: &Samples, part: std::ops::Range<usize>, targets: usize) -> (Factor, Probe) {
    let mut factor = Factor::new(samples.order, RIDGE);
    factor.add_targets(targets);
    let mut probe = Probe::new(samples.order, RIDGE);
    let one_hot: Vec<f64> =
        part.clone().flat_map(|i| samples.one_hot(i)[..targets].to_vec()).collect();
    let update = Update { targets: &one_hot, ..samples.update(part.clone(), 1.0) };
    factor.sweep(update, &mut vec![0.0; part.len() * targets]).unwrap();
    probe.learn(update).unwrap();
    (factor, probe)
}

#[test]
fn a_merged_factor_has_learned_all_samples() {
    for order in ORDERS.into_iter().chain([63, 64, 65, 129]) {
        // Up to sample 10 there are two classes, and later six.
        let samples = Samples::new(order, 6, 60);
        let [early, late, whole] = [(0..10, 2), (10..60, 6), (0..60, 6)]
            .map(|(part, targets)| learned(&samples, part, targets));
        for ((one, one_probe), (other, other_probe)) in [(&early, &late), (&late, &early)] {
            let (mut merged, mut probe) = (one.clone(), one_probe.clone());
            let targets: Vec<usize> = (0..other.targets()).collect();
            merged.merge(other, RIDGE, &targets).unwrap();
            probe.merge(other_probe, other, &targets);
            assert_eq!(merged.targets(), 6);
            assert_close(&merged.weights(), &whole.0.weights(), 1e-12);
            assert_close(&merged.d_inverse, &whole.0.d_inverse, 1e-12);
            let health = probe.check(&merged);
            assert!(health.residual < 1e-14 && health.samples == 60, "order {order}: {health:?}");
        }
    }
}

#[test]
fn the_targets_of_a_merged_factor_are_renumbered() {
    let samples = Samples::new(25, 3, 40);
    let (mut one, mut probe) = learned(&samples, 20..40, 3);
    let (other, other_probe) = learned(&samples, 0..20, 3);
    let numbers = [3, 0, 1];
    one.merge(&other, RIDGE, &numbers).unwrap();
    probe.merge(&other_probe, &other, &numbers);
    let mut whole = Factor::new(25, RIDGE);
    whole.add_targets(4);
    for i in (20..40).chain(0..20) {
        let mut y = [0.0; 4];
        for (k, target) in samples.one_hot(i).iter().enumerate() {
            y[if i < 20 { numbers[k] } else { k }] = *target;
        }
        let update = Update { targets: &y, ..samples.update(i..i + 1, 1.0) };
        whole.sweep(update, &mut [0.0; 4]).unwrap();
    }
    assert_close(&one.weights(), &whole.weights(), 1e-12);
    assert!(probe.check(&one).residual < 1e-14);
    assert!(one.merge(&Factor::new(24, RIDGE), RIDGE, &[]).is_err());
    assert!(one.merge(&other, RIDGE, &[0, 1]).is_err());
}

#[test]
fn threads_and_paths_change_no_merged_bit() {
    let threads = Threads::new(3).unwrap();
    for order in [1, 13, 25, 64, 130] {
        let samples = Samples::new(order, 5, 60);
        let [(one, _), (other, _)] = [0..30, 30..60].map(|part| learned(&samples, part, 5));
        let merged = |mut factor: Factor| {
            factor.merge(&other, RIDGE, &[0, 1, 2, 3, 4]).unwrap();
            factor.raise_ridge(0.25);
            bits(&factor)
        };
        let mut shared = one.clone();
        shared.share_threads(&threads);
        threads.end_backoff();
        let reference = merged(one.clone());
        assert_eq!(merged(shared), reference, "order {order}");
        for instructions in InstructionSet::available() {
            let factor = Factor { instructions, ..one.clone() };
            assert_eq!(merged(factor), reference, "order {order}");
        }
    }
}

#[test]
fn a_raised_ridge_is_that_of_a_refactored_sum() {
    for order in ORDERS.into_iter().chain([65]) {
        let samples = Samples::new(order, 5, 50);
        let (factor, mut probe) = learned(&samples, 0..50, 5);
        let mut gram = Gram::new(order);
        gram.add(&samples.features, &samples.weights).unwrap();
        let (mut raised, mut refactored) = (factor.clone(), factor.clone());
        raised.raise_ridge(2.0 * RIDGE);
        refactored.refactor(&gram, 3.0 * RIDGE).unwrap();
        probe.ridge_was_raised(&raised, 3.0 * RIDGE);
        assert!(probe.check(&raised).residual < 1e-14);
        assert_close(&raised.d_inverse, &refactored.d_inverse, 1e-12);
        assert_close(&raised.weights(), &factor.weights(), 1e-12);
        assert!(factor.pivot_share(&gram) > 1e-3);
    }
}
