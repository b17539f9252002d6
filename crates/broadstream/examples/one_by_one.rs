//! Predicts and learns the samples of a CSV file one by one with the default model, and prints how long
//! the calls took.
//!
//! ```text
//! cargo run --release --example one_by_one -p broadstream -- letter.csv --limit 5000
//! ```
//!
//! The last column is the target. Only `predict_one` and `learn_one` are timed: the samples are in memory
//! before. Afterwards the samples are predicted again by a `Predictor` of the model as it is then. The
//! result is a line of JSON with the seconds of predicting and learning together and the distribution of
//! the calls of each kind.

use std::{
    error::Error,
    fs::File,
    process::ExitCode,
    time::{Duration, Instant},
};

use broadstream::{
    Block, Classifier, OnlineBls, OnlineBlsConfig,
    stream::{Stream, TableOptions, csv::CsvStream},
};
use serde_json::{Value, json};

const USAGE: &str = "usage: one_by_one FILE [--limit SAMPLES] [--budget SECONDS]";

fn main() -> ExitCode {
    let Some(arguments) = Arguments::parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(&arguments) {
        Ok(record) => {
            println!("{record}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {}: {error}", arguments.file);
            ExitCode::FAILURE
        }
    }
}

struct Arguments {
    file: String,
    limit: usize,
    /// After this time no further sample is begun.
    budget: Duration,
}

impl Arguments {
    fn parse(mut words: impl Iterator<Item = String>) -> Option<Arguments> {
        let file = words.next()?;
        let mut arguments = Arguments { file, limit: usize::MAX, budget: Duration::MAX };
        while let Some(option) = words.next() {
            let value = words.next()?;
            match option.as_str() {
                "--limit" => arguments.limit = value.parse().ok()?,
                "--budget" => {
                    arguments.budget = Duration::try_from_secs_f64(value.parse().ok()?).ok()?;
                }
                _ => return None,
            }
        }
        Some(arguments)
    }
}

fn run(arguments: &Arguments) -> Result<Value, Box<dyn Error>> {
    let file = Box::new(File::open(&arguments.file)?);
    let mut stream = CsvStream::new(file, TableOptions::default())?;
    let mut samples = Block::new();
    while samples.len() < arguments.limit {
        let most = (arguments.limit - samples.len()).min(1000);
        if stream.read_block(&mut samples, most)? == 0 {
            break;
        }
    }
    let mut model = OnlineBls::new(OnlineBlsConfig::default())?;
    for input in stream.schema().inputs() {
        model.declare_input(&input.name, input.kind)?;
    }

    let (mut predicting, mut learning) = (Vec::new(), Vec::new());
    let mut correct = 0;
    let start = Instant::now();
    for i in 0..samples.len() {
        if start.elapsed() >= arguments.budget {
            break;
        }
        let (x, class) = (samples.sample(i), samples.class(i));
        let before = Instant::now();
        let prediction = model.predict_one(x)?;
        let between = Instant::now();
        model.learn_one(x, class, samples.weight(i))?;
        learning.push(between.elapsed());
        predicting.push(between - before);
        correct += usize::from(prediction == Some(class));
    }
    let seconds = start.elapsed().as_secs_f64();
    let before = Instant::now();
    let predictor = model.predictor();
    let making = before.elapsed();
    let mut predicting_alone = Vec::new();
    for i in 0..learning.len() {
        let before = Instant::now();
        predictor.predict_one(samples.sample(i))?;
        predicting_alone.push(before.elapsed());
    }
    Ok(json!({
        "samples": learning.len(),
        "correct": correct,
        "seconds": seconds,
        "latency": {
            "predict": quantiles(predicting),
            "learn": quantiles(learning),
            "make_predictor": making.as_secs_f64(),
            "predict_by_predictor": quantiles(predicting_alone),
        },
    }))
}

/// In seconds. A quantile q is the shortest time that a share q of the calls did not exceed.
fn quantiles(mut times: Vec<Duration>) -> Value {
    times.sort_unstable();
    let quantile = |q: f64| {
        let rank = (q * times.len() as f64).ceil() as usize;
        times.get(rank.max(1) - 1).map(Duration::as_secs_f64)
    };
    json!({
        "p50": quantile(0.5),
        "p99": quantile(0.99),
        "p99.9": quantile(0.999),
        "max": quantile(1.0),
    })
}
