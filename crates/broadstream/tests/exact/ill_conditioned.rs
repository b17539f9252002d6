//! Every route to a model on badly conditioned data, against a refit in 300 bits: scores agree to
//! 1e-7, or the model says that they may not.
//!
//! The problems are random: inputs from 1e-8 to 1e9, with offsets and near copies of each other,
//! ridges down to 1e-12, weights from 0.01 to 100. `BROADSTREAM_SEEDS` sets how many there are.

use broadstream::{
    Block, Classifier, Error, Forgetting, InputKind, LARGEST_ERROR, Nodes, OnlineBls,
    OnlineBlsConfig, Partial, Ridge, Sample, Scaling, Schema,
    model_file::{self, ModelFile},
};

use super::refit::{Refit, Row};

/// Numbers from a seed: splitmix64.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// From −1 to 1.
    fn signed(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// A power of ten with an exponent in that range.
    fn power(&mut self, from: i32, to: i32) -> f64 {
        10f64.powi(from + self.below((to - from + 1) as usize) as i32)
    }
}

/// A random problem: samples, and a configuration of a single exact regression.
struct Problem {
    config: OnlineBlsConfig,
    inputs: usize,
    rows: Vec<(Vec<f64>, usize, f64)>,
}

impl Problem {
    fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let inputs = 1 + dice.below(4);
        let samples = 20 + dice.below(60);
        let mild = dice.below(3) == 0;
        let mut scales = Vec::new();
        for _ in 0..inputs {
            let (scale, offset) =
                if mild { (1.0, 0.0) } else { (dice.power(-8, 3), dice.power(-2, 9)) };
            scales.push((scale, if dice.below(2) == 0 { offset } else { 0.0 }, dice.below(4) == 0));
        }
        let mut rows = Vec::new();
        for i in 0..samples {
            let mut x: Vec<f64> = Vec::new();
            for (scale, offset, copy) in &scales {
                let previous = x.last().copied().filter(|_| *copy);
                x.push(match previous {
                    Some(previous) => previous * (1.0 + 1e-9 * dice.signed()),
                    None => offset + scale * dice.signed(),
                });
            }
            let class = if i < 3 { i } else { dice.below(3) };
            rows.push((x, class, dice.power(-2, 2)));
        }
        let config = OnlineBlsConfig {
            feature_groups: 2,
            feature_nodes: 3,
            enhancement_nodes: Nodes::Fixed(1 + dice.below(9)),
            inputs_per_sample: Some(inputs),
            scaling: Scaling::None,
            ridge: Ridge::Fixed(dice.power(-12, 1)),
            forgetting: Forgetting::Fixed(1.0),
            nested_models: 1,
            stacking: false,
            label_lags: 0,
            keep_weights: false,
            ..OnlineBlsConfig::default()
        };
        Problem { config, inputs, rows }
    }

    fn model(&self, config: OnlineBlsConfig) -> OnlineBls {
        let mut model = OnlineBls::new(config).unwrap();
        for input in 0..self.inputs {
            model.declare_input(&format!("x{input}"), InputKind::Numeric).unwrap();
        }
        model
    }

    fn block(&self, rows: impl IntoIterator<Item = usize>) -> Block {
        let mut block = Block::new();
        for i in rows {
            let (x, class, weight) = &self.rows[i];
            block.push(Sample::dense(x), *class, *weight).unwrap();
        }
        block
    }

    /// What a refit on some of the rows scores for all of them. A model that forgets is compared
    /// with the paper's algorithm.
    fn refit(&self, model: &OnlineBls, rows: impl Iterator<Item = usize>) -> Vec<Vec<f64>> {
        let all: Vec<Row> = self
            .rows
            .iter()
            .map(|(x, class, weight)| {
                let features = model.features_one(Sample::dense(x)).unwrap();
                Row { features, class: *class, weight: *weight }
            })
            .collect();
        let Ridge::Fixed(ridge) = self.config.ridge else { unreachable!() };
        let (order, rows) = (all[0].features.len(), rows.map(|i| &all[i]));
        let refit = match (model.config().forgetting.fixed(), model.refresh_every()) {
            (Some(mu), Some(every)) => Refit::forgetting(rows, order, 3, ridge, (mu, every)),
            _ => Refit::new(rows, order, 3, ridge),
        };
        all.iter().map(|row| refit.scores(&row.features)).collect()
    }

    /// The largest difference between a model's scores and those of a refit, relative to the
    /// largest score and to the square root of a leverage above 1. Classes that the model leaves out
    /// have no samples in the refit either.
    fn distance(&self, model: &OnlineBls, rows: impl Iterator<Item = usize>) -> f64 {
        let (mut difference, mut size) = (0.0f64, 0.0f64);
        for (expected, (x, ..)) in self.refit(model, rows).iter().zip(&self.rows) {
            let scores = model.scores_one(Sample::dense(x)).unwrap();
            let reach = model.leverage_one(Sample::dense(x)).unwrap().max(1.0).sqrt();
            for (score, expected) in scores.iter().zip(expected) {
                size = size.max(expected.abs());
                if *score == f64::NEG_INFINITY {
                    assert_eq!(*expected, 0.0, "a class that has samples was left out");
                } else {
                    difference = difference.max((score - expected).abs() / reach);
                }
            }
        }
        difference / size.max(1.0)
    }
}

/// How often a route was exact, warned of or refused.
#[derive(Default)]
struct Tally {
    exact: usize,
    warned: usize,
    refused: usize,
    /// The largest ratio of an error to its estimate.
    worst_ratio: f64,
}

impl Tally {
    /// Checks a model that learned these rows. One that promises exactness may not be off at all;
    /// one that only runs may, if it says so.
    fn check(
        &mut self,
        (route, seed): (&str, u64),
        problem: &Problem,
        model: Result<OnlineBls, Error>,
        rows: impl Iterator<Item = usize>,
        promises: bool,
    ) {
        let model = match model {
            Ok(model) => model,
            Err(Error::IllConditioned { error, .. }) => {
                assert!(error > LARGEST_ERROR, "{route}, seed {seed}: refused at {error:e}");
                self.refused += 1;
                return;
            }
            Err(Error::CannotUnlearn { .. } | Error::Sample { .. }) => {
                self.refused += 1;
                return;
            }
            Err(error) => panic!("{route}, seed {seed}: {error}"),
        };
        let distance = problem.distance(&model, rows);
        let estimate = model.health()[0].now.error;
        if estimate > 1e-12 && distance > 1e-13 {
            self.worst_ratio = self.worst_ratio.max(distance / estimate);
        }
        if distance <= LARGEST_ERROR {
            self.exact += 1;
        } else {
            assert!(
                !promises && estimate > LARGEST_ERROR,
                "{route}, seed {seed}: off by {distance:e}, and the estimate is {estimate:e}"
            );
            self.warned += 1;
        }
    }
}

fn seeds() -> u64 {
    std::env::var("BROADSTREAM_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(150)
}

/// Runs a route for every seed, and checks that it was exact, and refused or warned of, often
/// enough for the test to mean something.
fn for_all(route: &str, mut run: impl FnMut(u64, &Problem, &mut Tally)) {
    let mut tally = Tally::default();
    for seed in 0..seeds() {
        run(seed, &Problem::new(seed), &mut tally);
    }
    let Tally { exact, warned, refused, worst_ratio } = tally;
    println!("{route}: {exact} exact, {warned} warned, {refused} refused, ratio {worst_ratio:.2}");
    assert!(worst_ratio <= 1.0, "{route}: an error was {worst_ratio} times its estimate");
    assert!(exact as u64 > seeds() / 4, "{route}: only {exact} were exact");
    assert!((warned + refused) as u64 > seeds() / 50, "{route}: the problems were too easy");
}

fn learned(problem: &Problem, rows: std::ops::Range<usize>) -> OnlineBls {
    let mut model = problem.model(problem.config.clone());
    model.learn_many(&problem.block(rows)).unwrap();
    model
}

/// A class may be new to the part that is merged, so a part numbers its classes itself.
fn renumbered(problem: &Problem, rows: std::ops::Range<usize>) -> (Block, Vec<usize>) {
    let mut classes: Vec<usize> = Vec::new();
    let mut block = Block::new();
    for i in rows {
        let (x, class, weight) = &problem.rows[i];
        let number = classes.iter().position(|known| known == class).unwrap_or_else(|| {
            classes.push(*class);
            classes.len() - 1
        });
        block.push(Sample::dense(x), number, *weight).unwrap();
    }
    (block, classes)
}

#[test]
fn one_run_in_any_blocks() {
    for_all("one run", |seed, problem, tally| {
        let mut model = problem.model(problem.config.clone());
        let mut dice = Dice(seed ^ 1);
        let mut start = 0;
        while start < problem.rows.len() {
            let end = problem.rows.len().min(start + 1 + dice.below(20));
            model.learn_many(&problem.block(start..end)).unwrap();
            start = end;
        }
        let rows = 0..problem.rows.len();
        tally.check(("one run", seed), problem, Ok(model), rows, false);
    });
}

#[test]
fn merged_models() {
    for_all("merge", |seed, problem, tally| {
        let samples = problem.rows.len();
        let (first, second) = (samples / 3, samples / 2);
        let merged = (|| {
            let mut merged = learned(problem, 0..first);
            for part in [first..second, second..samples] {
                let (block, classes) = renumbered(problem, part);
                let mut other = problem.model(problem.config.clone());
                other.learn_many(&block)?;
                merged.merge(&other, &classes)?;
            }
            Ok(merged)
        })();
        tally.check(("merge", seed), problem, merged, 0..samples, true);
    });
}

#[test]
fn partial_sums() {
    for_all("sums", |seed, problem, tally| {
        let samples = problem.rows.len();
        let merged = (|| {
            let mut sums = Partial::like(&problem.model(problem.config.clone()))?;
            for (i, part) in [0..samples / 2, samples / 2..samples].into_iter().enumerate() {
                let mut part_sums = Partial::like(&problem.model(problem.config.clone()))?;
                for input in 0..problem.inputs {
                    part_sums.declare_input(&format!("x{input}"), InputKind::Numeric)?;
                }
                let (block, classes) = if i == 0 {
                    (problem.block(part), vec![0, 1, 2])
                } else {
                    renumbered(problem, part)
                };
                part_sums.learn_many(&block)?;
                let classes = &classes[..part_sums.classes()];
                sums.merge(&part_sums, classes)?;
            }
            sums.into_model()
        })();
        tally.check(("sums", seed), problem, merged, 0..samples, true);
    });
}

#[test]
fn merged_models_that_unlearn_samples() {
    for_all("merge, then unlearn", |seed, problem, tally| {
        let samples = problem.rows.len();
        let mut dice = Dice(seed ^ 5);
        let gone: Vec<bool> = (0..samples).map(|_| dice.below(2) == 0).collect();
        let model = (|| {
            let mut model = learned(problem, 0..samples / 3);
            let (block, classes) = renumbered(problem, samples / 3..samples);
            let mut other = problem.model(problem.config.clone());
            other.learn_many(&block)?;
            model.merge(&other, &classes)?;
            // A part at a time, since what one costs can count for more after the next.
            for part in 0..3 {
                let rows = (0..samples).filter(|i| i % 3 == part && gone[*i]);
                model.unlearn_many(&problem.block(rows))?;
            }
            Ok(model)
        })();
        let rows = (0..samples).filter(|i| !gone[*i]);
        tally.check(("merge, then unlearn", seed), problem, model, rows, true);
    });
}

#[test]
fn windows() {
    for_all("window", |seed, problem, tally| {
        let window = 5 + Dice(seed ^ 2).below(15);
        let samples = problem.rows.len();
        let config = OnlineBlsConfig { window: Some(window), ..problem.config.clone() };
        let slid = (|| {
            let mut model = problem.model(config);
            // The first check is after 64 samples, so the rows pass several times.
            for i in (0..3).flat_map(|_| 0..samples) {
                model.learn_many(&problem.block(i..=i))?;
            }
            Ok(model)
        })();
        tally.check(("window", seed), problem, slid, samples - window..samples, false);
    });
}

#[test]
fn unlearned_samples() {
    for_all("unlearn", |seed, problem, tally| {
        let samples = problem.rows.len();
        let mut dice = Dice(seed ^ 3);
        let gone: Vec<bool> = (0..samples).map(|_| dice.below(2) == 0).collect();
        let mut model = learned(problem, 0..samples);
        let block = problem.block((0..samples).filter(|i| gone[*i]));
        let unlearned = match model.unlearn_many(&block) {
            Ok(certificate) => {
                assert!(certificate.error <= LARGEST_ERROR);
                Ok(model)
            }
            Err(error) => Err(error),
        };
        let rows = (0..samples).filter(|i| !gone[*i]);
        tally.check(("unlearn", seed), problem, unlearned, rows, true);
    });
}

#[test]
fn saved_loaded_and_continued() {
    for_all("saved", |seed, problem, tally| {
        let samples = problem.rows.len();
        let model = learned(problem, 0..samples / 2);
        let mut bytes = Vec::new();
        let schema = Schema::new("class");
        ModelFile::new(&model, &schema).write(&mut bytes).unwrap();
        let mut model = model_file::read(&mut bytes.as_slice()).unwrap().model;
        model.learn_many(&problem.block(samples / 2..samples)).unwrap();
        tally.check(("saved", seed), problem, Ok(model), 0..samples, false);
    });
}

#[test]
fn forgetting_models() {
    for_all("forgetting", |seed, problem, tally| {
        let mut dice = Dice(seed ^ 4);
        let config = OnlineBlsConfig {
            forgetting: Forgetting::Fixed([0.5, 0.9, 0.99][dice.below(3)]),
            refresh_every: [None, Some(1), Some(7)][dice.below(3)],
            keep_weights: dice.below(4) == 0,
            ..problem.config.clone()
        };
        let mut problem = Problem { config, ..Problem::new(seed) };
        if dice.below(4) == 0 {
            // One sample that outweighs all others.
            let heavy = dice.below(problem.rows.len());
            problem.rows[heavy].2 = 1e12;
        }
        let model = learned(&problem, 0..problem.rows.len());
        let rows = 0..problem.rows.len();
        tally.check(("forgetting", seed), &problem, Ok(model), rows, false);
    });
}

/// Learns samples of one input with forgetting, and returns whether the model warns.
fn warns(config: &OnlineBlsConfig, inputs: impl Iterator<Item = f64>) -> bool {
    let config = OnlineBlsConfig {
        inputs_per_sample: Some(1),
        forgetting: Forgetting::Fixed(0.99),
        scaling: Scaling::None,
        enhancement_nodes: Nodes::Fixed(20),
        ..config.clone()
    };
    let mut model =
        OnlineBls::new(OnlineBlsConfig { stacking: false, label_lags: 0, ..config }).unwrap();
    model.declare_input("x", InputKind::Numeric).unwrap();
    for (i, x) in inputs.enumerate() {
        model.learn_one(Sample::dense(&[x]), i % 2, 1.0).unwrap();
    }
    let health = model.health();
    assert!(health.iter().all(|regression| regression.now.error >= 0.0), "{health:?}");
    health[0].now.error > LARGEST_ERROR
}

#[test]
fn a_forgetting_model_warns_before_it_collapses() {
    let single = || OnlineBlsConfig { nested_models: 1, ..OnlineBlsConfig::single() };
    let tiny = OnlineBlsConfig { ridge: Ridge::Fixed(1e-50), ..single() };
    assert!(warns(&tiny, std::iter::repeat_n(1.0, 3000)), "a ridge of 1e-50");
    let corrected = OnlineBlsConfig { correction_steps: 3, ..single() };
    let alternating = (0..3000).map(|i| if i / 2 % 2 == 0 { 1.0 } else { 1e12 });
    assert!(warns(&corrected, alternating), "inputs of 1 and 1e12");
    assert!(!warns(&corrected, (0..3000).map(|i| f64::from(i % 10))), "inputs from 0 to 9");
    assert!(!warns(&single(), (0..3000).map(|i| f64::from(i % 10))), "inputs from 0 to 9");
}

#[test]
fn a_heavy_sample_is_absorbed() {
    let config = OnlineBlsConfig {
        forgetting: Forgetting::Fixed(0.99),
        enhancement_nodes: Nodes::Fixed(50),
        ..OnlineBlsConfig::single()
    };
    let mut model = OnlineBls::new(config).unwrap();
    model.declare_input("x", InputKind::Numeric).unwrap();
    let mut dice = Dice(7);
    let mut late_errors = 0;
    for i in 0..8000 {
        let x = [dice.signed()];
        let class = usize::from(x[0] > 0.1);
        if i >= 6000 {
            late_errors +=
                usize::from(model.predict_one(Sample::dense(&x)).unwrap() != Some(class));
        }
        model.learn_one(Sample::dense(&x), class, if i == 1000 { 1e12 } else { 1.0 }).unwrap();
    }
    assert!(late_errors < 100, "{late_errors} of 2000");
    for weight in [1e17, 1e-13, -1.0, f64::NAN] {
        assert!(model.learn_one(Sample::dense(&[0.5]), 0, weight).is_err(), "{weight}");
    }
}
