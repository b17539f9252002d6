//! Model files: whatever can be read can be used.
//!
//! Randomly modified bytes rarely pass the checksum, so they are given the right one: as the whole
//! body after a header, or as changes to the file of an existing model.

#![no_main]

use std::sync::LazyLock;

use broadstream::{
    Block, Classifier, InputKind, Nodes, OnlineBls, OnlineBlsConfig, Partial, Sample, Scaling,
    Schema, Scores,
    model_file::{self, Content, Loaded, ModelFile},
};
// For its allocator, which refuses what no input justifies.
use broadstream_fuzz as _;
use sha2::{Digest, Sha256};

const HEADER: usize = 64;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((&choice, rest)) = data.split_first() else { return };
    let file = match FILES.get(usize::from(choice)) {
        Some(file) => altered(file, rest),
        None => sealed(rest),
    };
    match model_file::read_any(&mut file.as_slice()) {
        Ok(Loaded::Model(saved)) => use_model(saved.model),
        Ok(Loaded::Partial(saved)) => use_partial(saved.model),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});

/// Files of several kinds of models.
static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let small = |config: OnlineBlsConfig| OnlineBlsConfig {
        feature_groups: 1,
        feature_nodes: 2,
        enhancement_nodes: Nodes::Fixed(3),
        ..config
    };
    let single = small(OnlineBlsConfig::single());
    let given = OnlineBlsConfig { scaling: Scaling::None, ..single.clone() };
    let configs = [
        small(OnlineBlsConfig::default()),
        single.clone(),
        small(OnlineBlsConfig::paper()),
        OnlineBlsConfig { window: Some(5), ..single },
        given.clone(),
    ];
    let mut files: Vec<Vec<u8>> =
        configs.into_iter().map(|config| file(&trained(config))).collect();
    let mut partial = Partial::like(&trained(given)).expect("a sound configuration");
    partial.declare_input("a", InputKind::Numeric).expect("a new input");
    partial.learn_many(&samples(12, 1)).expect("sound samples");
    let mut bytes = Vec::new();
    let schema = Schema::new("y");
    let content = Content::Partial(&partial);
    ModelFile::of(content, &schema).write(&mut bytes).expect("memory is written to");
    files.push(bytes);
    files
});

fn trained(config: OnlineBlsConfig) -> OnlineBls {
    let mut model = OnlineBls::new(config).expect("a sound configuration");
    model.declare_input("a", InputKind::Numeric).expect("a new input");
    model.declare_input("b=c", InputKind::Indicator).expect("a new input");
    model.learn_many(&samples(12, 2)).expect("sound samples");
    model
}

fn samples(count: u32, inputs: usize) -> Block {
    let mut block = Block::new();
    for i in 0..count {
        let x = [f64::from(i % 5), 1.0];
        let class = if i == 0 { 0 } else { (i % 3).min(i) as usize };
        block.push(Sample::dense(&x[..inputs]), class, 1.0).expect("a sound sample");
    }
    block
}

fn file(model: &OnlineBls) -> Vec<u8> {
    let mut bytes = Vec::new();
    ModelFile::new(model, &Schema::new("y")).write(&mut bytes).expect("memory is written to");
    bytes
}

/// A file in which bytes were replaced: each change is three bytes for the position and one for the
/// byte.
fn altered(file: &[u8], changes: &[u8]) -> Vec<u8> {
    let mut body = file[HEADER..].to_vec();
    for &[high, middle, low, byte] in changes.as_chunks::<4>().0 {
        let place = u32::from_be_bytes([0, high, middle, low]) as usize % body.len();
        body[place] = byte;
    }
    sealed(&body)
}

/// A file with that body and the correct header.
fn sealed(body: &[u8]) -> Vec<u8> {
    let mut file = FILES[0][..HEADER].to_vec();
    file[16..24].copy_from_slice(&(body.len() as u64).to_le_bytes());
    file[24..56].copy_from_slice(&Sha256::digest(body));
    file.extend_from_slice(body);
    file
}

fn use_model(mut model: OnlineBls) {
    let block = samples(9, model.inputs().min(2));
    let mut scores = Scores::new();
    // A model may refuse what does not fit; it may not break.
    let _ = model.test_then_train(&block, &mut scores);
    let _ = (model.scores_many(&block), model.weights(), model.members(), model.health());
    for input in 0..3 {
        if let Ok(sparse) = Sample::sparse(&[input], &[1.0]) {
            let _ = model.scores_one(sparse);
        }
    }
    let _ = model.unlearn_one(block.sample(3), 0, 1.0);
    let classes: Vec<usize> = (0..model.classes()).collect();
    let _ = model.clone().merge(&model, &classes);
    // A state that has overflowed is refused; whatever is written can be read.
    let mut bytes = Vec::new();
    if ModelFile::new(&model, &Schema::new("y")).write(&mut bytes).is_ok() {
        model_file::read(&mut bytes.as_slice()).expect("it was just written");
    }
}

fn use_partial(mut partial: Partial) {
    let _ = partial.learn_many(&samples(9, partial.declared_inputs().len().min(2)));
    let _ = partial.into_model().map(use_model);
}
