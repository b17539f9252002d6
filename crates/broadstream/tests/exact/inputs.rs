//! Inputs that are declared and withdrawn, and a scaling that is fixed before anything is learned.

use broadstream::{
    Block, Classifier, EnhancementSource, Error, Input, InputKind, Nodes, OnlineBls,
    OnlineBlsConfig, Sample, Scaling, Schema, model_file::ModelFile,
};

use super::{INPUTS, distance, model, samples};

/// The complete state of a model.
fn bytes(model: &OnlineBls) -> Vec<u8> {
    let mut schema = Schema::new("y");
    for input in model.declared_inputs() {
        schema.push_input(&input.name, input.kind);
    }
    let mut bytes = Vec::new();
    ModelFile::new(model, &schema).write(&mut bytes).unwrap();
    bytes
}

fn input(name: &str, kind: InputKind) -> Input {
    Input { name: name.to_owned(), kind }
}

fn configs() -> Vec<OnlineBlsConfig> {
    let small = || OnlineBlsConfig {
        feature_groups: 2,
        feature_nodes: 3,
        enhancement_nodes: Nodes::Fixed(19),
        ..OnlineBlsConfig::single()
    };
    vec![
        small(),
        OnlineBlsConfig { scaling: Scaling::MinMax, inputs_per_sample: Some(3), ..small() },
        OnlineBlsConfig { enhancement_source: EnhancementSource::FeatureNodes, ..small() },
        OnlineBlsConfig {
            enhancement_nodes: Nodes::Fixed(40),
            feature_groups: 2,
            ..OnlineBlsConfig::default()
        },
    ]
}

#[test]
fn inputs_that_no_sample_used_are_withdrawn_without_a_trace() {
    for config in configs() {
        let mut model = model(&config, &INPUTS);
        // Before anything was learned, and afterwards.
        for _ in 0..2 {
            let before = bytes(&model);
            let new = [input("d", InputKind::Numeric), input("e=1", InputKind::Indicator)];
            model.declare_inputs(&new).unwrap();
            assert_eq!(model.inputs(), 5);
            model.scores_one(Sample::dense(&[1.0, 2.0, 1.0, 5.0, 1.0])).unwrap();
            model.withdraw_inputs(3);
            assert_eq!(bytes(&model), before);
            let refused = model.declare_inputs(&[new[0].clone(), new[1].clone(), new[0].clone()]);
            assert!(matches!(refused, Err(Error::DuplicateInput { .. })), "all or none");
            assert_eq!(bytes(&model), before);
            model.learn_many(&samples(0..40)).unwrap();
        }
        let before = bytes(&model);
        model.withdraw_inputs(0);
        assert_eq!(bytes(&model), before, "samples have used them all");
    }
}

#[test]
fn what_was_withdrawn_comes_back_as_it_would_have_been() {
    for config in configs() {
        let [mut plain, mut looked] = [model(&config, &INPUTS), model(&config, &INPUTS)];
        looked.declare_inputs(&[input("other", InputKind::Indicator)]).unwrap();
        looked.withdraw_inputs(3);
        for model in [&mut plain, &mut looked] {
            model.learn_many(&samples(0..30)).unwrap();
            model.declare_input("late", InputKind::Numeric).unwrap();
            let mut block = Block::new();
            for i in 0..20 {
                let x = [f64::from(i), 2.0, 1.0, f64::from(i % 3)];
                block.push(Sample::dense(&x), usize::from(i % 2 == 0), 1.0).unwrap();
            }
            model.learn_many(&block).unwrap();
        }
        assert_eq!(bytes(&looked), bytes(&plain));
    }
}

#[test]
fn a_scaling_taken_from_elsewhere_is_not_lost_with_an_input() {
    let config = &configs()[0];
    let mut first = model(config, &INPUTS);
    first.learn_many(&samples(0..50)).unwrap();
    let [mut plain, mut looked] = [first.like().unwrap(), first.like().unwrap()];
    let [a, b] = ["a", "b"].map(|name| input(name, InputKind::Numeric));
    looked.declare_inputs(&[a.clone(), b.clone()]).unwrap();
    looked.withdraw_inputs(0);
    assert!(looked.declare_input("never seen", InputKind::Numeric).is_err());
    for model in [&mut plain, &mut looked] {
        model.declare_inputs(&[a.clone(), b.clone()]).unwrap();
        model.declare_input("c=red", InputKind::Indicator).unwrap();
        model.learn_many(&samples(0..40)).unwrap();
    }
    assert_eq!(bytes(&looked), bytes(&plain));
}

#[test]
fn with_a_fixed_scaling_the_order_of_samples_does_not_matter() {
    let config =
        OnlineBlsConfig { nested_models: 1, inputs_per_sample: Some(3), ..configs().remove(0) };
    let block = samples(0..120);
    let backwards = {
        let mut backwards = Block::new();
        // Classes are numbered in order of appearance, so one sample of each comes first in both.
        let ends = (2..block.len()).rev().filter(|i| block.class(*i) < 2);
        for i in [0, 1].into_iter().chain(ends) {
            backwards.push(block.sample(i), block.class(i), block.weight(i)).unwrap();
        }
        for i in (2..block.len()).filter(|i| block.class(*i) == 2) {
            backwards.push(block.sample(i), 2, block.weight(i)).unwrap();
        }
        backwards
    };
    let [mut one, mut other] = [model(&config, &INPUTS), model(&config, &INPUTS)];
    for (model, block) in [(&mut one, &block), (&mut other, &backwards)] {
        model.observe_scaling(block).unwrap();
        model.freeze_scaling();
        assert!(model.observe_scaling(block).is_err(), "it is frozen");
        model.learn_many(block).unwrap();
    }
    assert!(distance(one.weights().values(), other.weights().values()) < 1e-9);
    let refused = one.observe_scaling(&Block::new()).unwrap_err().to_string();
    assert!(refused.contains("has learned 120 samples"), "{refused}");
}
