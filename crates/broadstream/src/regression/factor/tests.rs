//! The factor against its definition (dense sums, solved by faer) and against itself: any division
//! into blocks and either instruction set give the same bits.

mod merge;
mod past_errors;
mod probe;
mod saved;
mod slide;
mod sums;
mod unlearn;

use faer::{Mat, linalg::solvers::Solve};

use super::*;
use crate::{
    numeric::Random,
    state::{Precision, StateWriter},
};

/// Orders on both sides of every panel boundary that matters, and of the column tiles within.
const ORDERS: [usize; 18] = [1, 2, 3, 4, 5, 8, 11, 12, 13, 16, 23, 24, 25, 37, 47, 48, 49, 73];
const RIDGE: f64 = 0.5;

/// Samples with one-hot targets; class `c` does not occur before sample 5·c.
struct Samples {
    order: usize,
    targets: usize,
    features: Vec<f64>,
    one_hot: Vec<f64>,
    weights: Vec<f64>,
}

impl Samples {
    fn new(order: usize, targets: usize, count: usize) -> Self {
        let mut random = Random::new(order as u64, "samples", "");
        let mut features = Vec::new();
        let mut one_hot = vec![0.0; count * targets];
        let mut weights = Vec::new();
        for i in 0..count {
            features.extend((0..order).map(|_| random.signed_unit()));
            let seen = targets.min(i / 5 + 1);
            one_hot[i * targets + random.below(seen as u64) as usize] = 1.0;
            weights.push(1.0 + 0.9 * random.signed_unit());
        }
        Samples { order, targets, features, one_hot, weights }
    }

    fn len(&self) -> usize {
        self.weights.len()
    }

    fn features(&self, i: usize) -> &[f64] {
        &self.features[i * self.order..][..self.order]
    }

    fn one_hot(&self, i: usize) -> &[f64] {
        &self.one_hot[i * self.targets..][..self.targets]
    }

    fn update(&self, range: std::ops::Range<usize>, forgetting: f64) -> Update<'_> {
        Update {
            features: &self.features[range.start * self.order..range.end * self.order],
            targets: &self.one_hot[range.start * self.targets..range.end * self.targets],
            weights: &self.weights[range],
            forgetting,
        }
    }
}

/// K and Q by their definition.
struct Dense {
    k: Mat<f64>,
    q: Mat<f64>,
}

impl Dense {
    fn new(order: usize, targets: usize) -> Self {
        let k = Mat::from_fn(order, order, |i, j| if i == j { RIDGE } else { 0.0 });
        Dense { k, q: Mat::zeros(order, targets) }
    }

    fn learn(&mut self, a: &[f64], y: &[f64], weight: f64, forgetting: f64) {
        for i in 0..a.len() {
            for j in 0..a.len() {
                self.k[(i, j)] = forgetting * self.k[(i, j)] + weight * a[i] * a[j];
            }
            for j in 0..y.len() {
                self.q[(i, j)] = forgetting * self.q[(i, j)] + weight * a[i] * y[j];
            }
        }
    }

    fn solve(&self, right: &Mat<f64>) -> Mat<f64> {
        self.k.llt(faer::Side::Lower).unwrap().solve(right)
    }

    fn scores(&self, a: &[f64]) -> Vec<f64> {
        let weights = self.solve(&self.q);
        (0..weights.ncols()).map(|c| (0..a.len()).map(|i| a[i] * weights[(i, c)]).sum()).collect()
    }

    fn leverage(&self, a: &[f64]) -> f64 {
        let solved = self.solve(&Mat::from_fn(a.len(), 1, |i, _| a[i]));
        (0..a.len()).map(|i| a[i] * solved[(i, 0)]).sum()
    }
}

#[track_caller]
fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(1e-3_f64, |scale, x| scale.max(x.abs()));
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance * scale, "{found} is not {expected}");
    }
}

fn row_major(matrix: &Mat<f64>) -> Vec<f64> {
    (0..matrix.nrows()).flat_map(|i| (0..matrix.ncols()).map(move |j| matrix[(i, j)])).collect()
}

/// Everything a factor holds, for comparison to the bit.
fn bits(factor: &Factor) -> Vec<u64> {
    let order = factor.order();
    let l = (0..order).flat_map(|i| (0..i).map(move |j| factor.l.entry(i, j)));
    let z = factor.z.iter().flatten().flat_map(|column| column.0);
    l.chain(factor.d_inverse.iter().copied()).chain(z).map(f64::to_bits).collect()
}

/// Saves the state of one part and restores it into another, as a model file would.
pub(crate) fn through_state<T>(
    save: impl FnOnce(&mut WriteScope<'_>),
    restore: impl FnOnce(&ReadScope<'_>) -> T,
) -> T {
    through_state_in(Precision::Double, save, restore)
}

/// The same in a given precision.
pub(crate) fn through_state_in<T>(
    precision: Precision,
    save: impl FnOnce(&mut WriteScope<'_>),
    restore: impl FnOnce(&ReadScope<'_>) -> T,
) -> T {
    let mut writer = StateWriter { precision, ..StateWriter::default() };
    save(&mut writer.root());
    writer.read_back(restore)
}

fn swept(
    samples: &Samples,
    block: usize,
    forgetting: f64,
    instructions: InstructionSet,
) -> (Factor, Vec<u64>) {
    swept_by(&Threads::default(), samples, block, forgetting, instructions)
}

fn swept_by(
    threads: &Threads,
    samples: &Samples,
    block: usize,
    forgetting: f64,
    instructions: InstructionSet,
) -> (Factor, Vec<u64>) {
    let mut factor = Factor { instructions, ..Factor::new(samples.order, RIDGE) };
    factor.share_threads(threads);
    factor.add_targets(samples.targets);
    factor.add_readout(samples.order / 2);
    let row = factor.readouts().len() * samples.targets;
    let mut scores = vec![0.0; samples.len() * row];
    for start in (0..samples.len()).step_by(block) {
        let end = samples.len().min(start + block);
        let rows = start * row..end * row;
        threads.end_backoff();
        factor.sweep(samples.update(start..end, forgetting), &mut scores[rows]).unwrap();
    }
    (factor, scores.into_iter().map(f64::to_bits).collect())
}

#[test]
fn sweeps_equal_the_dense_solution() {
    for order in ORDERS {
        for forgetting in [1.0, 0.97] {
            let samples = Samples::new(order, 6, 40);
            let mut factor = Factor::new(order, RIDGE);
            let mut dense = Dense::new(order, samples.targets);
            for i in 0..samples.len() {
                // Targets are added as their classes appear.
                let known = samples.targets.min(i / 5 + 1);
                factor.add_targets(known);
                let (a, y) = (samples.features(i), &samples.one_hot(i)[..known]);
                let mut scores = vec![0.0; known];
                assert_close(&[factor.leverage(a).unwrap()], &[dense.leverage(a)], 1e-11);
                let weights = &samples.weights[i..=i];
                let update = Update { features: a, targets: y, weights, forgetting };
                factor.sweep(update, &mut scores).unwrap();
                assert_close(&scores, &dense.scores(a)[..known], 1e-11);
                dense.learn(a, samples.one_hot(i), samples.weights[i], forgetting);
            }
            assert_close(&factor.weights(), &row_major(&dense.solve(&dense.q)), 1e-11);
            let b = samples.features(0);
            let x = dense.solve(&Mat::from_fn(order, 1, |i, _| b[i]));
            assert_close(&factor.solve(b).unwrap(), &row_major(&x), 1e-11);
        }
    }
}

#[test]
fn blocks_and_paths_change_no_bit() {
    for order in ORDERS {
        for forgetting in [1.0, 0.97] {
            let samples = Samples::new(order, 5, 70);
            let (reference, scores) = swept(&samples, 1, forgetting, InstructionSet::Portable);
            for instructions in InstructionSet::available() {
                for block in 1..=70 {
                    let (factor, block_scores) = swept(&samples, block, forgetting, instructions);
                    let place = format!("order {order}, block {block}, {instructions:?}");
                    assert_eq!(bits(&factor), bits(&reference), "{place}");
                    assert_eq!(block_scores, scores, "{place}");
                }
            }
        }
    }
}

/// The bits of a factor that was rebuilt from the samples' sum by the factor's own threads.
fn refreshed(mut factor: Factor, samples: &Samples) -> Vec<u64> {
    factor.threads.end_backoff();
    let mut gram = Gram::new(samples.order);
    gram.share_threads(&factor.threads);
    gram.add(&samples.features, &samples.weights).unwrap();
    factor.refactor(&gram, RIDGE).unwrap();
    bits(&factor)
}

#[test]
fn threads_change_no_bit() {
    for count in 2..=4 {
        let threads = Threads::new(count).unwrap();
        for order in ORDERS.into_iter().chain([1100]) {
            for forgetting in [1.0, 0.97] {
                let samples = Samples::new(order, 5, 70);
                let (reference, scores) = swept(&samples, 70, forgetting, InstructionSet::detect());
                let refreshed_alone = refreshed(reference.clone(), &samples);
                for block in [2, 7, 8, 33, 70] {
                    let (factor, block_scores) =
                        swept_by(&threads, &samples, block, forgetting, InstructionSet::detect());
                    let place = format!("order {order}, block {block}, {count} threads");
                    assert_eq!(bits(&factor), bits(&reference), "{place}");
                    assert_eq!(block_scores, scores, "{place}");
                    assert_eq!(refreshed(factor, &samples), refreshed_alone, "{place}");
                }
            }
        }
    }
}

#[test]
fn paths_agree_at_every_order() {
    for order in (1..=200).chain([1091, 1092, 1093, 1100]) {
        let samples = Samples::new(order, 5, 11);
        let learn = |block, instructions| {
            let (mut factor, scores) = swept(&samples, block, 0.999, instructions);
            factor.unlearn(samples.features(10), samples.one_hot(10), 0.1).unwrap();
            let mut gram = Gram::new(order);
            gram.instructions = instructions;
            gram.add(&samples.features, &samples.weights).unwrap();
            let mut refactored = factor.clone();
            refactored.refactor(&gram, RIDGE).unwrap();
            (bits(&factor), bits(&refactored), scores)
        };
        let reference = learn(1, InstructionSet::Portable);
        for instructions in InstructionSet::available() {
            for block in [1, 4, 7] {
                let place = format!("order {order}, block {block}, {instructions:?}");
                assert!(learn(block, instructions) == reference, "{place}");
            }
        }
    }
}

#[test]
fn scores_are_those_of_the_sweep_to_the_bit() {
    for order in ORDERS {
        let samples = Samples::new(order, 5, 30);
        let mut factor = Factor::new(order, RIDGE);
        factor.add_targets(5);
        for i in 0..samples.len() {
            let asked = factor.scores(samples.features(i)).unwrap();
            let mut told = vec![0.0; 5];
            factor.sweep(samples.update(i..i + 1, 1.0), &mut told).unwrap();
            assert_eq!(asked, told);
        }
    }
}

#[test]
fn many_predictions_have_the_bits_of_each() {
    for order in ORDERS {
        let samples = Samples::new(order, 6, 75);
        for instructions in InstructionSet::available() {
            let (factor, _) = swept(&samples, 75, 1.0, instructions);
            for count in [0, 1, 2, 3, 4, 5, 31, 32, 33, 75] {
                let (scores, leverages) =
                    factor.scores_many(&samples.features[..count * order]).unwrap();
                let rows = (0..count).map(|i| samples.features(i));
                let expected: Vec<f64> =
                    rows.clone().flat_map(|row| factor.scores(row).unwrap()).collect();
                assert_eq!(scores, expected, "order {order}, {count} samples");
                let expected: Vec<f64> = rows.map(|row| factor.leverage(row).unwrap()).collect();
                assert_eq!(leverages, expected, "order {order}, {count} samples");
            }
        }
    }
    assert!(Factor::new(3, 1.0).scores_many(&[1.0; 4]).is_err());
    assert!(Factor::new(0, 1.0).scores_many(&[1.0]).is_err());
}

#[test]
fn a_readout_is_the_regression_on_the_first_features() {
    let samples = Samples::new(37, 5, 60);
    for leading in [1, 11, 12, 13, 24, 36] {
        let mut whole = Factor::new(37, RIDGE);
        whole.add_readout(leading);
        whole.add_readout(37);
        assert_eq!(whole.readouts(), [leading, 37]);
        let mut part = Factor::new(leading, RIDGE);
        whole.add_targets(5);
        part.add_targets(5);
        for i in 0..samples.len() {
            let (mut scores, mut part_scores) = ([0.0; 10], [0.0; 5]);
            let update = samples.update(i..i + 1, 0.99);
            let part_update = Update { features: &update.features[..leading], ..update };
            assert_eq!(
                whole.scores(update.features).unwrap()[..5],
                part.scores(part_update.features).unwrap()
            );
            whole.sweep(update, &mut scores).unwrap();
            part.sweep(part_update, &mut part_scores).unwrap();
            assert_eq!(scores[..5], part_scores, "sample {i}, first {leading}");
        }
    }
}

#[test]
fn kept_weights_follow_their_factor() {
    for order in ORDERS {
        // Beyond the number of samples after which weights are solved for again.
        let count = if order == 13 { 1100 } else { 60 };
        let samples = Samples::new(order, 6, count);
        let followed = |instructions| {
            let mut factor = Factor { instructions, ..Factor::new(order, RIDGE) };
            factor.add_readout(order / 2);
            let mut weights = Weights::of(&factor);
            let mut predictions = Vec::new();
            for i in 0..samples.len() {
                let known = samples.targets.min(i / 5 + 1);
                factor.add_targets(known);
                weights.add_targets(known);
                let (features, targets) = (samples.features(i), &samples.one_hot(i)[..known]);
                let update = Update { features, targets, ..samples.update(i..i + 1, 0.98) };
                let exact = factor.scores(features).unwrap();
                let mut scores = vec![0.0; exact.len()];
                weights.learn(&mut factor, update, &mut scores).unwrap();
                assert_close(&scores, &exact, 1e-10);
                predictions.extend(scores);
            }
            assert_close(&weights.rows(), &factor.weights(), 1e-10);
            (predictions, weights.rows(), factor.solve(samples.features(0)).unwrap())
        };
        let reference = followed(InstructionSet::Portable);
        for instructions in InstructionSet::available() {
            assert_eq!(followed(instructions), reference, "order {order}, {instructions:?}");
        }
    }
}

#[test]
fn a_corrected_gain_is_that_of_the_larger_ridge() {
    const MISSING: f64 = 0.7;
    for order in ORDERS {
        let samples = Samples::new(order, 2, 30);
        let (factor, _) = swept(&samples, 1, 1.0, InstructionSet::detect());
        let mut dense = Dense::new(order, 2);
        for i in 0..samples.len() {
            dense.learn(samples.features(i), samples.one_hot(i), samples.weights[i], 1.0);
        }
        for i in 0..order {
            dense.k[(i, i)] += MISSING;
        }
        let last = samples.len() - 1;
        let weighted = |i| samples.weights[last] * samples.features(last)[i];
        let gain = dense.solve(&Mat::from_fn(order, 1, |i, _| weighted(i)));
        // Conjugate gradients end at the order of the matrix, and usually well before.
        let corrected = factor.corrected_gain(MISSING, order.min(30)).unwrap();
        assert_close(&corrected, &row_major(&gain), 1e-9);
    }
}

#[test]
fn refactoring_gives_the_factor_of_the_sum_and_keeps_the_weights() {
    for order in ORDERS {
        let samples = Samples::new(order, 5, 50);
        let (mut factor, _) = swept(&samples, 8, 1.0, InstructionSet::detect());
        let mut gram = Gram::new(order);
        gram.add(&samples.features, &samples.weights).unwrap();
        let swept = factor.clone();
        factor.refactor(&gram, RIDGE).unwrap();
        assert_close(&factor.weights(), &swept.weights(), 1e-11);
        assert_close(&factor.d_inverse, &swept.d_inverse, 1e-11);
        for i in 0..order {
            for j in 0..i {
                assert_close(&[factor.l.entry(i, j)], &[swept.l.entry(i, j)], 1e-10);
            }
        }
        for instructions in InstructionSet::available() {
            let mut other = Factor { instructions, ..swept.clone() };
            other.refactor(&gram, RIDGE).unwrap();
            assert_eq!(bits(&other), bits(&factor), "order {order}, {instructions:?}");
        }
    }
}

#[test]
fn a_gram_does_not_depend_on_how_it_was_summed() {
    for order in ORDERS {
        let samples = Samples::new(order, 1, 13);
        let mut whole = Gram::new(order);
        whole.add(&samples.features, &samples.weights).unwrap();
        let mut parts = Gram::new(order);
        for i in 0..samples.len() {
            parts.add(samples.features(i), &samples.weights[i..=i]).unwrap();
        }
        for i in 0..order {
            for j in 0..=i {
                assert_eq!(whole.p.entry(i, j), parts.p.entry(i, j));
                let sum: f64 = (0..samples.len())
                    .map(|s| samples.weights[s] * samples.features(s)[i] * samples.features(s)[j])
                    .sum();
                assert_close(&[whole.p.entry(i, j)], &[sum], 1e-12);
            }
        }
    }
}

#[test]
fn slices_of_the_wrong_length_are_refused() {
    let mut factor = Factor::new(3, 1.0);
    factor.add_targets(2);
    let good = Update { features: &[1.0; 3], targets: &[0.0; 2], weights: &[1.0], forgetting: 1.0 };
    assert!(factor.sweep(good, &mut [0.0; 2]).is_ok());
    assert!(factor.sweep(good, &mut [0.0; 1]).is_err());
    assert!(factor.sweep(Update { features: &[1.0; 4], ..good }, &mut [0.0; 2]).is_err());
    assert!(factor.sweep(Update { targets: &[1.0; 3], ..good }, &mut [0.0; 2]).is_err());
    assert!(factor.scores(&[1.0; 2]).is_err());
    assert!(factor.refactor(&Gram::new(4), 1.0).is_err());
}

#[test]
fn values_that_are_no_numbers_are_refused() {
    let samples = Samples::new(13, 3, 5);
    let (mut factor, _) = swept(&samples, 5, 1.0, InstructionSet::detect());
    let before = bits(&factor);
    let (a, y) = (samples.features(0), samples.one_hot(0));
    for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(factor.unlearn(a, y, weight), Err(Error::Weight { .. })), "{weight}");
    }
    assert!(factor.unlearn(a, &[f64::NAN, 0.0, 0.0], 1.0).is_err());
    assert!(factor.unlearn(&[f64::INFINITY; 13], y, 1.0).is_err());
    assert_eq!(bits(&factor), before);
    let mut empty = Factor::new(0, 1.0);
    empty.add_targets(1);
    let update = Update { features: &[], targets: &[1.0], weights: &[1.0], forgetting: 1.0 };
    empty.sweep(update, &mut [0.0]).unwrap();
    Gram::new(0).add(&[], &[1.0]).unwrap();
}

#[test]
fn a_ridge_lost_in_rounding_does_not_break_the_factor() {
    // Three directions in thirteen dimensions, 1e20 times the ridge.
    let samples = Samples::new(13, 2, 3);
    let large: Vec<f64> = samples.features.iter().map(|a| a * 1e10).collect();
    let mut gram = Gram::new(13);
    for _ in 0..50 {
        gram.add(&large, &samples.weights).unwrap();
    }
    let mut factor = Factor::new(13, 1.0);
    factor.add_targets(2);
    factor.refactor(&gram, 1.0).unwrap();
    let solved = factor.solve(&large[..13]).unwrap();
    assert!(solved.iter().all(|x| x.abs() < 1.0), "{solved:?}");
}
