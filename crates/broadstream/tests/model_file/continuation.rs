//! Saved models continue as if they had never stopped.

use broadstream::{
    ClassWeight, Classifier, EnhancementSource, Forgetting, Nodes, OnlineBls, OnlineBlsConfig,
    Partial, Ridge, Scaling, Scores,
    model_file::{Content, Loaded, ModelFile, read, read_any},
    stream::RowEncoding,
};

use super::{bytes, model, samples, schema, small};

pub(super) fn configs() -> Vec<(&'static str, OnlineBlsConfig)> {
    let single = OnlineBlsConfig {
        ridge: Ridge::Fixed(1.0),
        forgetting: Forgetting::Fixed(1.0),
        stacking: false,
        label_lags: 0,
        ..small()
    };
    let forgetting =
        |share| OnlineBlsConfig { forgetting: Forgetting::Fixed(share), ..single.clone() };
    vec![
        ("default", small()),
        ("default with weights", OnlineBlsConfig { keep_weights: true, ..small() }),
        ("several labels", OnlineBlsConfig { label_lags: 3, ..small() }),
        ("balanced", OnlineBlsConfig { class_weight: ClassWeight::Balanced, ..small() }),
        ("by the first sample", OnlineBlsConfig { inputs_per_sample: None, ..small() }),
        ("single", single.clone()),
        ("forgetting", forgetting(0.97)),
        (
            "corrected",
            OnlineBlsConfig { correction_steps: 2, nested_models: 1, ..forgetting(0.97) },
        ),
        (
            "paper",
            OnlineBlsConfig {
                feature_groups: 2,
                feature_nodes: 3,
                enhancement_nodes: Nodes::Fixed(30),
                ..OnlineBlsConfig::paper()
            },
        ),
        ("standard", OnlineBlsConfig { scaling: Scaling::STANDARD, ..single.clone() }),
        ("frozen", OnlineBlsConfig { freeze_scaling_after: Some(50), ..single.clone() }),
        (
            "feature nodes",
            OnlineBlsConfig {
                enhancement_source: EnhancementSource::FeatureNodes,
                scaling: Scaling::None,
                ..single
            },
        ),
        ("adaptive", adaptive(260)),
        ("adaptive, growing", OnlineBlsConfig { label_lags: 2, ..adaptive(1000) }),
    ]
}

/// A model that chooses its own nodes and regressions.
fn adaptive(most_nodes: usize) -> OnlineBlsConfig {
    OnlineBlsConfig { enhancement_nodes: Nodes::Auto, most_nodes, ..small() }
}

/// Learns samples, and returns everything that a model reports about itself.
fn go_on(model: &mut OnlineBls, from: u32, to: u32) -> (Scores, Vec<f64>, Vec<u64>) {
    let mut scores = Scores::new();
    model.test_then_train(&samples(from..to), &mut scores).unwrap();
    (scores, model.weights().into_values(), model.restarts().to_vec())
}

#[test]
fn a_saved_model_continues_to_the_bit() {
    const END: u32 = 900;
    for (name, config) in configs() {
        for stop in [0, 1, 77, 150, 300, 500, 831] {
            let mut uninterrupted = model(config.clone());
            go_on(&mut uninterrupted, 0, stop);
            let bytes = bytes(&uninterrupted);
            let mut saved = read(&mut bytes.as_slice()).unwrap();
            assert_eq!(saved.model.config(), &config, "{name}");
            assert_eq!(saved.schema.labels(), schema(&uninterrupted).labels());
            assert_eq!(saved.model.declared_inputs(), uninterrupted.declared_inputs());
            assert_eq!(self::bytes(&saved.model), bytes, "{name}: saved again after {stop}");
            let expected = go_on(&mut uninterrupted, stop, END);
            let found = go_on(&mut saved.model, stop, END);
            assert_eq!(found, expected, "{name}, stopped after {stop}");
            assert_eq!(saved.model.members(), uninterrupted.members());
            assert_eq!(saved.model.changes(), uninterrupted.changes());
            assert_eq!(saved.model.learned(), uninterrupted.learned());
        }
    }
}

/// Also while regressions are about to join, and after they have grown, shrunk and come to rest.
#[test]
fn a_model_that_has_changed_its_regressions_continues_to_the_bit() {
    const END: u32 = 2300;
    let mut uninterrupted = model(adaptive(1000));
    let mut copies = Vec::new();
    let mut start = 0;
    for stop in [260, 330, 1030, 1090, 1500, 2050, 2120] {
        go_on(&mut uninterrupted, start, stop);
        copies.push((stop, read(&mut bytes(&uninterrupted).as_slice()).unwrap()));
        start = stop;
    }
    go_on(&mut uninterrupted, start, END);
    let events: Vec<&str> = uninterrupted.changes().iter().map(|c| c.event.as_str()).collect();
    for event in ["joined", "rested", "halved its nodes"] {
        assert!(events.contains(&event), "{event} is not among {events:?}");
    }
    let expected = go_on(&mut uninterrupted, END, END + 50);
    for (stop, mut copy) in copies {
        go_on(&mut copy.model, stop, END);
        assert_eq!(go_on(&mut copy.model, END, END + 50), expected, "stopped after {stop}");
        assert_eq!(copy.model.changes(), uninterrupted.changes());
    }
}

#[test]
fn weights_that_are_not_stored_are_drawn_again() {
    for (name, config) in configs() {
        let mut uninterrupted = model(config);
        go_on(&mut uninterrupted, 0, 200);
        let mut small = Vec::new();
        let schema = schema(&uninterrupted);
        let file = ModelFile { feature_weights: false, ..ModelFile::new(&uninterrupted, &schema) };
        file.write(&mut small).unwrap();
        assert!(small.len() < bytes(&uninterrupted).len());
        let mut saved = read(&mut small.as_slice()).unwrap();
        let found = go_on(&mut saved.model, 200, 400);
        assert_eq!(found, go_on(&mut uninterrupted, 200, 400), "{name}");
    }
}

#[test]
fn a_file_is_little_larger_than_its_triangles_and_weights() {
    let mut model = model(OnlineBlsConfig::default());
    model.learn_many(&samples(0..10)).unwrap();
    // The regressions of the default, and whether each keeps the sums for its refresh.
    let orders = [
        (2100, false),
        (1100, false),
        (600, false),
        (600, false),
        (600, true),
        (600, true),
        (350, true),
        (350, true),
        (350, true),
        (225, true),
        (600, true),
        (350, true),
    ];
    let triangle = |order: usize| order * (order + 1) / 2;
    let triangles = orders.iter().map(|(order, sums)| triangle(*order) * (1 + usize::from(*sums)));
    let output_weights = orders.iter().map(|(order, _)| order * model.classes());
    let feature_weights = 4 * 2100;
    let numbers = triangles.chain(output_weights).sum::<usize>() + feature_weights;
    let size = bytes(&model).len() as f64;
    assert!(size < 1.1 * 8.0 * numbers as f64, "{size} bytes for {numbers} numbers");
}

#[test]
fn sums_and_what_rows_looked_like_are_saved_too() {
    let config = configs().remove(5).1;
    let mut base = model(OnlineBlsConfig { freeze_scaling_after: Some(20), ..config });
    base.learn_many(&samples(0..60)).unwrap();
    let mut partial = Partial::like(&base).unwrap();
    for input in base.declared_inputs() {
        partial.declare_input(&input.name, input.kind).unwrap();
    }
    partial.learn_many(&samples(0..80)).unwrap();
    let schema = schema(&base);
    let encoding = RowEncoding::of_schema(&schema);
    let notes = serde_json::json!({ "seconds": 0.1 }).as_object().unwrap().clone();
    let content = Content::Partial(&partial);
    let file = ModelFile {
        encoding: Some(&encoding),
        notes: Some(&notes),
        ..ModelFile::of(content, &schema)
    };
    let mut bytes = Vec::new();
    file.write(&mut bytes).unwrap();
    let error = read(&mut bytes.as_slice()).unwrap_err().to_string();
    assert_eq!(error, "the file contains sums, not a model: use merge to make a model of them");
    let Loaded::Partial(mut saved) = read_any(&mut bytes.as_slice()).unwrap() else { panic!() };
    assert_eq!((saved.encoding.as_ref(), &saved.notes), (Some(&encoding), &notes));
    for sums in [&mut partial, &mut saved.model] {
        sums.learn_many(&samples(80..120)).unwrap();
    }
    let weights = |partial: Partial| partial.into_model().unwrap().weights();
    assert_eq!(weights(saved.model), weights(partial));
}
