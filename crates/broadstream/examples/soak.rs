//! Millions of updates of a factor, and the rounding error at the end.
//!
//! Each run learns in blocks and ends with a refit: another library solves the regression again,
//! from sums that were kept separately. These are exact to about 1e-15, since blocks of 64 samples
//! are added up in pairs of numbers, the second of which holds what the first rounds off. A run
//! fails if weights or predictions are further than 1e-7 from the refit.
//!
//! ```text
//! cargo run --release --example soak -p broadstream            # minutes
//! cargo run --release --example soak -p broadstream -- --quick # a hundredth of it
//! ```

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use broadstream::{
    Error,
    factor::{Factor, Gram, Probe, Update},
};
use faer::{Mat, linalg::solvers::Solve};

const BLOCK: usize = 64;
const TARGETS: usize = 3;
const RIDGE: f64 = 1.0;
/// A regression that forgets is refreshed after this many blocks, at a quarter of its ridge.
const BLOCKS_PER_REFRESH: u64 = 21;
const WINDOW: usize = 1_000;
const LARGEST_DISTANCE: f64 = 1e-7;

fn main() -> ExitCode {
    let options: Vec<String> = std::env::args().skip(1).collect();
    let share = match options.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => 1,
        ["--quick"] => 100,
        _ => {
            eprintln!("the only option is --quick, got {}", options.join(" "));
            return ExitCode::from(2);
        }
    };
    let runs = [
        Run { order: 100, updates: 10_000_000, kind: Kind::Sweeps { forgetting: 1.0 } },
        Run { order: 100, updates: 10_000_000, kind: Kind::Sweeps { forgetting: 0.999 } },
        Run { order: 300, updates: 1_000_000, kind: Kind::Sweeps { forgetting: 1.0 } },
        Run { order: 300, updates: 1_000_000, kind: Kind::Sweeps { forgetting: 0.999 } },
        Run { order: 100, updates: 5_000_000, kind: Kind::Slides },
    ];
    println!("order  kind               updates    per second  residual  weights  predictions");
    let mut sound = true;
    for run in runs {
        let run = Run { updates: run.updates / share, ..run };
        let began = Instant::now();
        let ended = match run.kind {
            Kind::Sweeps { forgetting } => sweeps(&run, forgetting),
            Kind::Slides => slides(&run),
        };
        match ended {
            Ok(ended) => sound &= ended.report(&run, began.elapsed()),
            Err(error) => {
                println!("{:5}  {:17}  failed: {error}", run.order, run.kind.name());
                sound = false;
            }
        }
    }
    if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

struct Run {
    order: usize,
    updates: u64,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Sweeps { forgetting: f64 },
    Slides,
}

impl Kind {
    fn name(self) -> String {
        match self {
            Kind::Sweeps { forgetting: 1.0 } => "no forgetting".to_owned(),
            Kind::Sweeps { forgetting } => format!("forgetting {forgetting}"),
            Kind::Slides => format!("window of {WINDOW}"),
        }
    }
}

/// The progress of a run.
struct Ended {
    residual: f64,
    weights: f64,
    predictions: f64,
}

impl Ended {
    /// At a factor that is no longer usable.
    const BROKEN: Self =
        Ended { residual: f64::INFINITY, weights: f64::INFINITY, predictions: f64::INFINITY };

    fn new(factor: &Factor, probe: &Probe, refit: &Mat<f64>, stream: &mut Stream) -> Self {
        let weights = factor.weights();
        let expected: Vec<f64> = (0..factor.order() * TARGETS)
            .map(|place| refit[(place / TARGETS, place % TARGETS)])
            .collect();
        let (mut scores, mut expected_scores) = (Vec::new(), Vec::new());
        for _ in 0..16 {
            let block = stream.block();
            for row in block.features.chunks_exact(factor.order()) {
                scores.extend(predict(row, &weights));
                expected_scores.extend(predict(row, &expected));
            }
        }
        Ended {
            residual: probe.check(factor).residual,
            weights: distance(&weights, &expected),
            predictions: distance(&scores, &expected_scores),
        }
    }

    /// Prints a line of the table, and returns whether the run passed.
    fn report(&self, run: &Run, time: Duration) -> bool {
        let rate = run.updates as f64 / time.as_secs_f64();
        let Ended { residual, weights, predictions } = self;
        println!(
            "{:5}  {:17} {:9}  {rate:12.0}  {residual:8.1e}  {weights:7.1e}  {predictions:11.1e}",
            run.order,
            run.kind.name(),
            run.updates,
        );
        // NaN is not a success.
        [weights, predictions].iter().all(|distance| **distance <= LARGEST_DISTANCE)
    }
}

/// Learns all samples; a factor that forgets is refreshed as in a model.
fn sweeps(run: &Run, mu: f64) -> Result<Ended, Error> {
    let order = run.order;
    let mut stream = Stream::new(order);
    let mut factor = Factor::new(order, RIDGE / mu);
    factor.add_targets(TARGETS);
    let mut probe = Probe::new(order, RIDGE / mu);
    let mut gram = Gram::new(order);
    let mut reference = Reference::new(order, RIDGE / mu);
    let mut progress = Progress::new(run);
    let mut scores = vec![0.0; BLOCK * TARGETS];
    for block_number in 1..=run.updates / BLOCK as u64 {
        let block = stream.block();
        let update = block.update(mu);
        factor.sweep(update, &mut scores)?;
        probe.learn(update)?;
        let faded: Vec<f64> = block.faded_weights(mu).collect();
        reference.fade(mu.powi(BLOCK as i32));
        reference.add(&block.features, &block.targets, &faded);
        if mu < 1.0 {
            gram.scale(mu.powi(BLOCK as i32));
            gram.add(&block.features, &faded)?;
            if block_number % BLOCKS_PER_REFRESH == 0 {
                let ridge = RIDGE / mu;
                factor.refactor(&gram, ridge)?;
                probe.ridge_was_raised(&factor, ridge);
                reference.restore_ridge(ridge);
            }
        }
        progress.show(block_number * BLOCK as u64);
    }
    Ok(Ended::new(&factor, &probe, &reference.refit(), &mut stream))
}

/// Slides a window over all samples.
fn slides(run: &Run) -> Result<Ended, Error> {
    let order = run.order;
    let mut stream = Stream::new(order);
    let mut factor = Factor::new(order, RIDGE);
    factor.add_targets(TARGETS);
    let mut probe = Probe::new(order, RIDGE);
    let mut window = Block::default();
    let mut progress = Progress::new(run);
    let mut scores = vec![0.0; BLOCK * TARGETS];
    for block_number in 1..=run.updates / BLOCK as u64 {
        let block = stream.block();
        let taken = (window.weights.len() + BLOCK).saturating_sub(WINDOW);
        let removed = window.take(taken, order);
        if !factor.slide(block.update(1.0), removed.update(1.0), &mut scores)?.is_sound {
            return Ok(Ended::BROKEN);
        }
        probe.learn(block.update(1.0))?;
        probe.unlearn(removed.update(1.0))?;
        window.append(block);
        progress.show(block_number * BLOCK as u64);
    }
    let mut reference = Reference::new(order, RIDGE);
    for start in (0..window.weights.len()).step_by(BLOCK) {
        let end = window.weights.len().min(start + BLOCK);
        let features = &window.features[start * order..end * order];
        let targets = &window.targets[start * TARGETS..end * TARGETS];
        reference.add(features, targets, &window.weights[start..end]);
    }
    Ok(Ended::new(&factor, &probe, &reference.refit(), &mut stream))
}

/// Samples of correlated features; the class is the largest of three functions of them, with noise.
struct Stream {
    order: usize,
    state: u64,
}

#[derive(Default)]
struct Block {
    features: Vec<f64>,
    targets: Vec<f64>,
    weights: Vec<f64>,
}

impl Stream {
    fn new(order: usize) -> Self {
        Stream { order, state: order as u64 }
    }

    /// Uniform on [-1, 1), by SplitMix64.
    fn draw(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn block(&mut self) -> Block {
        let mut block = Block::default();
        for _ in 0..BLOCK {
            let (common, mut sums) = (self.draw(), [0.0; TARGETS]);
            for j in 0..self.order {
                let feature = 0.5 * common + self.draw();
                sums[j % TARGETS] += feature;
                block.features.push(feature);
            }
            let noisy = sums.map(|sum| sum + 2.0 * self.draw());
            let largest = noisy.iter().fold(f64::MIN, |largest, sum| largest.max(*sum));
            block.targets.extend(noisy.map(|sum| f64::from(u8::from(sum == largest))));
            block.weights.push(1.0 + 0.5 * self.draw());
        }
        block
    }
}

impl Block {
    fn update(&self, forgetting: f64) -> Update<'_> {
        let Block { features, targets, weights } = self;
        Update { features, targets, weights, forgetting }
    }

    /// The weights of the samples once the whole block is learned.
    fn faded_weights(&self, mu: f64) -> impl Iterator<Item = f64> {
        let samples = self.weights.len() as i32;
        (1..).zip(&self.weights).map(move |(i, weight)| weight * mu.powi(samples - i))
    }

    /// Removes and returns the first samples.
    fn take(&mut self, samples: usize, order: usize) -> Block {
        Block {
            features: self.features.drain(..samples * order).collect(),
            targets: self.targets.drain(..samples * TARGETS).collect(),
            weights: self.weights.drain(..samples).collect(),
        }
    }

    fn append(&mut self, block: Block) {
        self.features.extend(block.features);
        self.targets.extend(block.targets);
        self.weights.extend(block.weights);
    }
}

/// P and Q in twice the precision, row by row: each row has the lower triangle of P, then Q.
struct Reference {
    order: usize,
    ridge: f64,
    /// Each sum, and what it has rounded off.
    sums: Vec<(f64, f64)>,
    /// The sums of one block.
    block: Vec<f64>,
}

impl Reference {
    fn new(order: usize, ridge: f64) -> Self {
        let entries = order * (order + 1) / 2 + order * TARGETS;
        Reference { order, ridge, sums: vec![(0.0, 0.0); entries], block: vec![0.0; entries] }
    }

    fn add(&mut self, features: &[f64], targets: &[f64], weights: &[f64]) {
        self.block.fill(0.0);
        let rows = features.chunks_exact(self.order).zip(targets.chunks_exact(TARGETS));
        for ((a, y), weight) in rows.zip(weights) {
            let mut rest = self.block.as_mut_slice();
            for (i, a_i) in a.iter().enumerate() {
                let (row, others) = rest.split_at_mut(i + 1 + TARGETS);
                let (p, q) = row.split_at_mut(i + 1);
                let weighted = weight * a_i;
                p.iter_mut().zip(a).for_each(|(p, a)| *p += weighted * a);
                q.iter_mut().zip(y).for_each(|(q, y)| *q += weighted * y);
                rest = others;
            }
        }
        for (sum, x) in self.sums.iter_mut().zip(&self.block) {
            add_exactly(sum, *x);
        }
    }

    fn fade(&mut self, share: f64) {
        if share == 1.0 {
            return;
        }
        self.ridge *= share;
        for (sum, rest) in &mut self.sums {
            let product = *sum * share;
            *rest = rest.mul_add(share, sum.mul_add(share, -product));
            *sum = product;
        }
    }

    /// Raises the ridge and keeps the weights, as a refresh does: Q follows.
    fn restore_ridge(&mut self, ridge: f64) {
        let weights = self.refit();
        for i in 0..self.order {
            let q = self.place(i) + i + 1;
            for k in 0..TARGETS {
                add_exactly(&mut self.sums[q + k], (ridge - self.ridge) * weights[(i, k)]);
            }
        }
        self.ridge = ridge;
    }

    fn refit(&self) -> Mat<f64> {
        let entry = |place: usize| self.sums[place].0 + self.sums[place].1;
        let k = Mat::from_fn(self.order, self.order, |i, j| {
            let ridge = if i == j { self.ridge } else { 0.0 };
            entry(self.place(i.max(j)) + i.min(j)) + ridge
        });
        let q = Mat::from_fn(self.order, TARGETS, |i, k| entry(self.place(i) + i + 1 + k));
        k.llt(faer::Side::Lower).expect("a sum of squares and a ridge").solve(q)
    }

    /// Where a row starts.
    fn place(&self, i: usize) -> usize {
        i * (i + 1) / 2 + i * TARGETS
    }
}

/// Knuth's two-sum.
fn add_exactly((sum, rest): &mut (f64, f64), x: f64) {
    let total = *sum + x;
    let added = total - *sum;
    *rest += (*sum - (total - added)) + (x - added);
    *sum = total;
}

fn predict(row: &[f64], weights: &[f64]) -> [f64; TARGETS] {
    let mut scores = [0.0; TARGETS];
    for (a, weights) in row.iter().zip(weights.chunks_exact(TARGETS)) {
        scores.iter_mut().zip(weights).for_each(|(score, weight)| *score += a * weight);
    }
    scores
}

/// ‖found − expected‖ / ‖expected‖.
fn distance(found: &[f64], expected: &[f64]) -> f64 {
    let difference: f64 = found.iter().zip(expected).map(|(x, y)| (x - y) * (x - y)).sum();
    (difference / expected.iter().map(|y| y * y).sum::<f64>()).sqrt()
}

/// Reports the progress of a run from time to time.
struct Progress<'a> {
    run: &'a Run,
    began: Instant,
    shown: Instant,
}

impl<'a> Progress<'a> {
    fn new(run: &'a Run) -> Self {
        Progress { run, began: Instant::now(), shown: Instant::now() }
    }

    fn show(&mut self, done: u64) {
        if self.shown.elapsed() > Duration::from_secs(2) {
            let rate = done as f64 / self.began.elapsed().as_secs_f64();
            let Run { order, updates, kind } = self.run;
            let name = kind.name();
            eprintln!("order {order}, {name}: {done} of {updates}, {rate:.0} per second");
            self.shown = Instant::now();
        }
    }
}
