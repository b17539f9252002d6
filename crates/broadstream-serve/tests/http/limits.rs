//! What a client may not do to others.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use serde_json::json;

use super::{Client, JSON, rows};

#[test]
fn what_is_too_large_is_refused() {
    let client = Client::with(|settings| {
        (settings.rows, settings.body_bytes, settings.most_models) = (10, 20_000, 1);
    });
    client.create("m");
    client.post("/v1/models/m/learn", &json!({ "rows": rows(0..10) })).expect(200);
    let problem = client.post("/v1/models/m/learn", &json!({ "rows": rows(0..11) })).expect(413);
    assert_eq!(problem["detail"], "the rows of a request must be at most 10, got 11");
    let large = json!({ "rows": [{ "a": "x".repeat(30_000) }] });
    let problem = client.post("/v1/models/m/predict", &large).expect(413);
    assert_eq!(problem["type"], "urn:broadstream:limit");
    let problem = client.put("/v1/models/n", &json!({})).expect(413);
    assert_eq!(problem["detail"], "the number of models must be at most 1, got 2");
    let key = "k".repeat(256);
    let headers = [JSON, ("idempotency-key", key.as_str())];
    client.send("POST", "/v1/models/m/learn", &headers, b"{\"rows\": [{}]}").expect(400);
    client.get("/nothing").expect(404);
    client.send("DELETE", "/v1/models/m/learn", &[], b"").expect(405);
}

#[test]
fn a_full_queue_says_when_to_come_back() {
    let client = Client::with(|settings| settings.queue_rows = 200);
    let large = json!({ "target": "y", "options": { "enhancement_nodes": 400 } });
    client.put("/v1/models/m", &large).expect(201);
    client.post("/v1/models/m/learn", &json!({ "rows": rows(0..20) })).expect(200);
    let body = json!({ "rows": rows(0..150) });
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let ask = || {
            let answer = client.post("/v1/models/m/learn", &body);
            if answer.status == 429 {
                assert_eq!(answer.header("retry-after"), "1");
                assert_eq!(answer.json()["type"], "urn:broadstream:busy");
            }
            answer.status
        };
        let asking: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().map(|asking| asking.join().unwrap()).collect()
    });
    assert!(statuses.contains(&200) && statuses.contains(&429), "{statuses:?}");
    let learned = 20 + 150 * statuses.iter().filter(|status| **status == 200).count();
    assert_eq!(client.get("/v1/models/m?consistency=latest").expect(200)["rows_learned"], learned);
}

#[test]
fn slow_clients_are_cut_off_and_keep_nobody_waiting() {
    let client = Client::with(|settings| {
        (settings.header_seconds, settings.request_seconds) = (1, 1);
    });
    client.create("m");
    let slow: Vec<TcpStream> = (0..300)
        .map(|i| {
            let mut stream = TcpStream::connect(client.address()).unwrap();
            let head = "POST /v1/models/m/learn HTTP/1.1\r\nHost: localhost\r\n";
            stream.write_all(head.as_bytes()).unwrap();
            if i % 2 == 0 {
                let rest = "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{";
                stream.write_all(rest.as_bytes()).unwrap();
            }
            stream
        })
        .collect();
    let started = Instant::now();
    client.get("/livez").expect(200);
    assert!(started.elapsed() < Duration::from_millis(900), "{:?}", started.elapsed());
    for mut stream in slow {
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut answer = Vec::new();
        // Either the connection is closed, or the answer says what happened.
        let ended = stream.read_to_end(&mut answer);
        assert!(ended.is_ok() || !answer.is_empty(), "{ended:?}");
    }
}
