//! `broadstream datasets verify`: files on this machine, compared with the catalogue.

use std::io::{self, Write};

use anyhow::Result;
use broadstream_datasets::{Dataset, Health, Verification, catalogue, dataset};
use serde_json::{Value, json};

use super::print_json;
use crate::{args::VerifyArguments, output::failure::to_stdout};

pub(crate) fn verify(arguments: &VerifyArguments) -> Result<()> {
    let data = arguments.folder.data.as_deref();
    let named = !arguments.names.is_empty();
    let datasets: Vec<&'static Dataset> = if named {
        arguments.names.iter().map(|name| dataset(name)).collect::<Result<_, _>>()?
    } else {
        catalogue().iter().collect()
    };
    let mut failed = 0;
    let mut results = Vec::new();
    for dataset in datasets {
        let verification = Verification::of(dataset, data);
        failed += usize::from(match verification.health {
            Health::Same | Health::Generated => false,
            Health::Missing => named,
            Health::Differs(_) | Health::Unreadable(_) => true,
        });
        if arguments.json {
            results.push(verification_json(&verification));
        } else {
            // Each line at once, since a large file takes a while.
            let line = verification_line(&verification);
            to_stdout(io::stdout().write_all(line.as_bytes()))?;
        }
    }
    if arguments.json {
        print_json(results)?;
    }
    match failed {
        0 => Ok(()),
        1 => anyhow::bail!("one dataset is not as the catalogue says"),
        _ => anyhow::bail!("{failed} datasets are not as the catalogue says"),
    }
}

fn verification_line(verification: &Verification) -> String {
    let Verification { dataset, path, health, .. } = verification;
    let what = match health {
        Health::Same => "ok".to_owned(),
        Health::Generated => "ok, made by a generator".to_owned(),
        Health::Missing => format!("missing: 'broadstream datasets fetch {}'", dataset.name),
        Health::Unreadable(reason) => format!("unreadable: {reason}"),
        Health::Differs(found) => {
            let mut parts = Vec::new();
            if found.rows != dataset.rows {
                parts.push(format!("expected {} rows, found {}", dataset.rows, found.rows));
            }
            if found.columns != dataset.columns {
                let expected = dataset.columns;
                parts.push(format!("expected {expected} columns, found {}", found.columns));
            }
            let expected = dataset.file().map_or("none", |file| file.sha256);
            parts.push(format!("expected SHA-256 {expected}, found {}", found.sha256));
            format!("differs: {}", parts.join("; "))
        }
    };
    let path = path.as_ref().map_or(String::new(), |path| format!("{}  ", path.display()));
    format!("{:<15}{path}{what}\n", dataset.name)
}

fn verification_json(verification: &Verification) -> Value {
    let Verification { dataset, path, health, .. } = verification;
    let (state, found, reason) = match health {
        Health::Same => ("ok", None, None),
        Health::Generated => ("generated", None, None),
        Health::Missing => ("missing", None, None),
        Health::Unreadable(reason) => ("unreadable", None, Some(reason)),
        Health::Differs(found) => ("differs", Some(found), None),
    };
    let file = dataset.file().ok();
    json!({
        "name": dataset.name,
        "path": path,
        "state": state,
        "reason": reason,
        "expected": file.map(|file| json!({
            "rows": dataset.rows,
            "columns": dataset.columns,
            "size": file.size,
            "sha256": file.sha256,
        })),
        "found": found.map(|found| json!({
            "rows": found.rows,
            "columns": found.columns,
            "size": found.size,
            "sha256": found.sha256,
        })),
    })
}
