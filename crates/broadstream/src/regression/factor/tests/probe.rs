//! A probe reports nothing when nothing is wrong, and reports what is.

use super::*;

/// A factor and its probe after all kinds of changes.
fn watched(
    samples: &Samples,
    block: usize,
    forgetting: f64,
    instructions: InstructionSet,
) -> (Factor, Probe) {
    let mut factor = Factor { instructions, ..Factor::new(samples.order, RIDGE) };
    let mut probe = Probe::new(samples.order, RIDGE);
    probe.set_instructions(instructions);
    for start in (0..samples.len()).step_by(block) {
        let end = samples.len().min(start + block);
        // Targets are added as their classes appear.
        factor.add_targets(samples.targets.min((end - 1) / 5 + 1));
        let known = factor.targets();
        let targets: Vec<f64> =
            (start..end).flat_map(|i| samples.one_hot(i)[..known].to_vec()).collect();
        let update = Update { targets: &targets, ..samples.update(start..end, forgetting) };
        factor.sweep(update, &mut vec![0.0; (end - start) * known]).unwrap();
        probe.learn(update).unwrap();
    }
    if forgetting == 1.0 {
        let update = samples.update(3..4, 1.0);
        factor.unlearn(update.features, update.targets, update.weights[0]).unwrap();
        probe.unlearn(update).unwrap();
    }
    let change: Vec<f64> = (0..samples.targets).map(|k| 0.5 - k as f64).collect();
    factor.correct(samples.features(7), &change, 0.25).unwrap();
    probe.correct(samples.features(7), &change, 0.25).unwrap();
    (factor, probe)
}

#[test]
fn a_sound_factor_is_found_sound() {
    for order in ORDERS {
        for forgetting in [1.0, 0.97] {
            let samples = Samples::new(order, 6, 70);
            let (factor, probe) = watched(&samples, 1, forgetting, InstructionSet::detect());
            let health = probe.check(&factor);
            assert!(health.residual < 1e-13, "order {order}: {health:?}");
            assert_eq!(health.samples, if forgetting == 1.0 { 69 } else { 70 });
            assert!(health.error >= health.residual && health.error < 1e-11);
            let pivots: Vec<f64> = factor.d_inverse.iter().map(|inverse| 1.0 / inverse).collect();
            assert!(pivots.contains(&health.smallest_pivot));
            assert!(pivots.iter().all(|pivot| *pivot >= health.smallest_pivot));
            assert!(pivots.iter().all(|pivot| *pivot <= health.largest_pivot));
            for (block, instructions) in [7, 70, 8].into_iter().zip(InstructionSet::available()) {
                let (factor, probe) = watched(&samples, block, forgetting, instructions);
                assert_eq!(probe.check(&factor), health, "order {order}, block {block}");
            }
            let ridge = RIDGE * forgetting.powi(70);
            let believed = Probe::of(&factor, ridge, 70).check(&factor);
            assert!(believed.residual < 1e-15, "order {order}: {believed:?}");
        }
    }
}

#[test]
fn an_error_is_found_wherever_it_is() {
    const ERROR: f64 = 1e-7;
    let samples = Samples::new(25, 6, 70);
    let (factor, probe) = watched(&samples, 70, 1.0, InstructionSet::detect());
    let residual = |factor: &Factor| probe.check(factor).residual;
    for j in 0..25 {
        let mut wrong = factor.clone();
        wrong.d_inverse[j] *= 1.0 + ERROR;
        assert!(residual(&wrong) > 1e-10, "pivot {j}");
        let mut wrong = factor.clone();
        wrong.z[1][j].0[1] += ERROR;
        assert!(residual(&wrong) > 1e-10, "weight {j}");
        let mut rows = factor.l.rows(false);
        if let Some(entry) = rows.get_mut(11 * j) {
            *entry += ERROR;
            let mut wrong = factor.clone();
            wrong.l.set_rows(&rows, false);
            assert!(residual(&wrong) > 1e-10, "entry {}", 11 * j);
        }
    }
    let mut broken = factor;
    broken.d_inverse[3] = f64::NAN;
    assert_eq!(probe.check(&broken).residual, f64::MAX);
    broken.d_inverse[3] = -1.0;
    assert_eq!(probe.check(&broken).condition, f64::INFINITY);
}

#[test]
fn a_refactored_factor_is_followed() {
    let samples = Samples::new(25, 6, 70);
    let (mut factor, _) = swept(&samples, 70, 1.0, InstructionSet::detect());
    let mut probe = Probe::new(25, RIDGE);
    probe.learn(samples.update(0..70, 1.0)).unwrap();
    let mut gram = Gram::new(25);
    gram.add(&samples.features, &samples.weights).unwrap();
    factor.refactor(&gram, 3.0 * RIDGE).unwrap();
    assert!(probe.check(&factor).residual > 1e-3);
    probe.ridge_was_raised(&factor, 3.0 * RIDGE);
    assert!(probe.check(&factor).residual < 1e-13);
    factor.set_weights(&vec![0.5; 25 * 6]);
    assert!(probe.check(&factor).residual > 1e-3);
    probe.weights_were_given(&factor);
    assert!(probe.check(&factor).residual < 1e-15);
}

#[test]
fn the_condition_is_that_of_the_scaled_matrix() {
    for order in ORDERS {
        let samples = Samples::new(order, 2, 30);
        // Features of very different sizes, and some that nearly agree.
        let mut scaled = samples.features.clone();
        for row in scaled.chunks_exact_mut(order) {
            for j in (1..order).step_by(3) {
                row[j] = row[j - 1] + 1e-3 * row[j];
            }
            row.iter_mut().enumerate().for_each(|(j, a)| *a *= 10f64.powi((j % 7) as i32 * 2 - 6));
        }
        let mut factor = Factor::new(order, 1e-9);
        factor.add_targets(2);
        let update = Update { features: &scaled, ..samples.update(0..30, 1.0) };
        factor.sweep(update, &mut [0.0; 60]).unwrap();
        let mut k = Mat::from_fn(order, order, |i, j| if i == j { 1e-9 } else { 0.0 });
        for (row, weight) in scaled.chunks_exact(order).zip(&samples.weights) {
            k += Mat::from_fn(order, order, |i, j| weight * row[i] * row[j]);
        }
        let diagonal: Vec<f64> = (0..order).map(|i| k[(i, i)]).collect();
        assert_close(&factor.diagonal(), &diagonal, 1e-10);
        let unit =
            Mat::from_fn(order, order, |i, j| k[(i, j)] / (diagonal[i] * diagonal[j]).sqrt());
        let eigenvalues = unit.self_adjoint_eigenvalues(faer::Side::Lower).unwrap();
        let expected = eigenvalues[order - 1] / eigenvalues[0];
        let start: Vec<f64> = (0..order).map(|i| ((i * 7 + 1) as f64).sin()).collect();
        let ratio = factor.condition(&start) / expected;
        assert!((0.2..=1.01).contains(&ratio), "order {order}: {ratio} of {expected:e}");
    }
}
