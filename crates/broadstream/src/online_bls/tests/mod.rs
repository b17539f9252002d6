//! Each regression of a model is bit for bit what it would be on its own.

mod adaptive;

use crate::{
    Block, ClassWeight, Classifier, Forgetting, InputKind, Nodes, OnlineBls, OnlineBlsConfig,
    Ridge, Scores,
    numeric::Threads,
    online_bls::class_weights::ClassWeights,
    regression::{BatchView, RidgeRegression},
    stream::{Stream, synth::Stagger},
};

fn config() -> OnlineBlsConfig {
    OnlineBlsConfig {
        feature_groups: 2,
        feature_nodes: 3,
        enhancement_nodes: Nodes::Fixed(48),
        inputs_per_sample: Some(3),
        ..OnlineBlsConfig::default()
    }
}

fn model(config: OnlineBlsConfig) -> OnlineBls {
    let mut model = OnlineBls::new(config).unwrap();
    for name in ["a", "b", "c"] {
        model.declare_input(name, InputKind::Numeric).unwrap();
    }
    model
}

/// Samples of different weights, with a class that appears late.
fn samples(count: u32) -> Block {
    let mut block = Block::new();
    for i in 0..count {
        let x = [i % 7, i % 11, i % 13].map(|x| f64::from(x) / 5.0);
        let class = if i > 150 && i % 5 == 0 { 2 } else { usize::from(x[0] + x[1] > 1.5) };
        let class = if i == 0 { 0 } else { class };
        block.push(crate::Sample::dense(&x), class, [1.0, 0.5, 2.0, 0.0][i as usize % 4]).unwrap();
    }
    block
}

#[test]
fn each_regression_is_what_it_would_be_alone() {
    let block = samples(700);
    let mut several = model(config());
    several.learn_many(&block).unwrap();
    for regression in several.ensemble.regressions() {
        let plan = regression.plan();
        if plan.sees_labels {
            continue;
        }
        let mut alone = model(OnlineBlsConfig {
            enhancement_nodes: Nodes::Fixed(plan.features - 6),
            forgetting: Forgetting::Fixed(plan.forgetting),
            ridge: Ridge::Fixed(plan.ridge),
            stacking: false,
            label_lags: 0,
            ..config()
        });
        alone.learn_many(&block).unwrap();
        assert_eq!(alone.weights().values(), regression.weights(), "{}", plan.name);
    }
}

#[test]
fn a_drift_restarts_one_regression_at_the_same_sample_for_any_block_size() {
    let mut block = Block::new();
    for variant in [0, 2] {
        let mut stream = Stagger::new(variant, false, 7).unwrap().take(1500);
        stream.read_block(&mut block, 1500).unwrap();
    }
    let run = |size: usize| {
        let mut model = OnlineBls::new(config()).unwrap();
        for name in ["size", "colour", "shape"] {
            model.declare_input(name, InputKind::Numeric).unwrap();
        }
        let mut scores = Scores::new();
        let mut part = Block::new();
        for i in 0..block.len() {
            part.push(block.sample(i), block.class(i), 1.0).unwrap();
            if part.len() == size || i + 1 == block.len() {
                model.test_then_train(&part, &mut scores).unwrap();
                part.clear();
            }
        }
        (scores, model.restarts().to_vec())
    };
    let (scores, restarts) = run(64);
    assert_eq!(restarts.len(), 1);
    assert!((1500..2000).contains(&restarts[0]), "{restarts:?}");
    for size in [1, 7, 100] {
        assert_eq!(run(size), (scores.clone(), restarts.clone()), "blocks of {size}");
    }
}

/// Whatever the ensemble does around it, a regression is the one that learns the same features,
/// with or without labels, of all samples or of those since its restart.
#[test]
fn each_regression_has_learned_its_features_and_no_more() {
    let mut block = Block::new();
    for variant in [0, 2] {
        let mut stream = Stagger::new(variant, false, 7).unwrap().take(1200);
        stream.read_block(&mut block, 1200).unwrap();
    }
    let mut model = model(config());
    let mut seen = Vec::new();
    for i in 0..block.len() {
        let (x, class, weight) = (block.sample(i), block.class(i), [1.0, 0.5][i % 2]);
        seen.push((model.features.of(x).unwrap(), class, weight));
        model.learn_one(x, class, weight).unwrap();
    }
    assert_eq!(model.restarts().len(), 1);
    for regression in model.ensemble.regressions() {
        let plan = regression.plan();
        let start = if plan.restarts { model.restarts()[0] as usize } else { 0 };
        let mut alone = RidgeRegression::new(plan.clone(), &model.config, &Threads::default());
        alone.add_classes(2);
        for (features, class, weight) in &seen[start..] {
            let targets = [0, 1].map(|k| f64::from(u8::from(k == *class)));
            let run = BatchView { features, targets: &targets, weights: &[*weight] };
            alone.learn(run).unwrap();
        }
        assert_eq!(alone.weights(), regression.weights(), "{}", plan.name);
    }
}

#[test]
fn a_class_weight_is_a_weight() {
    let unscaled = OnlineBlsConfig { scaling: crate::Scaling::None, ..config() };
    let class_weight = ClassWeight::Balanced;
    let mut by_class = model(OnlineBlsConfig { class_weight, ..unscaled.clone() });
    let mut by_hand = model(unscaled);
    let block = samples(300);
    by_class.learn_many(&block).unwrap();
    let mut weights = ClassWeights::new(class_weight);
    for i in 0..block.len() {
        let weight = weights.weigh(block.class(i), block.weight(i));
        by_hand.learn_one(block.sample(i), block.class(i), weight).unwrap();
    }
    assert_eq!(by_class.weights(), by_hand.weights());
    let x = block.sample(5);
    assert_eq!(by_class.scores_one(x).unwrap(), by_hand.scores_one(x).unwrap());
}

#[test]
fn rare_classes_gain_by_their_weight() {
    let recall = |class_weight| {
        let mut model = model(OnlineBlsConfig { class_weight, ..config() });
        let mut found = 0;
        for i in 0..3000u32 {
            let x = [i % 7, i % 11, i % 13].map(f64::from);
            let class = usize::from(i % 61 == 1 || (i % 7 == 3 && i % 11 == 5));
            let sample = crate::Sample::dense(&x);
            found += u32::from(class == 1 && model.predict_one(sample).unwrap() == Some(1));
            model.learn_one(sample, class, 1.0).unwrap();
        }
        found
    };
    let found = [ClassWeight::None, ClassWeight::Auto, ClassWeight::Balanced].map(recall);
    assert!(found[0] < found[1] && found[1] < found[2], "{found:?}");
}
