//! Explanations against their definition: the sample is predicted again without each of its columns.

use broadstream::{
    Block, Classifier, EnhancementSource, Input, InputKind, Nodes, Objective, OnlineBls,
    OnlineBlsConfig, Sample, Scaling, Schema,
    model_file::{self, ModelFile},
};

/// A sample as pairs of an input and a value.
type Row = Vec<(u32, f64)>;

fn sample(row: &Row) -> (Vec<u32>, Vec<f64>) {
    row.iter().copied().unzip()
}

/// Numbers that look random.
fn noise(i: u64) -> f64 {
    let mixed = (i.wrapping_add(0x9e37_79b9)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed ^ (mixed >> 29)) >> 20) as f64 / (1_u64 << 44) as f64
}

/// A table with numbers, codes of few values, two columns of categories whose inputs are declared in
/// turn, a constant, and missing cells.
fn inputs() -> Vec<Input> {
    let numeric = ["amount", "code", "hour", "constant", "rank"];
    let categories = ["city=Rome", "shop=a", "city=Oslo", "shop=b", "city=Bonn", "shop=c"];
    let input = |name: &str, kind| Input { name: name.to_owned(), kind };
    let mut inputs: Vec<Input> = numeric.map(|name| input(name, InputKind::Numeric)).to_vec();
    inputs.extend(categories.map(|name| input(name, InputKind::Indicator)));
    inputs
}

fn row(i: u64) -> (Row, usize) {
    let number = |column: u64| noise(7 * i + column);
    let (amount, code, hour) = (number(0) * 50.0, (number(1) * 6.0).floor(), number(2) * 24.0);
    let (city, shop) = ((number(3) * 3.0) as u32, (number(4) * 3.0) as u32);
    let mut row = vec![(0, amount), (1, code), (2, hour), (3, 4.0), (4, (i % 10) as f64)];
    row.push((5 + 2 * city, 1.0));
    row.push((6 + 2 * shop, 1.0));
    row.sort_unstable_by_key(|(input, _)| *input);
    if i % 5 == 4 {
        row.remove((i % 7) as usize);
    }
    let class = match (amount > 25.0, code as u64 % 2, city) {
        (true, 0, _) => 1,
        (_, _, 2) => 2,
        _ => usize::from(hour > 20.0),
    };
    (row, class)
}

fn model(config: OnlineBlsConfig, samples: u64) -> OnlineBls {
    let mut model = OnlineBls::new(config).unwrap();
    model.declare_inputs(&inputs()).unwrap();
    learn(&mut model, 0..samples);
    model
}

fn learn(model: &mut OnlineBls, range: std::ops::Range<u64>) {
    let mut block = Block::new();
    for i in range {
        let (row, class) = row(i);
        let (inputs, values) = sample(&row);
        // The first samples show the classes in order.
        let class = if i < 3 { i as usize } else { class };
        block.push(Sample::sparse(&inputs, &values).unwrap(), class, 1.0).unwrap();
        if block.len() == 50 {
            model.learn_many(&block).unwrap();
            block.clear();
        }
    }
    model.learn_many(&block).unwrap();
}

/// The change of the probability of a class without each column, by name.
fn by_definition(model: &OnlineBls, row: &Row, class: usize) -> Vec<(String, f64)> {
    let names: Vec<Input> = model.declared_inputs().to_vec();
    let column = |input: u32| names[input as usize].column().to_owned();
    let probability = |row: &Row| {
        let (inputs, values) = sample(row);
        model.predict_proba_one(Sample::sparse(&inputs, &values).unwrap()).unwrap()[class]
    };
    let mut columns: Vec<String> = row.iter().map(|(input, _)| column(*input)).collect();
    columns.sort();
    columns.dedup();
    let without = |name: &String| {
        let rest = row.iter().copied().filter(|(input, _)| column(*input) != *name);
        (name.clone(), probability(row) - probability(&rest.collect()))
    };
    columns.iter().map(without).collect()
}

/// Compares the explanations of some samples with the definition, and returns the largest change.
fn check(model: &OnlineBls, rows: impl Iterator<Item = Row>) -> f64 {
    let (predictor, mut largest) = (model.predictor(), 0.0_f64);
    for row in rows {
        let (inputs, values) = sample(&row);
        let x = Sample::sparse(&inputs, &values).unwrap();
        let explanation = model.explain_one(x).unwrap().expect("classes were seen");
        assert_eq!(Some(explanation.class), model.predict_one(x).unwrap());
        let probabilities = model.predict_proba_one(x).unwrap();
        assert_eq!(explanation.probability, probabilities[explanation.class]);
        for class in 0..model.classes() {
            let expected = by_definition(model, &row, class);
            for found in
                [model.explain_class(x, class).unwrap(), predictor.explain_class(x, class).unwrap()]
            {
                let reasons = &found.reasons;
                assert!(reasons.is_sorted_by(|a, b| a.change.abs() >= b.change.abs()));
                assert_eq!(reasons.len(), expected.len());
                for (column, expected) in &expected {
                    let reason = reasons.iter().find(|reason| reason.column == *column).unwrap();
                    let error = (reason.change - expected).abs();
                    assert!(error < 1e-9, "{column}: {} instead of {expected}", reason.change);
                    largest = largest.max(expected.abs());
                }
            }
        }
        assert_eq!(model.explain_class(x, explanation.class).unwrap(), explanation);
    }
    largest
}

fn rows(range: std::ops::Range<u64>) -> impl Iterator<Item = Row> {
    range.map(|i| row(i).0)
}

fn small(config: OnlineBlsConfig) -> OnlineBlsConfig {
    OnlineBlsConfig { enhancement_nodes: Nodes::Fixed(60), ..config }
}

#[test]
fn an_explanation_is_the_difference_of_two_predictions() {
    let default = OnlineBlsConfig::default;
    let single = OnlineBlsConfig::single;
    for config in [
        small(default()),
        small(single()),
        small(OnlineBlsConfig { scaling: Scaling::None, ..single() }),
        small(OnlineBlsConfig { window: Some(100), ..single() }),
        small(OnlineBlsConfig { keep_weights: true, ..default() }),
        small(OnlineBlsConfig { objective: Objective::Balanced, ..default() }),
        small(OnlineBlsConfig { enhancement_source: EnhancementSource::FeatureNodes, ..default() }),
        OnlineBlsConfig { nested_models: 1, ..small(single()) },
        OnlineBlsConfig { label_lags: 0, ..small(default()) },
    ] {
        let model = model(config.clone(), 330);
        let largest = check(&model, rows(400..412).chain([Row::new()]));
        assert!(largest > 0.05, "{largest} with {config:?}");
    }
}

#[test]
fn all_kinds_of_nodes_are_explained() {
    // By default a model draws nodes of all kinds from the first samples and tries them side by side.
    let mut model = model(OnlineBlsConfig::default(), 620);
    for end in [640, 900, 1300] {
        let learned = model.learned();
        learn(&mut model, learned..end);
        assert!(check(&model, rows(2000..2004)) > 0.05);
    }
    let nodes: Vec<&str> = model.members().iter().filter_map(|member| member.nodes).collect();
    for kind in ["random nodes", "sampled nodes", "sampled nodes on few inputs", "nodes on codes"] {
        assert!(nodes.contains(&kind), "no {kind} among {nodes:?}");
    }
}

#[test]
fn many_columns_are_explained_in_parts() {
    for config in [small(OnlineBlsConfig::single()), small(OnlineBlsConfig::default())] {
        let mut model = OnlineBls::new(config).unwrap();
        for i in 0..150 {
            model.declare_input(&format!("pixel {i}"), InputKind::Numeric).unwrap();
        }
        let pixels = |i: u64| -> Row {
            let pixel = |j| (j as u32, noise(i * 150 + j) + f64::from(u8::from(i % 2 == j % 2)));
            (0..150).filter(|j| !i.is_multiple_of(3) || j % 4 > 0).map(pixel).collect()
        };
        for i in 0..120 {
            let (inputs, values) = sample(&pixels(i));
            let x = Sample::sparse(&inputs, &values).unwrap();
            model.learn_one(x, (i % 2) as usize, 1.0).unwrap();
        }
        check(&model, (200..203).map(pixels));
    }
}

#[test]
fn large_inputs_do_not_hide_the_others() {
    // Subtracting the term of a large input from a sum would lose all others.
    let config = small(OnlineBlsConfig { scaling: Scaling::None, ..OnlineBlsConfig::single() });
    let mut model = OnlineBls::new(config).unwrap();
    for name in ["huge", "a", "b"] {
        model.declare_input(name, InputKind::Numeric).unwrap();
    }
    let row = |i: u64, huge: f64| [huge, (i % 5) as f64, (i % 3) as f64];
    for i in 0..60 {
        model.learn_one(Sample::dense(&row(i, 0.0)), usize::from(i % 5 > 2), 1.0).unwrap();
    }
    for i in 0..5 {
        let x = row(i, 1e13);
        let explanation = model.explain_class(Sample::dense(&x), 0).unwrap();
        let huge = explanation.reasons.iter().find(|reason| reason.column == "huge").unwrap();
        let probability = |x: Sample<'_>| model.predict_proba_one(x).unwrap()[0];
        let without = Sample::sparse(&[1, 2], &x[1..]).unwrap();
        let expected = probability(Sample::dense(&x)) - probability(without);
        assert!((huge.change - expected).abs() < 1e-9, "{} and {expected}", huge.change);
    }
}

#[test]
fn before_a_class_was_seen_there_is_nothing_to_explain() {
    let mut model = OnlineBls::new(OnlineBlsConfig::default()).unwrap();
    model.declare_inputs(&inputs()).unwrap();
    let x = Sample::dense(&[1.0, 2.0]);
    assert_eq!(model.explain_one(x).unwrap(), None);
    assert_eq!(model.predictor().explain_one(x).unwrap(), None);
    for explained in [model.explain_class(x, 0), model.predictor().explain_class(x, 0)] {
        let expected = "class 0 was not seen: the model has 0 classes, counted from 0";
        assert_eq!(explained.unwrap_err().to_string(), expected);
    }
    // A sample of weight 0 only announces its class.
    model.learn_one(x, 0, 0.0).unwrap();
    let explanation = model.explain_one(x).unwrap().unwrap();
    assert_eq!((explanation.class, explanation.probability), (0, 1.0));
    let named: Vec<&str> = explanation.reasons.iter().map(|it| it.column.as_str()).collect();
    assert_eq!(named, ["amount", "code"]);
    assert!(explanation.reasons.iter().all(|reason| reason.change == 0.0));
    assert_eq!(model.importance(), []);
}

#[test]
fn what_a_sample_lacks_or_the_model_has_not_seen_is_handled() {
    let mut model = model(small(OnlineBlsConfig::default()), 330);
    let nothing = Sample::sparse(&[], &[]).unwrap();
    assert_eq!(model.explain_one(nothing).unwrap().unwrap().reasons, []);
    // A category that was never learned is predicted with its random weights, and so explained.
    let learned = model.declared_inputs().len();
    model.declare_input("city=Lima", InputKind::Indicator).unwrap();
    let row: Row = vec![(0, 3.0), (learned as u32, 1.0)];
    check(&model, std::iter::once(row.clone()));
    model.withdraw_inputs(learned);
    let (inputs, values) = sample(&row);
    assert!(model.explain_one(Sample::sparse(&inputs, &values).unwrap()).is_err());
    for bad in [f64::NAN, f64::INFINITY] {
        assert!(model.explain_one(Sample::dense(&[bad])).is_err());
    }
}

#[test]
fn a_class_that_was_unlearned_changes_nothing() {
    let config = small(OnlineBlsConfig { scaling: Scaling::None, ..OnlineBlsConfig::single() });
    let mut model = OnlineBls::new(config).unwrap();
    model.declare_input("x", InputKind::Numeric).unwrap();
    for i in 0..40 {
        model.learn_one(Sample::dense(&[f64::from(i % 4)]), (i % 2) as usize, 1.0).unwrap();
    }
    model.learn_one(Sample::dense(&[9.0]), 2, 1.0).unwrap();
    model.unlearn_one(Sample::dense(&[9.0]), 2, 1.0).unwrap();
    let explanation = model.explain_class(Sample::dense(&[3.0]), 2).unwrap();
    assert_eq!((explanation.probability, explanation.reasons[0].change), (0.0, 0.0));
    assert!(explanation.reasons[0].score_change.is_finite());
}

/// The mean of the changes of the most likely class over some samples, newer ones first in weight.
fn importance_by_definition(config: OnlineBlsConfig, samples: u64) -> Vec<(String, f64)> {
    let mut model = model(config, 0);
    let mut means: Vec<(String, f64, f64)> = Vec::new();
    for i in 0..samples {
        let every = (1 << i.max(1).ilog2()) / 4;
        if i > 0 && i % u64::clamp(every, 16, 256) == 0 {
            let row = row(i).0;
            let (inputs, values) = sample(&row);
            let x = Sample::sparse(&inputs, &values).unwrap();
            let likeliest = model.predictor().predict_one(x).unwrap().unwrap();
            let changes = by_definition(&model, &row, likeliest);
            for (column, _) in &changes {
                if means.iter().all(|(known, ..)| known != column) {
                    means.push((column.clone(), 0.0, 0.0));
                }
            }
            for (column, sum, weight) in &mut means {
                let change = changes.iter().find(|(changed, _)| changed == column);
                *sum = 0.99 * *sum + change.map_or(0.0, |(_, change)| change.abs());
                *weight = 0.99 * *weight + 1.0;
            }
        }
        learn(&mut model, i..i + 1);
    }
    let mut means: Vec<(String, f64)> =
        means.into_iter().map(|(column, sum, weight)| (column, sum / weight)).collect();
    means.sort_by(|a, b| b.1.total_cmp(&a.1));
    means
}

#[test]
fn importance_is_the_mean_of_explanations() {
    for config in [small(OnlineBlsConfig::default()), small(OnlineBlsConfig::single())] {
        let expected = importance_by_definition(config.clone(), 1300);
        let found = model(config, 1300).importance();
        assert_eq!(found.len(), 7);
        assert!(found[0].1 > 0.05);
        for (column, mean) in &found {
            let (_, expected) = expected.iter().find(|(known, _)| known == column).unwrap();
            assert!((mean - expected).abs() < 1e-9, "{column}: {mean} instead of {expected}");
        }
        assert!(found.is_sorted_by(|a, b| a.1 >= b.1));
        assert_eq!(found.last().unwrap(), &("constant".to_owned(), 0.0));
    }
}

#[test]
fn importance_does_not_depend_on_blocks_and_survives_a_file() {
    let config = OnlineBlsConfig::default();
    let whole = model(config.clone(), 700);
    let mut parts = model(config, 0);
    for (from, to) in [(0, 15), (15, 16), (16, 90), (90, 257), (257, 513)] {
        learn(&mut parts, from..to);
    }
    let mut schema = Schema::new("y");
    for class in 0..3 {
        schema.class_of(&class.to_string());
    }
    let mut bytes = Vec::new();
    ModelFile::new(&parts, &schema).write(&mut bytes).unwrap();
    let mut restored = model_file::read(&mut bytes.as_slice()).unwrap().model;
    assert_eq!(restored.importance(), parts.importance());
    for model in [&mut parts, &mut restored] {
        learn(model, 513..700);
        assert_eq!(model.importance(), whole.importance());
    }
}
