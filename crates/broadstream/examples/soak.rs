//! Models that learn for a long time, and their rounding errors at the end.
//!
//! Each run drives a whole model, with its scaling, refreshes, rebuilds and restarts, over a stream
//! that drifts. Beside it, the sums over the features of its largest regression are kept to 32
//! digits, and at the end the regression is solved again from them, also in 32 digits. A run fails
//! if the scores of the model are further than 1e-7 from that, unless the model says so itself. A
//! model that refuses to go on has not failed.
//!
//! ```text
//! cargo run --release --example soak -p broadstream            # minutes
//! cargo run --release --example soak -p broadstream -- --quick # a hundredth of it
//! ```

use std::{
    collections::VecDeque,
    process::ExitCode,
    time::{Duration, Instant},
};

use broadstream::{
    Block, Classifier, Error, Forgetting, InputKind, LARGEST_ERROR, Nodes, OnlineBls,
    OnlineBlsConfig, Ridge, Sample, Scaling,
};

const BLOCK: usize = 64;
const INPUTS: usize = 6;
const CLASSES: usize = 3;
const WINDOW: usize = 1_000;

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
    println!(
        "{:42}{:>9}{:>9}{:>11}{:>10}{:>10}{:>11}{:>10}",
        "model",
        "features",
        "samples",
        "per second",
        "distance",
        "estimate",
        "refreshes",
        "restarts"
    );
    let mut sound = true;
    for run in runs() {
        let run = Run { samples: run.samples / share, ..run };
        sound &= run.drive().unwrap_or_else(|error| {
            println!("{:42}stopped: {error}", run.name);
            matches!(error, Error::IllConditioned { .. })
        });
    }
    if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

struct Run {
    name: &'static str,
    config: OnlineBlsConfig,
    samples: u64,
    /// Whether inputs have large offsets, and are not scaled.
    is_bad: bool,
}

fn runs() -> Vec<Run> {
    let single = OnlineBlsConfig {
        feature_groups: 2,
        feature_nodes: 10,
        enhancement_nodes: Nodes::Fixed(40),
        nested_models: 1,
        threads: 1,
        ..OnlineBlsConfig::single()
    };
    let forgetting = OnlineBlsConfig { forgetting: Forgetting::Fixed(0.999), ..single.clone() };
    let window = OnlineBlsConfig { window: Some(WINDOW), ..single.clone() };
    let default = OnlineBlsConfig {
        feature_groups: 2,
        feature_nodes: 10,
        enhancement_nodes: Nodes::Fixed(150),
        threads: 1,
        ..OnlineBlsConfig::default()
    };
    let bad = |config: &OnlineBlsConfig| OnlineBlsConfig {
        scaling: Scaling::None,
        ridge: Ridge::Fixed(1e-4),
        ..config.clone()
    };
    let run = |name, config, samples, is_bad| Run { name, config, samples, is_bad };
    vec![
        run("no forgetting", single.clone(), 2_000_000, false),
        run("no forgetting, badly conditioned", bad(&single), 2_000_000, true),
        run("forgetting 0.999", forgetting.clone(), 2_000_000, false),
        run("forgetting 0.999, badly conditioned", bad(&forgetting), 500_000, true),
        run("window of 1000", window.clone(), 1_000_000, false),
        run("window of 1000, badly conditioned", bad(&window), 200_000, true),
        run("default, all members", default, 500_000, false),
    ]
}

impl Run {
    /// Drives the model, prints a line of the table, and returns whether the run passed.
    fn drive(&self) -> Result<bool, Error> {
        let mut model = OnlineBls::new(self.config.clone())?;
        for input in 0..INPUTS {
            model.declare_input(&format!("x{input}"), InputKind::Numeric)?;
        }
        // All classes are known from the start, so that the reference has them too.
        for class in 0..CLASSES {
            model.learn_one(Sample::dense(&[0.0; INPUTS]), class, 0.0)?;
        }
        let mut stream = Stream { state: 1, drawn: 0, is_bad: self.is_bad };
        let mut reference = Reference::new(&model);
        let (began, mut shown) = (Instant::now(), Instant::now());
        let mut learned = 0;
        while learned < self.samples {
            let block = stream.block();
            // The features of a sample follow from the scaling just before it is learned.
            for i in 0..block.len() {
                reference.learn(
                    &model.features_one(block.sample(i))?,
                    block.class(i),
                    block.weight(i),
                );
                model.learn_one(block.sample(i), block.class(i), block.weight(i))?;
            }
            learned += block.len() as u64;
            if shown.elapsed() > Duration::from_secs(5) {
                eprintln!("{}: {learned} of {}", self.name, self.samples);
                shown = Instant::now();
            }
        }
        let rate = learned as f64 / began.elapsed().as_secs_f64();
        let distance = reference.distance(&model, &stream.block())?;
        let health = model.health();
        let errors = health.iter().map(|regression| regression.now.error);
        let estimate = health[0].now.error;
        let refreshes: u64 = health.iter().map(|regression| regression.refreshes).sum();
        println!(
            "{:42}{:>9}{learned:>9}{rate:>11.0}{distance:>10.1e}{estimate:>10.1e}{refreshes:>11}{:>10}",
            self.name,
            model.features(),
            model.restarts().len(),
        );
        let exact = distance <= LARGEST_ERROR;
        Ok((exact || estimate > LARGEST_ERROR) && errors.into_iter().all(f64::is_finite))
    }
}

/// Samples whose class depends on two inputs, by a rule that changes from time to time.
struct Stream {
    state: u64,
    drawn: u64,
    is_bad: bool,
}

impl Stream {
    /// Uniform on [-1, 1), by SplitMix64.
    fn draw(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn block(&mut self) -> Block {
        let mut block = Block::new();
        for _ in 0..BLOCK {
            let mut x = [0.0; INPUTS];
            x.iter_mut().for_each(|x| *x = self.draw());
            let concept = (self.drawn / 20_000 % 3) as usize;
            let class = match x[concept] + x[concept + 1] + 0.1 * self.draw() {
                sum if sum < -0.4 => 0,
                sum if sum < 0.4 => 1,
                _ => 2,
            };
            if self.is_bad {
                x[0] += 1e3;
                x[1] *= 1e-3;
                x[2] = x[3] * (1.0 + 1e-8 * x[2]);
            }
            let weight = 1.0 + 0.5 * self.draw();
            block.push(Sample::dense(&x), class, weight).expect("a sound sample");
            self.drawn += 1;
        }
        block
    }
}

/// The sums of the largest regression in 32 digits: each row has the lower triangle of P, then Q.
struct Reference {
    order: usize,
    ridge: f64,
    forgetting: f64,
    /// The samples between two refreshes, which raise the ridge and keep the weights.
    refresh_every: Option<usize>,
    since_refresh: usize,
    current_ridge: Double,
    rows: Vec<Vec<Double>>,
    /// The samples of a window.
    window: Option<VecDeque<(Vec<f64>, usize, f64)>>,
}

impl Reference {
    fn new(model: &OnlineBls) -> Self {
        let (config, order) = (model.config(), model.features());
        let forgetting = config.forgetting.fixed().unwrap_or(1.0);
        let ridge = config.ridge.fixed().unwrap_or(1.0);
        Reference {
            order,
            ridge,
            forgetting,
            refresh_every: model.refresh_every(),
            since_refresh: 0,
            current_ridge: Double::of(ridge / forgetting),
            rows: (0..order).map(|i| vec![Double::of(0.0); i + 1 + CLASSES]).collect(),
            window: config.window.map(|_| VecDeque::new()),
        }
    }

    fn learn(&mut self, a: &[f64], class: usize, weight: f64) {
        if self.forgetting < 1.0 {
            let mu = Double::of(self.forgetting);
            self.current_ridge = self.current_ridge.times(mu);
            self.rows.iter_mut().flatten().for_each(|sum| *sum = sum.times(mu));
        }
        self.add(a, class, weight);
        if let Some(window) = &mut self.window {
            window.push_back((a.to_vec(), class, weight));
            if window.len() > WINDOW
                && let Some((a, class, weight)) = window.pop_front()
            {
                self.add(&a, class, -weight);
            }
        }
        self.since_refresh += 1;
        if self.refresh_every == Some(self.since_refresh) {
            self.refresh();
        }
    }

    fn add(&mut self, a: &[f64], class: usize, weight: f64) {
        for (i, row) in self.rows.iter_mut().enumerate() {
            let weighted = Double::product(weight, a[i]);
            for (sum, a) in row.iter_mut().zip(&a[..=i]) {
                *sum = sum.plus(weighted.times(Double::of(*a)));
            }
            row[i + 1 + class] = row[i + 1 + class].plus(weighted);
        }
    }

    fn refresh(&mut self) {
        let weights = self.solve();
        let full = Double::of(self.ridge / self.forgetting);
        let growth = full.plus(self.current_ridge.times(Double::of(-1.0)));
        for (i, (row, weights)) in self.rows.iter_mut().zip(&weights).enumerate() {
            for (q, weight) in row[i + 1..].iter_mut().zip(weights) {
                *q = q.plus(weight.times(growth));
            }
        }
        self.current_ridge = full;
        self.since_refresh = 0;
    }

    /// The weights: K = L D Lᵀ by Cholesky's method without square roots, and two substitutions.
    fn solve(&self) -> Vec<[Double; CLASSES]> {
        let order = self.order;
        let mut k: Vec<Vec<Double>> =
            self.rows.iter().enumerate().map(|(i, row)| row[..=i].to_vec()).collect();
        (0..order).for_each(|i| k[i][i] = k[i][i].plus(self.current_ridge));
        let mut q: Vec<[Double; CLASSES]> = self
            .rows
            .iter()
            .enumerate()
            .map(|(i, row)| std::array::from_fn(|class| row[i + 1 + class]))
            .collect();
        for j in 0..order {
            for t in 0..j {
                let scaled = k[j][t].times(k[t][t]);
                for row in &mut k[j..] {
                    row[j] = row[j].minus(row[t].times(scaled));
                }
            }
            let pivot = k[j][j];
            k[j + 1..].iter_mut().for_each(|row| row[j] = row[j].over(pivot));
        }
        for i in 0..order {
            for t in 0..i {
                for class in 0..CLASSES {
                    q[i][class] = q[i][class].minus(k[i][t].times(q[t][class]));
                }
            }
        }
        for i in (0..order).rev() {
            for class in 0..CLASSES {
                let mut solved = q[i][class].over(k[i][i]);
                for t in i + 1..order {
                    solved = solved.minus(k[t][i].times(q[t][class]));
                }
                q[i][class] = solved;
            }
        }
        q
    }

    /// The largest distance of a score from that of the sums, relative to the largest score and to
    /// the square root of a leverage above 1.
    fn distance(&self, model: &OnlineBls, block: &Block) -> Result<f64, Error> {
        let (expected, found) = (self.solve(), model.weights());
        let (mut distance, mut size) = (0.0_f64, 1.0_f64);
        for i in 0..block.len() {
            let a = model.features_one(block.sample(i))?;
            let reach = model.leverage_one(block.sample(i))?.max(1.0).sqrt();
            for class in 0..CLASSES {
                let (mut exact, mut score) = (Double::of(0.0), Double::of(0.0));
                for (j, a) in a.iter().enumerate() {
                    exact = exact.plus(expected[j][class].times(Double::of(*a)));
                    score = score.plus(Double::product(found.row(j)[class], *a));
                }
                size = size.max(exact.0.abs());
                // NaN is the largest distance.
                let apart = score.minus(exact).0.abs() / reach;
                distance = if apart <= distance { distance } else { apart };
            }
        }
        Ok(distance / size)
    }
}

/// A number of about 32 digits: the second part holds what the first rounds off.
#[derive(Clone, Copy)]
struct Double(f64, f64);

impl Double {
    fn of(value: f64) -> Self {
        Double(value, 0.0)
    }

    fn product(a: f64, b: f64) -> Self {
        let product = a * b;
        Double(product, a.mul_add(b, -product))
    }

    fn sum(a: f64, b: f64) -> Self {
        let sum = a + b;
        let added = sum - a;
        Double(sum, (a - (sum - added)) + (b - added))
    }

    fn plus(self, other: Self) -> Self {
        let Double(sum, rest) = Self::sum(self.0, other.0);
        Self::sum(sum, rest + (self.1 + other.1))
    }

    fn minus(self, other: Self) -> Self {
        self.plus(Double(-other.0, -other.1))
    }

    fn times(self, other: Self) -> Self {
        let Double(product, rest) = Self::product(self.0, other.0);
        Self::sum(product, self.0.mul_add(other.1, self.1.mul_add(other.0, rest)))
    }

    fn over(self, other: Self) -> Self {
        let quotient = self.0 / other.0;
        let rest = self.minus(other.times(Self::of(quotient)));
        Self::sum(quotient, rest.0 / other.0)
    }
}
