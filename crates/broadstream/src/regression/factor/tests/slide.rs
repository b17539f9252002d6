//! Sliding windows against sweeps one by one, and against the dense solution of the window.

use super::*;

const WINDOW: usize = 20;

/// A factor whose window slid over all samples in blocks, with all scores and leverages.
fn slid(
    samples: &Samples,
    block: usize,
    instructions: InstructionSet,
    threads: &Threads,
) -> (Vec<u64>, Vec<f64>) {
    let mut factor = Factor { instructions, ..Factor::new(samples.order, RIDGE) };
    factor.share_threads(threads);
    factor.add_targets(samples.targets);
    factor.add_readout(samples.order / 2);
    let row = factor.readouts().len() * samples.targets;
    let mut told = Vec::new();
    for start in (0..samples.len()).step_by(block) {
        let end = samples.len().min(start + block);
        let removed = start.saturating_sub(WINDOW)..end.saturating_sub(WINDOW);
        let mut scores = vec![0.0; (end - start) * row];
        threads.end_backoff();
        let (learned, removed) = (samples.update(start..end, 1.0), samples.update(removed, 0.5));
        let Slide { leverages, is_sound } = factor.slide(learned, removed, &mut scores).unwrap();
        assert!(is_sound);
        assert_eq!(leverages.len(), end - start);
        for (scores, leverage) in scores.chunks_exact(row).zip(leverages) {
            told.extend_from_slice(scores);
            told.push(leverage);
        }
    }
    (bits(&factor), told)
}

/// The same by one sweep or removal at a time, each compared with the dense solution.
fn one_by_one(samples: &Samples) -> (Vec<u64>, Vec<f64>) {
    let mut factor = Factor::new(samples.order, RIDGE);
    factor.add_targets(samples.targets);
    factor.add_readout(samples.order / 2);
    let row = factor.readouts().len() * samples.targets;
    let mut dense = Dense::new(samples.order, samples.targets);
    let mut told = Vec::new();
    for i in 0..samples.len() {
        let (a, y, weight) = (samples.features(i), samples.one_hot(i), samples.weights[i]);
        let mut scores = vec![0.0; row];
        let leverages = factor.sweep(samples.update(i..i + 1, 1.0), &mut scores).unwrap();
        assert_close(&scores[row - samples.targets..], &dense.scores(a), 1e-9);
        assert_close(&leverages, &[dense.leverage(a)], 1e-9);
        dense.learn(a, y, weight, 1.0);
        told.extend(scores.into_iter().chain(leverages));
        if let Some(old) = i.checked_sub(WINDOW) {
            let (a, y, weight) =
                (samples.features(old), samples.one_hot(old), samples.weights[old]);
            factor.unlearn(a, y, weight).unwrap();
            dense.learn(a, y, -weight, 1.0);
        }
    }
    assert_close(&factor.weights(), &row_major(&dense.solve(&dense.q)), 1e-9);
    (bits(&factor), told)
}

#[test]
fn a_window_slides_as_by_single_steps() {
    let threads = Threads::new(3).unwrap();
    for order in ORDERS {
        let samples = Samples::new(order, 5, 70);
        let expected = one_by_one(&samples);
        for block in [1, 3, 7, 19, 20, 21, 33, 70] {
            let alone = InstructionSet::available().map(|set| (set, Threads::default()));
            for (instructions, threads) in
                alone.chain([(InstructionSet::detect(), threads.clone())])
            {
                let found = slid(&samples, block, instructions, &threads);
                assert!(found == expected, "order {order}, block {block}");
            }
        }
    }
}

#[test]
fn what_breaks_the_factor_is_told() {
    let samples = Samples::new(13, 3, 6);
    let (factor, _) = swept(&samples, 6, 1.0, InstructionSet::detect());
    let row = factor.readouts().len() * 3;
    let foreign: Vec<f64> = (0..13).map(|i| f64::from(i).sin() * 10.0).collect();
    let removed = Update { features: &foreign, ..samples.update(0..1, 1.0) };
    // It is noticed in the middle of a block too, although later samples may hide it from D.
    for block in [1, 2, 6] {
        let mut factor = factor.clone();
        let features = [&foreign[..], &samples.features[13..block * 13]].concat();
        let removed = Update { features: &features, ..samples.update(0..block, 1.0) };
        let mut scores = vec![0.0; block * row];
        assert!(
            !factor.slide(samples.update(0..block, 1.0), removed, &mut scores).unwrap().is_sound
        );
    }
    let before = bits(&factor);
    let mut factor = factor;
    let none = samples.update(0..0, 1.0);
    assert!(factor.slide(none, removed, &mut []).is_err(), "there is nothing to pair it with");
    let mut scores = vec![0.0; row];
    let weightless = Update { weights: &[0.0], ..samples.update(0..1, 1.0) };
    assert!(factor.slide(samples.update(0..1, 1.0), weightless, &mut scores).is_err());
    assert!(factor.slide(samples.update(0..1, 1.0), none, &mut []).is_err());
    assert_eq!(bits(&factor), before);
    assert!(factor.slide(none, none, &mut []).unwrap().is_sound);
}
