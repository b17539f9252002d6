//! Rows for an existing model.

use std::io::Cursor;

use broadstream::{
    Block, Schema,
    stream::{
        Categories, LiveFormat, LiveOptions, LiveRows, RowEncoding, Stream, TableOptions,
        UnknownColumns, csv::CsvStream, jsonl::JsonLinesStream,
    },
};
use proptest::{collection::vec, option, prelude::*};

use super::{Row, Slow, named, names, row, source};

const TRAINING: &str = "id,n,c,y,m\n1,1.5,u,no,7\n2,2.5,v,yes,8\n";

fn trained(text: &str, options: TableOptions) -> (Schema, RowEncoding) {
    let mut stream = CsvStream::new(source(text), options).unwrap();
    while stream.read_block(&mut Block::new(), 100).unwrap() > 0 {}
    (stream.schema().clone(), stream.encoding().unwrap())
}

/// A model trained on [`TRAINING`], with integer codes on request.
fn model(categories: Categories) -> (Schema, RowEncoding) {
    let (target, drop) = (Some("y".into()), names(&["id"]));
    let categories = Some(categories);
    trained(TRAINING, TableOptions { target, drop, categories, ..TableOptions::default() })
}

fn open(text: impl Into<Vec<u8>>, options: LiveOptions) -> LiveRows {
    let (schema, encoding) = model(Categories::OneHot);
    LiveRows::new(source(text), options, schema, encoding).unwrap()
}

/// The rows up to the end, with `-` for a missing label, and the errors of the bad ones.
fn read_all(mut live: LiveRows) -> (Vec<Row>, Vec<String>) {
    let (mut rows, mut errors) = (Vec::new(), Vec::new());
    loop {
        let (sample, class) = match live.next() {
            Ok(Some(row)) => (row.sample.iter().collect::<Vec<_>>(), row.class),
            Ok(None) => return (rows, errors),
            Err(error) => {
                errors.push(error.to_string());
                continue;
            }
        };
        let schema = live.schema();
        let name = |(input, value): (usize, f64)| (schema.inputs()[input].name.clone(), value);
        let label = class.map_or("-".to_owned(), |class| schema.labels()[class].clone());
        rows.push((sample.into_iter().map(name).collect(), label));
    }
}

fn rows(text: &str, options: LiveOptions) -> Vec<Row> {
    let (rows, errors) = read_all(open(text, options));
    assert_eq!(errors, [""; 0], "{text}");
    rows
}

fn complaint(text: &str, options: LiveOptions) -> String {
    let (rows, errors) = read_all(open(text, options));
    assert_eq!((rows.len(), errors.len()), (0, 1), "{text}");
    errors[0].clone()
}

#[test]
fn json_lines_have_neither_a_delimiter_nor_a_header() {
    let text = "{\"n\":3}\n";
    let delimiter = LiveOptions { delimiter: Some(b';'), ..LiveOptions::default() };
    let message = "JSON lines has no option 'delimiter', got ';'";
    assert_eq!(complaint(text, delimiter.clone()), message);
    let header = LiveOptions { header: Some(true), ..LiveOptions::default() };
    assert_eq!(complaint(text, header), "JSON lines has no option 'header', got true");
    let (schema, encoding) = model(Categories::OneHot);
    let options = LiveOptions { format: Some(LiveFormat::JsonLines), ..delimiter };
    let early = LiveRows::new(source(text), options, schema, encoding);
    assert_eq!(early.unwrap_err().to_string(), message);
}

#[test]
fn the_ways_of_writing_the_same_rows() {
    let labelled = [row(&[("n", 3.0), ("m", 9.0), ("c=v", 1.0)], "yes")];
    for text in [
        "n,c,y,m\n3,v,yes,9\n",
        "\u{feff}m;y;n;c\n9;yes;3;v\n",
        "m,id,y,n,c\r\n9,?,yes,3,v\r\n",
        "7,3,v,yes,9",
        "\n7|3|v|yes|9\n",
        "\"7\"\t3\t\"v\"\tyes\t9\n",
        " {\"m\":9,\"c\":\"v\",\"id\":{\"any\":[]},\"n\":3,\"y\":\"yes\"}",
        "{\"n\":\"3\",\"c\":\"v\",\"y\":\"yes\",\"m\":9.0}\n",
    ] {
        assert_eq!(rows(text, LiveOptions::default()), labelled, "{text}");
        let packed = zstd::encode_all(text.as_bytes(), 1).unwrap();
        assert_eq!(read_all(open(packed, LiveOptions::default())).0, labelled, "{text}");
    }
    let unlabelled = [row(&[("n", 3.0), ("m", 9.0), ("c=v", 1.0)], "-")];
    for text in [
        "n,c,m\n3,v,9\n",
        "n,c,m,y\n3,v,9,\n",
        "7,3,v,9\n",
        "7,3,v,?,9\n",
        "{\"n\":3,\"c\":\"v\",\"m\":9}",
        "{\"n\":3,\"c\":\"v\",\"m\":9,\"y\":null}",
        "{\"n\":3,\"c\":\"v\",\"m\":9,\"y\":\"\"}",
    ] {
        assert_eq!(rows(text, LiveOptions::default()), unlabelled, "{text}");
    }
    assert_eq!(rows("c\nv\n\n", LiveOptions::default()), [row(&[("c=v", 1.0)], "-")]);
    assert_eq!(rows("", LiveOptions::default()), []);
    assert_eq!(rows("n,c,y,m\n", LiveOptions::default()), []);
}

#[test]
fn the_format_and_the_header_may_be_given() {
    let csv = LiveOptions { format: Some(LiveFormat::Csv), ..LiveOptions::default() };
    assert!(complaint("{\"n\":3}\n", csv).contains("found 1 fields"));
    let json = LiveOptions { format: Some(LiveFormat::JsonLines), ..LiveOptions::default() };
    assert!(complaint("n,c\n", json).contains("expected a JSON object"));
    let header = LiveOptions { header: Some(true), ..LiveOptions::default() };
    assert!(complaint("1,2,v,9\n", header).contains("no column '1'"));
    let no_header = LiveOptions { header: Some(false), ..LiveOptions::default() };
    assert!(complaint("id,n,c,m\n", no_header).contains("expected a number, found 'n'"));
    let (schema, encoding) = model(Categories::OneHot);
    let quote = LiveOptions { delimiter: Some(b'"'), ..LiveOptions::default() };
    assert!(LiveRows::new(source(""), quote, schema, encoding).is_err());

    let mut live = open("\n{}\n", LiveOptions::default());
    assert_eq!(live.format(), None);
    assert!(live.next().unwrap().unwrap().sample.is_empty());
    assert_eq!(live.format(), Some(LiveFormat::JsonLines));
}

#[test]
fn columns_without_names_are_read_by_position() {
    let (schema, encoding) = trained("7,2,3,x\n4,5,6,y\n", TableOptions::default());
    let read = |text: &str, options| {
        let live = LiveRows::new(source(text), options, schema.clone(), encoding.clone());
        read_all(live.unwrap()).0
    };
    let expected = [row(&[("1", 3.0), ("2", 2.0), ("3", 1.0)], "-")];
    assert_eq!(read("3,2,1\n", LiveOptions::default()), expected);
    let header = LiveOptions { header: Some(true), ..LiveOptions::default() };
    assert_eq!(read("3,2,1\n1,2,3\n", header), expected);
}

#[test]
fn a_value_that_is_a_name_makes_no_header() {
    let expected = [row(&[("n", 3.0), ("m", 9.0), ("c=n", 1.0)], "y")];
    assert_eq!(rows("7,3,n,y,9\n", LiveOptions::default()), expected);
}

#[test]
fn unknown_columns_by_each_policy() {
    let csv = "n,c,extra,m\n3,v,5,9\n4,u,w,9\n";
    let json =
        "{\"n\":3,\"c\":\"v\",\"extra\":5,\"m\":9}\n{\"n\":4,\"c\":\"u\",\"extra\":6,\"m\":9}\n";
    let policy = |unknown| LiveOptions { unknown, ..LiveOptions::default() };
    for text in [csv, json] {
        let (rows, errors) = read_all(open(text, policy(UnknownColumns::Refuse)));
        let message = "line 1: the model has no column 'extra', its columns are n, c, m; drop the \
                       column, or ignore or learn unknown ones";
        assert_eq!((rows.len(), errors[0].as_str()), (0, message), "{text}");
        let known = row(&[("n", 3.0), ("m", 9.0), ("c=v", 1.0)], "-");
        assert_eq!(read_all(open(text, policy(UnknownColumns::Ignore))).0[0], known, "{text}");
        let dropped = LiveOptions { drop: names(&["extra"]), ..LiveOptions::default() };
        assert_eq!(read_all(open(text, dropped)).0[0], known, "{text}");
        let learned = row(&[("n", 3.0), ("m", 9.0), ("c=v", 1.0), ("extra", 5.0)], "-");
        let (rows, errors) = read_all(open(text, policy(UnknownColumns::Learn)));
        assert_eq!(rows[0], learned, "{text}");
        assert_eq!(errors.len(), usize::from(text == csv), "its first cell makes it numeric");
    }
    let nested = "{\"n\":1,\"extra\":[1,{\"n\":2}],\"more\":{\"n\":2}}";
    assert_eq!(rows(nested, policy(UnknownColumns::Ignore)), [row(&[("n", 1.0)], "-")]);
    assert!(complaint(nested, policy(UnknownColumns::Learn)).contains("found an array"));
    let known = LiveOptions { drop: names(&["n", "y"]), ..LiveOptions::default() };
    let expected = [row(&[("m", 9.0)], "-")];
    assert_eq!(rows("n,y,m\n1,no,9\n", known.clone()), expected);
    assert_eq!(rows("{\"n\":1,\"y\":\"no\",\"m\":9}", known), expected);
}

#[test]
fn what_is_new_extends_what_the_model_knows() {
    let (schema, encoding) = model(Categories::IntegerCodes);
    let before = (schema.inputs().len(), schema.labels().len());
    let text = "c,y\nw,maybe\nu,yes\nw,maybe\n";
    let mut live =
        LiveRows::new(source(text), LiveOptions::default(), schema, encoding.clone()).unwrap();
    let mut read = Vec::new();
    while let Some(row) = live.next().unwrap() {
        read.push((row.sample.iter().collect::<Vec<_>>(), row.class));
    }
    let c = 1; // the codes of w, u and w
    let expected =
        [(2.0, 2), (0.0, 1), (2.0, 2)].map(|(code, class)| (vec![(c, code)], Some(class)));
    assert_eq!(read, expected);
    assert_eq!(
        (live.schema().inputs().len(), live.schema().labels().len()),
        (before.0, before.1 + 1)
    );
    assert_ne!(live.encoding(), encoding, "the encoding has the new category");

    let (rows, _) = read_all(open("{\"c\":\"w\",\"y\":7}", LiveOptions::default()));
    assert_eq!(rows, [row(&[("c=w", 1.0)], "7")]);
}

#[test]
fn a_bad_row_is_told_and_the_next_one_read() {
    let csv = "n,c,y\n1,u\nx,u,no\n1,\u{fc},never seen before\n1e999,u,no\n2,u,no\n";
    let (rows, errors) = read_all(open(csv.replace('\u{fc}', "\u{1}"), LiveOptions::default()));
    assert_eq!((rows.len(), errors.len()), (2, 3), "{errors:?}");
    let json =
        "{\"n\":1,\"n\":2}\n{\"n\":\n5\n{\"n\":[]}\n\n{\"y\":\"late\",\"n\":\"x\"}\n{\"n\":2}\n";
    let mut live = open(json, LiveOptions::default());
    for line in [1, 2, 3, 4, 6] {
        let error = live.next().unwrap_err().to_string();
        assert!(error.starts_with(&format!("line {line}, ")), "{error}");
    }
    let row = live.next().unwrap().unwrap();
    assert_eq!((row.sample.len(), row.line), (1, 7));
    assert_eq!(live.schema().labels(), ["no", "yes"], "the label of a bad row is not kept");
    assert!(live.next().unwrap().is_none());
    for end in ["n,c,y\n1,\"u", "a,b\n1,2\n", "n,n\n1,2\n"] {
        complaint(end, LiveOptions::default());
    }
}

/// Each row is available before any byte of the next one, however its bytes arrive.
#[test]
fn no_row_waits_for_the_next_one() {
    for lines in [
        ["n,c,y,m\n3,v,yes,9\n", "4,\"u\",no,9\n", "\n5,w,no,9\n"],
        ["7,3,v,yes,9\n", "7,4,u,no,9\r\n", "7,5,w,no,9\n"],
        ["{\"n\":3,\"m\":9}\n", "\n\n{\"n\":4}\n", "{\"c\":\"w\"}\n"],
        ["{}\n", "{}\n", "{}\n"],
    ] {
        for most in [1, usize::MAX] {
            let (slow, pipe) = Slow::new(most);
            let (schema, encoding) = model(Categories::OneHot);
            let mut live =
                LiveRows::new(Box::new(slow), LiveOptions::default(), schema, encoding).unwrap();
            for line in lines {
                assert!(!live.is_ready());
                pipe.send(line.as_bytes().to_vec()).unwrap();
                assert!(live.next().unwrap().is_some(), "{line}");
            }
            pipe.send(b"{\"n\":1".to_vec()).unwrap();
            assert!(!live.is_ready(), "a part of a line is no row");
            drop(pipe);
        }
    }
}

#[test]
fn rows_that_are_there_are_ready() {
    let mut live = open("n,c\n1,u\n\n2,\"u\"\n3,\"a\nb\"", LiveOptions::default());
    live.next().unwrap();
    assert!(live.is_ready());
    live.next().unwrap();
    assert!(!live.is_ready(), "the quote may go on in a line to come");
    assert!(live.next().unwrap().is_some());
    assert!(live.next().unwrap().is_none());
    assert!(live.is_ready());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Training rows that are read live are the samples that they were, in both formats.
    #[test]
    fn rows_of_training_are_read_as_they_were(
        table in vec((option::of(-9..9i32), option::of("[a-c=,]{1,2}"), "[xyz]"), 1..20),
        codes: bool,
    ) {
        let mut json = String::new();
        let mut csv = "n,c,y\n".to_owned();
        for (n, c, y) in &table {
            let number = n.map_or(String::new(), |n| n.to_string());
            csv += &format!("{number},\"{}\",{y}\n", c.as_deref().unwrap_or("?"));
            json += &format!("{}\n", serde_json::json!({ "y": y, "n": n, "c": c }));
        }
        let categories = codes.then_some(Categories::IntegerCodes);
        let options =
            TableOptions { categories, categorical: names(&["c"]), ..TableOptions::default() };
        let mut stream = CsvStream::new(source(csv.as_str()), options).unwrap();
        let mut block = Block::new();
        while stream.read_block(&mut block, 7).unwrap() > 0 {}
        let bare = csv.replacen("n,c,y\n", "", 1);
        for text in [csv, bare, json] {
            let (schema, encoding) = (stream.schema().clone(), stream.encoding().unwrap());
            let reader = Box::new(Cursor::new(text.clone()));
            let mut live = LiveRows::new(reader, LiveOptions::default(), schema, encoding).unwrap();
            for i in 0..block.len() {
                let read = live.next().unwrap().unwrap();
                prop_assert_eq!(
                    read.sample.iter().collect::<Vec<_>>(),
                    block.sample(i).iter().collect::<Vec<_>>(),
                    "{}", text
                );
                prop_assert_eq!(read.class, Some(block.class(i)));
            }
            prop_assert!(live.next().unwrap().is_none());
            prop_assert_eq!(live.schema().inputs(), stream.schema().inputs());
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[{}\\[\\]\":,ncym0-9.\n\u{fc}\\\\]{0,100}") {
        for unknown in [UnknownColumns::Refuse, UnknownColumns::Ignore, UnknownColumns::Learn] {
            read_all(open(text.as_str(), LiveOptions { unknown, ..LiveOptions::default() }));
        }
    }
}

#[test]
fn a_model_of_json_lines_reads_rows_too() {
    let text = "{\"a\":{\"b\":1},\"y\":true}\n{\"a\":{\"c\":\"u\"},\"y\":false}\n";
    let mut stream = JsonLinesStream::new(source(text), TableOptions::default()).unwrap();
    let mut block = Block::new();
    while stream.read_block(&mut block, 1).unwrap() > 0 {}
    let rows = "a.c,a.b,y\nu,3,false\n";
    let (schema, encoding) = (stream.schema().clone(), stream.encoding().unwrap());
    let mut live = LiveRows::new(source(rows), LiveOptions::default(), schema, encoding).unwrap();
    let row = live.next().unwrap().unwrap();
    assert_eq!(row.class, Some(1));
    let expected = [("a.b".to_owned(), 3.0), ("a.c=u".to_owned(), 1.0)];
    assert_eq!(named(row.sample, stream.schema()), expected);
}

/// What is kept of rows is enough to read them again, from any row on.
#[test]
fn the_text_of_rows_is_read_as_the_same_rows() {
    for text in [
        "n,c,y,m\n3,v,yes,9\n\n4,w,no,8\n 5 ,\"a\n\n\"\"b\",yes,\r\n6,\"\",,1",
        "\u{feff}\"m\";\"n\ny\";c\n1;2;v\n3;4;x\n",
        "\n\n7|3|v|yes|9\n8|\"4\"|w|no|8\n",
        "{\"n\":3,\"k\":1}\n\n{\"c\":\"new\",\"y\":\"maybe\"}\n {}",
    ] {
        let learn = LiveOptions { unknown: UnknownColumns::Learn, ..LiveOptions::default() };
        let mut live = open(text, learn.clone());
        let (mut texts, mut schemas) = (Vec::new(), Vec::new());
        loop {
            let before = (live.schema().clone(), live.encoding());
            let Some(row) = live.next().unwrap() else { break };
            texts.push(row.text.to_vec());
            schemas.push(before);
        }
        let (all, _) = read_all(open(text, learn));
        assert!(all.len() > 1);
        for start in 0..texts.len() {
            let text = [live.header(), &texts[start..].concat()].concat();
            let (schema, encoding) = schemas[start].clone();
            let again =
                LiveRows::new(source(text), live.options().clone(), schema, encoding).unwrap();
            assert_eq!(read_all(again), (all[start..].to_vec(), Vec::new()));
        }
    }
}
