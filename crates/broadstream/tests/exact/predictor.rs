use broadstream::{Classifier, Nodes, OnlineBlsConfig, Sample};

use super::{INPUTS, configs, model, samples};

/// Several regressions of fixed sizes, those that a model chooses, a window, and kept weights.
fn varied() -> Vec<OnlineBlsConfig> {
    let fixed = |config| OnlineBlsConfig { enhancement_nodes: Nodes::Fixed(40), ..config };
    let inputs_per_sample = Some(3);
    vec![
        OnlineBlsConfig { inputs_per_sample, ..fixed(OnlineBlsConfig::default()) },
        OnlineBlsConfig { inputs_per_sample, ..OnlineBlsConfig::default() },
        OnlineBlsConfig { window: Some(20), ..fixed(OnlineBlsConfig::single()) },
        OnlineBlsConfig { keep_weights: true, ..fixed(OnlineBlsConfig::single()) },
    ]
}

#[test]
fn it_predicts_what_the_model_predicts() {
    for config in varied() {
        let mut model = model(&config, &INPUTS);
        for learned in [0, 1, 5, 300, 700] {
            model.learn_many(&samples(0..learned)).unwrap();
            let predictor = model.predictor();
            assert_eq!(predictor.learned(), model.learned());
            assert_eq!(predictor.classes(), model.classes());
            let block = samples(200..270);
            let many = predictor.scores_many(&block).unwrap();
            assert_eq!(many.len(), block.len());
            for i in 0..block.len() {
                let x = block.sample(i);
                let (own, expected) =
                    (predictor.scores_one(x).unwrap(), model.scores_one(x).unwrap());
                assert_eq!(many.row(i), own, "a block has the bits of its samples");
                assert_eq!(own.len(), expected.len());
                let close = own.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9);
                assert!(close, "{own:?} is not {expected:?}");
            }
        }
    }
}

#[test]
fn it_stays_as_it_was() {
    for config in varied() {
        let mut model = model(&config, &INPUTS);
        model.learn_many(&samples(0..100)).unwrap();
        let predictor = model.predictor();
        let block = samples(100..400);
        let before = predictor.scores_many(&block).unwrap();
        model.learn_many(&block).unwrap();
        model.declare_input("later", broadstream::InputKind::Numeric).unwrap();
        assert_eq!(predictor.scores_many(&block).unwrap().row(7), before.row(7));
        assert_eq!(predictor.declared_inputs().len(), INPUTS.len());
        let unknown = Sample::sparse(&[3], &[1.0]).unwrap();
        assert!(predictor.scores_one(unknown).is_err(), "it does not know the later input");
        assert!(model.scores_one(unknown).is_ok());
    }
}

#[test]
fn classes_that_were_unlearned_have_no_probability() {
    let config = &configs()[0];
    let mut model = model(config, &INPUTS);
    let block = samples(0..30);
    model.learn_many(&block).unwrap();
    let last = block.len() - 1;
    let gone = block.class(last);
    for i in (0..block.len()).filter(|i| block.class(*i) == gone) {
        model.unlearn_one(block.sample(i), gone, block.weight(i)).unwrap();
    }
    let x = block.sample(0);
    let (own, expected) =
        (model.predictor().predict_proba_one(x).unwrap(), model.predict_proba_one(x).unwrap());
    assert!(own.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9));
}
