//! Interleaved timing: each round measures every row once.
//!
//! A shared machine has slow minutes. If each row were timed on its own, such a minute would hit
//! one row and distort its ratios; measured in turns, all rows are affected alike. The minimum is
//! what the row can do, the median what it does.

use std::time::{Duration, Instant};

/// Work that is timed, with its own state.
pub(crate) struct Row<'a> {
    pub(crate) key: Key,
    /// The number of samples per call.
    samples: usize,
    call: Box<dyn FnMut() + 'a>,
}

/// The kind of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// Reading and writing as many bytes as the factor has.
    Pass,
    /// Predicting and learning one by one.
    Sweep,
    /// The same in blocks of that size.
    Block(usize),
    /// The same with that many threads, in the larger blocks.
    Threads(usize),
    /// The same one by one with the weights kept up to date.
    Kept,
    Predict,
    /// Predicting with kept weights.
    PredictKept,
    /// Adding to the matrix that is kept for forgetting.
    GramAdd,
    /// Building the factor from that matrix; per call, not per sample.
    Refactor,
    /// Sweeping one by one, with the gain corrected by that many steps for a decayed ridge.
    Corrected(usize),
    /// The enhancement nodes' tanh, and the standard library's.
    Activation,
    LibraryActivation,
    /// The features of a block, from inputs on.
    Features,
    /// Another library, by name.
    Peer(String),
    /// Forgetting by a factorisation for every sample, by the library's name.
    Literal(String),
}

/// How long and how often to measure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    pub(crate) rounds: usize,
    /// A measurement repeats its call until it should take this long.
    pub(crate) measurement: Duration,
    /// A row that has taken this long is skipped in later rounds, once it has `LEAST_ROUNDS`.
    pub(crate) budget: Duration,
}

const LEAST_ROUNDS: usize = 3;

/// Seconds per sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub(crate) min: f64,
    pub(crate) median: f64,
    pub(crate) rounds: usize,
}

impl<'a> Row<'a> {
    pub(crate) fn new(key: Key, samples: usize, call: impl FnMut() + 'a) -> Self {
        Row { key, samples, call: Box::new(call) }
    }
}

impl Schedule {
    /// Times the rows in turns; the results are in the rows' order.
    pub(crate) fn interleave(&self, rows: &mut [Row<'_>]) -> Vec<Timing> {
        let calls: Vec<usize> = rows.iter_mut().map(|row| self.calls(row)).collect();
        let mut seconds = vec![Vec::new(); rows.len()];
        let mut spent = vec![Duration::ZERO; rows.len()];
        for round in 0..self.rounds {
            eprint!("\r  round {} of {} ", round + 1, self.rounds);
            for (i, row) in rows.iter_mut().enumerate() {
                if spent[i] > self.budget && seconds[i].len() >= LEAST_ROUNDS {
                    continue;
                }
                let elapsed = measure(row, calls[i]);
                spent[i] += elapsed;
                seconds[i].push(elapsed.as_secs_f64() / (calls[i] * row.samples) as f64);
            }
        }
        eprintln!();
        seconds.into_iter().map(Timing::of).collect()
    }

    /// Seconds per sample of one measurement of one row.
    pub(crate) fn measure(&self, row: &mut Row<'_>) -> f64 {
        let calls = self.calls(row);
        measure(row, calls).as_secs_f64() / (calls * row.samples) as f64
    }

    /// How many calls fill a measurement.
    fn calls(&self, row: &mut Row<'_>) -> usize {
        let once = measure(row, 1).max(Duration::from_nanos(100));
        (self.measurement.as_nanos() / once.as_nanos()).clamp(1, 10_000) as usize
    }
}

/// Other rows have evicted this one from the caches. In a stream, a row's state is where its last
/// sample left it, so an uncounted call comes first, unless it would be the larger part.
fn measure(row: &mut Row<'_>, calls: usize) -> Duration {
    if calls > 1 {
        (row.call)();
    }
    let started = Instant::now();
    for _ in 0..calls {
        (row.call)();
    }
    started.elapsed()
}

impl Timing {
    pub(crate) fn of(mut seconds: Vec<f64>) -> Timing {
        seconds.sort_by(f64::total_cmp);
        let middle = seconds.len() / 2;
        let median = if seconds.len() % 2 == 1 {
            seconds[middle]
        } else {
            (seconds[middle - 1] + seconds[middle]) / 2.0
        };
        Timing { min: seconds[0], median, rounds: seconds.len() }
    }

    /// The time of this and a share of the other.
    pub(crate) fn plus(self, other: Timing, share: f64) -> Timing {
        Timing {
            min: self.min + share * other.min,
            median: self.median + share * other.median,
            rounds: self.rounds.min(other.rounds),
        }
    }
}
