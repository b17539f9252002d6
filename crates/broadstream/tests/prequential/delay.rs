//! Late labels, against the definition.

use broadstream::{
    Block, Classifier, Evaluator, PrequentialOptions,
    baselines::{Majority, NoChange, Perceptron, ScaledBaseline},
    stream::Stream,
};

use super::{
    hedge, online_bls, several,
    varied::{Predictions, SAMPLES, Varied},
};

fn models() -> Vec<(&'static str, Box<dyn Classifier>)> {
    vec![
        ("several", Box::new(several())),
        ("single", Box::new(online_bls())),
        ("hedge", Box::new(hedge())),
        (
            "perceptron",
            Box::new(ScaledBaseline::<Perceptron>::new(Default::default(), ()).unwrap()),
        ),
        ("majority", Box::new(Majority::new())),
        ("no change", Box::new(NoChange::new())),
    ]
}

/// The predictions of a model that learns each sample just before it predicts the one `delay`
/// samples later, in a loop that does nothing else.
fn by_definition(model: &mut dyn Classifier, delay: usize) -> Vec<Vec<u64>> {
    let (mut stream, mut all) = (Varied::new(), Block::new());
    let mut predictions = Vec::new();
    for t in 0..SAMPLES {
        stream.read_block(&mut all, 1).unwrap();
        for input in &stream.schema().inputs()[model.inputs()..] {
            model.declare_input(&input.name, input.kind).unwrap();
        }
        if t >= delay {
            let late = t - delay;
            model.learn_one(all.sample(late), all.class(late), all.weight(late)).unwrap();
        }
        let probabilities = model.predict_proba_one(all.sample(t)).unwrap();
        predictions.push(probabilities.iter().map(|p| p.to_bits()).collect());
    }
    predictions
}

/// Everything that an evaluation reports, and its predictions.
fn evaluated(
    model: &mut dyn Classifier,
    options: &PrequentialOptions,
) -> (String, Vec<Vec<u64>>, u64) {
    let mut predictions = Predictions::default();
    let evaluator = Evaluator::new(options).unwrap();
    let mut found = evaluator.run(&mut Varied::new(), model, &mut predictions).unwrap();
    let updates = found.times.updates.count();
    found.times = broadstream::Times::default();
    (format!("{found:?}"), predictions.0, updates)
}

#[test]
fn late_labels_are_learned_as_by_definition() {
    for position in 0..models().len() {
        let model = || models().swap_remove(position);
        for delay in [1, 2, 40, SAMPLES - 1, SAMPLES, 5000] {
            let expected = by_definition(&mut *model().1, delay);
            let mut whole = None;
            for (block, separate_times) in [(64, false), (1, false), (7, true)] {
                let options = PrequentialOptions {
                    block,
                    separate_times,
                    delay: delay as u64,
                    ..PrequentialOptions::default()
                };
                let (name, mut model) = model();
                let (found, predictions, updates) = evaluated(&mut *model, &options);
                let place = format!("{name}, delay {delay}, block {block}");
                assert!(predictions == expected, "{place}");
                assert!(*whole.get_or_insert(found.clone()) == found, "{place}");
                let learned = (SAMPLES + 1).saturating_sub(delay) as u64;
                assert_eq!(updates, if separate_times { learned } else { 0 }, "{place}");
            }
        }
    }
}

#[test]
fn a_delay_of_one_is_test_then_train() {
    for (position, (name, _)) in models().iter().enumerate() {
        let of = |delay, curve_every| {
            let options = PrequentialOptions { delay, curve_every, ..Default::default() };
            evaluated(&mut *models().swap_remove(position).1, &options)
        };
        assert!(of(0, Some(30)) == of(1, Some(30)), "{name}");
        assert!(of(1, None).1 != of(2, None).1, "{name}");
    }
}
