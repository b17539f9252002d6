//! A simulation of everything that may happen to a model.
//!
//! A seed draws a configuration and then a sequence of operations: samples are learned, predicted, unlearned
//! and corrected, inputs and classes appear, models are merged, files are saved while the disk fails,
//! programs are killed and started again, the power fails. After each of them the model must be the one it
//! should be:
//!
//! - to the bit, the one of a twin that was never saved or killed and learned the same samples one by one;
//! - within 1e-7, the one that a refit in 300 bits gives on all samples that are to be remembered, or else
//!   it says that it is not, or the operation was refused;
//! - after a refusal, to the bit the one it was before;
//! - after a kill, the one that was last saved or, with a journal, that was last acknowledged.
//!
//! `BROADSTREAM_SEEDS` sets how many seeds there are, and `BROADSTREAM_SEED` runs one alone.

mod change;
mod dice;
mod problem;
mod reference;
#[expect(dead_code, reason = "the library's own tests use more of it")]
#[path = "../../../broadstream/tests/exact/refit.rs"]
mod refit;
mod refusal;
mod run;
mod sample;
mod state;
mod storage;
mod tally;

use std::{
    env,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use self::{run::Run, tally::Tally};

/// How many seeds there are by default.
const SEEDS: u64 = 300;

#[test]
fn whatever_happens_the_model_is_the_one_it_should_be() {
    let number = |name: &str| env::var(name).ok().and_then(|value| value.parse().ok());
    if let Some(seed) = number("BROADSTREAM_SEED") {
        println!("{}", simulate(seed).expect("the seed failed"));
        return;
    }
    let seeds = number("BROADSTREAM_SEEDS").unwrap_or(SEEDS);
    let (next, total) = (AtomicU64::new(0), Mutex::new(Some(Tally::default())));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds {
                break;
            }
            let tally = simulate(seed);
            if tally.is_none() {
                // The others need not go on.
                next.store(seeds, Ordering::Relaxed);
            }
            let mut total = total.lock().expect("additions do not panic");
            *total = total.zip(tally).map(|(total, tally)| total + tally);
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let total = total.into_inner().expect("additions do not panic").expect("a seed failed");
    println!("{total}");
    if seeds >= SEEDS {
        total.check();
    }
}

#[test]
fn seeds_that_once_found_a_wrong_estimate_pass() {
    // A merged model that unlearned samples, the weights that a refresh keeps, and an error that samples
    // of a new input hid.
    for seed in [571, 1302, 2115] {
        assert!(simulate(seed).is_some(), "seed {seed} failed");
    }
}

/// Runs a seed. If it fails, prints what has led there.
fn simulate(seed: u64) -> Option<Tally> {
    let (mut tally, mut operations) = (Tally { seeds: 1, ..Tally::default() }, Vec::new());
    let run = || Run::new(seed, &mut tally, &mut operations).finish();
    if catch_unwind(AssertUnwindSafe(run)).is_ok() {
        return Some(tally);
    }
    eprintln!("seed {seed} failed at operation {}:", operations.len());
    for (i, operation) in operations.iter().enumerate() {
        eprintln!("{:>4} {operation}", i + 1);
    }
    eprintln!(
        "run it alone: BROADSTREAM_SEED={seed} cargo test -p broadstream-store --all-features \
         simulation -- --nocapture"
    );
    None
}
