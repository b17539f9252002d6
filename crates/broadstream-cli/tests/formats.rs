//! The same table in every format gives the same result.

use std::{
    fs::{self, File},
    process::{Command, Output, Stdio},
    sync::Arc,
};

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use parquet::arrow::ArrowWriter;
use serde_json::{Value, json};
use tempfile::TempDir;

const ROWS: usize = 400;

/// A row: two numbers, the second of which may be missing, a truth value, a category that may be
/// missing, and a class, of which one comes late. The category stands behind the numbers, since JSON
/// lines have no kinds before their first row, and the order of inputs is that of the last bits.
type Row = (f64, Option<f64>, bool, Option<&'static str>, &'static str);

fn row(i: usize) -> Row {
    let load = (i % 11 != 3).then_some(i as f64 * 0.125 - 7.0);
    let colour = (i % 7 != 2).then_some(["red", "green", "navy blue"][i % 3]);
    let class = if i > 300 && i.is_multiple_of(5) {
        "late"
    } else {
        ["yes", "no"][usize::from(i.is_multiple_of(3))]
    };
    ((i * 37 % 101) as f64, load, i.is_multiple_of(2), colour, class)
}

fn batch() -> RecordBatch {
    let rows: Vec<Row> = (0..ROWS).map(row).collect();
    let column = |array| Arc::new(array) as ArrayRef;
    let load: Float64Array = rows.iter().map(|row| row.1).collect();
    let colour: StringArray = rows.iter().map(|row| row.3).collect();
    RecordBatch::try_from_iter([
        ("size", column(Float64Array::from_iter_values(rows.iter().map(|row| row.0)))),
        ("load", Arc::new(load) as ArrayRef),
        ("even", Arc::new(BooleanArray::from_iter(rows.iter().map(|row| Some(row.2))))),
        ("colour", Arc::new(colour)),
        ("class", Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.4)))),
    ])
    .unwrap()
}

fn csv() -> String {
    let mut text = String::from("size,load,even,colour,class\n");
    for (size, load, even, colour, class) in (0..ROWS).map(row) {
        let load = load.map_or(String::new(), |load| load.to_string());
        text += &format!("{size},{load},{},{},{class}\n", u8::from(even), colour.unwrap_or("?"));
    }
    text
}

fn json_lines() -> String {
    let object = |(size, load, even, colour, class): Row| json!({"size": size, "load": load, "even": even, "colour": colour, "class": class});
    (0..ROWS).map(|i| format!("{}\n", object(row(i)))).collect()
}

fn arff() -> String {
    let mut text = String::from(
        "% made\n@relation table\n@attribute size real\n@attribute load NUMERIC\n\
         @attribute even integer\n@attribute colour {red,green,'navy blue'}\n\
         @attribute class {late,yes,no}\n@data\n",
    );
    for (size, load, even, colour, class) in (0..ROWS).map(row) {
        let load = load.map_or("?".to_owned(), |load| load.to_string());
        let colour = colour.map_or("?".to_owned(), |colour| format!("'{colour}'"));
        text += &format!("{size},{load},{},{colour},{class}\n", u8::from(even));
    }
    text
}

fn broadstream(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_broadstream")).args(arguments).output().unwrap()
}

/// The result of a run without what differs from run to run.
fn result(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let object = result.as_object_mut().unwrap();
    object.retain(|key, _| key != "source" && !key.contains("time") && !key.contains("second"));
    result
}

const RUN: [&str; 3] = ["--json", "--enhancement-nodes", "40"];

fn run(path: &str, options: &[&str]) -> Value {
    result(&broadstream(&[&["run", path], &RUN[..], options].concat()))
}

fn failure(arguments: &[&str]) -> String {
    let output = broadstream(arguments);
    assert!(!output.status.success() && output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

/// The message of a command line that ends with the exit code for bad usage.
fn bad_usage(arguments: &[&str]) -> String {
    assert_eq!(broadstream(arguments).status.code(), Some(2), "{arguments:?}");
    failure(arguments)
}

/// The table in every format that has categories and missing cells, without telling names.
fn files(folder: &TempDir) -> Vec<String> {
    let path = |name: &str| folder.path().join(name);
    fs::write(path("c"), csv()).unwrap();
    fs::write(path("j"), json_lines()).unwrap();
    fs::write(path("a"), arff()).unwrap();
    let batch = batch();
    let schema = batch.schema();
    let mut writer = ArrowWriter::try_new(File::create(path("p")).unwrap(), schema, None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let mut writer =
        FileWriter::try_new(File::create(path("f")).unwrap(), &batch.schema()).unwrap();
    let mut stream =
        StreamWriter::try_new(File::create(path("s")).unwrap(), &batch.schema()).unwrap();
    for start in (0..ROWS).step_by(150) {
        let part = batch.slice(start, 150.min(ROWS - start));
        writer.write(&part).unwrap();
        stream.write(&part).unwrap();
    }
    writer.finish().unwrap();
    stream.finish().unwrap();
    ["c", "j", "a", "p", "f", "s"].map(|name| path(name).to_str().unwrap().to_owned()).to_vec()
}

#[test]
fn the_same_table_gives_the_same_result_in_every_format() {
    let folder = TempDir::new().unwrap();
    let files = files(&folder);
    for options in [
        &[][..],
        &["--categories", "integer-codes", "--drop", "even"],
        &["--target", "class", "--numeric", "size", "--limit", "150"],
        &["--shuffle", "3"],
    ] {
        let expected = run(&files[0], options);
        for file in &files[1..] {
            assert_eq!(run(file, options), expected, "{file} {options:?}");
        }
    }
}

#[test]
fn every_format_may_come_from_a_pipe_and_be_exported() {
    let folder = TempDir::new().unwrap();
    let files = files(&folder);
    let expected = run(&files[0], &[]);
    let table = broadstream(&["export", &files[0]]).stdout;
    for file in &files {
        let mut command = Command::new(env!("CARGO_BIN_EXE_broadstream"));
        command.args(["run", "-"]).args(RUN).stdin(File::open(file).unwrap());
        assert_eq!(result(&command.stderr(Stdio::piped()).output().unwrap()), expected, "{file}");
        let exported = broadstream(&["export", file]).stdout;
        assert_eq!(String::from_utf8(exported), String::from_utf8(table.clone()), "{file}");
    }
}

#[test]
fn libsvm_with_its_zeros_is_a_table_of_numbers() {
    let folder = TempDir::new().unwrap();
    let (mut csv, mut libsvm) = (String::from("1,2,3,label\n"), String::new());
    for i in 0..300 {
        let cells = [i * 7 % 13, i % 3, i * i % 5];
        let label = ["a", "b"][usize::from(cells[0] > 5)];
        csv += &format!("{},{},{},{label}\n", cells[0], cells[1], cells[2]);
        libsvm += &format!("{label} 1:{} 2:{} 3:{}\n", cells[0], cells[1], cells[2]);
    }
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("csv"), csv).unwrap();
    fs::write(path("libsvm"), libsvm).unwrap();
    let expected = run(&path("csv"), &["--header"]);
    assert_eq!(run(&path("libsvm"), &[]), expected);
    let dropped = run(&path("libsvm"), &["--drop", "2"]);
    assert_eq!(dropped, run(&path("csv"), &["--header", "--drop", "2"]));
    assert_ne!(dropped, expected);
}

#[test]
fn a_name_decides_where_the_content_does_not() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("rows.svm"), "a\nb 1:2\na 1:3\n").unwrap();
    assert_eq!(run(&path("rows.svm"), &[])["samples"], 3);
    fs::write(path("rows"), "a\nb 1:2\na 1:3\n").unwrap();
    assert_eq!(run(&path("rows"), &["--format", "libsvm"])["samples"], 3);
    assert!(failure(&["run", &path("rows")]).contains("no input columns"));
}

#[test]
fn options_that_a_format_does_not_have_are_refused_by_name() {
    let folder = TempDir::new().unwrap();
    let files = files(&folder);
    for (file, kind) in files[1..].iter().zip(["JSON lines", "ARFF", "Parquet", "Arrow", "Arrow"]) {
        for (arguments, option) in [
            (&["--delimiter", ";"][..], "'delimiter', got ';'"),
            (&["--header"], "'header', got true"),
            (&["--no-header"], "'header', got false"),
        ] {
            let error = bad_usage(&[&["run", file], arguments].concat());
            assert!(error.contains(&format!("{file}: {kind} has no option {option}")), "{error}");
        }
    }
    for (arguments, option) in [
        (&["--format", "csv"][..], "'format', got csv"),
        (&["--categories", "one-hot"], "'categories', got one-hot"),
        (&["--drop", "a,b"], "'drop', got 'a,b'"),
    ] {
        let error = bad_usage(&[&["run", "sea"], arguments].concat());
        assert!(error.contains(&format!("a generator has no option {option}")), "{error}");
    }
    let rows = folder.path().join("rows.svm");
    fs::write(&rows, "a 1:2\nb 1:3\n").unwrap();
    let error = bad_usage(&["run", rows.to_str().unwrap(), "--target", "1"]);
    assert!(error.contains("LIBSVM has no option 'target', got '1'"), "{error}");
    let error = failure(&["run", &files[0], "--format", "parquet"]);
    assert!(error.contains("cannot read on"), "{error}");
    let error = failure(&["run", &files[3], "--format", "csv"]);
    assert!(error.contains("this is not text (binary data)"), "{error}");
}

#[test]
fn a_columnar_file_that_was_cut_is_refused_before_it_is_learned() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("cut.arrow");
    let mut bytes = Vec::new();
    let mut writer = FileWriter::try_new(&mut bytes, &batch().schema()).unwrap();
    for start in (0..ROWS).step_by(100) {
        writer.write(&batch().slice(start, 100)).unwrap();
    }
    writer.finish().unwrap();
    let blocks =
        arrow_ipc::reader::FileReader::try_new(std::io::Cursor::new(&bytes), None).unwrap();
    assert_eq!(blocks.num_batches(), ROWS / 100);
    // All that follows the messages goes: the end marker and the footer.
    let footer = i32::from_le_bytes(*bytes[..bytes.len() - 6].last_chunk().unwrap()) as usize;
    fs::write(&path, &bytes[..bytes.len() - 10 - footer - 8]).unwrap();
    let output = broadstream(&["run", path.to_str().unwrap(), "--quiet"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    let message = String::from_utf8(output.stderr).unwrap();
    let expected =
        "expected a footer at the end of the Arrow file, found none: the file was cut short";
    assert!(message.contains(expected), "{message}");

    let mut parquet = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut parquet, batch().schema(), None).unwrap();
    writer.write(&batch()).unwrap();
    writer.close().unwrap();
    let path = folder.path().join("cut.parquet");
    fs::write(&path, &parquet[..parquet.len() / 2]).unwrap();
    let output = broadstream(&["run", path.to_str().unwrap(), "--quiet"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
}
