//! Rows for saved models, as `predict` and `learn` read them from a pipe: CSV or JSON lines.
//!
//! The model and the options depend only on the length of the input, so that seeds are plain files.

#![no_main]

use std::{
    io::{Cursor, Read},
    sync::LazyLock,
};

use broadstream::{
    Block, Classifier, Error, Nodes, OnlineBls, OnlineBlsConfig, Schema, Scores,
    model_file::{self, ModelFile},
    stream::{
        Categories, LiveOptions, LiveRows, RowEncoding, RowPurpose, Stream, TableOptions,
        UnknownColumns, csv::CsvStream, jsonl::JsonLinesStream,
    },
};
use broadstream_fuzz::source;

/// The most rows that are read from one input, those that are refused included.
const MOST_ROWS: usize = 200;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let saved = &MODELS[data.len() % MODELS.len()];
    let options = live_options(data.len() / MODELS.len());
    let at_once = predict(saved, &options, source(data));
    let dripping = predict(saved, &options, Box::new(Drip(Cursor::new(data.to_vec()))));
    assert_eq!(at_once, dripping, "what is read must not depend on how it arrives");
    let single = learn(saved, &options, data, 1);
    let blocks = learn(saved, &options, data, 64);
    assert_eq!(single, blocks, "what is predicted must not depend on the size of blocks");
});

/// Models of several kinds of columns, each as it is after its file was read.
static MODELS: LazyLock<Vec<SavedModel>> = LazyLock::new(|| {
    let csv = |text: &'static str, options| {
        SavedModel::trained(CsvStream::new(Box::new(text.as_bytes()), options).expect("a table"))
    };
    let table = "id,n,c,y,late,on\n1,1.5,u,no,,True\n2,2.5,v,yes,,False\n3,?,u,no,,True\n";
    let options = |categories| TableOptions {
        target: Some("y".into()),
        drop: vec!["id".into()],
        categories: Some(categories),
        ..TableOptions::default()
    };
    let json =
        "{\"n\": 1, \"on\": true, \"a\": {\"b\": \"u\"}, \"y\": false}\n{\"n\": 2, \"y\": true}\n";
    let json = JsonLinesStream::new(Box::new(json.as_bytes()), TableOptions::default());
    vec![
        csv(table, options(Categories::OneHot)),
        csv(table, options(Categories::IntegerCodes)),
        csv("1,5;u;x\n2;v;y\n3,25;u;x\n", TableOptions::default()),
        SavedModel::trained(json.expect("objects")),
        csv(
            "when,day,note,user,y\n2024-02-29T17:03Z,2024-02-29,a text,u,x\n\
             2024-03-01 17:03Z,,more text,v,y\n2024-03-01 17:03Z,2024-02-28,,w,y\n",
            TableOptions {
                text: vec!["note".into()],
                max_categories: Some(3),
                ..TableOptions::default()
            },
        ),
    ]
});

/// What a model file holds.
struct SavedModel {
    model: OnlineBls,
    schema: Schema,
    encoding: RowEncoding,
}

impl SavedModel {
    /// A small model of a stream, written and read again.
    fn trained(mut stream: impl Stream) -> Self {
        let mut block = Block::new();
        while stream.read_block(&mut block, 100).expect("sound rows") > 0 {}
        let config = OnlineBlsConfig {
            feature_groups: 1,
            feature_nodes: 2,
            enhancement_nodes: Nodes::Fixed(3),
            ..OnlineBlsConfig::single()
        };
        let mut model = OnlineBls::new(config).expect("a sound configuration");
        model.declare_inputs(stream.schema().inputs()).expect("new inputs");
        model.learn_many(&block).expect("sound samples");
        let encoding = stream.encoding().expect("columns");
        reread(&model, stream.schema(), &encoding)
    }
}

/// Writes a model and reads it.
fn reread(model: &OnlineBls, schema: &Schema, encoding: &RowEncoding) -> SavedModel {
    let mut bytes = Vec::new();
    let file = ModelFile { encoding: Some(encoding), ..ModelFile::new(model, schema) };
    file.write(&mut bytes).expect("memory is written to");
    let saved = model_file::read(&mut bytes.as_slice()).expect("it was just written");
    let encoding = saved.encoding.expect("it was written too");
    SavedModel { model: saved.model, schema: saved.schema, encoding }
}

fn live_options(choice: usize) -> LiveOptions {
    let chosen = |bit: usize| choice & (1 << bit) != 0;
    LiveOptions {
        unknown: match choice % 4 {
            0 => UnknownColumns::Refuse,
            1 => UnknownColumns::Ignore,
            _ => UnknownColumns::Learn,
        },
        header: chosen(2).then_some(chosen(3)),
        decimal_comma: (chosen(2) && chosen(4)).then_some(chosen(3)),
        max_categories: chosen(5).then_some(3),
        purpose: match choice % 7 {
            0 => RowPurpose::Predict,
            1 => RowPurpose::Unlearn,
            _ => RowPurpose::Learn,
        },
        ..LiveOptions::default()
    }
}

/// A source that returns one byte at a time, as a slow pipe may.
struct Drip(Cursor<Vec<u8>>);

impl Read for Drip {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let most = out.len().min(1);
        self.0.read(&mut out[..most])
    }
}

/// A row's inputs with the bits of their values, and its label; or why it was refused.
type Seen = Result<(Vec<(String, u64)>, Option<String>), String>;

/// Predicts rows, which leave nothing behind, and returns them.
fn predict(saved: &SavedModel, options: &LiveOptions, source: Box<dyn Read + Send>) -> Vec<Seen> {
    let (schema, encoding) = (saved.schema.clone(), saved.encoding.clone());
    let mut rows = match LiveRows::new(source, options.clone(), schema, encoding) {
        Ok(rows) => rows,
        Err(error) => return vec![Err(error.to_string())],
    };
    let (mut model, mut seen, mut block) = (saved.model.clone(), Vec::new(), Block::new());
    while seen.len() < MOST_ROWS {
        let class = match rows.next() {
            Ok(None) => break,
            Ok(Some(row)) => {
                block.clear();
                block.push(row.sample, 0, 1.0).expect("a sound sample");
                row.class
            }
            Err(error) => {
                seen.push(Err(error.to_string()));
                continue;
            }
        };
        let schema = rows.schema();
        let label = class.map(|class| schema.labels()[class].clone());
        let named =
            |(input, value): (usize, f64)| (schema.inputs()[input].name.clone(), value.to_bits());
        seen.push(Ok((block.sample(0).iter().map(named).collect(), label)));
        declare(&mut model, schema);
        // A number may be too large for the scaling; the row is then refused as a whole.
        let _ = model.scores_many(&block);
        rows.is_ready();
        model.withdraw_inputs(saved.schema.inputs().len());
        rows.undo();
        assert_eq!(rows.schema().inputs(), saved.schema.inputs(), "inputs are left behind");
        assert_eq!(rows.schema().labels(), saved.schema.labels(), "labels are left behind");
        assert_eq!(model.inputs(), saved.schema.inputs().len());
    }
    seen
}

/// Learns rows in blocks of at most `most` and returns the bits of all scores, and the first error.
fn learn(
    saved: &SavedModel,
    options: &LiveOptions,
    data: &[u8],
    most: usize,
) -> (Vec<u64>, Option<String>) {
    let (schema, encoding) = (saved.schema.clone(), saved.encoding.clone());
    let mut rows = match LiveRows::new(source(data), options.clone(), schema, encoding) {
        Ok(rows) => rows,
        Err(error) => return (Vec::new(), Some(error.to_string())),
    };
    let (mut model, mut scores, mut block) = (saved.model.clone(), Vec::new(), Block::new());
    let mut error = None;
    for _ in 0..MOST_ROWS {
        match rows.next() {
            Ok(None) => break,
            // Rows without a label are only predicted.
            Ok(Some(row)) if row.class.is_none() => continue,
            Ok(Some(row)) => {
                let class = row.class.unwrap_or(0);
                block.push(row.sample, class, 1.0).expect("a sound sample");
            }
            Err(refused) => {
                error = Some(refused.to_string());
                break;
            }
        }
        if block.len() == most && train(&mut model, &rows, &mut block, &mut scores).is_err() {
            return (scores, None);
        }
    }
    if train(&mut model, &rows, &mut block, &mut scores).is_ok() {
        let saved = reread(&model, rows.schema(), &rows.encoding());
        assert_eq!(saved.encoding, rows.encoding(), "a saved encoding is the same");
        assert_eq!(saved.schema.labels(), rows.schema().labels());
        return (scores, error);
    }
    (scores, None)
}

/// Learns a block and appends the bits of its scores.
fn train(
    model: &mut OnlineBls,
    rows: &LiveRows,
    block: &mut Block,
    bits: &mut Vec<u64>,
) -> Result<(), Error> {
    declare(model, rows.schema());
    let mut scores = Scores::new();
    model.test_then_train(block, &mut scores)?;
    bits.extend(scores.iter().flatten().map(|score| score.to_bits()));
    block.clear();
    Ok(())
}

/// Declares the inputs that rows have added.
fn declare(model: &mut OnlineBls, schema: &Schema) {
    let new = &schema.inputs()[model.inputs()..];
    model.declare_inputs(new).expect("a few inputs of different names");
}
