//! Progress on standard error with the accuracy so far, if standard error is a terminal.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use broadstream::metrics::{Metrics, oca};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::build::source::Opened;

/// A progress bar over samples, or over a file's bytes when the number of samples is unknown.
pub(crate) struct Progress {
    bar: ProgressBar,
    bytes: Option<Arc<AtomicU64>>,
}

impl Progress {
    pub(crate) fn new(opened: &Opened, limit: Option<u64>, quiet: bool) -> Self {
        let samples = match (opened.stream.remaining(), limit) {
            (Some(remaining), Some(limit)) => Some(remaining.min(limit)),
            (remaining, limit) => remaining.or(limit),
        };
        let (length, bytes) = match (samples, &opened.bytes) {
            (Some(samples), _) => (Some(samples), None),
            (None, Some((size, read))) => (Some(*size), Some(Arc::clone(read))),
            (None, None) => (None, None),
        };
        let target = if quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(10)
        };
        let bar = ProgressBar::with_draw_target(length, target);
        let template = match length {
            Some(_) => "{bar:30} {percent:>3} %  {msg}  eta {eta}",
            None => "{spinner} {msg}  {elapsed}",
        };
        // The templates are constants. If one were malformed, the default style would do.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("━╸ "));
        }
        Progress { bar, bytes }
    }

    pub(crate) fn show(&self, metrics: &Metrics, elapsed: Duration) {
        let samples = metrics.confusion().samples();
        let done = self.bytes.as_ref().map_or(samples, |bytes| bytes.load(Ordering::Relaxed));
        self.bar.set_position(done);
        let rate = samples as f64 / elapsed.as_secs_f64().max(1e-9);
        let accuracy = 100.0 * oca(metrics.confusion());
        self.bar.set_message(format!("{samples} samples  accuracy {accuracy:.2} %  {rate:.0}/s"));
    }

    /// Shows how many samples were added up, where none is predicted.
    pub(crate) fn show_added(&self, samples: u64, elapsed: Duration) {
        let done = self.bytes.as_ref().map_or(samples, |bytes| bytes.load(Ordering::Relaxed));
        self.bar.set_position(done);
        let rate = samples as f64 / elapsed.as_secs_f64().max(1e-9);
        self.bar.set_message(format!("{samples} samples  {rate:.0}/s"));
    }

    /// Shows how many samples a resumed run has passed over: those before its checkpoint.
    pub(crate) fn show_passed(&self, samples: u64) {
        let done = self.bytes.as_ref().map_or(samples, |bytes| bytes.load(Ordering::Relaxed));
        self.bar.set_position(done);
        self.bar.set_message(format!("passing over {samples} samples"));
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
