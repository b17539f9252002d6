//! `broadstream datasets list`: the catalogue, and where the files are.

use std::{
    io::{self, Write},
    path::Path,
};

use anyhow::Result;
use broadstream_datasets::{Dataset, Origin, catalogue, find};
use serde_json::{Value, json};

use super::print_json;
use crate::{
    args::ListArguments,
    output::{failure::to_stdout, printable::printable_lines},
};

pub(crate) fn list(arguments: &ListArguments) -> Result<()> {
    let data = arguments.folder.data.as_deref();
    if arguments.json {
        return print_json(catalogue().iter().map(|dataset| entry_json(dataset, data)));
    }
    let mut text = format!(
        "{:<15}{:>8}{:>8}{:>9}  {:<12}{}\n",
        "name", "rows", "inputs", "classes", "kind", "where"
    );
    for dataset in catalogue() {
        let place = match (&dataset.origin, find(dataset.name, data)) {
            (Origin::Generator(spec), _) => format!("generator '{spec}'"),
            (_, Ok(path)) => path.display().to_string(),
            (_, Err(_)) => "not here".to_owned(),
        };
        text += &format!(
            "{:<15}{:>8}{:>8}{:>9}  {:<12}{place}\n",
            dataset.name,
            dataset.rows,
            dataset.inputs(),
            dataset.classes,
            dataset.kind.name(),
        );
    }
    to_stdout(io::stdout().write_all(printable_lines(&text).as_bytes()))
}

fn entry_json(dataset: &Dataset, data: Option<&Path>) -> Value {
    let generator = match dataset.origin {
        Origin::Generator(spec) => Some(spec),
        _ => None,
    };
    let file = dataset.file().ok();
    let urls: Vec<&str> =
        file.iter().flat_map(|file| file.raw).flat_map(|raw| raw.urls).copied().collect();
    json!({
        "name": dataset.name,
        "title": dataset.title,
        "kind": dataset.kind.name(),
        "rows": dataset.rows,
        "columns": dataset.columns,
        "inputs": dataset.inputs(),
        "classes": dataset.classes,
        "target": dataset.target,
        "drop": dataset.drop,
        "preparation": dataset.preparation,
        "page": dataset.page,
        "licence": dataset.licence,
        "citation": dataset.citation,
        "generator": generator,
        "sha256": file.map(|file| file.sha256),
        "size": file.map(|file| file.size),
        "urls": urls,
        "path": find(dataset.name, data).ok(),
    })
}
