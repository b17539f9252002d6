//! Carries out runs, several in parallel, and stores the record of each as soon as it has finished.

use std::{
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, bail};
use broadstream::Preset;
use broadstream::{Evaluator, Observer, PrequentialOptions, metrics::Metrics};
use broadstream_report::Record;
use broadstream_store::write_bytes;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{
    peer,
    plan::{PlannedMethod, PlannedRun},
};
use crate::{
    args::{BadUsage, ModelArguments},
    build::{model, source::Source},
    output::{
        failure::{is_bad_usage, note_error},
        machine,
        printable::printable,
        record,
    },
};

/// How runs are carried out.
pub(crate) struct Runner<'a> {
    pub(crate) experiment: &'a str,
    pub(crate) records: PathBuf,
    pub(crate) jobs: usize,
    pub(crate) quiet: bool,
    /// The folder of the program that runs other libraries' learners.
    pub(crate) peers: PathBuf,
}

impl Runner<'_> {
    /// Carries out the runs that have no record yet, and returns all records in the order of the runs. If a
    /// run fails, its failure is printed, and the others are still carried out.
    pub(crate) fn run(&self, runs: &[PlannedRun]) -> Result<Vec<Record>> {
        fs::create_dir_all(&self.records)
            .with_context(|| format!("creating {}", self.records.display()))?;
        let progress = Progress::new(runs.len(), self.quiet);
        let next = AtomicUsize::new(0);
        let failures = Mutex::new(Vec::new());
        let results: Vec<Mutex<Option<Record>>> = runs.iter().map(|_| Mutex::new(None)).collect();
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.min(runs.len()) {
                scope.spawn(|| {
                    while let Some((index, run)) = Some(next.fetch_add(1, Ordering::Relaxed))
                        .and_then(|i| Some((i, runs.get(i)?)))
                    {
                        match self.record(run, &progress) {
                            Ok(record) => *lock(&results[index]) = Some(record),
                            Err(error) => {
                                let error = error.context(run.title());
                                progress.bars.suspend(|| note_error(&error));
                                lock(&failures).push(is_bad_usage(&error));
                            }
                        }
                        progress.all.inc(1);
                    }
                });
            }
        });
        progress.all.finish_and_clear();
        let failures = failures.into_inner().unwrap_or_default();
        if let Some(first_is_bad_usage) = failures.first() {
            let (count, all) = (failures.len(), runs.len());
            let rule = format!(
                "{count} of {all} runs failed; the others are kept and will not be repeated"
            );
            return Err(if *first_is_bad_usage { BadUsage(rule).into() } else { anyhow!(rule) });
        }
        let unlocked = results.into_iter().map(|result| result.into_inner().ok().flatten());
        Ok(unlocked.flatten().collect())
    }

    /// The record of a run: the stored one, or that of carrying it out, which is then stored.
    fn record(&self, run: &PlannedRun, progress: &Progress) -> Result<Record> {
        let path = run.file(&self.records);
        if let Some(record) = stored(&path)? {
            return Ok(record);
        }
        let bar = progress.bar(&run.title());
        let mut record = match &run.contestant {
            PlannedMethod::Model(arguments) => evaluate_model(run, arguments, &bar),
            PlannedMethod::Peer(method) => peer::run(run, method, &self.peers),
        }?;
        bar.finish_and_clear();
        self.experiment.clone_into(&mut record.experiment);
        record.stream.clone_from(&run.stream);
        record.method.clone_from(&run.method);
        record.seed = run.seed;
        record.parameters.clone_from(&run.parameters);
        record.stopped.clone_from(&run.prefix);
        record.machine = machine::name();
        store(&path, &record)?;
        Ok(record)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The record that is stored in a file; `None` if there is no such file.
fn stored(path: &Path) -> Result<Option<Record>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    };
    let mut records = Record::read(&text, &path.display().to_string())?;
    match (records.pop(), records.is_empty()) {
        (Some(record), true) => Ok(Some(record)),
        _ => bail!("{}: expected one record; remove the file to repeat the run", path.display()),
    }
}

fn store(path: &Path, record: &Record) -> Result<()> {
    let text = serde_json::to_string(record)? + "\n";
    Ok(write_bytes(path, text.as_bytes())?)
}

fn evaluate_model(
    run: &PlannedRun,
    arguments: &ModelArguments,
    bar: &ProgressBar,
) -> Result<Record> {
    let source = Source::parse(&run.source)?;
    let mut opened = source.open(&run.input, arguments.preset)?;
    let mut model = model::build(arguments, &source, &run.input, &*opened.stream)?;
    let samples = samples(run, &source, arguments.preset, opened.stream.remaining())?;
    bar.set_length(samples.unwrap_or(0));
    let options = PrequentialOptions {
        limit: run.input.limit,
        curve_every: Some(samples.map_or(1000, |samples| (samples / run.curve_points).max(1))),
        separate_times: run.times,
        ..PrequentialOptions::default()
    };
    let start = Instant::now();
    let mut observer = RunObserver { bar, shown: Duration::ZERO, start };
    let clock = || start.elapsed();
    let evaluation = Evaluator::new(&options)?
        .with_clock(&clock)
        .run(&mut *opened.stream, model.classifier_mut(), &mut observer)
        .with_context(|| source.name())?;
    Ok(record::of(&evaluation, model.config))
}

/// How many samples the run will have, if that can be determined without much work. Curves then have their
/// points at the same samples for all methods and seeds.
fn samples(
    run: &PlannedRun,
    source: &Source,
    preset: Preset,
    remaining: Option<u64>,
) -> Result<Option<u64>> {
    let known = match (remaining, run.input.limit) {
        (Some(samples), Some(limit)) => Some(samples.min(limit)),
        (Some(samples), None) => Some(samples),
        // The rows of a file are counted: a limit beyond its end would leave a curve with few points.
        (None, limit) if source.can_reopen() => {
            let mut opened = source.open(&run.input, preset)?;
            let mut block = broadstream::Block::new();
            let mut samples = 0;
            while limit.is_none_or(|limit| samples < limit) {
                block.clear();
                match opened.stream.read_block(&mut block, 1024)? {
                    0 => break,
                    read => samples += read as u64,
                }
            }
            Some(limit.map_or(samples, |limit| samples.min(limit)))
        }
        (None, limit) => limit,
    };
    Ok(known)
}

/// Shows the progress of one run.
struct RunObserver<'a> {
    bar: &'a ProgressBar,
    shown: Duration,
    start: Instant,
}

impl Observer for RunObserver<'_> {
    fn block(&mut self, metrics: &Metrics) -> ControlFlow<()> {
        let now = self.start.elapsed();
        if now - self.shown > Duration::from_millis(100) {
            self.shown = now;
            self.bar.set_position(metrics.confusion().samples());
        }
        ControlFlow::Continue(())
    }
}

/// A bar for all runs, and one for each that is in progress.
struct Progress {
    bars: MultiProgress,
    all: ProgressBar,
}

impl Progress {
    fn new(runs: usize, quiet: bool) -> Self {
        let bars = MultiProgress::new();
        if quiet {
            bars.set_draw_target(ProgressDrawTarget::hidden());
        }
        let style = "{bar:30} {pos} of {len} runs, {elapsed_precise} gone, about {eta} left";
        let all =
            bars.add(ProgressBar::new(runs as u64).with_style(
                ProgressStyle::with_template(style).expect("the template is well-formed"),
            ));
        Progress { bars, all }
    }

    fn bar(&self, title: &str) -> ProgressBar {
        let style = "  {bar:28} {percent:>3} %  {msg}";
        let bar = ProgressBar::new(0)
            .with_message(printable(title).into_owned())
            .with_style(ProgressStyle::with_template(style).expect("the template is well-formed"));
        self.bars.insert_before(&self.all, bar)
    }
}
