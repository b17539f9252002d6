//! The rows of broadstream itself.

use std::hint::black_box;

use broadstream::{
    Forgetting, Nodes, OnlineBls, OnlineBlsConfig,
    factor::{Factor, Gram, Update, Weights},
};

use crate::{
    FORGETTING, RIDGE,
    samples::{Cursor, Samples, TARGETS},
    timing::{Key, Row},
};

/// The larger block size, also that of the forgetting row.
pub(crate) const BLOCK: usize = 64;

/// Steps of conjugate gradients in the near-exact row.
pub(crate) const STEPS: usize = 2;

/// The number of threads in the row that uses several.
pub(crate) const THREADS: usize = 2;

/// The number of samples between two refreshes of a factor of that order, at a forgetting of 0.99.
pub(crate) fn refresh_interval(order: usize) -> usize {
    let config = OnlineBlsConfig {
        feature_groups: 1,
        feature_nodes: 1,
        enhancement_nodes: Nodes::Fixed(order - 1),
        forgetting: Forgetting::Fixed(FORGETTING),
        ..OnlineBlsConfig::single()
    };
    let model = OnlineBls::new(config).expect("the configuration is sound");
    model.refresh_every().expect("it forgets")
}

pub(crate) fn rows(samples: &Samples) -> Vec<Row<'_>> {
    vec![
        sweep(samples, 1),
        sweep(samples, 8),
        sweep(samples, BLOCK),
        threads(samples),
        kept(samples),
        predict(samples),
        predict_kept(samples),
        add_to_gram(samples),
        refactor(samples),
        corrected(samples),
    ]
}

/// Predicts and learns `block` samples per call.
pub(crate) fn sweep(samples: &Samples, block: usize) -> Row<'_> {
    let mut learner = Learner::new(samples.order());
    let key = if block == 1 { Key::Sweep } else { Key::Block(block) };
    Row::new(key, block, move || {
        black_box(learner.learn(samples, block));
    })
}

fn threads(samples: &Samples) -> Row<'_> {
    let mut learner = Learner::new(samples.order());
    learner.factor.set_threads(THREADS).expect("the system has threads");
    Row::new(Key::Threads(THREADS), BLOCK, move || {
        black_box(learner.learn(samples, BLOCK));
    })
}

fn kept(samples: &Samples) -> Row<'_> {
    let mut learner = Learner::new(samples.order());
    let mut weights = Weights::of(&learner.factor);
    Row::new(Key::Kept, 1, move || {
        learner.learn_one(samples, 1.0, |factor, update, scores| {
            weights.learn(factor, update, scores).map(drop)
        });
    })
}

/// The forgetting sweep alone: adding to P and refreshing are timed in rows of their own. Half of
/// the ridge is missing, as it is on average.
fn corrected(samples: &Samples) -> Row<'_> {
    let mut learner = Learner::new(samples.order());
    let mut weights = Weights::of(&learner.factor);
    Row::new(Key::Corrected(STEPS), 1, move || {
        learner.learn_one(samples, FORGETTING, |factor, update, scores| {
            weights.learn_corrected(factor, update, RIDGE / 2.0, STEPS, scores).map(drop)
        });
        black_box(&weights);
    })
}

fn predict_kept(samples: &Samples) -> Row<'_> {
    let mut learner = Learner::new(samples.order());
    learner.learn(samples, BLOCK);
    let weights = Weights::of(&learner.factor);
    let mut cursor = Cursor::default();
    Row::new(Key::PredictKept, 1, move || {
        let (features, _) = samples.next(&mut cursor, 1);
        black_box(weights.scores(features).expect("the lengths are right"));
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
        // A refresh scales P. A factor of 1 is the same work, and keeps P from decaying from call
        // to call.
        gram.scale(black_box(1.0));
        learner.factor.refactor(&gram, RIDGE).expect("the orders are equal");
    })
}

/// A factor and its position in the samples.
pub(crate) struct Learner {
    pub(crate) factor: Factor,
    cursor: Cursor,
    scores: Vec<f64>,
}

impl Learner {
    pub(crate) fn new(order: usize) -> Self {
        Self::with_ridge(order, RIDGE)
    }

    pub(crate) fn with_ridge(order: usize, ridge: f64) -> Self {
        let mut factor = Factor::new(order, ridge);
        factor.add_targets(TARGETS);
        Learner { factor, cursor: Cursor::default(), scores: vec![0.0; BLOCK * TARGETS] }
    }

    /// Passes the next sample to `learn`.
    pub(crate) fn learn_one(
        &mut self,
        samples: &Samples,
        forgetting: f64,
        learn: impl FnOnce(&mut Factor, Update<'_>, &mut [f64]) -> Result<(), broadstream::Error>,
    ) {
        let (features, targets) = samples.next(&mut self.cursor, 1);
        let update = Update { features, targets, weights: &[1.0], forgetting };
        learn(&mut self.factor, update, &mut self.scores[..TARGETS])
            .expect("the lengths are right");
    }

    /// Learns the next `block` samples; returns their scores from before, one row each.
    pub(crate) fn learn(&mut self, samples: &Samples, block: usize) -> &[f64] {
        let (features, targets) = samples.next(&mut self.cursor, block);
        let weights = &[1.0; BLOCK][..block];
        let update = Update { features, targets, weights, forgetting: 1.0 };
        let scores = &mut self.scores[..block * TARGETS];
        self.factor.sweep(update, scores).expect("the lengths are right");
        scores
    }
}
