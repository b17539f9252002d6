//! Files in single precision, and without random weights, from every command that saves a model.

use serde_json::Value;

use super::{EXACT, Folder, rows};

const SMALL: &str = "--precision single --omit-feature-weights";

fn trained() -> Folder {
    let folder = Folder::new();
    folder.write("rows.csv", rows(0..300));
    folder.write("few.csv", rows(120..124));
    folder.write("none.csv", rows(0..0));
    folder.stdout(&format!("run rows.csv {EXACT} --save exact.bsm"));
    folder
}

/// The probabilities of what a model predicts.
fn probabilities(folder: &Folder, model: &str) -> Vec<f64> {
    let text = folder.stdout(&format!("predict {model} rows.csv"));
    let rows = text.lines().skip(1).map(|line| line.split(',').nth(1).unwrap());
    rows.map(|cell| cell.parse().unwrap()).collect()
}

#[test]
fn every_command_that_saves_a_model_can_make_it_small() {
    let folder = trained();
    folder.stdout(&format!("run rows.csv {EXACT} {SMALL} --save run.bsm"));
    folder.stdout(&format!("learn exact.bsm none.csv --quiet {SMALL} -o learn.bsm"));
    folder.stdout(&format!("merge exact.bsm {SMALL} -o merge.bsm"));
    folder.stdout(&format!("unlearn exact.bsm few.csv {SMALL} -o unlearn.bsm"));
    let exact = probabilities(&folder, "exact.bsm");
    for (file, tolerance) in
        [("run.bsm", 1e-3), ("learn.bsm", 1e-3), ("merge.bsm", 1e-3), ("unlearn.bsm", 0.2)]
    {
        let found = folder.json(&format!("inspect {file}"));
        assert_eq!(
            (&found["precision"], &found["format"]),
            (&"single".into(), &2.into()),
            "{file}"
        );
        assert!(folder.stdout(&format!("inspect {file}")).contains("\nprecision   single: "));
        assert!(folder.read(file).len() < folder.read("exact.bsm").len(), "{file}");
        for (found, expected) in probabilities(&folder, file).iter().zip(&exact) {
            assert!((found - expected).abs() < tolerance, "{file}: {found}, not {expected}");
        }
    }
    let exact = folder.json("inspect exact.bsm");
    assert_eq!((&exact["precision"], &exact["format"]), (&"double".into(), &1.into()));
    assert_eq!(exact["learned"], folder.json("inspect learn.bsm")["learned"]);
}

/// And not by one that was told nothing about precision either: the digits are gone.
#[test]
fn a_small_model_learns_on_and_is_not_mistaken_for_an_exact_one() {
    let folder = trained();
    folder.stdout(&format!("run rows.csv {EXACT} {SMALL} --save small.bsm"));
    folder.stdout("learn small.bsm few.csv --quiet");
    let found = folder.json("inspect small.bsm");
    assert_eq!((&found["precision"], &found["format"]), (&"single".into(), &1.into()));
    assert_eq!(found["learned"], 304);
    let before = folder.read("small.bsm");
    for command in ["unlearn small.bsm few.csv", "merge exact.bsm small.bsm -o m.bsm"] {
        let output = folder.output(command);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{command}: {message}");
        assert!(message.contains("it was saved in single precision"), "{command}: {message}");
    }
    assert_eq!(folder.read("small.bsm"), before);
}

#[test]
fn what_must_continue_to_the_bit_is_refused() {
    let folder = trained();
    folder.stdout("fit-partial rows.csv --like exact.bsm --quiet -o sums.bsm");
    for (arguments, code, rule) in [
        (
            "run rows.csv --checkpoint c.bsm --precision single",
            2,
            "--precision single needs --save",
        ),
        (
            "learn exact.bsm few.csv --journal --precision single",
            2,
            "--journal needs --precision double",
        ),
        ("merge sums.bsm --sums --precision single -o m.bsm", 1, "must continue to the bit"),
        ("run rows.csv --save s.bsm --precision half", 2, "invalid value 'half'"),
    ] {
        let output = folder.output(arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments}: {message}");
        assert!(message.contains(rule), "{arguments}: {message}");
    }
}

/// The checkpoint is exact, and the model of the resumed run is stored as it says.
#[test]
fn a_resumed_run_may_save_a_small_model() {
    let folder = trained();
    let run = format!("run rows.csv {EXACT} --checkpoint c.bsm --save s.bsm");
    folder.stdout(&format!("{run} --limit 200 --precision single"));
    assert_eq!(folder.json("inspect c.bsm")["precision"], "double");
    for (option, precision) in [("", "single"), ("--precision double", "double")] {
        folder.stdout(&format!("run --resume c.bsm --limit 300 --quiet {option}"));
        let found: Value = folder.json("inspect s.bsm");
        assert_eq!((&found["precision"], &found["learned"]), (&precision.into(), &300.into()));
    }
}
