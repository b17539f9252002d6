//! What is saved and restored continues as if nothing had happened, to the bit.

use super::*;

const ORDERS: [usize; 8] = [1, 5, 11, 12, 13, 24, 25, 40];

/// A fresh factor that took over the state of another.
fn restored(saved: &Factor) -> Factor {
    let mut factor = Factor::new(saved.order(), 1.0);
    saved.readouts().iter().for_each(|&readout| factor.add_readout(readout));
    through_state(|to| saved.save(to), |from| factor.restore(from)).unwrap();
    factor
}

#[test]
fn a_restored_factor_continues_to_the_bit() {
    for order in ORDERS {
        for targets in [0, 1, 4, 6] {
            let samples = Samples::new(order, targets.max(1), 24);
            let mut factor = Factor::new(order, RIDGE);
            factor.add_readout(order / 2);
            factor.add_targets(targets);
            let learn = |factor: &mut Factor, range: std::ops::Range<usize>| {
                let mut update = samples.update(range.clone(), 0.98);
                update.targets = &update.targets[..range.len() * targets];
                let mut scores = vec![0.0; range.len() * factor.readouts().len() * targets];
                factor.sweep(update, &mut scores).unwrap();
                (bits(factor), scores)
            };
            learn(&mut factor, 0..11);
            let mut other = restored(&factor);
            assert_eq!(bits(&other), bits(&factor), "order {order}, {targets} targets");
            factor.add_targets(targets);
            assert_eq!(learn(&mut other, 11..24), learn(&mut factor, 11..24), "order {order}");
        }
    }
}

#[test]
fn a_restored_gram_continues_to_the_bit() {
    for order in ORDERS {
        let samples = Samples::new(order, 1, 20);
        let (swept, _) = swept(&samples, 20, 1.0, InstructionSet::detect());
        let half = 10 * order;
        let mut gram = Gram::new(order);
        gram.add(&samples.features[..half], &samples.weights[..10]).unwrap();
        let mut other = Gram::new(order);
        through_state(|to| gram.save(to), |from| other.restore(from)).unwrap();
        let built = [&mut gram, &mut other].map(|gram| {
            gram.add(&samples.features[half..], &samples.weights[10..]).unwrap();
            gram.scale(0.9);
            let mut factor = swept.clone();
            factor.refactor(gram, RIDGE).unwrap();
            (gram.p.rows(true), bits(&factor))
        });
        assert_eq!(built[0].0, built[1].0, "order {order}");
        assert_eq!(built[0].1, built[1].1, "order {order}");
    }
}

#[test]
fn restored_weights_continue_to_the_bit() {
    for order in ORDERS {
        // Beyond the number of samples after which weights are solved for again.
        let count = if order == 5 { 1040 } else { 30 };
        let samples = Samples::new(order, 6, count);
        let mut factor = Factor::new(order, RIDGE);
        factor.add_readout(order / 2);
        let mut other_weights = Weights::of(&factor);
        factor.add_targets(6);
        let mut weights = Weights::of(&factor);
        let learn = |factor: &mut Factor, weights: &mut Weights, i: usize| {
            let mut scores = vec![0.0; factor.readouts().len() * 6];
            weights.learn(factor, samples.update(i..i + 1, 0.98), &mut scores).unwrap();
            (scores, weights.rows())
        };
        for i in 0..15 {
            learn(&mut factor, &mut weights, i);
        }
        let mut other = restored(&factor);
        through_state(|to| weights.save(to), |from| other_weights.restore(from)).unwrap();
        for i in 15..count {
            let followed = learn(&mut other, &mut other_weights, i);
            assert_eq!(followed, learn(&mut factor, &mut weights, i), "order {order}, sample {i}");
        }
    }
}

#[test]
fn a_file_that_is_wrong_is_refused() {
    let samples = Samples::new(13, 3, 5);
    let (factor, _) = swept(&samples, 5, 1.0, InstructionSet::detect());
    let refused = |change: &dyn Fn(&mut WriteScope<'_>)| {
        let mut fresh = Factor::new(13, 1.0);
        let save = |to: &mut WriteScope<'_>| {
            factor.save(to);
            change(to);
        };
        through_state(save, |from| fresh.restore(from)).unwrap_err().to_string()
    };
    let d_inverse = |value: f64| {
        let mut d_inverse = factor.d_inverse.clone();
        d_inverse[7] = value;
        d_inverse
    };
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let said = refused(&|to| to.floats("d_inverse", d_inverse(value)));
        assert!(said.contains("d_inverse"), "{said}");
    }
    for length in [0, 77, 79, 91] {
        let said = refused(&|to| to.floats("l", vec![0.0; length]));
        assert!(said.contains("78 numbers"), "{said}");
    }
    for length in [12, 14, 40] {
        let said = refused(&|to| to.floats("z", vec![0.0; length]));
        assert!(said.contains('z'), "{said}");
    }
    refused(&|to| to.floats("z", vec![f64::NAN; 13]));
    let mut other_order = Factor::new(12, 1.0);
    assert!(through_state(|to| factor.save(to), |from| other_order.restore(from)).is_err());
    let mut empty = Factor::new(0, 1.0);
    assert!(through_state(|_| (), |from| empty.restore(from)).is_err());

    let weights = Weights::of(&factor);
    let mut fresh = Weights::of(&Factor::new(13, 1.0));
    let save = |to: &mut WriteScope<'_>| {
        weights.save(to);
        to.integer("since_solved", 1024_u64);
    };
    assert!(through_state(save, |from| fresh.restore(from)).is_err());
}
