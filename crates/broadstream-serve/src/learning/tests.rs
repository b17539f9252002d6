//! Models that learn through their log are, to the bit, models that learned directly, whatever interrupts
//! them.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use broadstream::{
    Block, Classifier, OnlineBls, OnlineBlsConfig, Preset, Schema,
    stream::{JsonRows, LiveOptions, Place, RowEncoding, UnknownColumns},
};
use broadstream_store::{Disk, SystemDisk};
use serde_json::{Map, json};

use super::*;

const NAME: &str = "test";

fn options(durability: Durability) -> ModelOptions {
    ModelOptions {
        durability,
        queue_rows: 1000,
        queue_bytes: 1 << 20,
        snapshot_bytes: 1 << 40,
        snapshot_every: Duration::from_secs(3600),
        snapshots_kept: 3,
        threads: 1,
    }
}

fn registry(folder: &Path, options: ModelOptions, disk: Arc<dyn Disk>) -> Arc<Registry> {
    let registry = Registry::new(folder, disk, options, 10).unwrap();
    registry.open_all().unwrap();
    registry
}

fn start(folder: &Path) -> (Arc<Registry>, Arc<Model>) {
    start_on(folder, options(Durability::Never), Arc::new(SystemDisk))
}

fn start_on(
    folder: &Path,
    options: ModelOptions,
    disk: Arc<dyn Disk>,
) -> (Arc<Registry>, Arc<Model>) {
    let registry = registry(folder, options, disk);
    let model = registry.get(NAME).unwrap_or_else(|_| {
        let given = json!({ "enhancement_nodes": 30 }).as_object().unwrap().clone();
        let new = NewModel::Options {
            preset: Preset::Default,
            options: given,
            target: "y".to_owned(),
            columns: Box::default(),
        };
        registry.create(&ModelName::parse(NAME).unwrap(), new, UnknownName::Learn).unwrap()
    });
    (registry, model)
}

/// A row with numbers, a category that appears later, and a label.
fn row(i: u64) -> String {
    let (a, b) = ((i * 37 % 101) as f64 / 7.0, (i * 53 % 89) as f64 / 3.0);
    let label = if a + b > 20.0 { "high" } else { "low" };
    let mut row = json!({ "a": a, "b": b, "y": label });
    if i.is_multiple_of(3) {
        row["c"] = json!(format!("c{}", i / 40 % 4));
    }
    row.to_string()
}

fn labelled(rows: impl IntoIterator<Item = u64>) -> Change {
    let rows = rows.into_iter();
    Change::Rows(rows.map(|i| LabelledRow { text: row(i).into(), weight: 1.0 }).collect())
}

fn ask(model: &Model, change: Change) -> Result<Applied, ServeError> {
    model.submit(Request { change, key: None })?.blocking_recv().unwrap()
}

fn ask_with_key(model: &Model, key: &str, change: Change) -> Result<Applied, ServeError> {
    model.submit(Request { change, key: Some(key.to_owned()) })?.blocking_recv().unwrap()
}

fn file(model: &Model) -> Vec<u8> {
    model.latest_file().blocking_recv().unwrap().unwrap()
}

/// The file of a model that learned these rows in a program without a service.
fn learned_directly(rows: impl IntoIterator<Item = u64>) -> Vec<u8> {
    let given = json!({ "enhancement_nodes": 30 }).as_object().unwrap().clone();
    let config = OnlineBlsConfig::resolve(Preset::Default, &given).unwrap();
    let mut model = OnlineBls::new(config).unwrap();
    let schema = Schema::new("y");
    let encoding = RowEncoding::of_schema(&schema);
    let unknown = UnknownColumns::Learn;
    let live = LiveOptions { unknown, ..LiveOptions::default() };
    let mut reader = JsonRows::new(live, schema, encoding).unwrap();
    for i in rows {
        let mut block = Block::new();
        let text = row(i);
        let (sample, class) = reader.read(text.as_bytes(), Place::Row(1)).unwrap();
        block.push(sample, class.unwrap(), 1.0).unwrap();
        model.declare_inputs(&reader.schema().inputs()[model.inputs()..]).unwrap();
        model.learn_many(&block).unwrap();
    }
    let (encoding, notes) = (reader.encoding(), Map::new());
    let mut bytes = Vec::new();
    broadstream::model_file::ModelFile {
        encoding: Some(&encoding),
        notes: Some(&notes),
        ..broadstream::model_file::ModelFile::new(&model, reader.schema())
    }
    .write(&mut bytes)
    .unwrap();
    bytes
}

/// Ends a service as a kill would: nothing is finished and nothing is written.
fn kill(registry: Arc<Registry>, model: Arc<Model>) {
    drop(model);
    drop(registry);
}

#[test]
fn a_model_that_was_killed_is_to_the_bit_one_that_was_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut next = 0;
    for round in 0..6 {
        let (registry, model) = start(folder.path());
        assert_eq!(file(&model), learned_directly(0..next), "round {round}, after replay");
        for size in [1, 7, 64, 3] {
            let applied = ask(&model, labelled(next..next + size)).unwrap();
            next += size;
            assert_eq!(applied.rows_learned, next);
        }
        if round % 3 == 1 {
            model.snapshot_now().blocking_recv().unwrap().unwrap();
            ask(&model, labelled(next..next + 5)).unwrap();
            next += 5;
        }
        assert_eq!(file(&model), learned_directly(0..next), "round {round}");
        kill(registry, model);
    }
}

#[test]
fn a_service_that_was_closed_has_nothing_to_replay() {
    let folder = tempfile::tempdir().unwrap();
    let (registry, model) = start(folder.path());
    ask(&model, labelled(0..50)).unwrap();
    registry.close();
    assert!(matches!(ask(&model, labelled(50..51)), Err(ServeError::ShuttingDown)));
    kill(registry, model);
    let snapshots = std::fs::read_dir(folder.path().join("models/test/snapshots")).unwrap();
    assert_eq!(snapshots.count(), 4, "two models, each with a state");
    // Without the log the snapshot must be enough.
    std::fs::remove_dir_all(folder.path().join("models/test/log")).unwrap();
    std::fs::create_dir(folder.path().join("models/test/log")).unwrap();
    let (_registry, model) = start(folder.path());
    assert_eq!(file(&model), learned_directly(0..50));
    ask(&model, labelled(50..60)).unwrap();
    assert_eq!(file(&model), learned_directly(0..60));
}

#[test]
fn a_refused_request_leaves_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let (registry, model) = start(folder.path());
    ask(&model, labelled(0..20)).unwrap();
    let before = file(&model);
    for (bad, rule) in [
        (r#"{"a": 1, "new": "u", "y": "new label", "b": "text"}"#, "expected a number"),
        (r#"{"a": 1, "d": "u"}"#, "the label is missing"),
        (r#"{"a": [1], "y": "high"}"#, "expected one value, found an array"),
        (r#"{"a": 1e300, "y": 7}, "#, "expected a JSON object"),
    ] {
        let Change::Rows(mut rows) = labelled(20..22) else { unreachable!() };
        rows.push(LabelledRow { text: bad.into(), weight: 1.0 });
        let error = ask(&model, Change::Rows(rows)).unwrap_err();
        assert!(error.to_string().contains(rule), "{bad}: {error}");
        assert_eq!(error.place().0, Some(3), "{error}");
        assert_eq!(file(&model), before, "{bad}");
    }
    let heavy = Change::Rows(vec![LabelledRow { text: row(1).into(), weight: -1.0 }]);
    assert!(ask(&model, heavy).unwrap_err().to_string().contains("weight"));
    kill(registry, model);
    let (_registry, model) = start(folder.path());
    assert_eq!(file(&model), before, "refused again when replayed");
}

/// Predicts a row and lets it wait for its label.
fn predict(model: &Model, text: &str) -> u64 {
    let published = model.published();
    let predicted = published.predict([text], Wanted { prepared: true }).unwrap().remove(0);
    let id = model.take_ids(1);
    let prediction = Prediction {
        id,
        row: text.into(),
        prepared: predicted.prepared,
        class: predicted.class.map(|class| class as u64),
        probabilities: predicted.probabilities,
    };
    ask(model, Change::Predictions(vec![prediction])).unwrap();
    id
}

fn label(model: &Model, id: u64, label: &str) -> LabelOutcome {
    let label = Label { id, label: label.into(), weight: 1.0 };
    match ask(model, Change::Labels(vec![label])).unwrap().outcome {
        Outcome::Labels(mut outcomes) => outcomes.remove(0),
        other => panic!("{other:?}"),
    }
}

#[test]
fn labels_find_their_predictions_also_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let (registry, model) = start(folder.path());
    ask(&model, labelled(0..60)).unwrap();
    model.publish_latest().blocking_recv().unwrap();
    let known =
        predict(&model, r#"{"a": 3.5, "b": 1, "c": "c0", "y": "a label that is not read"}"#);
    let new = predict(&model, r#"{"a": 3.5, "c": "never seen", "e": 1}"#);
    let open = predict(&model, r#"{"a": 9}"#);
    // The scaling moves on before the label arrives.
    ask(&model, labelled(60..90)).unwrap();
    assert!(matches!(label(&model, known, "\"low\""), LabelOutcome::Learned { class: 0, .. }));
    assert!(matches!(label(&model, new, "\"third\""), LabelOutcome::Learned { class: 2, .. }));
    assert_eq!(label(&model, known, "\"low\""), LabelOutcome::Repeated);
    assert_eq!(label(&model, open + 1, "\"low\""), LabelOutcome::Unknown);
    assert!(matches!(label(&model, open, "null"), LabelOutcome::Refused(_)));
    let before = file(&model);
    kill(registry, model);

    let (registry, model) = start(folder.path());
    assert_eq!(file(&model), before);
    assert_eq!(label(&model, known, "\"low\""), LabelOutcome::Repeated);
    assert!(model.take_ids(1) > open, "ids are not used twice");
    model.snapshot_now().blocking_recv().unwrap().unwrap();
    kill(registry, model);

    let (_registry, model) = start(folder.path());
    assert_eq!(label(&model, new, "\"low\""), LabelOutcome::Repeated, "from the snapshot");
    assert!(matches!(label(&model, open, "true"), LabelOutcome::Learned { class: 3, .. }));
    assert_ne!(file(&model), before);
}

#[test]
fn a_label_is_learned_with_the_features_of_its_prediction() {
    let folder = tempfile::tempdir().unwrap();
    let (_registry, model) = start(folder.path());
    ask(&model, labelled((0..60).filter(|i| i % 3 != 0))).unwrap();
    model.publish_latest().blocking_recv().unwrap();
    let text = r#"{"a": 3.5, "b": 1.25}"#;
    let id = predict(&model, text);
    // What the library does with the same prediction.
    let published = model.published();
    let mut expected = published.model().clone();
    let prepared = expected.prepare(broadstream::Sample::dense(&[3.5, 1.25])).unwrap();
    let far = Change::Rows(vec![LabelledRow {
        text: r#"{"a": 1000, "b": -1000, "y": "low"}"#.into(),
        weight: 1.0,
    }]);
    ask(&model, far).unwrap();
    label(&model, id, "\"high\"");
    let class =
        |label: &str| published.schema().labels().iter().position(|known| known == label).unwrap();
    let far = broadstream::Sample::dense(&[1000.0, -1000.0]);
    expected.learn_one(far, class("low"), 1.0).unwrap();
    expected.learn_prepared(&prepared, class("high"), 1.0).unwrap();
    model.publish_latest().blocking_recv().unwrap();
    assert_eq!(model.published().model().weights(), expected.weights());
}

#[test]
fn a_request_with_a_key_is_carried_out_once() {
    let folder = tempfile::tempdir().unwrap();
    let (registry, model) = start(folder.path());
    let first = ask_with_key(&model, "k1", labelled(0..30)).unwrap();
    let again = ask_with_key(&model, "k1", labelled(0..30)).unwrap();
    assert_eq!(again, first);
    let other = ask_with_key(&model, "k1", labelled(0..31));
    assert!(matches!(other, Err(ServeError::KeyReused { .. })));
    kill(registry, model);
    let (registry, model) = start(folder.path());
    assert_eq!(ask_with_key(&model, "k1", labelled(0..30)).unwrap(), first);
    model.snapshot_now().blocking_recv().unwrap().unwrap();
    kill(registry, model);
    let (_registry, model) = start(folder.path());
    assert_eq!(ask_with_key(&model, "k1", labelled(0..30)).unwrap(), first);
    assert_eq!(file(&model), learned_directly(0..30));
}

#[test]
fn readers_say_what_they_lack_and_can_wait_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let (_registry, model) = start(folder.path());
    for i in 0..40 {
        let applied = ask(&model, labelled(i..i + 1)).unwrap();
        let published = model.published();
        assert_eq!(published.rows_learned + model.lag(&published), applied.rows_learned);
    }
    model.publish_latest().blocking_recv().unwrap();
    let published = model.published();
    assert_eq!((model.lag(&published), published.rows_learned), (0, 40));
    let old = Arc::clone(&published);
    ask(&model, labelled(40..80)).unwrap();
    let predict =
        |model: &Published| model.predict([r#"{"a": 2, "b": 3}"#], Wanted::default()).unwrap();
    assert_eq!(predict(&old), predict(&published), "what was published does not change");
}

#[test]
fn a_full_queue_refuses_and_forgets_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let few = ModelOptions { queue_rows: 100, ..options(Durability::Never) };
    let (_registry, model) = start_on(folder.path(), few, Arc::new(SystemDisk));
    let (mut replies, mut accepted, mut refused) = (Vec::new(), 0, 0);
    for _ in 0..200 {
        match model.submit(Request { change: labelled(accepted..accepted + 30), key: None }) {
            Ok(reply) => {
                replies.push(reply);
                accepted += 30;
            }
            Err(ServeError::Busy { limit: 100, .. }) => refused += 1,
            Err(error) => panic!("{error}"),
        }
    }
    replies.into_iter().for_each(|reply| drop(reply.blocking_recv().unwrap().unwrap()));
    assert!(refused > 0, "200 requests came at once");
    assert_eq!(model.waiting(), 0);
    assert_eq!(file(&model), learned_directly(0..accepted));
    let large = ask(&model, labelled(accepted..accepted + 500));
    assert!(large.is_ok(), "an empty queue takes any request");
}

#[test]
fn one_can_go_back_merge_and_unlearn_and_all_of_it_is_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let (registry, model) = start(folder.path());
    ask(&model, labelled(0..40)).unwrap();
    let version = model.snapshot_now().blocking_recv().unwrap().unwrap();
    let then = file(&model);
    ask(&model, labelled(40..80)).unwrap();
    model.publish_latest().blocking_recv().unwrap();
    let id = predict(&model, r#"{"a": 1, "b": 2}"#);
    let old = model.folder.snapshot_bytes(version).unwrap().unwrap();
    ask(&model, Change::Replace(old.into())).unwrap();
    assert_eq!(file(&model), then);
    assert!(matches!(label(&model, id, "\"low\""), LabelOutcome::Learned { .. }));
    let merged = ask(&model, Change::Merge(then.into())).unwrap_err();
    assert!(merged.to_string().contains("forgetting must be 1"), "{merged}");
    let now = file(&model);
    kill(registry, model);
    let (_registry, model) = start(folder.path());
    assert_eq!(file(&model), now);

    // A model that is a sum over its samples.
    let sum = json!({ "enhancement_nodes": 30, "scaling": "none" }).as_object().unwrap().clone();
    let folder = tempfile::tempdir().unwrap();
    let registry = registry_with(folder.path(), &sum);
    let models = ["one", "two"].map(|name| registry.get(name).unwrap());
    ask(&models[0], labelled(0..30)).unwrap();
    ask(&models[1], labelled(30..60)).unwrap();
    let taken = ask(&models[0], Change::Merge(file(&models[1]).into())).unwrap();
    assert_eq!(taken.outcome, Outcome::Taken { learned: 60 });
    let Change::Rows(rows) = labelled(30..60) else { unreachable!() };
    let outcome = ask(&models[0], Change::Unlearn(rows)).unwrap().outcome;
    assert!(matches!(outcome, Outcome::Unlearned { rows: 30, .. }), "{outcome:?}");
    let unseen = vec![LabelledRow { text: r#"{"a": 1, "z": 1, "y": "low"}"#.into(), weight: 1.0 }];
    let refused = ask(&models[0], Change::Unlearn(unseen)).unwrap_err();
    assert!(refused.to_string().contains("'z', which the model does not know"), "{refused}");
    let now = file(&models[0]);
    drop(models);
    drop(registry);
    let registry = registry_with(folder.path(), &sum);
    assert_eq!(file(&registry.get("one").unwrap()), now);
}

fn registry_with(folder: &Path, given: &Map<String, serde_json::Value>) -> Arc<Registry> {
    let registry = registry(folder, options(Durability::Always), Arc::new(SystemDisk));
    for name in ["one", "two"] {
        let new = NewModel::Options {
            preset: Preset::Single,
            options: given.clone(),
            target: "y".to_owned(),
            columns: Box::default(),
        };
        match registry.create(&ModelName::parse(name).unwrap(), new, UnknownName::Learn) {
            Ok(_) | Err(ServeError::Exists { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    registry
}

/// A disk that can be filled up.
#[derive(Debug, Default)]
struct Full(AtomicBool);

impl Disk for Full {
    fn write(&self, file: &std::fs::File, bytes: &[u8]) -> std::io::Result<usize> {
        match self.0.load(Ordering::Relaxed) {
            true => Err(std::io::ErrorKind::StorageFull.into()),
            false => SystemDisk.write(file, bytes),
        }
    }

    fn sync(&self, file: &std::fs::File) -> std::io::Result<()> {
        match self.0.load(Ordering::Relaxed) {
            true => Err(std::io::ErrorKind::StorageFull.into()),
            false => SystemDisk.sync(file),
        }
    }
}

#[test]
fn a_full_disk_refuses_what_it_cannot_keep_and_recovers() {
    for durability in [Durability::Always, Durability::Every(Duration::from_millis(50))] {
        let folder = tempfile::tempdir().unwrap();
        let disk = Arc::<Full>::default();
        let (registry, model) =
            start_on(folder.path(), options(durability), Arc::<Full>::clone(&disk));
        ask(&model, labelled(0..10)).unwrap();
        disk.0.store(true, Ordering::Relaxed);
        for _ in 0..3 {
            let refused = ask(&model, labelled(10..20)).unwrap_err();
            assert!(matches!(refused, ServeError::Storage(_)), "{refused}");
        }
        assert!(model.is_storage_failing());
        assert_eq!(file(&model), learned_directly(0..10), "nothing was learned");
        model.publish_latest().blocking_recv().unwrap();
        model.published().predict(["{\"a\": 1}"], Wanted::default()).unwrap();
        disk.0.store(false, Ordering::Relaxed);
        ask(&model, labelled(10..20)).unwrap();
        assert!(!model.is_storage_failing());
        kill(registry, model);
        let (_registry, model) = start(folder.path());
        assert_eq!(file(&model), learned_directly(0..20));
    }
}

/// A disk that counts how often it is asked to sync.
#[derive(Debug, Default)]
struct Counting(std::sync::atomic::AtomicUsize);

impl Disk for Counting {
    fn sync(&self, _: &std::fs::File) -> std::io::Result<()> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

#[test]
fn the_disk_is_waited_for_as_often_as_was_promised() {
    let syncs = |durability| {
        let folder = tempfile::tempdir().unwrap();
        let disk = Arc::<Counting>::default();
        let (_registry, model) =
            start_on(folder.path(), options(durability), Arc::<Counting>::clone(&disk));
        let before = disk.0.load(Ordering::Relaxed);
        let started = std::time::Instant::now();
        let mut requests = 0;
        // Without a pause, so that something is always waiting.
        while started.elapsed() < Duration::from_millis(400) {
            let replies: Vec<_> = (0..4)
                .map(|_| model.submit(Request { change: labelled(0..2), key: None }).unwrap())
                .collect();
            replies.into_iter().for_each(|reply| drop(reply.blocking_recv().unwrap().unwrap()));
            requests += 4;
        }
        (disk.0.load(Ordering::Relaxed) - before, requests)
    };
    let (always, requests) = syncs(Durability::Always);
    assert!(always > 0 && always <= requests, "{always} for {requests} requests");
    let (every, _) = syncs(Durability::Every(Duration::from_millis(40)));
    assert!((2..=20).contains(&every), "{every} in 400 ms");
    assert_eq!(syncs(Durability::Never).0, 0);
}

#[test]
fn a_model_that_is_deleted_writes_nothing_into_its_successor() {
    let folder = tempfile::tempdir().unwrap();
    let (registry, model) = start(folder.path());
    ask(&model, labelled(0..20)).unwrap();
    registry.delete(NAME).unwrap();
    let (new, unknown) = (NewModel::File(learned_directly(0..3)), UnknownName::Learn);
    let successor = registry.create(&ModelName::parse(NAME).unwrap(), new, unknown).unwrap();
    assert!(model.snapshot_now().blocking_recv().unwrap().is_err());
    assert!(matches!(ask(&model, labelled(0..1)), Err(ServeError::ShuttingDown)));
    assert_eq!(file(&successor), learned_directly(0..3));
    assert_ne!(model.rules.incarnation, successor.rules.incarnation);
    let snapshots = successor.folder.snapshots().unwrap();
    assert_eq!(snapshots.iter().map(|snapshot| snapshot.version).collect::<Vec<_>>(), [0]);
}

#[test]
fn a_copy_of_the_folder_while_the_service_runs_is_a_backup() {
    let folder = tempfile::tempdir().unwrap();
    let often = ModelOptions { snapshot_bytes: 2000, ..options(Durability::Never) };
    let (_registry, model) = start_on(folder.path(), often, Arc::new(SystemDisk));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let learning = scope.spawn(|| {
            let mut next = 0;
            while !stop.load(Ordering::Relaxed) {
                ask(&model, labelled(next..next + 3)).unwrap();
                next += 3;
                // Every copy is compared with a model that learns all of this again.
                std::thread::sleep(Duration::from_millis(4));
            }
        });
        for _ in 0..5 {
            std::thread::sleep(Duration::from_millis(30));
            let before = model.published().rows_learned;
            let copy = tempfile::tempdir().unwrap();
            let copied = std::process::Command::new("cp")
                .args(["-r", "--"])
                .arg(folder.path().join("models"))
                .arg(copy.path())
                .output();
            // A file that was removed meanwhile is no fault of the copy.
            assert!(copied.is_ok());
            let (_other, copied) = start(copy.path());
            let rows = copied.published().rows_learned;
            assert!(rows >= before, "the copy has {rows} rows of at least {before}");
            assert_eq!(file(&copied), learned_directly(0..rows));
        }
        stop.store(true, Ordering::Relaxed);
        learning.join().unwrap();
    });
}

#[test]
fn names_stand_for_models_and_models_go_away() {
    let folder = tempfile::tempdir().unwrap();
    let (registry, model) = start(folder.path());
    let name = |name: &str| ModelName::parse(name).unwrap();
    registry.set_alias(&name("live"), &name(NAME)).unwrap();
    assert_eq!(registry.get("live").unwrap().name, name(NAME));
    assert!(registry.set_alias(&name(NAME), &name(NAME)).is_err());
    assert!(registry.set_alias(&name("x"), &name("nothing")).is_err());
    kill(registry, model);
    let (registry, model) = start(folder.path());
    assert_eq!(registry.get("live").unwrap().name, name(NAME));
    assert!(matches!(registry.get("../x"), Err(ServeError::NoModel { .. })));
    registry.delete(NAME).unwrap();
    assert!(ask(&model, labelled(0..1)).is_err());
    assert!(registry.get("live").is_err());
    assert!(registry.all().0.is_empty());
    assert_eq!(std::fs::read_dir(folder.path().join("models")).unwrap().count(), 0);
}

#[test]
fn two_services_cannot_share_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let first = registry(folder.path(), options(Durability::Never), Arc::new(SystemDisk));
    let second = Registry::new(folder.path(), Arc::new(SystemDisk), options(Durability::Never), 10);
    assert!(second.is_err());
    drop(first);
}
