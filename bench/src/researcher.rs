//! What a researcher would run with numpy and scipy, in a process of its own.
//!
//! Rounds of the script alternate with measurements of the sweep, so that both see the same
//! machine, and the ratio is computed from those.

use std::{collections::BTreeMap, path::Path, process::Command};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use crate::{
    ours,
    samples::Samples,
    timing::{Schedule, Timing},
};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/researcher.py");

/// The orders at which the script is timed: at larger ones a sample takes seconds.
pub(crate) const ORDERS: [usize; 2] = [300, 1100];

pub(crate) struct Researcher {
    pub(crate) sweep: Timing,
    pub(crate) ways: Vec<(String, Timing)>,
    pub(crate) versions: BTreeMap<String, String>,
}

/// The output of the script.
#[derive(Deserialize)]
struct Answer {
    versions: BTreeMap<String, String>,
    ways: Vec<Way>,
}

#[derive(Deserialize)]
struct Way {
    name: String,
    /// Seconds per sample.
    seconds: Vec<f64>,
}

pub(crate) fn time(python: &Path, samples: &Samples, schedule: &Schedule) -> Result<Researcher> {
    let rounds = schedule.rounds.min(5);
    let mut row = ours::sweep(samples, 1);
    let mut sweep = Vec::new();
    let mut ways: Vec<(String, Vec<f64>)> = Vec::new();
    let mut versions = BTreeMap::new();
    for round in 0..rounds {
        eprint!("\r  round {} of {rounds} with Python ", round + 1);
        sweep.push(schedule.measure(&mut row));
        let answer = run(python, samples.order())?;
        versions = answer.versions;
        ways.resize_with(answer.ways.len(), Default::default);
        for (all, way) in ways.iter_mut().zip(answer.ways) {
            ensure!(!way.seconds.is_empty(), "{SCRIPT} timed nothing for '{}'", way.name);
            all.0 = way.name;
            all.1.extend(way.seconds);
        }
    }
    eprintln!();
    Ok(Researcher {
        sweep: Timing::of(sweep),
        ways: ways.into_iter().map(|(name, seconds)| (name, Timing::of(seconds))).collect(),
        versions,
    })
}

fn run(python: &Path, order: usize) -> Result<Answer> {
    let output = Command::new(python)
        .arg(SCRIPT)
        .arg(order.to_string())
        .env("OPENBLAS_NUM_THREADS", "1")
        .env("OMP_NUM_THREADS", "1")
        .output()
        .with_context(|| format!("{} does not start", python.display()))?;
    if !output.status.success() {
        bail!("researcher.py failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("researcher.py printed something unexpected")
}
