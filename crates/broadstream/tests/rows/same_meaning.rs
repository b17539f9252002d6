//! A cell means the same to a model whichever format it comes in and however it is spelt there.

use broadstream::{
    Block, Schema,
    stream::{
        Categories, LiveOptions, LiveRows, RowEncoding, Stream, TableOptions, csv::CsvStream,
        jsonl::JsonLinesStream,
    },
};

use super::{Row, named, row, source};

type Trained = (Schema, RowEncoding);

fn trained(mut stream: impl Stream) -> Trained {
    while stream.read_block(&mut Block::new(), 100).unwrap() > 0 {}
    (stream.schema().clone(), stream.encoding().unwrap())
}

fn on_csv(text: &str, options: TableOptions) -> Trained {
    trained(CsvStream::new(source(text), options).unwrap())
}

fn on_json(text: &str) -> Trained {
    trained(JsonLinesStream::new(source(text), TableOptions::default()).unwrap())
}

/// The rows of a text for a model, with `-` for a missing label, and the first error.
fn rows(model: &Trained, text: &str, options: &LiveOptions) -> (Vec<Row>, Option<String>) {
    let (schema, encoding) = model.clone();
    let mut live = LiveRows::new(source(text), options.clone(), schema, encoding).unwrap();
    let mut rows = Vec::new();
    loop {
        match live.next() {
            Ok(Some(row)) => {
                let (mut block, class) = (Block::new(), row.class);
                block.push(row.sample, 0, 1.0).unwrap();
                let schema = live.schema();
                let label = class.map_or("-".to_owned(), |class| schema.labels()[class].clone());
                rows.push((named(block.sample(0), schema), label));
            }
            Ok(None) => return (rows, None),
            Err(error) => return (rows, Some(error.to_string())),
        }
    }
}

fn good_rows(model: &Trained, text: &str) -> Vec<Row> {
    let (rows, error) = rows(model, text, &LiveOptions::default());
    assert_eq!(error, None, "{text}");
    rows
}

/// Rows with a truth value and a label that is one, in every format and spelling.
const TRUE_AND_FALSE: [&str; 6] = [
    "a,y\ntrue,false\n",
    "a,y\nTrue,False\n",
    "a,y\nTRUE,FALSE\n",
    "{\"a\": true, \"y\": false}\n",
    "{\"a\": \"true\", \"y\": \"false\"}\n",
    "{\"a\": \"True\", \"y\": \"False\"}\n",
];

#[test]
fn truth_values_of_a_csv_file_are_those_of_json_lines() {
    for (text, input, label) in [
        ("a,y\ntrue,false\nfalse,true\n", "a=true", "false"),
        ("a,y\nTrue,False\nFalse,True\n", "a=True", "False"),
        ("a,y\nFALSE,TRUE\nTRUE,FALSE\n", "a=TRUE", "FALSE"),
    ] {
        let model = on_csv(text, TableOptions::default());
        for text in TRUE_AND_FALSE {
            assert_eq!(good_rows(&model, text), [row(&[(input, 1.0)], label)], "{text}");
        }
        let codes = Some(Categories::IntegerCodes);
        let model = on_csv(text, TableOptions { categories: codes, ..TableOptions::default() });
        let code = if input == "a=TRUE" { 1.0 } else { 0.0 };
        for text in TRUE_AND_FALSE {
            assert_eq!(good_rows(&model, text), [row(&[("a", code)], label)], "{text}");
        }
    }
}

#[test]
fn truth_values_of_json_lines_are_those_of_a_csv_file() {
    let model = on_json("{\"a\": true, \"y\": true}\n{\"a\": false, \"y\": false}\n");
    for text in TRUE_AND_FALSE {
        assert_eq!(good_rows(&model, text), [row(&[("a", 1.0)], "false")], "{text}");
    }
    let (_, error) = rows(&model, "a,y\nyes,true\n", &LiveOptions::default());
    let message = "line 2, column 'a': expected a number, found 'yes' (declare the column categorical \
                   if it holds categories)";
    assert_eq!(error.as_deref(), Some(message));
}

#[test]
fn a_file_of_numbers_still_refuses_truth_values() {
    let text = format!("a,y\n{}true,x\n", "1,x\n".repeat(1000));
    let mut stream = CsvStream::new(source(text), TableOptions::default()).unwrap();
    let mut block = Block::new();
    let error = loop {
        if let Err(error) = stream.read_block(&mut block, 100) {
            break error.to_string();
        }
    };
    assert!(error.starts_with("line 1002, column 'a': expected a number, found 'true'"), "{error}");
}

#[test]
fn a_model_remembers_the_decimal_comma() {
    let model = on_csv("a;y\n3,14;u\n2;v\n", TableOptions::default());
    assert!(model.1.decimal_comma);
    let expected = [row(&[("a", 2.5)], "u")];
    assert_eq!(good_rows(&model, "a;y\n2,5;u\n"), expected);
    assert_eq!(good_rows(&model, "{\"a\": 2.5, \"y\": \"u\"}\n"), expected);
    assert_eq!(good_rows(&model, "{\"a\": \"2.5\", \"y\": \"u\"}\n"), expected);
    let point = LiveOptions { decimal_comma: Some(false), ..LiveOptions::default() };
    assert_eq!(rows(&model, "a,y\n2.5,u\n", &point), (expected.to_vec(), None));
    let (_, error) = rows(&model, "a,y\n2.5,u\n", &LiveOptions::default());
    let message = "line 2, column 'a': expected a number with a decimal comma, found '2.5' (the option \
                   decimal_comma says which sign the numbers have)";
    assert_eq!(error.as_deref(), Some(message));

    let (schema, encoding) = model.clone();
    let mut live = LiveRows::new(source("a,y\n2.5,u\n"), point, schema, encoding).unwrap();
    assert!(live.next().unwrap().is_some());
    assert_eq!(live.encoding(), model.1, "the option is about these rows only");
}

#[test]
fn a_model_of_decimal_points_refuses_commas() {
    let model = on_csv("a,y\n3.14,u\n2,v\n", TableOptions::default());
    let (_, error) = rows(&model, "a;y\n2,5;u\n", &LiveOptions::default());
    let message = "line 2, column 'a': expected a number with a decimal point, found '2,5' (the option \
                   decimal_comma says which sign the numbers have)";
    assert_eq!(error.as_deref(), Some(message));
    let comma = LiveOptions { decimal_comma: Some(true), ..LiveOptions::default() };
    let expected = vec![row(&[("a", 2.5)], "u")];
    assert_eq!(rows(&model, "a;y\n2,5;u\n", &comma), (expected, None));
}

#[test]
fn rows_that_were_only_looked_at_leave_nothing_behind() {
    let (schema, encoding) = on_csv("a,y\nu,1\nv,2\n", TableOptions::default());
    let text = "{\"a\": \"w\", \"y\": \"3\"}\n{\"a\": \"x\", \"y\": \"1\"}\n";
    let options = LiveOptions::default();
    let mut live = LiveRows::new(source(text), options, schema.clone(), encoding.clone()).unwrap();
    for _ in 0..2 {
        let row = live.next().unwrap().unwrap();
        assert_eq!(row.sample.iter().collect::<Vec<_>>(), [(2, 1.0)]);
        assert!(row.class.is_some());
        assert_eq!(live.schema().inputs().len(), 3);
        live.undo();
        assert_eq!(live.schema().inputs(), schema.inputs());
        assert_eq!(live.schema().labels(), schema.labels());
        assert_eq!(live.encoding(), encoding);
    }
}
