//! Models that are saved and read back.

mod continuation;
mod hostile;
mod single_precision;
mod versions;

use broadstream::{
    Block, Classifier, InputKind, Nodes, OnlineBls, OnlineBlsConfig, Sample, Schema,
    model_file::{self, ModelFile, Precision, Saved},
};

/// A small model of the default kind.
fn small() -> OnlineBlsConfig {
    OnlineBlsConfig {
        feature_groups: 2,
        feature_nodes: 3,
        enhancement_nodes: Nodes::Fixed(30),
        inputs_per_sample: Some(3),
        ..OnlineBlsConfig::default()
    }
}

/// A model with three inputs.
fn model(config: OnlineBlsConfig) -> OnlineBls {
    let mut model = OnlineBls::new(config).unwrap();
    for (name, kind) in
        [("a", InputKind::Numeric), ("b", InputKind::Numeric), ("c=red", InputKind::Indicator)]
    {
        model.declare_input(name, kind).unwrap();
    }
    model
}

/// Samples of different weights, some of them sparse, with a class that appears late and a drift.
fn samples(range: std::ops::Range<u32>) -> Block {
    let mut block = Block::new();
    for i in range {
        let x = [f64::from(i * 7 % 23) / 5.0, f64::from(i * 13 % 31) * 3.0, 1.0];
        let rises = x[0] + x[1] / 20.0 > 3.0;
        let class = match i {
            0 => 0,
            1 => 1,
            _ if i > 90 && i % 7 == 0 => 2,
            _ => usize::from(rises ^ (i > 700)),
        };
        let weight = [1.0, 0.5, 2.0, 0.0, 1.0][i as usize % 5];
        let sample = match i % 3 {
            0 => Sample::dense(&x),
            1 => Sample::dense(&x[..2]),
            _ => Sample::sparse(&[1, 2], &x[1..]).unwrap(),
        };
        block.push(sample, class, weight).unwrap();
    }
    block
}

fn schema(model: &OnlineBls) -> Schema {
    let mut schema = Schema::new("colour");
    for input in model.declared_inputs() {
        schema.push_input(&input.name, input.kind);
    }
    for class in 0..model.classes() {
        schema.class_of(&format!("label {class}"));
    }
    schema
}

/// The file in single precision, without the random weights.
fn small_bytes(model: &OnlineBls) -> Vec<u8> {
    let (mut bytes, schema) = (Vec::new(), schema(model));
    let file = ModelFile::new(model, &schema);
    let file = ModelFile { precision: Precision::Single, feature_weights: false, ..file };
    file.write(&mut bytes).unwrap();
    bytes
}

fn bytes(model: &OnlineBls) -> Vec<u8> {
    let mut bytes = Vec::new();
    ModelFile::new(model, &schema(model)).write(&mut bytes).unwrap();
    bytes
}

fn read(bytes: &[u8]) -> Result<Saved, broadstream::Error> {
    model_file::read(&mut &*bytes)
}
