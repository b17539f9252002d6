//! No row is timed before its work is checked: every way of learning the same samples must give the
//! same solution.

use anyhow::{Result, ensure};
use broadstream::factor::{Factor, Gram, Weights};

use crate::{
    RIDGE,
    ours::{BLOCK, Learner, THREADS},
    peers::Peer,
    samples::{Cursor, Samples, TARGETS},
};

/// How far apart two solutions may be, relative to the larger one's largest entry.
const TOLERANCE: f64 = 1e-8;

/// Steps after which conjugate gradients have converged.
const MANY_STEPS: usize = 20;

/// The number of samples that peers learn for their check.
const PEER_SAMPLES: usize = 8;

/// Checks sweeps of all block sizes, predictions, and the factorisation from P + λI.
pub(crate) fn check_ours(samples: &Samples) -> Result<()> {
    let order = samples.order();
    let mut one_by_one = Learner::new(order);
    let mut before_last = Vec::new();
    let mut scores_of_last = Vec::new();
    for sample in 0..BLOCK {
        if sample == BLOCK - 1 {
            let last = &samples.next(&mut Cursor::default(), BLOCK).0[sample * order..];
            before_last = one_by_one.factor.scores(last)?;
        }
        scores_of_last = one_by_one.learn(samples, 1).to_vec();
    }
    agree("the sweep's scores and the prediction", &scores_of_last, &before_last)?;

    let solution = one_by_one.factor.solve(samples.right_hand_side())?;
    let product = multiply_by_k(samples, BLOCK, &solution);
    agree("K times the sweep's solution and b", &product, samples.right_hand_side())?;
    check_weights(samples, &one_by_one.factor)?;

    for block in [8, BLOCK] {
        let mut learner = Learner::new(order);
        for _ in 0..BLOCK / block {
            learner.learn(samples, block);
        }
        let in_blocks = learner.factor.solve(samples.right_hand_side())?;
        agree(&format!("sweeps one by one and in blocks of {block}"), &in_blocks, &solution)?;
    }

    let mut threaded = Learner::new(order);
    threaded.factor.set_threads(THREADS)?;
    threaded.learn(samples, BLOCK);
    let in_threads = threaded.factor.solve(samples.right_hand_side())?;
    ensure!(in_threads == solution, "sweeps by one and by {THREADS} threads differ");
    check_kept(samples, &one_by_one.factor.weights())?;

    let mut gram = Gram::new(order);
    gram.add(samples.next(&mut Cursor::default(), BLOCK).0, &[1.0; BLOCK])?;
    let mut refactored = Factor::new(order, RIDGE);
    refactored.refactor(&gram, RIDGE)?;
    let refactored = refactored.solve(samples.right_hand_side())?;
    agree("the sweep's and the refactored solution", &refactored, &solution)
}

/// Checks kept weights and corrected gains: a factor of half the ridge, corrected for the other
/// half by many steps, must have the weights of the whole ridge.
fn check_kept(samples: &Samples, solved: &[f64]) -> Result<()> {
    let mut learner = Learner::new(samples.order());
    let mut weights = Weights::of(&learner.factor);
    for _ in 0..BLOCK {
        learner.learn_one(samples, 1.0, |factor, update, scores| {
            weights.learn(factor, update, scores).map(drop)
        });
    }
    agree("the kept and the solved weights", &weights.rows(), solved)?;

    let mut learner = Learner::with_ridge(samples.order(), RIDGE / 2.0);
    let mut weights = Weights::of(&learner.factor);
    for _ in 0..BLOCK {
        learner.learn_one(samples, 1.0, |factor, update, scores| {
            weights.learn_corrected(factor, update, RIDGE / 2.0, MANY_STEPS, scores).map(drop)
        });
    }
    agree("the corrected and the solved weights", &weights.rows(), solved)
}

/// Checks a fresh peer against the sweep; the peer is then ready to be timed.
pub(crate) fn check_peer(samples: &Samples, peer: &mut dyn Peer) -> Result<()> {
    let mut learner = Learner::new(samples.order());
    let mut cursor = Cursor::default();
    let mut x = Vec::new();
    for _ in 0..PEER_SAMPLES {
        learner.learn(samples, 1);
        x = samples.right_hand_side().to_vec();
        peer.learn_and_solve(samples.next(&mut cursor, 1).0, &mut x);
    }
    let expected = learner.factor.solve(samples.right_hand_side())?;
    agree(&format!("broadstream and {}", peer.name()), &x, &expected)
}

/// K W = Q, where Q sums each sample's features into its class's column.
fn check_weights(samples: &Samples, factor: &Factor) -> Result<()> {
    let order = samples.order();
    let (features, targets) = samples.next(&mut Cursor::default(), BLOCK);
    let weights = factor.weights();
    for target in 0..TARGETS {
        let mut q = vec![0.0; order];
        for (a, y) in features.chunks_exact(order).zip(targets.chunks_exact(TARGETS)) {
            q.iter_mut().zip(a).for_each(|(q, a)| *q += y[target] * a);
        }
        let column: Vec<f64> = weights.iter().skip(target).step_by(TARGETS).copied().collect();
        agree("K W and Q", &multiply_by_k(samples, BLOCK, &column), &q)?;
    }
    Ok(())
}

/// K x = λx + Σ a (aᵀx), over the first samples.
fn multiply_by_k(samples: &Samples, count: usize, x: &[f64]) -> Vec<f64> {
    let mut product: Vec<f64> = x.iter().map(|x| RIDGE * x).collect();
    let (features, _) = samples.next(&mut Cursor::default(), count);
    for a in features.chunks_exact(samples.order()) {
        let dot: f64 = a.iter().zip(x).map(|(a, x)| a * x).sum();
        product.iter_mut().zip(a).for_each(|(product, a)| *product += dot * a);
    }
    product
}

fn agree(what: &str, found: &[f64], expected: &[f64]) -> Result<()> {
    ensure!(found.len() == expected.len(), "{what} differ in length");
    let largest = expected.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    let apart = found.iter().zip(expected).map(|(x, y)| (x - y).abs() / largest).fold(
        0.0,
        |far: f64, x| {
            // NaN must not pass as the smaller one.
            if x.is_nan() { f64::INFINITY } else { far.max(x) }
        },
    );
    ensure!(apart <= TOLERANCE, "{what} differ by {apart:.1e}, more than {TOLERANCE:.0e}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A peer that fails to learn.
    struct Idle;

    impl Peer for Idle {
        fn name(&self) -> String {
            "an idle peer".to_owned()
        }

        fn learn_and_solve(&mut self, _features: &[f64], x: &mut [f64]) {
            x.iter_mut().for_each(|x| *x /= RIDGE);
        }
    }

    #[test]
    fn a_peer_that_skips_work_is_found_out() {
        let error = check_peer(&Samples::new(30), &mut Idle).unwrap_err().to_string();
        assert!(error.contains("an idle peer differ by"), "{error}");
    }

    #[test]
    fn nothing_agrees_with_nan() {
        assert!(agree("x and y", &[1.0, f64::NAN], &[1.0, 2.0]).is_err());
        assert!(agree("x and y", &[1.0, 2.0 + 1e-7], &[1.0, 2.0]).is_err());
        assert!(agree("x and y", &[1.0, 2.0 + 1e-9], &[1.0, 2.0]).is_ok());
    }
}
