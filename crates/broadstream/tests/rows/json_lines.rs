//! Files of JSON lines.

use broadstream::stream::{
    Categories, ColumnCoding, Place, Stream, TableOptions, csv::CsvStream, jsonl::JsonLinesStream,
};
use proptest::{collection::vec, option, prelude::*};

use super::{Row, names, read_all, row, source};

fn open(text: impl Into<Vec<u8>>, options: &TableOptions) -> Result<JsonLinesStream, String> {
    JsonLinesStream::new(source(text), options.clone()).map_err(|error| error.to_string())
}

fn read(text: &str, options: &TableOptions) -> (Vec<Row>, Option<String>) {
    match open(text, options) {
        Ok(mut stream) => read_all(&mut stream, 3),
        Err(error) => (Vec::new(), Some(error)),
    }
}

fn rows(text: &str, options: &TableOptions) -> Vec<Row> {
    let (rows, error) = read(text, options);
    assert_eq!(error, None, "{text}");
    rows
}

/// A model scales its weights by that number, and further inputs may appear.
#[test]
fn a_first_object_without_inputs_counts_for_one() {
    let mut stream = open("{\"y\":1}\n{\"a\":2,\"y\":3}\n", &TableOptions::default()).unwrap();
    assert_eq!(stream.inputs_per_sample(), 1);
    let expected = [row(&[], "1"), row(&[("a", 2.0)], "3")];
    assert_eq!(read_all(&mut stream, 5).0, expected);
}

#[test]
fn keys_come_and_go() {
    let text = "\u{feff}\n{\"a\":1,\"y\":\"p\",\"b\":\"u\"}\r\n\n\
                {\"y\":7,\"c\":{\"d\":true,\"e\":null}}\n\
                {\"b\":\" v \",\"c\":{\"e\":\"w\",\"d\":false},\"a\":-2.5e3,\"y\":true}";
    let expected = [
        row(&[("a", 1.0), ("b=u", 1.0)], "p"),
        row(&[("c.d", 1.0)], "7"),
        row(&[("a", -2500.0), ("c.d", 0.0), ("b=v", 1.0), ("c.e=w", 1.0)], "true"),
    ];
    assert_eq!(rows(text, &TableOptions::default()), expected);
    let packed = zstd::encode_all(text.as_bytes(), 1).unwrap();
    let mut stream = open(packed, &TableOptions::default()).unwrap();
    assert_eq!(stream.inputs_per_sample(), 2, "known from the first object");
    assert_eq!(read_all(&mut stream, 1).0, expected);
    assert_eq!((stream.inputs_per_sample(), stream.place()), (4, Place::Line(5)));
}

#[test]
fn the_target_is_found() {
    for (text, target) in [
        ("{\"a\":1,\"class\":2,\"b\":3}", "class"),
        ("{\"a\":1,\"b\":3}", "b"),
        ("{\"label\":1,\"y\":3,\"b\":4}", "b"),
        ("{\"y\":{\"y\":1},\"b\":4}", "b"),
    ] {
        let stream = open(text, &TableOptions::default()).unwrap();
        assert_eq!(stream.schema().target(), target, "{text}");
    }
    let named = TableOptions { target: Some("y.z".into()), ..TableOptions::default() };
    assert_eq!(rows("{\"y\":{\"z\":1},\"b\":4}", &named), [row(&[("b", 4.0)], "1")]);
    let dropped = TableOptions { drop: names(&["y"]), ..TableOptions::default() };
    let stream = open("{\"a\":1,\"class\":2,\"y\":3}", &dropped).unwrap();
    assert_eq!(stream.schema().target(), "class");
}

#[test]
fn columns_are_as_the_options_say() {
    let options = TableOptions {
        drop: names(&["id", "never"]),
        categorical: names(&["zip"]),
        numeric: names(&["n"]),
        categories: Some(Categories::IntegerCodes),
        ..TableOptions::default()
    };
    let text = "{\"id\":1,\"zip\":9007199254740993,\"y\":0}\n{\"n\":\"5\",\"zip\":1,\"id\":[{}],\"y\":0}\n";
    let mut stream = open(text, &options).unwrap();
    let expected = [row(&[("zip", 0.0)], "0"), row(&[("zip", 1.0), ("n", 5.0)], "0")];
    assert_eq!(read_all(&mut stream, 5), (expected.to_vec(), None));
    let codes = ColumnCoding::IntegerCodes(names(&["9007199254740993", "1"]));
    assert_eq!(stream.encoding().unwrap().columns[0].coding, codes);

    let both = TableOptions { categorical: names(&["n"]), ..options.clone() };
    assert!(
        open("{\"y\":1}", &both)
            .unwrap_err()
            .contains("must be either numeric, categorical, text or dates")
    );
    let target = TableOptions { target: Some("id".into()), ..options };
    assert!(open("{\"y\":1}", &target).unwrap_err().contains("the target must be read"));
}

#[test]
fn faulty_objects_come_after_the_good_ones() {
    for (line, message) in [
        ("[1]", "line 3, byte 1: expected a JSON object: "),
        ("{\"a\":1,\"y\":2", "line 3, byte 12: expected a JSON object: EOF while parsing"),
        ("{\"a\":1}", "line 3, column 'y': the label is missing"),
        ("{\"a\":1,\"y\":null}", "line 3, column 'y': the label is missing"),
        ("{\"a\":1,\"y\":\" \"}", "line 3, column 'y': the label is missing"),
        ("{\"a\":\"u\",\"y\":1}", "line 3, column 'a': expected a number, found 'u'"),
        ("{\"a\":1,\"a\":1,\"y\":1}", "line 3, column 'a': expected one value per row, found two"),
        ("{\"y\":1,\"a\":1,\"y\":1}", "line 3, column 'y': expected one value per row, found two"),
        ("{\"b\":{\"c\":1},\"b.c\":1}", "line 3, column 'b.c': expected one value per row"),
        ("{\"y\":1,\"b\":[{}]}", "line 3, column 'b': expected one value, found an array"),
        (
            "{\"a=u\":1,\"y\":1}\n{\"c\":\"v\",\"c=v\":1,\"y\":1}",
            "line 4, column 'c=v': input names",
        ),
    ] {
        let text = format!("{{\"a\":1,\"y\":1}}\n\n{line}\n{{\"a\":1,\"y\":1}}\n");
        let (rows, error) = read(&text, &TableOptions::default());
        let error = error.unwrap();
        assert_eq!(rows.len(), line.matches("}\n").count() + 1, "{line}");
        assert!(error.starts_with(message), "{line}: {error}");
    }
    assert!(open("", &TableOptions::default()).unwrap_err().contains("the stream is empty"));
    assert!(open("{}", &TableOptions::default()).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A table gives the same samples as JSON lines and as CSV.
    #[test]
    fn both_formats_of_a_table_give_the_same(
        table in vec((option::of(-1e6..1e6f64), option::of("[a-c]"), "[xyz]"), 1..30),
        most in 1..10usize,
    ) {
        let (mut csv, mut json) = ("n,c,y\n".to_owned(), String::new());
        for (n, c, y) in &table {
            let number = n.map_or(String::new(), |n| n.to_string());
            csv += &format!("{number},{},{y}\n", c.as_deref().unwrap_or("?"));
            json += &format!("{}\n", serde_json::json!({ "n": n, "c": c, "y": y }));
        }
        let options = TableOptions {
            numeric: names(&["n"]),
            categorical: names(&["c"]),
            ..TableOptions::default()
        };
        let mut csv = CsvStream::new(source(csv), options).unwrap();
        let mut json = open(json, &TableOptions::default()).unwrap();
        let sorted = |mut rows: Vec<Row>| {
            rows.iter_mut().for_each(|(cells, _)| cells.sort_by(|a, b| a.0.cmp(&b.0)));
            rows
        };
        prop_assert_eq!(sorted(read_all(&mut json, most).0), sorted(read_all(&mut csv, 7).0));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[{}\\[\\]\":,a-b0-9.\\-\n\u{fc}\\\\]{0,100}") {
        if let Ok(mut stream) = open(text, &TableOptions::default()) {
            read_all(&mut stream, 3);
        }
    }
}
