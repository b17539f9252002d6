//! The reference of the interface is what the description says. `UPDATE_GOLDEN=1` writes it again.

use std::{fmt::Write, fs, path::Path};

use serde_json::Value;

#[test]
fn the_reference_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/service-api.md");
    let page = page(&broadstream_serve::openapi());
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == page, "docs/reference/service-api.md is not what UPDATE_GOLDEN=1 writes");
}

const INTRODUCTION: &str = "\
# The interface of the service

Written from the description of the interface, which `broadstream serve openapi` prints and the service has at `/openapi.json`. [Run a service that
learns](../how-to/service.md) shows how to use it.

Errors are `application/problem+json`: `type` says what kind of problem it is, `detail` states the rule, the value and the place, and `row` and `column`
are there if it is about one. Answers to 429 and 503 have `Retry-After`. Every answer has an `X-Request-Id`.
";

fn page(description: &Value) -> String {
    let mut page = INTRODUCTION.to_owned();
    let tags = ["learning", "models", "operation", "open inference protocol"];
    for tag in tags {
        let mut title = tag.to_owned();
        title[..1].make_ascii_uppercase();
        write!(page, "\n## {title}\n").unwrap();
        for (path, operations) in description["paths"].as_object().unwrap() {
            for (method, operation) in operations.as_object().unwrap() {
                if operation["tags"][0] == tag {
                    endpoint(&mut page, description, &method.to_uppercase(), path, operation);
                }
            }
        }
    }
    page
}

fn endpoint(page: &mut String, description: &Value, method: &str, path: &str, operation: &Value) {
    let text = |value: &Value| value.as_str().unwrap_or_default().replace('\n', " ");
    write!(page, "\n### `{method} {path}`\n\n{}", text(&operation["summary"])).unwrap();
    match operation["description"].as_str() {
        Some(more) => write!(page, "\n\n{}\n", more.replace('\n', " ")).unwrap(),
        None => page.push('\n'),
    }
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let parameters: Vec<&Value> = parameters.filter(|p| p["in"] != "path").collect();
    if !parameters.is_empty() {
        page.push_str("\n| parameter | in | meaning |\n|---|---|---|\n");
        for parameter in parameters {
            let default = match &parameter["schema"]["default"] {
                Value::Null => String::new(),
                default => format!(" Default: `{default}`.").replace('"', ""),
            };
            let (name, place) = (text(&parameter["name"]), text(&parameter["in"]));
            let meaning = text(&parameter["description"]);
            let stop = if meaning.ends_with('.') { "" } else { "." };
            writeln!(page, "| `{name}` | {place} | {meaning}{stop}{default} |").unwrap();
        }
    }
    if let Some(contents) = operation["requestBody"]["content"].as_object() {
        let kinds: Vec<String> = contents.keys().map(|kind| format!("`{kind}`")).collect();
        write!(page, "\nRequest: {}\n", kinds.join(", ")).unwrap();
        if let Some(content) = contents.get("application/json") {
            fields(page, description, &content["schema"]);
        }
    }
    for (status, response) in operation["responses"].as_object().unwrap() {
        let is_problem = response["content"]["application/problem+json"].is_object();
        if is_problem && status.ends_with("XX") {
            continue;
        }
        write!(page, "\n{status}: {}\n", text(&response["description"])).unwrap();
        if !is_problem {
            fields(page, description, &response["content"]["application/json"]["schema"]);
        }
    }
}

/// The fields of an object, and of the objects in it.
fn fields(page: &mut String, description: &Value, schema: &Value) {
    let mut rows = String::new();
    collect(&mut rows, description, schema, "");
    if !rows.is_empty() {
        write!(page, "\n| field | type | meaning |\n|---|---|---|\n{rows}").unwrap();
    }
}

fn resolve<'d>(description: &'d Value, schema: &'d Value) -> &'d Value {
    match schema["$ref"].as_str() {
        Some(reference) => description.pointer(reference.trim_start_matches('#')).unwrap(),
        None => schema,
    }
}

fn collect(rows: &mut String, description: &Value, schema: &Value, place: &str) {
    let schema = resolve(description, schema);
    for part in schema["allOf"].as_array().into_iter().flatten() {
        collect(rows, description, part, place);
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let place = format!("{place}{name}");
        let resolved = resolve(description, field);
        let meaning = field["description"].as_str().or(resolved["description"].as_str());
        let meaning = meaning.unwrap_or_default().replace('\n', " ").replace('|', "\\|");
        writeln!(rows, "| `{place}` | {} | {meaning} |", kind(description, field)).unwrap();
        let items = resolve(description, &field["items"]);
        match items["properties"].is_object() {
            true => collect(rows, description, items, &format!("{place}[].")),
            false => collect(rows, description, field, &format!("{place}.")),
        }
    }
}

fn kind(description: &Value, schema: &Value) -> String {
    let schema = resolve(description, schema);
    if let Some(choices) = schema["enum"].as_array() {
        let choices: Vec<String> =
            choices.iter().map(|choice| format!("`{}`", choice.as_str().unwrap_or("?"))).collect();
        return choices.join(", ");
    }
    if let Some(kinds) = schema["oneOf"].as_array() {
        let kinds: Vec<String> = kinds.iter().map(|kind_of| kind(description, kind_of)).collect();
        return kinds.join(" or ");
    }
    match &schema["type"] {
        Value::String(kind_of) if kind_of == "array" => {
            format!("list of {}", kind(description, &schema["items"]))
        }
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => {
            let kinds: Vec<&str> = kinds.iter().filter_map(Value::as_str).collect();
            kinds.join(" or ")
        }
        _ => "any".to_owned(),
    }
}
