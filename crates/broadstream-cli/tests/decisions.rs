//! Objectives and costs on the command line.

use std::{fs, path::Path, process::Command};

use serde_json::Value;
use tempfile::TempDir;

const SMALL: &str = "--preset single --enhancement-nodes 20 --quiet";

/// The exit code, the output and the messages of a command.
fn run(folder: &Path, arguments: &str) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_broadstream"));
    let output = command.args(arguments.split_whitespace()).current_dir(folder).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn stdout(folder: &Path, arguments: &str) -> String {
    let (code, output, messages) = run(folder, arguments);
    assert_eq!(code, 0, "{messages}");
    output
}

fn json(folder: &Path, arguments: &str) -> Value {
    serde_json::from_str(&stdout(folder, &format!("{arguments} --json"))).unwrap()
}

/// Rows of which few are faults, which are likely for large numbers.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("x,state\n");
    let mut state = 7_u64;
    for _ in 0..1500 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let (x, dice) = ((state >> 40) % 1000, (state >> 20) % 1000);
        let fault = dice < if x > 850 { 350 } else { 5 };
        text += &format!("{x},{}\n", if fault { "fault" } else { "fine" });
    }
    let write = |name: &str, content: &str| fs::write(folder.path().join(name), content).unwrap();
    write("rows.csv", &text);
    write("few.csv", "x\n10\n990\n");
    write("costs.csv", "truth,fine,fault,abstain\nfine,0,5,1\nfault,100,0,1\n");
    folder
}

#[test]
fn a_run_counts_its_objective_and_shows_all_of_them() {
    let folder = folder();
    let at = folder.path();
    let balanced = json(at, &format!("run rows.csv {SMALL} --objective balanced"));
    let accuracy = json(at, &format!("run rows.csv {SMALL}"));
    assert_eq!(balanced["log_loss"], accuracy["log_loss"]);
    let row = |report: &Value, k: usize| report["objectives"][k].clone();
    for k in 0..4 {
        let names = ["accuracy", "balanced", "f1", "mcc"];
        assert_eq!(row(&balanced, k)["name"], names[k]);
        assert_eq!(row(&balanced, k)["bacc"], row(&accuracy, k)["bacc"]);
        assert_eq!(row(&balanced, k)["is_chosen"], names[k] == "balanced");
    }
    assert_eq!(balanced["bacc"], row(&accuracy, 1)["bacc"]);
    assert!(balanced["bacc"].as_f64().unwrap() > accuracy["bacc"].as_f64().unwrap() + 0.1);
    assert_eq!(balanced["config"]["objective"], "balanced");
    assert!(balanced.get("cost").is_none());
    let table = stdout(at, &format!("run rows.csv {SMALL} --objective f1"));
    assert!(table.contains("\nf1 *  ") && table.contains("\naccuracy  "), "{table}");
    let baseline = json(at, "run rows.csv --model majority --quiet");
    assert_eq!(baseline["objectives"], serde_json::json!([]));
    let (code, _, message) = run(at, "run rows.csv --model perceptron --objective f1");
    assert_eq!(
        (code, message.contains("the model perceptron has no --objective")),
        (2, true),
        "{message}"
    );
}

#[test]
fn a_saved_model_decides_as_it_is_told() {
    let folder = folder();
    let at = folder.path();
    stdout(at, &format!("run rows.csv {SMALL} --save m.bsm"));
    let decided = |arguments: &str| -> Vec<String> {
        let lines = stdout(at, &format!("predict {arguments} few.csv"));
        lines.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect()
    };
    assert_eq!(decided("m.bsm"), ["fine", "fine"]);
    assert_eq!(decided("m.bsm --objective balanced"), ["fine", "fault"]);
    assert_eq!(decided("m.bsm --costs costs.csv")[1], "", "what may be a fault is left to others");
    assert_eq!(decided("m.bsm"), ["fine", "fine"], "predict leaves no trace");
    // `learn` changes it for good, and costs can be dropped again.
    stdout(at, "learn m.bsm rows.csv -o costly.bsm --quiet --costs costs.csv");
    assert_ne!(decided("costly.bsm")[1], "fine");
    assert_eq!(json(at, "inspect costly.bsm")["decisions"]["costs"]["fault"]["fine"], 100.0);
    assert_eq!(decided("costly.bsm --objective accuracy"), ["fine", "fine"]);
    stdout(at, "learn costly.bsm few.csv -o f1.bsm --quiet --objective f1");
    let inspected = json(at, "inspect f1.bsm");
    assert_eq!(inspected["decisions"]["objective"], "f1");
    assert_eq!(inspected["decisions"]["costs"], Value::Null);
    assert_eq!(inspected["config"]["objective"], "f1");
    let text = stdout(at, "inspect costly.bsm");
    assert!(text.contains("decisions are made for the least expected cost"), "{text}");
    // The probabilities of a model are the same for all of them.
    let p = |arguments: &str| -> Vec<String> {
        let lines = stdout(at, &format!("predict {arguments} few.csv"));
        lines.lines().map(|line| line.split(',').next_back().unwrap().to_owned()).collect()
    };
    assert_eq!(p("m.bsm --objective f1"), p("m.bsm --costs costs.csv"));
}

#[test]
fn costs_are_counted_in_every_output() {
    let folder = folder();
    let at = folder.path();
    let arguments = format!("run rows.csv {SMALL} --costs costs.csv");
    let outputs =
        "--curve curve.csv --curve-every 500 --predictions p.csv --report r.html --save m.bsm";
    let report = json(at, &format!("{arguments} {outputs}"));
    let cost = report["cost"].as_f64().unwrap();
    assert_eq!(report["objectives"][4]["cost"].as_f64(), Some(cost));
    assert!(cost < report["objectives"][0]["cost"].as_f64().unwrap());
    let coverage = report["coverage"].as_f64().unwrap();
    let text = |name: &str| fs::read_to_string(at.join(name)).unwrap();
    let predictions = text("p.csv");
    let decided = predictions.lines().skip(1).filter(|line| line.split(',').nth(2) != Some(""));
    assert!((decided.count() as f64 / 1500.0 - coverage).abs() < 1e-12);
    assert!(coverage < 0.95);
    let curve = text("curve.csv");
    let names: Vec<&str> = curve.lines().next().unwrap().split(',').collect();
    let column = names.iter().position(|name| *name == "cost").unwrap();
    let last = curve.lines().next_back().unwrap().split(',').nth(column).unwrap();
    assert_eq!(last.parse::<f64>().unwrap(), cost);
    let page = text("r.html");
    assert!(page.contains("<h2>Decisions</h2>") && page.contains("Calibration of each class"));
    assert!(page.contains("fault: calibration error"));
    let table = stdout(at, &arguments);
    assert!(table.contains(&format!("\nmean cost{:>27}", format!("{cost:.4}"))), "{table}");
    let compared =
        stdout(at, "compare rows.csv --quiet --models majority,no-change --costs costs.csv");
    assert!(compared.contains("mean cost"), "{compared}");
}

#[test]
fn faulty_costs_are_refused_with_their_place() {
    let folder = folder();
    let at = folder.path();
    let write = |content: &str| fs::write(at.join("bad.csv"), content).unwrap();
    for (content, message) in [
        (
            "t,fine,fault\nfine,0,NaN\nfault,1,0\n",
            "bad.csv: line 2, column 'fault': a cost must be a number",
        ),
        (
            "t,fine,fault\nfine,0,1\n",
            "bad.csv: the label 'fault' is in the header, but has no row of costs",
        ),
        (
            "t,fine,fault\nfine,0,1\nfine,0,1\n",
            "bad.csv: the label 'fine' has costs twice on line 3",
        ),
        ("t,fine,other\nfine,0,1\nother,1,0\n", "there are no costs for the label 'fault'"),
    ] {
        write(content);
        let (code, output, found) = run(at, &format!("run rows.csv {SMALL} --costs bad.csv"));
        assert!(code == 1 && output.is_empty() && found.contains(message), "{code} {found}");
    }
    let (code, _, message) = run(at, &format!("run rows.csv {SMALL} --costs nowhere.csv"));
    assert!(code == 1 && message.contains("nowhere.csv"), "{message}");
    let (code, _, message) = run(at, "run rows.csv --costs costs.csv --objective f1");
    assert!(code == 2 && message.contains("cannot be used with"), "{message}");
    stdout(at, &format!("run rows.csv {SMALL} --save m.bsm"));
    let before = fs::read(at.join("m.bsm")).unwrap();
    let (code, _, message) = run(at, "learn m.bsm rows.csv --costs bad.csv");
    assert!(code == 1 && message.contains("no costs for the label 'fault'"), "{message}");
    assert_eq!(fs::read(at.join("m.bsm")).unwrap(), before);
    // A label that comes later is refused on its line, and the model stays as it was.
    fs::write(at.join("new.csv"), "x,state\n1,fine\n2,new\n").unwrap();
    let (code, _, message) = run(at, "learn m.bsm new.csv --quiet --costs costs.csv");
    assert!(
        code == 1 && message.contains("line 3: there are no costs for the label 'new'"),
        "{message}"
    );
    assert_eq!(fs::read(at.join("m.bsm")).unwrap(), before);
}
