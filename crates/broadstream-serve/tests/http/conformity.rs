//! The description of the interface is that of the service.

use serde_json::Value;

use super::{Client, schema::description};

#[test]
fn the_description_is_served_and_complete() {
    let client = Client::new();
    let served = client.get("/openapi.json").expect(200);
    assert_eq!(&served, description());
    assert!(served["openapi"].as_str().unwrap().starts_with("3.1"));
    for (path, operations) in served["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let place = format!("{method} {path}");
            let is_text = |key: &str| operation[key].as_str().is_some_and(|text| !text.is_empty());
            assert!(is_text("summary") && is_text("operationId"), "{place}");
            let parameters = operation["parameters"].as_array();
            let parameters = parameters.into_iter().flatten().filter(|p| p["in"] == "path");
            let named: Vec<&Value> = parameters.map(|parameter| &parameter["name"]).collect();
            let expected: Vec<&str> = path
                .split('/')
                .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
                .collect();
            assert_eq!(named, expected, "{place}");
            // What is described exists.
            let url = path.replace("{model}", "none").replace("{alias}", "none");
            let body: &[u8] = if ["post", "put"].contains(&method.as_str()) { b"{}" } else { b"" };
            let answer = client.send(&method.to_uppercase(), &url, &[super::JSON], body);
            let is_missing = answer.body.starts_with(b"{")
                && answer.json()["type"].as_str() == Some("urn:broadstream:not-found");
            assert!(answer.status != 405 && !is_missing, "{place}");
        }
    }
}
