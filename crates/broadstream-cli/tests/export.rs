//! `broadstream export`: what is written is what would be learned, in that order.

use std::{
    fs,
    process::{Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

fn broadstream(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_broadstream")).args(arguments).output().unwrap()
}

fn stdout(arguments: &[&str]) -> String {
    let output = broadstream(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn file(folder: &TempDir, name: &str, content: &str) -> String {
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Numbers, categories with a missing cell and a comma, and the target in the middle.
fn table(rows: usize) -> String {
    let mut text = String::from("colour,id,class,size\n");
    for i in 0..rows {
        let colour = ["red", "\"dark, blue\"", "?", "green"][i % 4];
        let class = if i % 3 == 0 { "yes" } else { "no" };
        text += &format!("{colour},{i},{class},{}.50\n", i % 7);
    }
    text
}

#[test]
fn columns_keep_their_order_and_the_target_goes_last() {
    let folder = TempDir::new().unwrap();
    let source = file(&folder, "table.csv", &table(4));
    let text = stdout(&["export", &source, "--target", "class", "--drop", "id"]);
    let expected =
        "colour,size,class\nred,0.5,yes\n\"dark, blue\",1.5,no\n,2.5,no\ngreen,3.5,yes\n";
    assert_eq!(text, expected);
    let codes = ["export", &source, "--target", "3", "--categories", "integer-codes"];
    let expected = "colour,id,size,class\n0,0,0.5,yes\n1,1,1.5,no\n,2,2.5,no\n2,3,3.5,yes\n";
    assert_eq!(stdout(&codes), expected);
}

#[test]
fn an_exported_stream_is_learned_like_its_source() {
    let folder = TempDir::new().unwrap();
    let source = file(&folder, "table.csv", &table(300));
    let options = ["--target", "class", "--drop", "id", "--shuffle", "5", "--limit", "200"];
    let exported =
        file(&folder, "exported.csv", &stdout(&[&["export", &source], &options[..]].concat()));
    let run = |source: &str, more: &[&str]| {
        let arguments = [&["run", source, "--json", "--enhancement-nodes", "40"], more].concat();
        let result: Value = serde_json::from_str(&stdout(&arguments)).unwrap();
        ["samples", "oca", "avrbacc", "log_loss", "labels"].map(|key| result[key].clone())
    };
    let expected = run(&source, &options);
    assert_eq!(expected[0], 200);
    assert_eq!(run(&exported, &[]), expected);
    assert_ne!(run(&source, &["--target", "class", "--drop", "id", "--limit", "200"]), expected);
}

#[test]
fn a_generator_is_exported_as_it_is_generated() {
    let generated = stdout(&["generate", "hyperplane:inputs=3", "--samples", "2500"]);
    assert_eq!(stdout(&["export", "hyperplane:inputs=3,samples=2500"]), generated);
    assert_eq!(stdout(&["export", "hyperplane:inputs=3", "--limit", "2500"]), generated);
    let shuffled = stdout(&["export", "hyperplane:inputs=3,samples=2500", "--shuffle", "1"]);
    assert_ne!(shuffled, generated);
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&shuffled), sorted(&generated));
}

#[test]
fn categories_of_two_possible_columns_are_refused() {
    let folder = TempDir::new().unwrap();
    let source = file(&folder, "table.csv", "a,a=b,class\nx,y,p\nx,z,q\n");
    let output = broadstream(&["export", &source]);
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("category 'a=b=y' may belong to more than one column"), "{message}");
    let numbers = file(&folder, "numbers.csv", "a,a=b,class\nx,1,p\nz,2,q\n");
    assert_eq!(stdout(&["export", &numbers]), "a,a=b,class\nx,1,p\nz,2,q\n");
}

#[test]
fn rows_before_a_fault_are_written() {
    let folder = TempDir::new().unwrap();
    let source = file(&folder, "table.csv", "a,class\n1,p\n2,q\n3\n4,p\n");
    let output = broadstream(&["export", &source]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "a,class\n1,p\n2,q\n");
    assert!(String::from_utf8(output.stderr).unwrap().contains("line 4: expected 2 fields"));
}

#[test]
fn a_reader_that_stops_early_is_no_failure() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_broadstream"))
        .args(["export", "sea"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
