//! What is printed and drawn stays as it is, to the byte, until someone means to change it:
//!
//!     UPDATE_GOLDEN=1 cargo test -p broadstream-report --test golden

use std::{fs, path::PathBuf};

use broadstream_report::{Labels, Record, Rendered, View, render};
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

#[test]
fn files_are_the_golden_ones() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut checked = 0;
    for view in &rendered().views {
        for (name, content) in view.files() {
            // Pixels depend on the instruction set; the SVG that they are made of does not.
            if name.ends_with(".png") {
                assert!(content.starts_with(b"\x89PNG"), "{name}");
                continue;
            }
            let path = data(&format!("golden/{name}"));
            if update {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, content).unwrap();
            }
            let golden = fs::read(&path).unwrap_or_default();
            assert_eq!(
                String::from_utf8_lossy(content),
                String::from_utf8_lossy(&golden),
                "{name} changed"
            );
            checked += 1;
        }
    }
    assert_eq!(checked, 3 * 4 + 2 + 2 + 2 + 4);
}

#[test]
fn the_same_records_give_the_same_bytes() {
    let (first, second) = (rendered(), rendered());
    for (first, second) in first.views.iter().zip(&second.views) {
        assert_eq!(first.files(), second.files());
    }
}
