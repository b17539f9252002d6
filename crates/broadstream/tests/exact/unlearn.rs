use broadstream::{
    Block, Classifier, OnlineBls, OnlineBlsConfig, Sample, Scaling, Schema, Scores,
    model_file::{self, ModelFile},
};

use super::{INPUTS, alone, configs, distance, model, samples};

#[test]
fn what_is_left_is_the_model_of_the_other_samples() {
    for config in configs() {
        for kept in [OnlineBlsConfig { keep_weights: true, ..config.clone() }, config.clone()] {
            let all = samples(0..150);
            let (mut some, mut other) = (model(&kept, &INPUTS), model(&kept, &INPUTS));
            some.learn_many(&all).unwrap();
            let mut removed = Block::new();
            for i in 0..all.len() {
                let (x, class, weight) = (all.sample(i), all.class(i), all.weight(i));
                match i % 3 {
                    0 if i > 3 => removed.push(x, class, weight).unwrap(),
                    _ => other.learn_one(x, class, weight).unwrap(),
                }
            }
            let certificate = some.unlearn_many(&removed).unwrap();
            assert_eq!(certificate.samples, removed.len() as u64);
            assert!(certificate.error < 1e-9 && certificate.condition >= 1.0, "{certificate:?}");
            let apart = distance(some.weights().values(), other.weights().values());
            assert!(apart < 1e-9, "{} features: {apart:e}", some.features());
            assert_eq!(some.learned(), other.learned());
            let x = Sample::dense(&[1.0, 50.0, 1.0]);
            let (found, expected) = (some.leverage_one(x), other.leverage_one(x));
            assert!((found.unwrap() / expected.unwrap() - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn a_label_that_was_put_right_is_as_if_it_had_always_been() {
    for config in configs() {
        let all = samples(0..120);
        let (mut some, mut other) = (model(&config, &INPUTS), model(&config, &INPUTS));
        for i in 0..all.len() {
            let (x, class, weight) = (all.sample(i), all.class(i), all.weight(i));
            // One label is wrong on purpose, and one will be of a class that is not known yet.
            let right = if i == 119 { 3 } else { class };
            some.learn_one(x, if i == 50 { 1 - class } else { class }, weight).unwrap();
            other.learn_one(x, right, weight).unwrap();
        }
        let (x, class, weight) = (all.sample(50), all.class(50), all.weight(50));
        some.correct_one(x, 1 - class, class, weight).unwrap();
        let (x, class, weight) = (all.sample(119), all.class(119), all.weight(119));
        let certificate = some.correct_one(x, class, 3, weight).unwrap();
        assert!(certificate.error < 1e-10, "{certificate:?}");
        assert!(distance(some.weights().values(), other.weights().values()) < 1e-9);
        assert_eq!(some.classes(), 4);
        for (found, expected) in some.class_totals().iter().zip(other.class_totals()) {
            assert!((found - expected).abs() < 1e-9);
        }
    }
}

#[test]
fn what_cannot_have_been_learned_is_refused_and_leaves_no_trace() {
    for config in configs() {
        let mut model = model(&config, &INPUTS);
        let all = samples(0..40);
        model.learn_many(&all).unwrap();
        let before = (model.weights(), model.learned(), model.class_totals().to_vec());
        let far = [1e4, -1e5, 1.0];
        let error = model.unlearn_one(Sample::dense(&far), 0, 1.0).unwrap_err().to_string();
        assert!(error.contains("weight × leverage must be below 1"), "{error}");
        let error = model.unlearn_one(all.sample(3), 7, 1.0).unwrap_err().to_string();
        assert!(
            error.contains("learned samples of that class have a total weight of 0"),
            "{error}"
        );
        let error = model.unlearn_one(all.sample(3), 1, 1e9).unwrap_err().to_string();
        assert!(error.contains("weight 1000000000"), "{error}");
        assert!(model.unlearn_one(Sample::dense(&[f64::NAN]), 0, 1.0).is_err());
        assert!(model.correct_one(all.sample(3), 0, 9, 1.0).is_err());
        assert_eq!(model.correct_one(all.sample(3), 99, 2, 0.0).unwrap().samples, 0);
        // The last of several samples is refused: none of them is removed.
        let mut block = alone(&all, 5);
        block.push(Sample::dense(&far), 0, 1.0).unwrap();
        let error = model.unlearn_many(&block).unwrap_err().to_string();
        assert!(error.starts_with("sample 2: cannot unlearn"), "{error}");
        let after = (model.weights(), model.learned(), model.class_totals().to_vec());
        assert_eq!(after, before);
    }
}

#[test]
fn models_that_are_no_sums_say_why() {
    let base = configs().remove(0);
    for (config, reason) in [
        (OnlineBlsConfig::default(), "forgetting must be 1, got auto"),
        (OnlineBlsConfig { stacking: true, ..base.clone() }, "stacking must be false"),
        (
            OnlineBlsConfig { class_weight: broadstream::ClassWeight::Balanced, ..base.clone() },
            "class_weight must be none",
        ),
        (OnlineBlsConfig { window: Some(10), ..base.clone() }, "window must be none, got 10"),
        (OnlineBlsConfig { scaling: Scaling::ROBUST, ..base.clone() }, "scaling must be frozen"),
    ] {
        let mut model = model(&config, &[]);
        let error = model.unlearn_one(Sample::dense(&[]), 0, 1.0).unwrap_err().to_string();
        assert!(error.starts_with("cannot unlearn: ") && error.contains(reason), "{error}");
    }
}

/// A single regression, since the shares of several follow their errors, which are not unlearned.
#[test]
fn a_class_without_samples_was_never_seen() {
    for config in configs().into_iter().filter(|config| config.ridge.fixed().is_some()) {
        let config = OnlineBlsConfig { nested_models: 1, ..config };
        let all = samples(0..150);
        let (mut some, mut never) = (model(&config, &INPUTS), model(&config, &INPUTS));
        some.learn_many(&all).unwrap();
        let mut removed = Block::new();
        for i in 0..all.len() {
            let (x, class, weight) = (all.sample(i), all.class(i), all.weight(i));
            match class {
                1 => removed.push(x, class, weight).unwrap(),
                0 => never.learn_one(x, 0, weight).unwrap(),
                _ => never.learn_one(x, 1, weight).unwrap(),
            }
        }
        some.unlearn_many(&removed).unwrap();
        let x = Sample::dense(&[1.0, 50.0, 1.0]);
        let same = |some: &OnlineBls| {
            let found = some.predict_proba_one(x).unwrap();
            let expected = never.predict_proba_one(x).unwrap();
            assert_eq!(found[1], 0.0);
            assert!((found[0] - expected[0]).abs() < 1e-9, "{found:?}, {expected:?}");
            assert!((found[2] - expected[1]).abs() < 1e-9, "{found:?}, {expected:?}");
        };
        same(&some);
        // A file keeps that, and the next sample of the class brings it back.
        let mut bytes = Vec::new();
        ModelFile::new(&some, &Schema::new("class")).write(&mut bytes).unwrap();
        let mut some = model_file::read(&mut bytes.as_slice()).unwrap().model;
        same(&some);
        let mut scores = Scores::new();
        let mut block = alone(&removed, 0);
        block.push(x, 0, 1.0).unwrap();
        some.test_then_train(&block, &mut scores).unwrap();
        assert_eq!(scores.row(0)[1], f64::NEG_INFINITY);
        assert!(scores.row(1)[1].is_finite());
        assert!(some.predict_proba_one(x).unwrap()[1] > 0.0);
    }
}

#[test]
fn a_model_without_samples_predicts_nothing() {
    let config = configs().remove(0);
    let mut model = model(&config, &INPUTS);
    model.learn_many(&samples(0..60)).unwrap();
    let certificate = model.unlearn_many(&samples(0..60)).unwrap();
    assert!(certificate.error < 1e-9, "{certificate:?}");
    assert_eq!(model.learned(), 0);
    let x = Sample::dense(&[1.0, 50.0, 1.0]);
    assert_eq!(model.predict_one(x).unwrap(), None);
    assert_eq!(model.predict_proba_one(x).unwrap(), [0.0; 0]);
    model.learn_one(x, 1, 1.0).unwrap();
    assert_eq!(model.predict_one(x).unwrap(), Some(1));
}
