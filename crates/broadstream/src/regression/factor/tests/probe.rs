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
            assert_eq!(health.condition, health.largest_pivot / health.smallest_pivot);
            let pivots: Vec<f64> = factor.d_inverse.iter().map(|inverse| 1.0 / inverse).collect();
            assert!(pivots.contains(&health.smallest_pivot));
            assert!(pivots.iter().all(|pivot| *pivot >= health.smallest_pivot));
            assert!(pivots.iter().all(|pivot| *pivot <= health.largest_pivot));
            for (block, instructions) in
                [(7, InstructionSet::detect()), (70, InstructionSet::Portable)]
            {
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
    let ridge = factor.refactor(&gram, 3.0 * RIDGE).unwrap();
    assert!(probe.check(&factor).residual > 1e-3);
    probe.refactored(&factor, ridge);
    assert!(probe.check(&factor).residual < 1e-13);
    factor.set_weights(&vec![0.5; 25 * 6]);
    assert!(probe.check(&factor).residual > 1e-3);
    probe.weights_were_given(&factor);
    assert!(probe.check(&factor).residual < 1e-15);
}
