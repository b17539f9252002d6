//! What those who run the service see.

use std::io::{BufRead, BufReader, Write};

use serde_json::{Value, json};

use super::{Client, rows};

#[test]
fn figures_are_those_of_prometheus() {
    let client = Client::new();
    client.create("m");
    client.post("/v1/models/m/learn", &json!({ "rows": rows(0..60) })).expect(200);
    client.post("/v1/models/m/predict", &json!({ "rows": rows(0..5) })).expect(200);
    let answer = client.get("/metrics");
    assert!(answer.header("content-type").starts_with("text/plain; version=0.0.4"));
    let text = String::from_utf8(answer.body).unwrap();
    let value = |line: &str| {
        let found = text.lines().find_map(|l| l.strip_prefix(line)?.strip_prefix(' '));
        found.unwrap_or_else(|| panic!("{line} is missing in\n{text}")).parse::<f64>().unwrap()
    };
    assert_eq!(value("broadstream_model_rows_learned_total{model=\"m\"}"), 60.0);
    assert_eq!(value("broadstream_model_rows_predicted_total{model=\"m\"}"), 5.0);
    assert_eq!(value("broadstream_ready"), 1.0);
    assert_eq!(value("broadstream_model_learn_seconds_bucket{model=\"m\",le=\"+Inf\"}"), 1.0);
    assert!(value("broadstream_http_responses_total{code=\"2xx\"}") >= 3.0);
    // Every figure is announced, and its name ends as its kind says.
    let mut kind = "";
    for line in text.lines() {
        if let Some(announced) = line.strip_prefix("# TYPE ") {
            let (name, announced) = announced.split_once(' ').unwrap();
            assert_eq!(announced == "counter", name.ends_with("_total"), "{name}");
            kind = name;
        } else if !line.starts_with('#') {
            assert!(line.starts_with(kind), "{line} is not announced");
        }
    }
}

#[test]
fn the_live_page_is_told_what_happens() {
    let client = Client::new();
    client.create("m");
    let address = client.address();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    write!(stream, "GET /v1/models/m/events HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    let mut lines = BufReader::new(stream).lines();
    let mut event = || loop {
        let line = lines.next().unwrap().unwrap();
        if let Some(data) = line.strip_prefix("data:") {
            return serde_json::from_str::<Value>(data).unwrap();
        }
    };
    assert_eq!(event()["model"]["rows_learned"], 0);
    client.post("/v1/models/m/learn", &json!({ "rows": rows(0..300) })).expect(200);
    let live = loop {
        let live = event();
        if live["model"]["rows_learned"] == 300 {
            break live;
        }
    };
    assert!(live["model"]["accuracy"].as_f64().unwrap() > 0.6, "{live}");
    let confusion = live["confusion"].as_array().unwrap().iter();
    let all: u64 =
        confusion.flat_map(|row| row.as_array().unwrap()).filter_map(Value::as_u64).sum();
    // The first row is predicted as nothing, which no column has.
    assert_eq!(all, 299);
    assert_eq!(client.get("/v1/models/m/live").expect(200)["confusion"], live["confusion"]);
}

#[test]
fn the_page_needs_nothing_from_elsewhere() {
    let client = Client::new();
    for path in ["/", "/page.css", "/page.js", "/charts.js"] {
        let answer = client.get(path);
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.header("content-security-policy").contains("default-src 'none'"));
        let text = String::from_utf8(answer.body).unwrap();
        let links = text.match_indices("http").map(|(at, _)| &text[at..text.len().min(at + 40)]);
        let foreign: Vec<_> =
            links.filter(|link| !link.starts_with("http://www.w3.org/")).collect();
        assert!(foreign.is_empty(), "{path}: {foreign:?}");
    }
}

#[test]
fn every_answer_can_be_found_in_the_log() {
    let client = Client::new();
    let answer = client.send("GET", "/livez", &[("x-request-id", "trace-7.b")], b"");
    assert_eq!(answer.header("x-request-id"), "trace-7.b");
    let (one, two) =
        (client.get("/livez"), client.send("GET", "/livez", &[("x-request-id", "a b\"")], b""));
    assert_ne!(one.header("x-request-id"), two.header("x-request-id"));
    assert!(!two.header("x-request-id").contains('"'));
}
