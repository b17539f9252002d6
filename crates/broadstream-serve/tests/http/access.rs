//! Who may do what.

use broadstream_serve::{Role, Service, Settings, StartError, TokenFile};
use serde_json::json;

use super::{Client, rows};

#[test]
fn a_token_permits_its_role_on_its_models_and_no_more() {
    let mut client = Client::new();
    client.create("one");
    client.create("two");
    client.put("/v1/aliases/live", &json!({ "model": "two" })).expect(200);
    let tokens = TokenFile::open(&client.folder.path().join("data")).unwrap();
    let one = ["one".to_owned()];
    let secrets = [
        tokens.create("p", Role::Predict, &one).unwrap(),
        tokens.create("l", Role::Learn, &one).unwrap(),
        tokens.create("a", Role::Admin, &[]).unwrap(),
    ];
    let row = json!({ "rows": rows(0..1) });
    let version = json!({ "version": 0 });
    // What each may do: nobody, predict, learn, admin.
    let cases: [(&str, &str, &serde_json::Value, [u16; 4]); 14] = [
        ("POST", "/v1/models/one/learn", &row, [401, 403, 200, 200]),
        ("POST", "/v1/models/one/predict", &row, [401, 200, 200, 200]),
        ("POST", "/v1/models/two/predict", &row, [401, 403, 403, 200]),
        ("POST", "/v1/models/live/predict", &row, [401, 403, 403, 200]),
        ("POST", "/v1/models/none/predict", &row, [401, 403, 403, 404]),
        ("POST", "/v1/models/one/test-then-train", &row, [401, 403, 200, 200]),
        ("POST", "/v1/models/one/roll-back", &version, [401, 403, 403, 200]),
        ("GET", "/v1/models/one", &row, [401, 200, 200, 200]),
        ("GET", "/v1/models/one/live", &row, [401, 200, 200, 200]),
        ("GET", "/v1/models/one/file", &row, [401, 403, 403, 200]),
        ("GET", "/metrics", &row, [401, 200, 200, 200]),
        ("PUT", "/v1/aliases/x", &json!({ "model": "one" }), [401, 403, 403, 200]),
        ("GET", "/livez", &row, [200; 4]),
        ("DELETE", "/v1/models/one", &row, [401, 403, 403, 204]),
    ];
    for (method, path, body, expected) in cases {
        let callers = [None, Some(&secrets[0]), Some(&secrets[1]), Some(&secrets[2])];
        for (caller, status) in callers.into_iter().zip(expected) {
            client.token = caller.cloned();
            let body = if method == "GET" || method == "DELETE" {
                String::new()
            } else {
                body.to_string()
            };
            let answer = client.send(method, path, &[super::JSON], body.as_bytes());
            assert_eq!(
                answer.status,
                status,
                "{method} {path}: {}",
                String::from_utf8_lossy(&answer.body)
            );
        }
    }
    client.token = Some(secrets[0].clone());
    let listed = client.get("/v1/models").expect(200);
    assert_eq!(listed["models"].as_array().unwrap().len(), 0, "'two' is not for this token");
    assert!(!String::from_utf8(client.get("/metrics").body).unwrap().contains("\"two\""));
    tokens.revoke("p").unwrap();
    client.get("/v1/models").expect(401);
    client.token = Some("bst_0".to_owned());
    client.get("/livez").expect(401);
    client.token = None;
    assert_eq!(client.get("/").status, 200, "the page itself has nothing to hide");
}

#[test]
fn without_tokens_only_this_machine_is_served() {
    let client = Client::new();
    for (name, value, status) in [
        ("host", "localhost:7878", 200),
        ("host", "127.0.0.1", 200),
        ("host", "[::1]:80", 200),
        ("host", "attacker.example:7878", 403),
        ("host", "localhost.attacker.example", 403),
        ("origin", "http://localhost:7878", 200),
        ("origin", "https://attacker.example", 403),
        ("origin", "null", 403),
    ] {
        let answer = client.send("GET", "/v1/models", &[(name, value)], b"");
        assert_eq!(answer.status, status, "{name}: {value}");
    }
    let folder = tempfile::tempdir().unwrap();
    let mut settings = Settings::default();
    settings.data = folder.path().to_owned();
    settings.listen = ([0, 0, 0, 0], 0).into();
    assert!(matches!(Service::start(settings), Err(StartError::NoTokens { .. })));
}

#[test]
fn names_cannot_lead_out_of_the_folder() {
    let client = Client::new();
    for name in ["..", "%2e%2e", "..%2f..%2fetc", "a%00", ".hidden", "A", "a%2fb", "%ff"] {
        for (method, path) in [("PUT", ""), ("GET", ""), ("DELETE", ""), ("GET", "/file")] {
            let path = format!("/v1/models/{name}{path}");
            let answer = client.send(
                method,
                &path,
                &[super::JSON],
                if method == "PUT" { b"{}" } else { b"" },
            );
            assert!((400..=405).contains(&answer.status), "{method} {path}: {}", answer.status);
        }
    }
    let models = client.folder.path().join("data/models");
    assert_eq!(std::fs::read_dir(models).unwrap().count(), 0);
}
