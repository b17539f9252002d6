//! Columns of codes, which a model that chooses its nodes reads as numbers and as categories.

use broadstream::{
    Block, Classifier, InputKind, LateLabels, OnlineBls, OnlineBlsConfig, Sample, Schema, Scores,
    model_file::{ModelFile, read},
};

const INPUTS: [&str; 4] = ["a", "b", "size", "c"];

fn model(most_nodes: usize, threads: usize) -> OnlineBls {
    let config = OnlineBlsConfig { most_nodes, threads, ..OnlineBlsConfig::default() };
    let mut model = OnlineBls::new(config).unwrap();
    INPUTS.iter().for_each(|name| model.declare_input(name, InputKind::Numeric).unwrap());
    model
}

/// Samples with three columns of codes, of which neighbouring values have nothing in common, and
/// one of numbers. Later some values are new, and some are no codes.
fn samples(range: std::ops::Range<u32>) -> Block {
    let mut block = Block::new();
    let mixed = |i: u32, salt: u32| (i.wrapping_add(salt)).wrapping_mul(2_654_435_761) >> 13;
    for i in range {
        let (a, b, c) = (mixed(i, 1) % 7, mixed(i, 2) % 6, mixed(i, 3) % 5);
        let size = f64::from(mixed(i, 4) % 1000) / 100.0;
        let is_odd = (a * 3 % 7 + b * 5 % 6) % 2 == 1;
        let mut x = [f64::from(a), f64::from(b), size, f64::from(c)];
        if i > 900 && i % 11 == 0 {
            x[0] = [7.0, 2.5, -300.0, 1e9][i as usize % 4];
        }
        let class = if i == 0 { 0 } else { usize::from(is_odd) };
        match i % 10 {
            9 => block.push(Sample::sparse(&[0, 1, 3], &[x[0], x[1], x[3]]).unwrap(), class, 1.0),
            _ => block.push(Sample::dense(&x), class, 1.0),
        }
        .unwrap();
    }
    block
}

/// The scores of samples in blocks of that size, each from before it was learned.
fn learn(model: &mut OnlineBls, range: std::ops::Range<u32>, size: usize) -> Scores {
    let mut scores = Scores::new();
    for start in range.clone().step_by(size) {
        let end = range.end.min(start + size as u32);
        model.test_then_train(&samples(start..end), &mut scores).unwrap();
    }
    scores
}

fn reads_codes(model: &OnlineBls) -> bool {
    let coded = |nodes: Option<&str>| nodes == Some("nodes on codes");
    model.members().iter().any(|member| !member.rests && coded(member.nodes))
}

#[test]
fn where_codes_are_names_a_member_reads_them_so() {
    let mut model = model(300, 1);
    let scores = learn(&mut model, 0..3000, 64);
    assert!(reads_codes(&model), "{:?}", model.members());
    let last = samples(2000..3000);
    let right = (0..last.len())
        .filter(|i| broadstream::arg_max(scores.row(2000 + i)) == Some(last.class(*i)))
        .count();
    assert!(right > 950, "{right} of 1000");
    // The same nodes see nothing in numbers that are no codes.
    let mut numbers = self::model(60, 1);
    for i in 0..1200 {
        let one = samples(i..i + 1);
        let values: Vec<f64> = one.sample(0).values().iter().map(|value| value + 0.5).collect();
        let inputs: Vec<u32> = one.sample(0).iter().map(|(input, _)| input as u32).collect();
        numbers.learn_one(Sample::sparse(&inputs, &values).unwrap(), one.class(0), 1.0).unwrap();
    }
    assert!(!reads_codes(&numbers));
}

#[test]
fn blocks_threads_and_files_change_nothing() {
    let mut reference = model(60, 1);
    let expected = learn(&mut reference, 0..1500, 64);
    assert!(reads_codes(&reference));
    for (size, threads) in [(1, 1), (7, 2), (1500, 1)] {
        let mut other = model(60, threads);
        let found = learn(&mut other, 0..1500, size);
        let differs = found.iter().zip(expected.iter()).position(|(a, b)| a != b);
        assert_eq!(differs, None, "blocks of {size}");
    }
    let mut schema = Schema::new("class");
    INPUTS.iter().for_each(|name| {
        schema.push_input(*name, InputKind::Numeric);
    });
    ["even", "odd"].iter().for_each(|label| {
        schema.class_of(label);
    });
    for stop in [100, 140, 200, 700, 1300] {
        for feature_weights in [true, false] {
            let mut model = model(60, 1);
            learn(&mut model, 0..stop, 64);
            let mut bytes = Vec::new();
            let file = ModelFile { feature_weights, ..ModelFile::new(&model, &schema) };
            file.write(&mut bytes).unwrap();
            let mut restored = read(&mut bytes.as_slice()).unwrap().model;
            let rest = learn(&mut restored, stop..1500, 64);
            let same = rest.iter().zip(expected.iter().skip(stop as usize)).all(|(a, b)| a == b);
            assert!(same, "stopped after {stop}, weights stored: {feature_weights}");
        }
    }
}

#[test]
fn every_way_to_predict_and_learn_reads_the_same_codes() {
    let (mut whole, mut late, mut labels) = (model(60, 1), model(60, 1), LateLabels::new(10));
    for i in 0..1200 {
        let block = samples(i..i + 1);
        let (x, class) = (block.sample(0), block.class(0));
        let asked = whole.scores_one(x).unwrap();
        if i % 50 == 0 {
            let fast = whole.predictor().scores_one(x).unwrap();
            assert!(fast.iter().zip(&asked).all(|(a, b)| (a - b).abs() < 1e-9));
            assert_eq!(whole.scores_many(&block).unwrap().0.row(0), asked);
        }
        let mut told = Scores::new();
        whole.test_then_train(&block, &mut told).unwrap();
        assert_eq!(told.row(0), asked);
        let prediction = labels.predict(&late, x).unwrap();
        assert_eq!(prediction.probabilities, asked, "sample {i}");
        labels.learn(&mut late, prediction.ticket, class, 1.0).unwrap();
    }
    assert!(reads_codes(&whole));
}
