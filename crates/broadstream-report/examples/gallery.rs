//! Writes every kind of table, figure and page to a directory, from made-up numbers:
//!
//!     cargo run -p broadstream-report --example gallery -- gallery

use std::{collections::BTreeMap, error::Error, fs, path::Path};

use broadstream_report::{
    ClassReliability, ClassRow, CurvePoint, Event, ExperimentLink, ExperimentPage, ImportanceRow,
    Labels, MemberRow, ObjectiveRow, Output, OverviewPage, Record, ReliabilityRow, RunReport,
    TimeBin, UpdateTime, View, experiment_page, overview_page, render, run_page,
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Views {
    views: Vec<View>,
}

/// The views, as an experiment file declares them.
const VIEWS: &str = r#"
[[views]]
kind = "table"
title = "Final accuracy"
caption = "Online cumulative accuracy after the last sample of each stream."
rows = "method"
columns = "stream"
metrics = ["oca"]
where = { enhancement_nodes = 1000 }

[[views]]
kind = "curves"
title = "Error over time"
caption = "Lower is better, and so is an earlier decline."
metric = "oce"
where = { enhancement_nodes = 1000 }

[[views]]
kind = "bars"
title = "Update time"
caption = "Time to predict and learn one sample."
metric = "update_time"
log = true
where = { enhancement_nodes = 1000 }

[[views]]
kind = "lines"
title = "Error by enhancement nodes"
metric = "oce"
x = "enhancement_nodes"
methods = ["online-bls", "ri-bls", "bls-cil"]

[[views]]
kind = "lines"
title = "Cost by enhancement nodes"
caption = "Points are measurements, lines are fitted power laws."
metric = "update_time"
x = "enhancement_nodes"
log_x = true
log_y = true
fit = true
streams = ["letter"]

[[views]]
kind = "table"
title = "Letter in all metrics"
columns = "metric"
metrics = ["oca", "bacc", "log_loss", "update_time"]
streams = ["letter"]
where = { enhancement_nodes = 1000 }
decimals = 2
"#;

/// Key, number of samples, and the error that methods converge to.
const STREAMS: [(&str, u64, f64); 6] = [
    ("is", 2310, 0.08),
    ("usps", 9298, 0.06),
    ("letter", 20000, 0.10),
    ("adult", 45222, 0.20),
    ("shuttle", 58000, 0.02),
    ("mnist", 70000, 0.07),
];

/// Key, relative error, spread, seconds per sample at 1000 nodes, and the exponent of their growth.
const METHODS: [(&str, f64, f64, f64, f64); 5] = [
    ("online-bls", 1.0, 0.01, 6.2e-5, 1.9),
    ("refactorise", 1.0, 0.01, 1.3e-2, 2.8),
    ("ri-bls", 1.25, 0.05, 9.0e-3, 2.6),
    ("bls-cil", 1.6, 0.04, 4.1e-3, 2.1),
    ("i-bls", 2.6, 0.30, 4.0e-2, 2.3),
];

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args().nth(1).unwrap_or_else(|| "gallery".to_owned());
    let directory = Path::new(&directory);
    fs::create_dir_all(directory)?;
    let records = records();
    let labels = Labels::default();
    let views: Views = toml::from_str(VIEWS)?;
    let rendered = render(&views.views, &records, &labels)?;
    for view in &rendered.views {
        for (name, content) in view.files() {
            fs::write(directory.join(name), content)?;
        }
    }
    let page = experiment_page(&ExperimentPage {
        title: "Stationary streams",
        description: "Five ways to keep a broad learning system up to date, on six streams in ten \
                      random orders. All numbers on this page are made up.",
        date: Some("31 January 2025"),
        rendered: &rendered,
        records: &records,
        labels: &labels,
    })?;
    fs::write(directory.join("experiment.html"), page)?;
    fs::write(directory.join("run.html"), run_page(&run())?)?;
    let picture = rendered.views.iter().find_map(|view| match &view.output {
        Output::Figure(figure) => Some(figure.svg.clone()),
        Output::Table(_) => None,
    });
    let overview = OverviewPage {
        title: "Experiments".to_owned(),
        description: "The experiments and their results.".to_owned(),
        date: None,
        experiments: vec![
            ExperimentLink {
                title: "Stationary streams".to_owned(),
                href: "experiment.html".to_owned(),
                description: "Accuracy and speed on six streams.".to_owned(),
                size: "6 streams · 5 methods · 10 seeds".to_owned(),
                picture,
            },
            ExperimentLink {
                title: "A single run".to_owned(),
                href: "run.html".to_owned(),
                ..ExperimentLink::default()
            },
        ],
    };
    fs::write(directory.join("index.html"), overview_page(&overview)?)?;
    Ok(())
}

/// A number in [-1, 1] that depends only on the arguments.
fn noise(a: u64, b: u64, c: u64) -> f64 {
    let mut state = a.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state ^= c.wrapping_mul(0x94d0_49bb_1331_11eb);
    for _ in 0..3 {
        state ^= state >> 30;
        state = state.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn records() -> Vec<Record> {
    let mut records = Vec::new();
    for (method_number, method) in METHODS.iter().enumerate() {
        for (stream_number, stream) in STREAMS.iter().enumerate() {
            for nodes in [200.0, 500.0, 1000.0, 2000.0] {
                // Sizes that only the sweep shows need fewer seeds.
                let seeds = if nodes == 1000.0 { 10 } else { 3 };
                for seed in 0..seeds {
                    let draw = noise(method_number as u64, stream_number as u64, seed + 100);
                    records.push(record(*stream, *method, nodes, seed, draw));
                }
            }
        }
    }
    // Results cited from a publication.
    for (stream, oca, sd) in [("letter", 0.889, 0.00137), ("mnist", 0.925, 0.00105)] {
        records.push(Record {
            format: 1,
            experiment: "gallery".to_owned(),
            stream: stream.to_owned(),
            method: "online-bls".to_owned(),
            metrics: [("oca".to_owned(), oca), ("oca_sd".to_owned(), sd)].into(),
            cited: true,
            ..Record::default()
        });
    }
    records
}

fn record(
    (stream, samples, error): (&str, u64, f64),
    (method, factor, spread, seconds, growth): (&str, f64, f64, f64, f64),
    nodes: f64,
    seed: u64,
    draw: f64,
) -> Record {
    let size = (1000.0 / nodes).powf(0.15);
    let error = (error * factor * size * (1.0 + spread * draw)).min(0.9);
    let stopped = (method == "i-bls" && stream == "mnist")
        .then(|| "memory limit of 2 GiB reached".to_owned());
    let samples = if stopped.is_some() { 24_000 + 500 * seed } else { samples };
    let curve = (1..=60).map(|step| {
        let sample = (samples * step / 60).max(1);
        let so_far = error + (0.9 - error) * (-(step as f64) / 6.0 / factor).exp();
        let wobble = 0.4 * spread * error * noise(seed, step, samples);
        let oca = 1.0 - (so_far + wobble).clamp(0.0, 1.0);
        CurvePoint { sample, values: [("oca".to_owned(), oca)].into() }
    });
    let curve: Vec<CurvePoint> = curve.collect();
    let oca = curve.last().and_then(|point| point.metric("oca")).unwrap_or(0.0);
    let mean = seconds * (nodes / 1000.0).powf(growth) * (1.0 + 0.06 * draw);
    Record {
        format: 1,
        experiment: "gallery".to_owned(),
        stream: stream.to_owned(),
        method: method.to_owned(),
        seed,
        parameters: [("enhancement_nodes".to_owned(), nodes)].into(),
        samples,
        stopped,
        metrics: BTreeMap::from([
            ("oca".to_owned(), oca),
            ("bacc".to_owned(), oca - 0.013),
            ("log_loss".to_owned(), 3.0 * (1.0 - oca)),
        ]),
        curve,
        update_time: Some(UpdateTime { mean, samples, ..UpdateTime::default() }),
        version: "0.1.0".to_owned(),
        machine: "imagined, 2 cores".to_owned(),
        ..Record::default()
    }
}

const MEMBERS: [&str; 3] = ["100 features", "350 features", "1100 features"];

/// The weights of the members this long after a drift: the smallest learns fastest, the largest wins
/// in the long run.
fn weights(since: f64) -> [f64; 3] {
    let scores = [3.0, 2.0 + since / 20.0, since / 8.0];
    let sum: f64 = scores.iter().map(|score| score.exp()).sum();
    scores.map(|score| score.exp() / sum)
}

/// Predictions that are slightly overconfident.
fn reliability() -> Vec<ReliabilityRow> {
    let edge = |bin: u32| f64::from(bin) / 15.0;
    let row = |bin: u32| ReliabilityRow {
        from: edge(bin),
        to: edge(bin + 1),
        count: u64::from(bin).pow(3),
        confidence: Some(edge(bin) + 0.035),
        accuracy: Some((edge(bin) + 0.035).powf(1.3)),
    };
    (0..15).map(row).collect()
}

fn run() -> RunReport {
    let labels: Vec<String> = ('A'..='J').map(String::from).collect();
    let classes = labels.len();
    let count = |truth: usize, class: usize| {
        let draw = noise(truth as u64, class as u64, 7).abs();
        if truth == class { 850 + (draw * 200.0) as u64 } else { (draw.powi(6) * 160.0) as u64 }
    };
    let confusion: Vec<Vec<u64>> =
        (0..classes).map(|truth| (0..classes).map(|class| count(truth, class)).collect()).collect();
    let column = |class: usize| confusion.iter().map(|row| row[class]).sum::<u64>() as f64;
    let per_class = (0..classes).map(|class| {
        let support: u64 = confusion[class].iter().sum();
        let right = confusion[class][class] as f64;
        let (precision, recall) = (right / column(class), right / support as f64);
        ClassRow {
            label: labels[class].clone(),
            precision: Some(precision),
            recall: Some(recall),
            f1: Some(2.0 * precision * recall / (precision + recall)),
            auc: Some(1.0 - (1.0 - recall) / 4.0),
            auprc: Some(1.0 - (1.0 - recall) / 2.0),
            support,
        }
    });
    let curve = (1..=100).map(|step: u64| {
        let since = if step > 55 { step - 55 } else { step } as f64;
        let window = 0.96 - 0.35 * (-since / 7.0).exp() + 0.012 * noise(step, 1, 1);
        let oca = 0.94 - 0.4 * (-(step as f64) / 12.0).exp();
        let accuracy = [("oca".to_owned(), oca), ("window_oca".to_owned(), window)];
        let shares = MEMBERS.iter().zip(weights(since));
        let shares = shares.map(|(name, weight)| (format!("weight:{name}"), weight));
        CurvePoint { sample: 100 * step, values: shares.chain(accuracy).collect() }
    });
    let metrics = ["oca", "bacc", "avrbacc", "f1", "mcc", "kappa"];
    let metrics = metrics.iter().zip([0.9372, 0.9366, 0.9312, 0.9368, 0.9302, 0.9301]);
    let histogram = (0..28).map(|bin| {
        let edge = |bin: i32| 4e-5 * 1.06f64.powi(bin);
        let count = (2400.0 * (-0.5 * ((f64::from(bin) - 9.0) / 3.2).powi(2)).exp()) as u64;
        TimeBin { from: edge(bin), to: edge(bin + 1), count: count + u64::from(bin % 9 == 0) * 8 }
    });
    RunReport {
        source: "letters.csv".to_owned(),
        model: "Online-BLS, 100 linear and 1,000 enhancement nodes, forgetting 0.999".to_owned(),
        target: Some("letter".to_owned()),
        samples: 10_000,
        inputs: 16,
        labels: labels.clone(),
        window: metrics.clone().map(|(key, value)| (key.to_string(), Some(value + 0.02))).collect(),
        metrics: metrics.map(|(key, value)| (key.to_string(), Some(value))).collect(),
        window_samples: 1000,
        curve: curve.collect(),
        events: vec![Event { sample: 5500, label: "drift".to_owned() }],
        members: MEMBERS
            .iter()
            .zip(weights(45.0))
            .map(|(name, weight)| MemberRow {
                name: (*name).to_owned(),
                weight: Some(weight),
                features: None,
            })
            .collect(),
        importance: [("size", 0.21), ("shape", 0.12), ("colour", 0.08), ("edge", 0.004)]
            .map(|(column, importance)| ImportanceRow {
                column: column.to_owned(),
                importance: Some(importance),
            })
            .to_vec(),
        reliability: reliability(),
        class_reliability: labels
            .iter()
            .take(3)
            .map(|label| ClassReliability {
                label: label.clone(),
                error: 0.013,
                bins: reliability(),
            })
            .collect(),
        objectives: [("accuracy", 0.9372), ("balanced", 0.9341), ("f1", 0.9370)]
            .map(|(name, oca)| ObjectiveRow {
                name: name.to_owned(),
                is_chosen: name == "accuracy",
                metrics: [("oca".to_owned(), Some(oca)), ("bacc".to_owned(), Some(0.9366))].into(),
            })
            .into(),
        confusion: confusion.clone(),
        per_class: per_class.collect(),
        seconds: Some(0.87),
        times: vec![("reading".to_owned(), 0.11), ("predicting and learning".to_owned(), 0.74)],
        histogram: histogram.collect(),
        config: serde_json::json!({
            "ridge": 1.0, "forgetting": 0.999, "seed": 42,
            "scaling": { "kind": "running", "cutoff": 4.0 },
        }),
        version: "0.1.0".to_owned(),
        machine: "imagined, 2 cores".to_owned(),
        ..RunReport::default()
    }
}
