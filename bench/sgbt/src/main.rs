//! Runs irithyll's SGBT (streaming gradient-boosted trees) over a CSV stream: each sample is predicted
//! and then learned. Prints the number of samples and of correct predictions as JSON.
//!
//! It has 100 boosting steps, in the configuration with which the library's own benchmark page reports
//! its best accuracies. Classes are known in advance, since the library wants their number.

use std::{
    fs::File,
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use broadstream::{
    Block,
    stream::{Categories, ColumnCoding, RowEncoding, Stream, TableOptions, csv::CsvStream},
};
use clap::Parser;
use irithyll::{
    FeatureType, MulticlassSGBT, SGBT, SGBTConfig, SampleRef, loss::logistic::LogisticLoss,
};
use serde::Serialize;

/// Run irithyll's gradient-boosted trees over a CSV stream
#[derive(Parser)]
#[command(name = "sgbt", version, about)]
struct Arguments {
    /// A CSV file whose last column is the target
    file: PathBuf,

    /// Seconds after which no further sample is begun
    #[arg(long, value_name = "SECONDS")]
    budget: Option<f64>,
}

/// What is printed.
#[derive(Serialize)]
struct Record {
    samples: usize,
    correct: usize,
    /// Of predicting and learning, without reading the file.
    seconds: f64,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let table = Table::read(&arguments)?;
    let budget = arguments.budget.map(Duration::from_secs_f64);
    let mut model = Model::new(&table)?;
    let mut record = Record { samples: 0, correct: 0, seconds: 0.0 };
    let start = Instant::now();
    for (x, class) in table.rows.iter().zip(&table.classes) {
        if budget.is_some_and(|budget| start.elapsed() > budget) {
            break;
        }
        record.correct += usize::from(model.predict(x) == *class);
        model.learn(x, *class);
        record.samples += 1;
    }
    record.seconds = start.elapsed().as_secs_f64();
    println!("{}", serde_json::to_string(&record)?);
    Ok(())
}

/// All samples in memory. Categories are numbers, as irithyll wants them, and a missing input is NaN.
struct Table {
    kinds: Vec<FeatureType>,
    labels: usize,
    rows: Vec<Vec<f64>>,
    classes: Vec<usize>,
}

impl Table {
    fn read(arguments: &Arguments) -> Result<Table> {
        let name = arguments.file.display();
        let file = File::open(&arguments.file).with_context(|| format!("{name}"))?;
        let options = TableOptions {
            header: Some(true),
            categories: Some(Categories::IntegerCodes),
            ..TableOptions::default()
        };
        let mut stream =
            CsvStream::new(Box::new(file), options).with_context(|| format!("{name}"))?;
        let mut block = Block::new();
        while stream.read_block(&mut block, 1000).with_context(|| format!("{name}"))? > 0 {}
        let inputs = stream.schema().inputs().len();
        let dense = |i| {
            let mut row = vec![f64::NAN; inputs];
            block.sample(i).iter().for_each(|(j, value)| row[j] = value);
            row
        };
        Ok(Table {
            kinds: kinds(&stream, &stream.encoding().context("a CSV file has an encoding")?),
            labels: stream.schema().labels().len(),
            rows: (0..block.len()).map(dense).collect(),
            classes: (0..block.len()).map(|i| block.class(i)).collect(),
        })
    }
}

/// Which inputs are the codes of categories. Inputs have the names of their columns.
fn kinds(stream: &CsvStream, encoding: &RowEncoding) -> Vec<FeatureType> {
    let coded = |name: &str| {
        let column = encoding.columns.iter().find(|column| column.name == name);
        column.is_some_and(|column| matches!(column.coding, ColumnCoding::IntegerCodes(_)))
    };
    let inputs = stream.schema().inputs().iter();
    inputs
        .map(|input| match coded(&input.name) {
            true => FeatureType::Categorical,
            false => FeatureType::Continuous,
        })
        .collect()
}

/// One boosted ensemble for two classes, or one for each of more, as the library offers them.
enum Model {
    Two(Box<SGBT<LogisticLoss>>),
    Several(MulticlassSGBT),
}

impl Model {
    fn new(table: &Table) -> Result<Model> {
        let config = SGBTConfig::builder()
            .n_steps(100)
            .learning_rate(0.1)
            .grace_period(50)
            .max_depth(6)
            .n_bins(32)
            .initial_target_count(50)
            .feature_types(table.kinds.clone())
            .build()?;
        Ok(match table.labels {
            0..=2 => Model::Two(Box::new(SGBT::with_loss(config, LogisticLoss))),
            labels => Model::Several(MulticlassSGBT::new(config, labels)?),
        })
    }

    fn predict(&self, x: &[f64]) -> usize {
        match self {
            Model::Two(model) => usize::from(model.predict_proba(x) >= 0.5),
            Model::Several(model) => model.predict(x),
        }
    }

    fn learn(&mut self, x: &[f64], class: usize) {
        let sample = SampleRef::new(x, class as f64);
        match self {
            Model::Two(model) => model.train_one(&sample),
            Model::Several(model) => model.train_one(&sample),
        }
    }
}
