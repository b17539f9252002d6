//! `broadstream datasets fetch`: downloads, with progress on the terminal.

use std::{
    error::Error,
    io::{self, Write},
    time::Duration,
};

use anyhow::Result;
use broadstream_datasets::{
    Dataset, DatasetError, FetchObserver, Fetcher, catalogue, dataset, storage_folder,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::{
    args::FetchArguments,
    output::{
        failure::{note_error, to_stdout},
        printable::note,
    },
};

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
    let folder = storage_folder(arguments.folder.data.as_deref())?;
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
    // A server that does not answer is no reason to go without the other datasets.
    let Some(last) = failures.pop() else { return Ok(()) };
    for error in failures {
        note_error(&error);
    }
    Err(last)
}

/// Shows downloads on standard error, with bars if it is a terminal.
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
        // The templates are constants. If one were malformed, the default style would do.
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.progress_chars("━╸ "));
        }
    }
}

impl FetchObserver for DownloadProgress {
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
            let text = format!("{error}{cause}; trying again in {seconds} s");
            self.bar.suspend(|| note(&text));
        }
    }

    fn prepare(&mut self, dataset: &str) {
        self.bar.reset();
        self.bar.unset_length();
        self.show("{spinner} {msg}");
        self.bar.set_message(format!("preparing {dataset}"));
    }
}
