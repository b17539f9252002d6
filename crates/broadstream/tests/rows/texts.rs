//! Columns of texts, of which a cell is several inputs.

use broadstream::{
    Block,
    stream::{
        Cell, ColumnCoding, LiveOptions, LiveRows, Place, RowEncoder, Stream, TableOptions,
        csv::CsvStream, jsonl::JsonLinesStream,
    },
};

use super::{Row, named, read_all, source};

const CSV: &str =
    "n,note,y\n1,\"Free, free prizes!\",u\n2,,v\n3,Meeting at 17:03,v\n4,NA,u\n5,\u{1},u\n";

const JSON: &str = "{\"n\": 1, \"note\": \"free FREE Prizes !\", \"y\": \"u\"}\n\
                    {\"n\": 2, \"note\": null, \"y\": \"v\"}\n\
                    {\"n\": 3, \"note\": \"meeting at 21:45\", \"y\": \"v\"}\n\
                    {\"n\": 4, \"y\": \"u\"}\n\
                    {\"n\": 5, \"note\": \"\\u0007\", \"y\": \"u\"}\n";

fn options() -> TableOptions {
    TableOptions { text: vec!["note".into()], ..TableOptions::default() }
}

fn in_order(mut rows: Vec<Row>) -> Vec<Row> {
    rows.iter_mut().for_each(|(cells, _)| cells.sort_by(|a, b| a.0.cmp(&b.0)));
    rows
}

#[test]
fn texts_mean_the_same_in_every_format() {
    let mut csv = CsvStream::new(source(CSV), options()).unwrap();
    let target = TableOptions { target: Some("y".into()), ..options() };
    let mut json = JsonLinesStream::new(source(JSON), target).unwrap();
    let (from_csv, error) = read_all(&mut csv, 2);
    assert_eq!(error, None);
    // A comma is a word of its own.
    let (from_json, error) = read_all(&mut json, 64);
    assert_eq!(error, None);
    let (from_csv, from_json) = (in_order(from_csv), in_order(from_json));
    assert_eq!(from_csv[1..], from_json[1..]);
    assert!(from_csv[0].0.len() > from_json[0].0.len() && from_json[0].0.len() > 10);
    for k in [1, 3, 4] {
        assert_eq!(from_csv[k].0.len(), 1, "there is no word in row {k}");
    }
    let inputs = csv.schema().inputs();
    assert!(inputs[1..].iter().all(|input| input.name.starts_with("note=text#")));
    assert_eq!(csv.encoding().unwrap().columns[1].coding, ColumnCoding::Text);
}

#[test]
fn a_model_reads_more_texts_as_those_it_knows() {
    let mut stream = CsvStream::new(source(CSV), options()).unwrap();
    let (expected, _) = read_all(&mut stream, 64);
    let mut first = CsvStream::new(source("n,note,y\n1,free prizes,u\n"), options()).unwrap();
    while first.read_block(&mut Block::new(), 100).unwrap() > 0 {}
    let (schema, encoding) = (first.schema().clone(), first.encoding().unwrap());
    let mut live =
        LiveRows::new(source(CSV), LiveOptions::default(), schema.clone(), encoding.clone())
            .unwrap();
    let mut rows = Vec::new();
    for undone in [true, false] {
        while let Some(row) = live.next().unwrap() {
            let mut block = Block::new();
            let class = row.class.unwrap();
            block.push(row.sample, class, 1.0).unwrap();
            let label = live.schema().labels()[class].clone();
            rows.push((named(block.sample(0), live.schema()), label));
        }
        if undone {
            live.undo();
            assert_eq!(live.schema().inputs(), schema.inputs());
            assert_eq!(live.encoding(), encoding);
            assert!(in_order(std::mem::take(&mut rows)) == in_order(expected.clone()));
            let (schema, encoding) = (live.schema().clone(), live.encoding());
            live = LiveRows::new(source(CSV), LiveOptions::default(), schema, encoding).unwrap();
        }
    }
    assert!(in_order(rows) == in_order(expected));
}

#[test]
fn a_column_may_be_known_to_hold_texts_before_it_appears() {
    let encoder = RowEncoder::new("y", Default::default()).with_texts(&["late".to_owned()]);
    let mut encoder = RowEncoder::resume(encoder.schema().clone(), &encoder.encoding()).unwrap();
    let late = encoder.add_column("late", None, Place::Row(1)).unwrap();
    for cell in
        [Cell::Text(b"two words"), Cell::Number(17.5), Cell::Flag(true), Cell::Raw(b"\xff\xfe")]
    {
        encoder.begin(Place::Row(1));
        encoder.push(late, cell).unwrap();
        let inputs = encoder.sample().len();
        assert_eq!(inputs == 0, cell == Cell::Raw(b"\xff\xfe"), "{cell:?}");
    }
}

#[test]
fn a_column_has_one_kind() {
    let both = TableOptions { categorical: vec!["2".into()], ..options() };
    let message = CsvStream::new(source(CSV), both).unwrap_err().to_string();
    let expected = "column 'note' must be either numeric, categorical, text or dates, but is declared to be two of them";
    assert_eq!(message, expected);
}
