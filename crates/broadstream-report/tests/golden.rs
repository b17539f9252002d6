//! Tables and figures stay the same, byte for byte, until someone changes them on purpose:
//!
//!     UPDATE_GOLDEN=1 cargo test -p broadstream-report golden

use std::{fs, path::PathBuf};

use broadstream_report::{
    CurvePoint, Event, Labels, MemberRow, Record, ReliabilityRow, Rendered, RunReport, View,
    render, run_page,
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Experiment {
    views: Vec<View>,
}

const VIEWS: &str = r#"
[[views]]
kind = "table"
title = "By stream"
caption = "100% of the streams & methods."
where = { enhancement_nodes = 1000 }

[[views]]
kind = "table"
title = "By metric"
rows = "stream"
columns = "method"
metrics = ["oca", "update_time"]
where = { enhancement_nodes = 1000 }
methods = ["ri-bls", "online-bls"]

[[views]]
kind = "table"
title = "By size"
rows = "enhancement_nodes"
columns = "stream"
methods = ["online-bls"]

[[views]]
kind = "curves"
title = "Curves"
where = { enhancement_nodes = 1000 }

[[views]]
kind = "bars"
title = "Bars"
log = true
where = { enhancement_nodes = 1000 }

[[views]]
kind = "lines"
title = "Lines"
metric = "update_time"
x = "enhancement_nodes"
log_x = true
log_y = true
fit = true
"#;

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn rendered() -> Rendered {
    let text = fs::read_to_string(data("records.jsonl")).unwrap();
    let records = Record::read(&text, "records.jsonl").unwrap();
    let experiment: Experiment = toml::from_str(VIEWS).unwrap();
    render(&experiment.views, &records, &Labels::default()).unwrap()
}

fn assert_golden(name: &str, content: &[u8]) {
    let path = data(&format!("golden/{name}"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
    }
    let golden = fs::read(&path).unwrap_or_default();
    let (content, golden) = (String::from_utf8_lossy(content), String::from_utf8_lossy(&golden));
    assert_eq!(content, golden, "{name} changed");
}

/// A run with three members, drifts, and predictions that are slightly overconfident.
fn run() -> RunReport {
    let names = ["100 features", "350 features", "1100 features"];
    let curve = (1..=40_u32).map(|step| {
        let first = 0.1 + 0.6 * f64::from(step % 20) / 20.0;
        let weights = [first, 0.6 * (1.0 - first), 0.4 * (1.0 - first)];
        let accuracy = [("oca".to_owned(), 0.8), ("window_oca".to_owned(), 0.7 + 0.2 * first)];
        let weights = names.iter().zip(weights).map(|(name, w)| (format!("weight:{name}"), w));
        CurvePoint { sample: u64::from(step) * 500, values: weights.chain(accuracy).collect() }
    });
    let drift = |sample| Event { sample, label: "drift".to_owned() };
    let reliability = (0..15_u32).map(|bin| {
        let confidence = (f64::from(bin) + 0.5) / 15.0;
        ReliabilityRow {
            from: f64::from(bin) / 15.0,
            to: f64::from(bin + 1) / 15.0,
            count: if bin < 4 { 0 } else { u64::from(bin).pow(3) },
            confidence: Some(confidence),
            accuracy: Some(confidence * confidence.sqrt()),
        }
    });
    RunReport {
        curve: curve.collect(),
        events: vec![drift(5_096), drift(15_128)],
        members: names
            .map(|name| MemberRow {
                name: name.to_owned(),
                weight: Some(1.0 / 3.0),
                features: None,
            })
            .to_vec(),
        reliability: reliability.collect(),
        ..RunReport::default()
    }
}

#[test]
fn figures_of_a_run_match_the_golden_files() {
    let page = run_page(&run()).unwrap();
    for name in ["accuracy", "members", "reliability"] {
        let named = format!("aria-labelledby=\"{name}-title");
        let figure = page.split("<svg").skip(1).find(|figure| figure.contains(&named)).unwrap();
        let figure = format!("<svg{}</svg>\n", figure.split("</svg>").next().unwrap());
        assert_golden(&format!("run-{name}.svg"), figure.as_bytes());
    }
}

#[test]
fn rendered_views_match_the_golden_files() {
    let (mut checked, mut pictures) = (0, 0);
    for view in &rendered().views {
        for (name, content) in view.files() {
            // The PNG depends on the processor's instruction set; the SVG does not.
            if name.ends_with(".png") {
                assert!(content.starts_with(b"\x89PNG"), "{name}");
                pictures += 1;
                continue;
            }
            assert_golden(&name, content);
            checked += 1;
        }
    }
    assert_eq!(checked, 3 * 4 + 2 + 2 + 2 + 4);
    assert_eq!(pictures, if cfg!(feature = "png") { 3 } else { 0 });
}

#[test]
fn the_same_records_give_the_same_bytes() {
    let (first, second) = (rendered(), rendered());
    for (first, second) in first.views.iter().zip(&second.views) {
        assert_eq!(first.files(), second.files());
    }
}
