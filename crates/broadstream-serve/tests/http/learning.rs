//! What is learned and predicted.

use serde_json::{Value, json};

use super::{Client, FILE, JSON, LINES, rows};

#[test]
fn rows_are_learned_and_predicted_in_every_format() {
    let client = Client::new();
    client.create("m");
    let learned = client.post("/v1/models/m/learn", &json!({ "rows": rows(0..200) })).expect(200);
    assert_eq!(learned["learned"], 200);
    let without_label = r#"{"a": 14.0, "b": 28.0, "c": "c1"}"#;
    let predicted = client.send(
        "POST",
        "/v1/models/m/predict?consistency=latest&reasons=2",
        &[LINES],
        format!("\n{without_label}\n").as_bytes(),
    );
    let answer = predicted.expect(200);
    let prediction = &answer["predictions"][0];
    assert_eq!(prediction["label"], "high", "{answer}");
    let reasons = prediction["reasons"].as_array().unwrap();
    let columns: Vec<&str> =
        reasons.iter().map(|reason| reason["column"].as_str().unwrap()).collect();
    assert!(columns.len() == 2 && ["a", "b", "c"].contains(&columns[0]), "{answer}");
    let changes: Vec<f64> =
        reasons.iter().map(|reason| reason["change"].as_f64().unwrap().abs()).collect();
    assert!(changes[0] >= changes[1] && changes[0] > 0.0, "{answer}");
    assert_eq!(answer["lag"], 0);

    let headers = [LINES, ("accept", "application/x-ndjson")];
    let lines = format!("{without_label}\n{{\"a\": 0, \"b\": 0}}");
    let answer = client.send("POST", "/v1/models/m/predict", &headers, lines.as_bytes());
    assert_eq!(answer.header("broadstream-lag"), "0");
    let labels: Vec<Value> = String::from_utf8(answer.body)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["label"].clone())
        .collect();
    assert_eq!(labels, ["high", "low"]);

    let tested =
        client.post("/v1/models/m/test-then-train", &json!({ "rows": rows(200..300) })).expect(200);
    let right = tested["predictions"].as_array().unwrap().iter();
    let right = right.filter(|row| row["label"] == row["truth"]).count();
    assert!(right > 80, "{right} of 100 were right");
    let weights = json!({ "rows": rows(0..2), "weights": [2.0, 0.5] });
    client.post("/v1/models/m/learn", &weights).expect(200);
}

#[test]
fn labels_come_later_and_each_is_told_what_became_of_it() {
    let mut client = Client::new();
    client.create("m");
    client.post("/v1/models/m/learn", &json!({ "rows": rows(0..50) })).expect(200);
    let predicted =
        client.post("/v1/models/m/predict", &json!({ "rows": rows(50..53) })).expect(200);
    let id = |i: usize| predicted["predictions"][i]["id"].as_str().unwrap().to_owned();
    let untracked = client.post("/v1/models/m/predict?track=false", &json!({ "rows": rows(0..1) }));
    assert_eq!(untracked.expect(200)["predictions"][0].get("id"), None);

    client.start(|_| ());
    let labels = json!({ "labels": [
        { "id": id(0), "label": "low" },
        { "id": id(0), "label": "low" },
        { "id": id(1), "label": "high", "weight": 2.0 },
        { "id": id(2), "label": "low", "weight": -1.0 },
        { "id": "00000000-1", "label": "low" },
        { "id": "nonsense", "label": 7 },
    ] });
    let answer = client.post("/v1/models/m/labels", &labels).expect(200);
    let statuses: Vec<&str> = answer["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses, ["learned", "repeated", "learned", "refused", "unknown", "unknown"]);
    assert_eq!(answer["learned"], 2);
    let line = format!("{{\"id\": \"{}\", \"label\": true}}", id(2));
    let answer = client.send("POST", "/v1/models/m/labels", &[LINES], line.as_bytes()).expect(200);
    assert_eq!(answer["learned"], 1);
    let model = client.get("/v1/models/m?consistency=latest").expect(200);
    let labels: Vec<&String> = model["labels"].as_object().unwrap().keys().collect();
    assert_eq!(labels, ["high", "low", "true"]);
    assert_eq!(model["rows_learned"], 53);
}

#[test]
fn a_request_that_is_repeated_is_carried_out_once() {
    let mut client = Client::new();
    client.create("m");
    let (body, key) = (json!({ "rows": rows(0..20) }).to_string(), ("idempotency-key", "batch-1"));
    let send = |client: &Client, body: &str| {
        client.send("POST", "/v1/models/m/learn", &[JSON, key], body.as_bytes())
    };
    let first = send(&client, &body).expect(200);
    assert_eq!(send(&client, &body).expect(200), first);
    client.start(|_| ());
    assert_eq!(send(&client, &body).expect(200), first);
    let other = send(&client, &json!({ "rows": rows(0..21) }).to_string()).expect(422);
    assert_eq!(other["type"], "urn:broadstream:key-reused");
    assert_eq!(client.get("/v1/models/m?consistency=latest").expect(200)["rows_learned"], 20);
}

#[test]
fn a_refusal_states_the_rule_the_value_and_the_place() {
    let client = Client::new();
    client.create("m");
    client.post("/v1/models/m/learn", &json!({ "rows": rows(0..5) })).expect(200);
    let mut bad = rows(5..8);
    bad[1]["a"] = json!("n/a?");
    let problem = client.post("/v1/models/m/learn", &json!({ "rows": bad })).expect(422);
    let detail = "row 2, column 'a': expected a number, found 'n/a?' \
                  (declare the column categorical if it holds categories)";
    assert_eq!(
        (&problem["detail"], &problem["row"], &problem["column"]),
        (&json!(detail), &json!(2), &json!("a"))
    );
    for (headers, body, detail) in [
        (vec![JSON], "{\"rows\": [1]}", "row 1: expected an object, found '1'"),
        (vec![JSON], "{\"rows\": [{}]", "line 1, byte 13: EOF while parsing an object"),
        (vec![JSON], "{\"row\": []}", "unknown field `row`, expected `rows` or `weights`"),
        (vec![JSON], "{\"rows\": []}", "at least one row or label, got none"),
        (
            vec![JSON],
            "{\"rows\": [{\"y\": \"low\"}], \"weights\": []}",
            "weights must be 1, one for each row, got 0",
        ),
        (vec![LINES], "[]", "row 1: expected an object, found '[]'"),
        (vec![LINES], "\u{e9}", "row 1: expected an object"),
        (
            vec![("content-type", "application/vnd.apache.arrow.stream")],
            "no arrow",
            "expected an Arrow stream",
        ),
    ] {
        let problem = client.send("POST", "/v1/models/m/learn", &headers, body.as_bytes());
        let problem = problem.expect(400);
        assert!(problem["detail"].as_str().unwrap().contains(detail), "{body}: {problem}");
    }
    client.send("POST", "/v1/models/m/learn", &[], b"{}").expect(415);
    assert_eq!(client.get("/v1/models/m?consistency=latest").expect(200)["rows_learned"], 5);
}

#[test]
fn models_are_made_moved_and_deleted() {
    let client = Client::new();
    let sums = json!({ "preset": "single", "target": "y", "options": { "enhancement_nodes": 30, "scaling": "none" } });
    client.put("/v1/models/one", &sums).expect(201);
    client.put("/v1/models/two", &sums).expect(201);
    client.put("/v1/models/one", &sums).expect(409);
    client.put("/v1/models/..%2Fthree", &sums).expect(400);
    let refused = client.put("/v1/models/x", &json!({ "options": { "ridge": -1 } })).expect(422);
    assert!(refused["detail"].as_str().unwrap().starts_with("ridge must be"), "{refused}");
    client.post("/v1/models/one/learn", &json!({ "rows": rows(0..30) })).expect(200);
    client.post("/v1/models/two/learn", &json!({ "rows": rows(30..60) })).expect(200);
    let snapshots = client.post("/v1/models/one/snapshots", &json!({})).expect(201);
    let version = &snapshots["snapshots"][0]["version"];
    assert_eq!(
        client.get("/v1/models/one/snapshots").expect(200)["snapshots"].as_array().unwrap().len(),
        2
    );

    let file = client.get("/v1/models/two/file");
    assert_eq!(file.status, 200);
    let merged = client.send("POST", "/v1/models/one/merge", &[FILE], &file.body).expect(200);
    assert_eq!(merged["learned"], 60);
    let unlearned =
        client.post("/v1/models/one/unlearn", &json!({ "rows": rows(0..10) })).expect(200);
    assert_eq!(unlearned["unlearned"], 10);
    let back = client.post("/v1/models/one/roll-back", &json!({ "version": version })).expect(200);
    assert_eq!(back["learned"], 30);
    client.post("/v1/models/one/roll-back", &json!({ "version": 999 })).expect(404);
    client.send("POST", "/v1/models/one/merge", &[FILE], b"no model").expect(422);

    client.send("PUT", "/v1/models/copy", &[FILE], &file.body).expect(201);
    let copied = client.get("/v1/models/copy/file");
    assert_eq!(copied.body, file.body, "a model is the same wherever it is");
    client.put("/v1/aliases/live", &json!({ "model": "copy" })).expect(200);
    assert_eq!(client.get("/v1/models/live").expect(200)["model"], "copy");
    let list = client.get("/v1/models").expect(200);
    assert_eq!(list["aliases"]["live"], "copy");
    assert_eq!(list["models"].as_array().unwrap().len(), 3);
    assert_eq!(client.send("DELETE", "/v1/aliases/live", &[], b"").status, 204);
    client.get("/v1/models/live").expect(404);
    assert_eq!(client.send("DELETE", "/v1/models/copy", &[], b"").status, 204);
    client.get("/v1/models/copy").expect(404);
    client.send("DELETE", "/v1/models/copy", &[], b"").expect(404);
}

#[test]
fn the_open_inference_protocol_predicts_the_same() {
    let client = Client::new();
    client.create("m");
    client.post("/v1/models/m/learn", &json!({ "rows": rows(0..100) })).expect(200);
    let own = client
        .post("/v1/models/m/predict?consistency=latest", &json!({ "rows": rows(0..3) }))
        .expect(200);
    let metadata = client.get("/v2/models/m").expect(200);
    assert_eq!(metadata["inputs"][0]["name"], "a");
    let column = |name: &str, kind: &str| {
        let data: Vec<Value> = rows(0..3).into_iter().map(|row| row[name].clone()).collect();
        json!({ "name": name, "shape": [3, 1], "datatype": kind, "data": data })
    };
    let inputs = json!([column("a", "FP64"), column("b", "FP64"), column("c", "BYTES")]);
    let body = json!({ "id": "x", "inputs": inputs });
    let infer = client.post("/v2/models/m/infer", &body).expect(200);
    assert_eq!(infer["id"], "x");
    let labels: Vec<&Value> =
        own["predictions"].as_array().unwrap().iter().map(|row| &row["label"]).collect();
    assert_eq!(infer["outputs"][0]["data"].as_array().unwrap().iter().collect::<Vec<_>>(), labels);
    assert_eq!(infer["outputs"][1]["shape"], json!([3, 2]));
    let names = infer["outputs"][1]["parameters"]["labels"].as_array().unwrap();
    for (i, value) in infer["outputs"][1]["data"].as_array().unwrap().iter().enumerate() {
        let name = names[i % 2].as_str().unwrap();
        assert_eq!(*value, own["predictions"][i / 2]["probabilities"][name]);
    }
    let mut wrong = body.clone();
    wrong["inputs"][1]["shape"] = json!([2]);
    client.post("/v2/models/m/infer", &wrong).expect(400);
    wrong["inputs"] = json!([]);
    client.post("/v2/models/m/infer", &wrong).expect(400);
    client.get("/v2/health/ready").expect(200);
}
