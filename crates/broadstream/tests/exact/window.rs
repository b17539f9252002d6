use broadstream::{Block, Classifier, OnlineBlsConfig, Sample, Scaling, Scores};

use super::{INPUTS, alone, configs, distance, model, samples};

fn windowed(config: &OnlineBlsConfig, window: usize) -> OnlineBlsConfig {
    OnlineBlsConfig { window: Some(window), ..config.clone() }
}

#[test]
fn a_window_is_the_model_of_its_samples_alone() {
    for config in configs() {
        for window in [1, 7, 60] {
            let mut sliding = model(&windowed(&config, window), &INPUTS);
            let all = samples(0..200);
            for i in 0..all.len() {
                sliding.learn_many(&alone(&all, i)).unwrap();
                if i % 40 != 0 && i < 190 {
                    continue;
                }
                let mut retrained = model(&config, &INPUTS);
                let mut known = Block::new();
                for class in 0..sliding.classes() {
                    known.push(Sample::dense(&[]), class, 0.0).unwrap();
                }
                retrained.learn_many(&known).unwrap();
                for k in (i + 1).saturating_sub(window)..=i {
                    retrained.learn_many(&alone(&all, k)).unwrap();
                }
                let apart = distance(sliding.weights().values(), retrained.weights().values());
                assert!(apart < 1e-8, "window {window}, sample {i}: {apart:e}");
            }
        }
    }
}

/// Long enough for several rebuilds, with features that the running scaling has left behind.
#[test]
fn blocks_and_a_moving_scaling_change_nothing() {
    let base = configs().remove(3);
    let config = OnlineBlsConfig { scaling: Scaling::ROBUST, ..windowed(&base, 50) };
    let all = samples(0..2500);
    let run = |size: usize| {
        let mut model = model(&config, &INPUTS);
        let mut scores = Scores::new();
        for start in (0..all.len()).step_by(size) {
            let mut part = Block::new();
            for i in start..all.len().min(start + size) {
                part.push(all.sample(i), all.class(i), all.weight(i)).unwrap();
            }
            model.test_then_train(&part, &mut scores).unwrap();
        }
        (scores, model.weights())
    };
    let expected = run(1);
    for size in [3, 64, 1000] {
        assert_eq!(run(size), expected, "blocks of {size}");
    }
}

/// With the paper's ridge almost nothing is left of a factor after a sample is removed, so it must
/// be rebuilt from the samples.
#[test]
fn a_factor_that_breaks_down_is_built_anew() {
    let ridge = broadstream::Ridge::Fixed(1e-8);
    let config = OnlineBlsConfig { ridge, nested_models: 1, ..configs().remove(2) };
    let mut sliding = model(&windowed(&config, 5), &INPUTS);
    let all = samples(0..60);
    sliding.learn_many(&all).unwrap();
    let mut retrained = model(&config, &INPUTS);
    for i in [0, 1].into_iter().chain(55..60) {
        let weight = if i < 2 { 0.0 } else { all.weight(i) };
        retrained.learn_one(all.sample(i), all.class(i), weight).unwrap();
    }
    for i in 55..60 {
        let scores = |model: &broadstream::OnlineBls| model.scores_one(all.sample(i)).unwrap();
        for (found, expected) in scores(&sliding).iter().zip(scores(&retrained)) {
            assert!((found - expected).abs() < 1e-6, "{found} and {expected}");
        }
    }
}

#[test]
fn what_forgets_has_no_window() {
    let config = OnlineBlsConfig { window: Some(10), ..OnlineBlsConfig::default() };
    let error = broadstream::OnlineBls::new(config).unwrap_err().to_string();
    assert!(error.starts_with("window must be none unless forgetting is 1"), "{error}");
}

#[test]
fn a_class_that_has_left_the_window_was_never_seen() {
    let config = OnlineBlsConfig { nested_models: 1, ..configs().remove(0) };
    let mut sliding = model(&windowed(&config, 10), &INPUTS);
    let mut never = model(&config, &INPUTS);
    let all = samples(0..60);
    for i in 0..60 {
        let (x, weight) = (all.sample(i), all.weight(i));
        // Class 1 occurs only at the beginning.
        let class = match i {
            0..40 => i % 3,
            _ => i % 2 * 2,
        };
        sliding.learn_one(x, class, weight).unwrap();
        if i >= 50 {
            never.learn_one(x, class / 2, weight).unwrap();
        }
    }
    let x = Sample::dense(&[1.0, 50.0, 1.0]);
    let (found, expected) =
        (sliding.predict_proba_one(x).unwrap(), never.predict_proba_one(x).unwrap());
    assert_eq!(found[1], 0.0);
    assert!((found[0] - expected[0]).abs() < 1e-9 && (found[2] - expected[1]).abs() < 1e-9);
    assert_eq!(sliding.scores_many(&alone(&all, 0)).unwrap().0.row(0)[1], f64::NEG_INFINITY);
}
