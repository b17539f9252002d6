//! Whether an answer is what the description of the interface says.
//!
//! This is the part of JSON Schema that the description uses. Anything else in it is a failure, so that nothing
//! goes unchecked.

use std::sync::OnceLock;

use serde_json::Value;

use super::Answer;

/// The description as it is served.
pub(crate) fn description() -> &'static Value {
    static DESCRIPTION: OnceLock<Value> = OnceLock::new();
    DESCRIPTION.get_or_init(broadstream_serve::openapi)
}

/// Compares an answer with the description, unless it is of something that is not described, such as the page.
pub(crate) fn check(method: &str, path: &str, answer: &Answer) {
    let path = path.split('?').next().unwrap();
    let paths = description()["paths"].as_object().unwrap();
    let described = paths.iter().find(|(pattern, _)| matches(pattern, path));
    let Some((pattern, operations)) = described else { return };
    let Some(operation) = operations.get(method.to_lowercase()) else { return };
    let status = answer.status.to_string();
    let family = format!("{}XX", &status[..1]);
    let responses = &operation["responses"];
    let response = responses.get(&status).or_else(|| responses.get(&family));
    let response =
        response.unwrap_or_else(|| panic!("{method} {pattern}: status {status} is not described"));
    let Some(contents) = response.get("content").and_then(Value::as_object) else {
        assert!(answer.body.is_empty(), "{method} {pattern}: {status} has no content");
        return;
    };
    let kind = answer.header("content-type").split(';').next().unwrap();
    let content = contents
        .get(kind)
        .unwrap_or_else(|| panic!("{method} {pattern}: {status} with {kind} is not described"));
    if ["application/json", "application/problem+json"].contains(&kind) {
        let place = format!("{method} {pattern} {status}");
        validate(&content["schema"], &answer.json(), &place);
    }
}

fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, path): (Vec<_>, Vec<_>) =
        (pattern.split('/').collect(), path.split('/').collect());
    pattern.len() == path.len()
        && pattern.iter().zip(path).all(|(part, given)| part.starts_with('{') || *part == given)
}

/// The places where a value is not what a schema says.
fn faults(schema: &Value, value: &Value, place: &str, faults_so_far: &mut Vec<String>) {
    let Some(schema) = schema.as_object() else { panic!("{place}: a schema is {schema}") };
    let mut fault = |message: String| faults_so_far.push(format!("{place}: {message}"));
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let pointer = reference.trim_start_matches('#');
        let target = description().pointer(pointer).unwrap_or_else(|| panic!("{reference}"));
        return faults(target, value, place, faults_so_far);
    }
    for (key, rule) in schema {
        match key.as_str() {
            "type" => {
                let kinds = rule.as_array().cloned().unwrap_or_else(|| vec![rule.clone()]);
                if !kinds.iter().any(|kind| is(kind.as_str().unwrap(), value)) {
                    fault(format!("expected {rule}, found {value}"));
                }
            }
            "enum" => {
                let is_listed = rule.as_array().unwrap().contains(value);
                if !is_listed {
                    fault(format!("expected one of {rule}, found {value}"));
                }
            }
            "minimum" => {
                let least = rule.as_f64().unwrap();
                if value.as_f64().is_some_and(|value| value < least) {
                    fault(format!("expected at least {rule}, found {value}"));
                }
            }
            "required" => {
                for name in rule.as_array().unwrap() {
                    if value.get(name.as_str().unwrap()).is_none() {
                        fault(format!("{name} is missing"));
                    }
                }
            }
            _ => {}
        }
    }
    for (key, rule) in schema {
        match key.as_str() {
            "properties" => {
                for (name, value) in value.as_object().into_iter().flatten() {
                    if let Some(schema) = rule.get(name) {
                        faults(schema, value, &format!("{place}.{name}"), faults_so_far);
                    }
                }
            }
            "additionalProperties" if *rule == Value::Bool(false) => {
                for name in value.as_object().into_iter().flatten().map(|(name, _)| name) {
                    if schema["properties"].get(name).is_none() {
                        faults_so_far.push(format!("{place}: '{name}' is not described"));
                    }
                }
            }
            "additionalProperties" => {
                for (name, value) in value.as_object().into_iter().flatten() {
                    faults(rule, value, &format!("{place}.{name}"), faults_so_far);
                }
            }
            "items" => {
                for (i, value) in value.as_array().into_iter().flatten().enumerate() {
                    faults(rule, value, &format!("{place}[{i}]"), faults_so_far);
                }
            }
            "allOf" => rule
                .as_array()
                .unwrap()
                .iter()
                .for_each(|schema| faults(schema, value, place, faults_so_far)),
            "oneOf" | "anyOf" => {
                let holds = |schema: &&Value| {
                    let mut found = Vec::new();
                    faults(schema, value, place, &mut found);
                    found.is_empty()
                };
                if !rule.as_array().unwrap().iter().any(|schema| holds(&schema)) {
                    faults_so_far.push(format!("{place}: none of {rule} is {value}"));
                }
            }
            "type" | "enum" | "minimum" | "required" | "description" | "format" | "example"
            | "examples" | "propertyNames" | "default" | "title" => {}
            unknown => panic!("{place}: the rule '{unknown}' is not checked"),
        }
    }
}

fn validate(schema: &Value, value: &Value, place: &str) {
    let mut found = Vec::new();
    faults(schema, value, place, &mut found);
    // What is not described does not exist for clients.
    undescribed(schema, value, place, &mut found);
    assert!(found.is_empty(), "{}\n{value:#}", found.join("\n"));
}

/// The properties of a value that its schema does not name.
fn undescribed(schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    let Some(object) = value.as_object() else { return };
    let mut names = Vec::new();
    if !is_closed(schema, &mut names) {
        return;
    }
    for name in object.keys() {
        if !names.contains(name) {
            found.push(format!("{place}: '{name}' is not described"));
        }
    }
}

/// Whether a schema names all properties, which are added to `names`.
fn is_closed(schema: &Value, names: &mut Vec<String>) -> bool {
    if let Some(reference) = schema["$ref"].as_str() {
        return is_closed(description().pointer(reference.trim_start_matches('#')).unwrap(), names);
    }
    names.extend(
        schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()),
    );
    let parts = schema["allOf"].as_array().into_iter().flatten();
    let mut closed = schema["properties"].is_object() || schema["allOf"].is_array();
    for part in parts {
        closed &= is_closed(part, names);
    }
    closed
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("the type '{other}' is not checked"),
    }
}
