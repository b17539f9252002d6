//! Files in single precision: half the size, close to the model, and honest about it.

use broadstream::{
    Classifier, Evaluator, Nodes, OnlineBls, OnlineBlsConfig, Partial, PrequentialOptions,
    Progress, Scaling,
    model_file::{Content, ModelFile, Precision, read},
    stream::{Stream, synth::Sea},
};

use super::{bytes, continuation::configs, model, samples, schema, small, small_bytes};

fn learned(config: OnlineBlsConfig, count: u32) -> OnlineBls {
    let mut model = model(config);
    model.learn_many(&samples(0..count)).unwrap();
    model
}

/// A model that can be merged and unlearned.
fn exact() -> OnlineBlsConfig {
    OnlineBlsConfig {
        enhancement_nodes: Nodes::Fixed(30),
        freeze_scaling_after: Some(50),
        nested_models: 1,
        ..OnlineBlsConfig::single()
    }
}

fn probabilities(model: &OnlineBls) -> Vec<f64> {
    let block = samples(0..60);
    (0..block.len()).flat_map(|i| model.predict_proba_one(block.sample(i)).unwrap()).collect()
}

fn largest_difference(one: &[f64], other: &[f64]) -> f64 {
    assert_eq!(one.len(), other.len());
    one.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn it_predicts_nearly_the_same_and_learns_on() {
    for (name, config) in configs() {
        for stop in [0, 77, 300, 500] {
            let mut uninterrupted = learned(config.clone(), stop);
            let mut saved = read(&mut small_bytes(&uninterrupted).as_slice()).unwrap();
            assert_eq!(saved.version, 2);
            assert_eq!(saved.model.config(), &config, "{name}");
            assert_eq!(saved.model.learned(), uninterrupted.learned());
            let difference = |one: &OnlineBls, other: &OnlineBls| {
                largest_difference(&probabilities(one), &probabilities(other))
            };
            let found = difference(&saved.model, &uninterrupted);
            assert!(found < 1e-3, "{name}, stopped after {stop}: {found}");
            for model in [&mut saved.model, &mut uninterrupted] {
                model.learn_many(&samples(stop..stop + 300)).unwrap();
            }
            let found = difference(&saved.model, &uninterrupted);
            assert!(found < 0.02, "{name}, continued after {stop}: {found}");
        }
    }
}

/// So that small files do not become worse by being copied.
#[test]
fn saved_twice_it_is_the_same_file() {
    for (name, config) in configs() {
        let once = small_bytes(&learned(config, 300));
        let saved = read(&mut once.as_slice()).unwrap();
        assert_eq!(small_bytes(&saved.model), once, "{name}");
    }
}

#[test]
fn it_takes_half_the_space_or_less() {
    let forgets_nothing = learned(OnlineBlsConfig::single(), 20);
    let default = learned(OnlineBlsConfig::default(), 20);
    for (model, share) in [(&forgets_nothing, 0.52), (&default, 0.47)] {
        let found = small_bytes(model).len() as f64 / bytes(model).len() as f64;
        assert!(found < share, "{found}");
    }
}

#[test]
fn the_model_says_so_from_then_on() {
    let mut model = learned(exact(), 120);
    assert_eq!(model.precision(), Precision::Double);
    small_bytes(&model);
    assert_eq!(model.precision(), Precision::Double, "writing a file changes nothing");
    for _ in 0..2 {
        model = read(&mut small_bytes(&model).as_slice()).unwrap().model;
        assert_eq!(model.precision(), Precision::Single);
        // In double precision it is what it is, to the bit.
        let again = read(&mut bytes(&model).as_slice()).unwrap();
        assert_eq!((again.version, again.model.precision()), (1, Precision::Single));
        assert_eq!(again.model.weights(), model.weights());
    }
    assert_eq!(model.clone().precision(), Precision::Single);
    let like = model.like().unwrap();
    assert_eq!(like.precision(), Precision::Double, "it has learned nothing that was rounded");
}

#[test]
fn what_needs_an_exact_model_is_refused() {
    let mut exact = learned(exact(), 120);
    let mut rounded = read(&mut small_bytes(&exact).as_slice()).unwrap().model;
    let (weights, classes) = (rounded.weights(), [0, 1, 2]);
    let block = samples(102..103);
    let failures = [
        rounded.unlearn_many(&block).map(|_| ()),
        rounded.correct_one(block.sample(0), 0, 1, 1.0).map(|_| ()),
        rounded.merge(&exact, &classes),
        exact.merge(&rounded, &classes),
        rounded.merge_partial(&Partial::like(&exact).unwrap(), &classes[..0]),
    ];
    for failure in failures {
        let message = failure.unwrap_err().to_string();
        let reason = "it was saved in single precision, so what it has learned is not exact";
        assert!(message.ends_with(reason), "{message}");
    }
    assert_eq!(rounded.weights(), weights);
}

#[test]
fn sums_and_checkpoints_are_refused() {
    let model = learned(exact(), 120);
    let (sums, schema) = (Partial::like(&model).unwrap(), schema(&model));
    let single = Precision::Single;
    let file = ModelFile { precision: single, ..ModelFile::of(Content::Partial(&sums), &schema) };
    let message = file.write(&mut Vec::new()).unwrap_err().to_string();
    let rule = "cannot be saved in single precision, because it must continue to the bit";
    assert_eq!(message, format!("sums {rule}"));

    let options = PrequentialOptions { checkpoint_every: Some(50), ..Default::default() };
    let mut stream = Sea::new(0, 0.1, 42).unwrap().take(100);
    let mut model = OnlineBls::new(small()).unwrap();
    let mut evaluator = Evaluator::new(&options).unwrap();
    let progress = evaluator.advance(&mut stream, &mut model, &mut ()).unwrap();
    assert_eq!(progress, Progress::Checkpoint);
    let file = ModelFile::new(&model, stream.schema());
    let file = ModelFile { precision: single, evaluation: Some(evaluator.state()), ..file };
    let message = file.write(&mut Vec::new()).unwrap_err().to_string();
    assert_eq!(message, format!("the checkpoint of an evaluation {rule}"));
}

/// The samples of a window are stored with all their digits, and it is rebuilt from them.
#[test]
fn a_window_stays_exact() {
    let config = OnlineBlsConfig { window: Some(40), scaling: Scaling::None, ..exact() };
    let mut whole = learned(OnlineBlsConfig { freeze_scaling_after: None, ..config }, 120);
    let mut saved = read(&mut small_bytes(&whole).as_slice()).unwrap();
    for model in [&mut saved.model, &mut whole] {
        model.learn_many(&samples(120..300)).unwrap();
    }
    let found = largest_difference(&probabilities(&saved.model), &probabilities(&whole));
    assert!(found < 1e-9, "{found}");
}
