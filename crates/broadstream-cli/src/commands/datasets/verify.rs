//! `broadstream datasets verify`: files on this machine, compared with the catalogue.

use std::io::{self, Write};

use anyhow::Result;
use broadstream_datasets::{Dataset, FileStatus, Verification, catalogue, dataset};
use serde_json::{Value, json};

use super::print_json;
use crate::{
    args::VerifyArguments,
    output::{failure::to_stdout, printable::printable_lines},
};

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
        failed += usize::from(match verification.status {
            FileStatus::Intact | FileStatus::Generated => false,
            FileStatus::Missing => named,
            FileStatus::Differs(_) | FileStatus::Unreadable(_) => true,
        });
        if arguments.json {
            results.push(verification_json(&verification));
        } else {
            // Each line at once, since a large file takes a while.
            let line = printable_lines(&verification_line(&verification));
            to_stdout(io::stdout().write_all(line.as_bytes()))?;
        }
    }
    if arguments.json {
        print_json(results)?;
    }
    match failed {
        0 => Ok(()),
        1 => anyhow::bail!("one dataset does not match the catalogue"),
        _ => anyhow::bail!("{failed} datasets do not match the catalogue"),
    }
}

fn verification_line(verification: &Verification) -> String {
    let Verification { dataset, path, status, .. } = verification;
    let what = match status {
        FileStatus::Intact => "ok".to_owned(),
        FileStatus::Generated => "ok, produced by a generator".to_owned(),
        FileStatus::Missing => format!("missing: 'broadstream datasets fetch {}'", dataset.name),
        FileStatus::Unreadable(reason) => format!("unreadable: {reason}"),
        FileStatus::Differs(found) => {
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
    let Verification { dataset, path, status, .. } = verification;
    let (state, found, reason) = match status {
        FileStatus::Intact => ("ok", None, None),
        FileStatus::Generated => ("generated", None, None),
        FileStatus::Missing => ("missing", None, None),
        FileStatus::Unreadable(reason) => ("unreadable", None, Some(reason)),
        FileStatus::Differs(found) => ("differs", Some(found), None),
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
