//! The rows of broadstream itself.

use std::hint::black_box;

use broadstream::factor::{Factor, Gram, Update};

use crate::{
    RIDGE,
    samples::{Cursor, Samples, TARGETS},
    timing::{Key, Row},
};

/// The larger block, also that of the forgetting row.
pub(crate) const BLOCK: usize = 64;

/// Samples between two refreshes of the factor where each keeps 0.99 of the past: the ridge has
/// then faded to a quarter.
pub(crate) const REFRESH_INTERVAL: f64 = 138.0;

pub(crate) fn rows(samples: &Samples) -> Vec<Row<'_>> {
    vec![
        sweep(samples, 1),
        sweep(samples, 8),
        sweep(samples, BLOCK),
        predict(samples),
        add_to_gram(samples),
        refactor(samples),
    ]
}

/// Predicts and learns, `block` samples in a call.
pub(crate) fn sweep(samples: &Samples, block: usize) -> Row<'_> {
    let mut learner = Learner::new(samples.order());
    let key = if block == 1 { Key::Sweep } else { Key::Block(block) };
    Row::new(key, block, move || {
        black_box(learner.learn(samples, block));
    })
}

fn predict(samples: &Samples) -> Row<'_> {
    let mut learner = Learner::new(samples.order());
    learner.learn(samples, BLOCK);
    let mut cursor = Cursor::default();
    Row::new(Key::Predict, 1, move || {
        let (features, _) = samples.next(&mut cursor, 1);
        black_box(learner.factor.scores(features).expect("the lengths are right"));
    })
}

fn add_to_gram(samples: &Samples) -> Row<'_> {
    let mut gram = Gram::new(samples.order());
    let mut cursor = Cursor::default();
    Row::new(Key::GramAdd, BLOCK, move || {
        let (features, _) = samples.next(&mut cursor, BLOCK);
        gram.add(features, &[1.0; BLOCK]).expect("the lengths are right");
    })
}

fn refactor(samples: &Samples) -> Row<'_> {
    let mut learner = Learner::new(samples.order());
    let mut gram = Gram::new(samples.order());
    gram.add(samples.next(&mut Cursor::default(), BLOCK).0, &[1.0; BLOCK])
        .expect("the lengths are right");
    learner.learn(samples, BLOCK);
    Row::new(Key::Refactor, 1, move || {
        // A refresh scales P. By 1 it is the same work, and P does not fade from call to call.
        gram.scale(black_box(1.0));
        learner.factor.refactor(&gram, RIDGE).expect("the orders are equal");
    })
}

/// A factor and its place in the samples.
pub(crate) struct Learner {
    pub(crate) factor: Factor,
    cursor: Cursor,
    scores: Vec<f64>,
}

impl Learner {
    pub(crate) fn new(order: usize) -> Self {
        let mut factor = Factor::new(order, RIDGE);
        factor.add_targets(TARGETS);
        Learner { factor, cursor: Cursor::default(), scores: vec![0.0; BLOCK * TARGETS] }
    }

    /// Learns the next `block` samples; their scores of before, a row for each.
    pub(crate) fn learn(&mut self, samples: &Samples, block: usize) -> &[f64] {
        let (features, targets) = samples.next(&mut self.cursor, block);
        let weights = &[1.0; BLOCK][..block];
        let update = Update { features, targets, weights, forgetting: 1.0 };
        let scores = &mut self.scores[..block * TARGETS];
        self.factor.sweep(update, scores).expect("the lengths are right");
        scores
    }
}
