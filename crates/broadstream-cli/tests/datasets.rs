//! `broadstream datasets` with folders and a server of the tests' own; no real data is needed.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    path::Path,
    process::{Command, Output},
    thread,
};

use serde_json::Value;
use tempfile::TempDir;

/// Runs the command with no datasets but those in `home`.
fn datasets(home: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_broadstream"))
        .arg("datasets")
        .args(arguments)
        .env("HOME", home)
        .env("XDG_CACHE_HOME", home.join("cache"))
        .env_remove("BROADSTREAM_DATA")
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn gzip(content: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// A server that gives those answers in turn; returns its address.
fn serve(answers: Vec<String>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for answer in answers {
            let (mut connection, _) = listener.accept().unwrap();
            let lines = BufReader::new(&connection).lines().map(Result::unwrap);
            lines.take_while(|line| !line.is_empty()).for_each(drop);
            connection.write_all(answer.as_bytes()).unwrap();
        }
    });
    address
}

#[test]
fn the_list_says_what_there_is_and_where() {
    let home = TempDir::new().unwrap();
    let data = home.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("letter.csv.gz"), gzip("a,class\n")).unwrap();
    let data = data.to_str().unwrap();
    let output = datasets(home.path(), &["list", "--data", data]);
    assert!(output.status.success());
    let table = text(&output.stdout);
    assert_eq!(table.lines().count(), 11);
    let line = |name: &str| table.lines().find(|line| line.starts_with(name)).unwrap();
    assert!(line("letter").ends_with(&format!("stationary  {data}/letter.csv.gz")), "{table}");
    assert!(line("shuttle").contains(" 58000       8        7  stationary  not here"), "{table}");
    assert!(line("sea").ends_with("drifting    generator 'sea'"), "{table}");

    let output = datasets(home.path(), &["list", "--json", "--data", data]);
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(list.as_array().unwrap().len(), 10);
    let electricity = list.as_array().unwrap().iter().find(|d| d["name"] == "electricity").unwrap();
    assert_eq!(electricity["drop"], serde_json::json!(["date", "day"]));
    assert_eq!((&electricity["inputs"], &electricity["path"]), (&6.into(), &Value::Null));
    assert!(list[2]["path"].as_str().unwrap().ends_with("letter.csv.gz"));
}

#[test]
fn a_file_that_differs_is_told_from_one_that_is_missing() {
    let home = TempDir::new().unwrap();
    let data = home.path().to_str().unwrap();
    assert!(datasets(home.path(), &["verify", "--data", data]).status.success(), "none differs");
    fs::write(home.path().join("letter.csv.gz"), gzip("a,class\n1,A\n2,B\n")).unwrap();
    fs::write(home.path().join("adult.csv"), "a,b,class\n").unwrap();
    fs::write(home.path().join("usps.csv.gz"), &gzip("a,class\n")[..12]).unwrap();
    let output = datasets(home.path(), &["verify", "--data", data]);
    assert_eq!(output.status.code(), Some(1));
    let table = text(&output.stdout);
    let line = |name: &str| table.lines().find(|line| line.starts_with(name)).unwrap();
    for part in [
        "letter.csv.gz  differs: expected 20000 rows, found 2; expected 17 columns, found 2; ",
        "expected SHA-256 e82774b2",
    ] {
        assert!(line("letter").contains(part), "{table}");
    }
    assert!(line("adult").contains("expected 45222 rows, found 0"), "{table}");
    assert!(line("usps").contains("usps.csv.gz  unreadable: "), "{table}");
    assert!(line("mnist").ends_with("missing: 'broadstream datasets fetch mnist'"), "{table}");
    assert!(line("sea").ends_with("ok, produced by a generator"), "{table}");
    let message = text(&output.stderr);
    assert_eq!(message, "error: 3 datasets do not match the catalogue\n");
}

#[test]
fn verification_is_for_programs_too() {
    let home = TempDir::new().unwrap();
    fs::write(home.path().join("letter.csv"), "a,class\n1,A\n").unwrap();
    let data = home.path().to_str().unwrap();
    let arguments = ["verify", "letter", "mnist", "sea", "--json", "--data", data];
    let output = datasets(home.path(), &arguments);
    assert_eq!(output.status.code(), Some(1));
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    let states: Vec<&str> =
        list.as_array().unwrap().iter().map(|entry| entry["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["differs", "missing", "generated"]);
    assert_eq!(
        (&list[0]["expected"]["rows"], &list[0]["found"]["rows"]),
        (&20000.into(), &1.into())
    );
    assert_eq!(list[1]["path"], Value::Null);
    // A dataset that was asked for by name should be there.
    let output = datasets(home.path(), &["verify", "mnist", "--data", data]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn the_environment_and_the_cache_are_looked_in() {
    let home = TempDir::new().unwrap();
    let named = home.path().join("named");
    fs::create_dir(&named).unwrap();
    fs::write(named.join("letter.csv"), "").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_broadstream"))
        .args(["datasets", "list"])
        .env("HOME", home.path())
        .env("BROADSTREAM_DATA", &named)
        .output()
        .unwrap();
    assert!(text(&output.stdout).contains("named/letter.csv"));
    assert!(!text(&datasets(home.path(), &["list"]).stdout).contains("letter.csv"));
}

#[test]
fn what_cannot_be_fetched_is_said() {
    let home = TempDir::new().unwrap();
    let output = datasets(home.path(), &["fetch", "leter"]);
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(message.contains("there is no dataset 'leter': expected one of image-segment, usps"));
    let output = datasets(home.path(), &["fetch", "sea"]);
    assert_eq!(output.status.code(), Some(1));
    let message = "error: dataset 'sea' has no file: it is produced by the generator 'sea'\n";
    assert_eq!(text(&output.stderr), message);
    assert_eq!(datasets(home.path(), &["fetch"]).status.code(), Some(2));
    assert_eq!(datasets(home.path(), &["fetch", "letter", "--all"]).status.code(), Some(2));
}

#[test]
fn a_publisher_that_has_something_else_leaves_nothing_behind() {
    let home = TempDir::new().unwrap();
    let data = home.path().join("data");
    let folder = data.to_str().unwrap();
    let row = [&"0 ".repeat(256), "0\n"].concat();
    let whole =
        |body: &str| format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let address = serve(vec![
        "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_owned(),
        whole(&row),
        whole(&row),
    ]);
    let fetch = |name: &'static str| {
        let arguments = ["fetch", name, "--mirror", &address, "--data", folder, "--retries", "0"];
        let output = datasets(home.path(), &arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(output.stdout.is_empty());
        text(&output.stderr)
    };
    let message = fetch("letter");
    let expected = format!(
        "error: letter: {address}/letter/letter-recognition.zip: \
         the server answered with status 404\n"
    );
    assert_eq!(message, expected);
    let message = fetch("usps");
    assert!(message.contains("the prepared file has SHA-256 "), "{message}");
    assert!(message.contains(", expected 7b787207b3f30ed1"), "{message}");
    let files = |folder: &Path| fs::read_dir(folder).unwrap().count();
    assert_eq!(files(&data.join("raw/letter")), 0);
    assert!(!data.join("raw/usps").exists());
    assert!(!data.join("usps.csv.gz").exists());
}
