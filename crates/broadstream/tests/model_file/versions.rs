//! A file of each format version is kept and must stay readable.

use std::{fs, path::PathBuf};

use broadstream::{
    Classifier, Evaluator, Nodes, OnlineBls, OnlineBlsConfig, Partial, PrequentialOptions,
    Progress, Scaling, evaluate,
    metrics::Summary,
    model_file::{Content, Loaded, ModelFile, Precision, VERSION, read, read_any},
    stream::{RowEncoding, Stream, synth::Sea},
};

use super::{bytes, model, samples, schema, small};

/// The version of all files that are not in single precision.
const DOUBLE_PRECISION_VERSION: u32 = 1;

fn path(version: u32, name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/model_file");
    folder.join(format!("version-{version}{name}"))
}

/// The predictions of a model of the default kind, as they were saved, for some samples.
fn scores(bytes: &[u8]) -> Vec<f64> {
    let saved = read(&mut &*bytes).unwrap();
    let block = samples(120..130);
    let (scores, leverages) = saved.model.scores_many(&block).unwrap();
    scores.iter().flatten().copied().chain(leverages).collect()
}

#[test]
fn files_of_every_version_are_read() {
    for version in 1..=VERSION {
        // Files in single precision are of version 2, which is not written otherwise.
        let is_single = version == 2;
        let file = fs::read(path(version, ".bsm")).unwrap();
        let expected = fs::read_to_string(path(version, ".json")).unwrap();
        let expected: Vec<f64> = serde_json::from_str(&expected).unwrap();
        let found = scores(&file);
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-9, "version {version}: {found}, not {expected}");
        }
        let mut saved = read(&mut file.as_slice()).unwrap();
        assert_eq!(saved.schema.labels(), ["label 0", "label 1", "label 2"]);
        assert_eq!(saved.encoding.unwrap().columns.len(), 3);
        saved.model.learn_many(&samples(120..200)).unwrap();
        if is_single {
            assert_eq!(saved.model.precision(), Precision::Single);
            continue;
        }
        let sums = fs::read(path(version, "-sums.bsm")).unwrap();
        let Loaded::Partial(sums) = read_any(&mut sums.as_slice()).unwrap() else { panic!() };
        assert_eq!(sums.model.into_model().unwrap().learned(), 96);
        for (name, samples, changes) in AUTOMATIC {
            let file = fs::read(path(version, &format!("-{name}.bsm"))).unwrap();
            let mut saved = read(&mut file.as_slice()).unwrap();
            let mut again = automatic(samples);
            assert_eq!(saved.model.learned(), again.learned(), "{name}");
            // Whatever a program of today would decide, the file tells what was decided then.
            assert_eq!(saved.model.changes().len(), changes, "{name}");
            for model in [&mut saved.model, &mut again] {
                model.learn_many(&self::samples(samples..samples + 300)).unwrap();
            }
            assert_eq!(saved.model.learned(), again.learned(), "{name}");
        }
        let checkpoint = fs::read(path(version, "-checkpoint.bsm")).unwrap();
        assert_eq!(resumed(&checkpoint).samples, 300);
    }
}

/// Models that choose their nodes, by the number of samples that they have seen and that of changes in
/// their files: one to which members are about to join, and one whose members rest.
const AUTOMATIC: [(&str, u32, usize); 2] = [("joining", 150, 0), ("resting", 700, 13)];

fn automatic(count: u32) -> OnlineBls {
    let nodes = Nodes::Auto;
    let config = OnlineBlsConfig { enhancement_nodes: nodes, most_nodes: 9, ..small() };
    let mut model = model(config);
    model.learn_many(&samples(0..count)).unwrap();
    model
}

fn stream() -> impl Stream {
    Sea::new(0, 0.1, 42).unwrap().take(300)
}

fn options() -> PrequentialOptions {
    PrequentialOptions {
        metrics_window: 50,
        curve_every: Some(70),
        delay: 4,
        checkpoint_every: Some(200),
        ..PrequentialOptions::default()
    }
}

/// Continues from a checkpoint to the end of the stream.
fn resumed(bytes: &[u8]) -> Summary {
    let mut saved = read(&mut &*bytes).unwrap();
    let state = saved.evaluation.unwrap();
    assert_eq!((state.samples(), state.curve().len()), (200, 2));
    let evaluator = Evaluator::resume(state, &options()).unwrap();
    evaluator.run(&mut stream(), &mut saved.model, &mut ()).unwrap().metrics.summary()
}

/// A checkpoint in memory.
fn checkpoint() -> Vec<u8> {
    let config = OnlineBlsConfig { enhancement_nodes: Nodes::Fixed(9), ..small() };
    let (mut model, mut stream) = (OnlineBls::new(config).unwrap(), stream());
    let mut evaluator = Evaluator::new(&options()).unwrap();
    let halt = evaluator.advance(&mut stream, &mut model, &mut ()).unwrap();
    assert_eq!(halt, Progress::Checkpoint);
    let (mut bytes, file) = (Vec::new(), ModelFile::new(&model, stream.schema()));
    ModelFile { evaluation: Some(evaluator.state()), ..file }.write(&mut bytes).unwrap();
    bytes
}

#[test]
fn a_checkpoint_ends_as_the_whole_does() {
    let config = OnlineBlsConfig { enhancement_nodes: Nodes::Fixed(9), ..small() };
    let mut model = OnlineBls::new(config).unwrap();
    let whole = evaluate(&mut stream(), &mut model, &options()).unwrap();
    assert_eq!(resumed(&checkpoint()), whole.metrics.summary());
}

/// Writes the files of the current version:
/// `cargo test -p broadstream --test integration -- --ignored`
#[test]
#[ignore = "writes files, once for each version"]
fn write_files_of_this_version() {
    let small = OnlineBlsConfig { enhancement_nodes: Nodes::Fixed(9), ..small() };
    let mut saved = model(small.clone());
    saved.learn_many(&samples(0..120)).unwrap();
    let schema = schema(&saved);
    let encoding = RowEncoding::of_schema(&schema);
    let mut bytes = Vec::new();
    let file = ModelFile { encoding: Some(&encoding), ..ModelFile::new(&saved, &schema) };
    file.write(&mut bytes).unwrap();
    let version = DOUBLE_PRECISION_VERSION;
    fs::create_dir_all(path(version, "").parent().unwrap()).unwrap();
    fs::write(path(version, ".bsm"), &bytes).unwrap();
    let scores = serde_json::to_string(&scores(&bytes)).unwrap();
    fs::write(path(version, ".json"), scores + "\n").unwrap();

    let config = OnlineBlsConfig {
        scaling: Scaling::None,
        enhancement_nodes: Nodes::Fixed(9),
        feature_groups: 1,
        ..OnlineBlsConfig::single()
    };
    let mut sums = Partial::new(config).unwrap();
    for input in saved.declared_inputs() {
        sums.declare_input(&input.name, input.kind).unwrap();
    }
    sums.learn_many(&samples(0..120)).unwrap();
    let mut bytes = Vec::new();
    ModelFile::of(Content::Partial(&sums), &schema).write(&mut bytes).unwrap();
    fs::write(path(version, "-sums.bsm"), &bytes).unwrap();
    fs::write(path(version, "-checkpoint.bsm"), checkpoint()).unwrap();
    write_automatic_files_of_this_version();
}

/// Writes the files in single precision:
/// `cargo test -p broadstream --test integration write_single -- --ignored`
#[test]
#[ignore = "writes files, once for each version"]
fn write_single_precision_files_of_this_version() {
    let mut saved = model(OnlineBlsConfig { enhancement_nodes: Nodes::Fixed(9), ..small() });
    saved.learn_many(&samples(0..120)).unwrap();
    let schema = schema(&saved);
    let encoding = RowEncoding::of_schema(&schema);
    let mut bytes = Vec::new();
    let file = ModelFile { encoding: Some(&encoding), ..ModelFile::new(&saved, &schema) };
    ModelFile { precision: Precision::Single, ..file }.write(&mut bytes).unwrap();
    fs::write(path(VERSION, ".bsm"), &bytes).unwrap();
    let scores = serde_json::to_string(&scores(&bytes)).unwrap();
    fs::write(path(VERSION, ".json"), scores + "\n").unwrap();
}

/// Writes the files of models that choose their nodes:
/// `cargo test -p broadstream --test integration write_automatic -- --ignored`
#[test]
#[ignore = "writes files, once for each version"]
fn write_automatic_files_of_this_version() {
    for (name, count, _) in AUTOMATIC {
        let model = automatic(count);
        fs::write(path(DOUBLE_PRECISION_VERSION, &format!("-{name}.bsm")), bytes(&model)).unwrap();
    }
}
