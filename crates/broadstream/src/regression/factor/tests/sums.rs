//! Sums against the factors that they are converted to and from.

use super::*;

/// The regression of samples from `range`, of which only the first `targets` targets are known.
fn learned(samples: &Samples, range: std::ops::Range<usize>, targets: usize) -> Factor {
    let mut factor = Factor::new(samples.order, RIDGE);
    factor.add_targets(targets);
    for i in range {
        let targets = &samples.one_hot(i)[..targets];
        let update = Update { targets, ..samples.update(i..i + 1, 1.0) };
        factor.sweep(update, &mut vec![0.0; targets.len()]).unwrap();
    }
    factor
}

fn summed(samples: &Samples, block: usize, instructions: InstructionSet) -> Sums {
    let mut sums = Sums::new(samples.order);
    sums.set_instructions(instructions);
    sums.add_targets(samples.targets);
    for start in (0..samples.len()).step_by(block) {
        let Update { features, targets, weights, .. } =
            samples.update(start..samples.len().min(start + block), 1.0);
        sums.add(features, targets, weights).unwrap();
    }
    sums
}

fn rebuilt(sums: &Sums) -> Factor {
    let mut factor = Factor::new(sums.order(), 7.0);
    factor.rebuild(sums, RIDGE).unwrap();
    factor
}

/// All numbers of a pair of sums.
fn sum_bits(sums: &Sums) -> Vec<u64> {
    let q = sums.q().iter().flatten().flat_map(|column| column.0);
    sums.gram().p.rows(true).into_iter().chain(q).map(f64::to_bits).collect()
}

#[test]
fn merged_sums_are_those_of_all_samples() {
    for order in ORDERS {
        let samples = Samples::new(order, 6, 60);
        let whole = summed(&samples, 60, InstructionSet::detect());
        let mut merged = Sums::new(order);
        for part in [40..60, 0..40] {
            let Update { features, targets, weights, .. } = samples.update(part, 1.0);
            let mut sums = Sums::new(order);
            sums.add_targets(6);
            sums.add(features, targets, weights).unwrap();
            merged.merge(&sums).unwrap();
        }
        assert_eq!(merged.targets(), 6);
        assert_close(&rebuilt(&merged).weights(), &rebuilt(&whole).weights(), 1e-9);
    }
}

#[test]
fn summed_samples_give_the_swept_factor() {
    for order in ORDERS {
        let samples = Samples::new(order, 6, 50);
        let sums = summed(&samples, 50, InstructionSet::detect());
        let swept = learned(&samples, 0..50, 6);
        let mut factor = rebuilt(&sums);
        assert_close(&factor.weights(), &swept.weights(), 1e-11);
        assert_close(&factor.d_inverse, &swept.d_inverse, 1e-11);
        for instructions in InstructionSet::available() {
            for block in [1, 4, 7] {
                let found = sum_bits(&summed(&samples, block, instructions));
                assert_eq!(found, sum_bits(&sums), "order {order}, block {block}");
            }
        }
        // Targets that were not summed count as 0.
        factor.add_targets(9);
        factor.rebuild(&sums, RIDGE).unwrap();
        let weights = factor.weights();
        assert!(weights.chunks_exact(9).all(|row| row[6..] == [0.0; 3]));
        for order in [order / 2, order] {
            let part = rebuilt(&sums.prefix(order));
            let features = samples.features.chunks_exact(samples.order);
            let mut leading = Samples::new(order, 6, 50);
            leading.features = features.flat_map(|row| row[..order].to_vec()).collect();
            leading.one_hot.clone_from(&samples.one_hot);
            leading.weights.clone_from(&samples.weights);
            assert_close(&part.weights(), &learned(&leading, 0..50, 6).weights(), 1e-11);
        }
    }
}

#[test]
fn threads_and_paths_change_no_sum() {
    let threads = Threads::new(3).unwrap();
    for order in ORDERS {
        let samples = Samples::new(order, 5, 30);
        let (factor, _) = swept(&samples, 30, 1.0, InstructionSet::detect());
        let with = |instructions| Factor { instructions, ..factor.clone() };
        let mut others: Vec<Factor> = InstructionSet::available().map(with).collect();
        others.push(factor.clone());
        if let Some(shared) = others.last_mut() {
            shared.share_threads(&threads);
        }
        threads.end_backoff();
        for factor in others {
            let mut built = factor;
            built.rebuild(&summed(&samples, 30, InstructionSet::Portable), RIDGE).unwrap();
            assert_eq!(
                bits(&built),
                bits(&rebuilt(&summed(&samples, 7, InstructionSet::detect())))
            );
        }
    }
}

#[test]
fn restored_sums_are_the_same() {
    for order in [1, 12, 25] {
        let sums = summed(&Samples::new(order, 6, 20), 20, InstructionSet::detect());
        let mut restored = Sums::new(order);
        through_state(|to| sums.save(to), |from| restored.restore(from)).unwrap();
        assert_eq!(sum_bits(&restored), sum_bits(&sums));
        assert_eq!(restored.targets(), 6);
        let mut other = Sums::new(order + 1);
        assert!(through_state(|to| sums.save(to), |from| other.restore(from)).is_err());
    }
}

#[test]
fn sums_that_do_not_fit_are_refused() {
    let mut sums = Sums::new(3);
    sums.add_targets(1);
    assert!(sums.add(&[1.0; 3], &[1.0], &[0.0]).is_err());
    assert!(sums.add(&[f64::NAN; 3], &[1.0], &[1.0]).is_err());
    assert!(sums.add(&[1.0; 4], &[1.0], &[1.0]).is_err());
    assert!(sums.merge(&Sums::new(2)).is_err());
    assert!(Factor::new(2, 1.0).rebuild(&sums, 1.0).is_err());
    assert!(sum_bits(&sums).iter().all(|bits| *bits == 0));
    Sums::new(0).add(&[], &[], &[1.0]).unwrap();
    assert_eq!(sums.prefix(9).order(), 3);
}
