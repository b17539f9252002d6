//! The whole program on a stream: how much of the time is the model's.

use std::{hint::black_box, path::Path, process::Command};

use anyhow::{Context, Result, ensure};
use broadstream::{
    Block, Classifier, OnlineBls, OnlineBlsConfig,
    stream::{
        Stream,
        synth::{Hyperplane, HyperplaneOptions},
    },
};
use serde::{Deserialize, Serialize};

use crate::{
    ours::{self, BLOCK},
    samples::Samples,
    timing::{Key, Row, Schedule},
};

/// The fastest of some runs.
#[derive(Serialize)]
pub(crate) struct Program {
    pub(crate) command: String,
    pub(crate) samples_per_second: f64,
    pub(crate) samples_per_second_median: f64,
    /// Percent of the run that went into reading the stream.
    pub(crate) reading_percent: f64,
    /// Percent of the run that went into features, predicting and learning.
    pub(crate) test_then_train_percent: f64,
    /// Percent of the latter that the features take when timed separately.
    pub(crate) features_percent: f64,
    /// Percent of it that the sweep of a block takes when timed separately.
    pub(crate) sweep_percent: f64,
    pub(crate) runs: usize,
}

/// The fields of the program's own report that are used here.
#[derive(Deserialize)]
struct Report {
    samples: u64,
    seconds: f64,
    times: Times,
}

#[derive(Deserialize)]
struct Times {
    reading: f64,
    test_then_train: f64,
}

pub(crate) fn time(program: &Path, quick: bool, schedule: &Schedule) -> Result<Program> {
    let (samples, runs) = if quick { (1000, 1) } else { (20_000, 5) };
    let source = format!("hyperplane:samples={samples}");
    let mut reports = Vec::new();
    for run in 0..runs {
        eprint!("\rthe whole program, run {} of {runs} ", run + 1);
        reports.push(report(program, &source)?);
    }
    eprintln!();
    ensure!(reports.iter().all(|report| report.samples == samples), "the program lost samples");
    reports.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let (best, middle) = (&reports[0], &reports[reports.len() / 2]);
    let parts = parts(schedule)?;
    let model = best.times.test_then_train / samples as f64;
    Ok(Program {
        command: format!("broadstream run {source} --json"),
        samples_per_second: samples as f64 / best.seconds,
        samples_per_second_median: samples as f64 / middle.seconds,
        reading_percent: 100.0 * best.times.reading / best.seconds,
        test_then_train_percent: 100.0 * best.times.test_then_train / best.seconds,
        features_percent: 100.0 * parts.features / model,
        sweep_percent: 100.0 * parts.sweep / model,
        runs,
    })
}

/// Seconds per sample.
struct Parts {
    features: f64,
    sweep: f64,
}

/// The parts of the program's work on a sample.
fn parts(schedule: &Schedule) -> Result<Parts> {
    let mut model = OnlineBls::new(OnlineBlsConfig::single())?;
    let mut stream = Hyperplane::new(HyperplaneOptions::default())?.take(BLOCK as u64);
    let mut block = Block::new();
    stream.read_block(&mut block, BLOCK)?;
    for input in stream.schema().inputs() {
        model.declare_input(&input.name, input.kind)?;
    }
    model.learn_many(&block)?;
    let samples = Samples::new(model.features());
    let mut rows = [
        Row::new(Key::Features, BLOCK, || {
            black_box(model.features_many(&block).expect("the samples were learned"));
        }),
        ours::sweep(&samples, BLOCK),
    ];
    let timings = schedule.interleave(&mut rows);
    Ok(Parts { features: timings[0].min, sweep: timings[1].min })
}

fn report(program: &Path, source: &str) -> Result<Report> {
    let output = Command::new(program)
        .args(["run", source, "--preset", "single", "--threads", "1", "--json"])
        .output()
        .with_context(|| format!("{} does not start", program.display()))?;
    let message = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{} failed: {}", program.display(), message.trim());
    serde_json::from_slice(&output.stdout).context("the program's JSON is not as expected")
}
