//! `broadstream datasets`: what the catalogue has, and what of it is on this machine.

use std::{
    error::Error,
    io::{self, Write},
    path::Path,
    time::Duration,
};

use anyhow::Result;
use broadstream_datasets::{
    Dataset, DatasetError, Fetcher, Health, Origin, Verification, Watcher, catalogue, dataset,
    find, folder_to_store_in,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};

use crate::{
    args::{FetchArguments, ListArguments, VerifyArguments},
    output::failure::to_stdout,
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
    to_stdout(io::stdout().write_all(text.as_bytes()))
}

pub(crate) fn fetch(arguments: &FetchArguments) -> Result<()> {
    let datasets: Vec<&Dataset> = if arguments.all {
        catalogue().iter().filter(|dataset| dataset.file().is_ok()).collect()
    } else {
        // Names are checked before the first download.
        arguments.names.iter().map(|name| dataset(name)).collect::<Result<_, _>>()?
    };
    for dataset in &datasets {
        dataset.file()?;
    }
    let folder = folder_to_store_in(arguments.folder.data.as_deref())?;
    let fetcher = Fetcher {
        mirror: arguments.mirror.clone(),
        retries: arguments.retries,
        size_limit: arguments.size_limit,
        ..Fetcher::default()
    };
    let mut progress = DownloadProgress::new(arguments.quiet);
    let mut failures = Vec::new();
    for dataset in &datasets {
        let outcome = fetcher.fetch(dataset, &folder, &mut progress);
        progress.bar.finish_and_clear();
        match outcome {
            Ok(path) => {
                let line = format!("{}\n", path.display());
                to_stdout(io::stdout().write_all(line.as_bytes()))?;
            }
            Err(error) => failures.push(anyhow::Error::from(error).context(dataset.name)),
        }
    }
    // One publisher that does not answer is no reason to go without the others.
    let Some(last) = failures.pop() else { return Ok(()) };
    for error in failures {
        eprintln!("error: {error:#}");
    }
    Err(last)
}

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
            // Line by line, since a large file takes a while.
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

fn print_json(values: impl IntoIterator<Item = Value>) -> Result<()> {
    let text = format!("{:#}\n", Value::from_iter(values));
    to_stdout(io::stdout().write_all(text.as_bytes()))
}

/// Shows downloads on standard error; bars only where that is a terminal.
struct DownloadProgress {
    bar: ProgressBar,
    quiet: bool,
}

impl DownloadProgress {
    fn new(quiet: bool) -> Self {
        let target = if quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(10)
        };
        DownloadProgress { bar: ProgressBar::with_draw_target(None, target), quiet }
    }

    fn show(&self, template: &str) {
        // The templates are constants; were one wrong, the default style would serve.
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.progress_chars("━╸ "));
        }
    }
}

impl Watcher for DownloadProgress {
    fn begin(&mut self, file: &str, have: u64, total: Option<u64>) {
        self.bar.reset();
        match total {
            Some(total) => {
                self.bar.set_length(total);
                self.show("{msg}  {bar:30} {bytes}/{total_bytes}  {bytes_per_sec}  eta {eta}");
            }
            None => {
                self.bar.unset_length();
                self.show("{spinner} {msg}  {bytes}  {bytes_per_sec}");
            }
        }
        self.bar.set_message(file.to_owned());
        self.bar.set_position(have);
    }

    fn advance(&mut self, bytes: u64) {
        self.bar.inc(bytes);
    }

    fn retry(&mut self, error: &DatasetError, pause: Duration) {
        if !self.quiet {
            let cause = error.source().map_or(String::new(), |cause| format!(": {cause}"));
            let seconds = pause.as_secs_f64();
            self.bar.suspend(|| eprintln!("{error}{cause}; trying again in {seconds} s"));
        }
    }

    fn prepare(&mut self, dataset: &str) {
        self.bar.reset();
        self.bar.unset_length();
        self.show("{spinner} {msg}");
        self.bar.set_message(format!("preparing {dataset}"));
    }
}
