//! The command line as a user meets it: real files, real pipes, exit codes and messages.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

/// A model small enough for tests.
const SMALL: [&str; 2] = ["--enhancement-nodes", "40"];

/// The models that only some builds have.
const DENSE_BASELINES: [&str; 3] = ["refactorise", "ri-bls", "bls-cil"];

fn is_built(model: &str) -> bool {
    cfg!(feature = "dense-baselines") || !DENSE_BASELINES.contains(&model)
}

fn broadstream(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_broadstream")).args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = broadstream(&[arguments, &["--json"], &SMALL].concat());
    serde_json::from_str(&stdout(&output)).unwrap()
}

/// The exit code and the message of a run that must fail.
fn failure(arguments: &[&str]) -> (i32, String) {
    let output = broadstream(arguments);
    assert!(output.stdout.is_empty(), "a failed run prints no result");
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn file(folder: &TempDir, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A table with numbers, categories, a missing cell and an identifier.
fn table(rows: usize) -> String {
    let mut text = String::from("id,size,colour,class\n");
    for i in 0..rows {
        let size = if i == 3 { "?".to_owned() } else { format!("{}.5", i % 7) };
        let colour = ["red", "green", "blue"][i % 3];
        let class = if i % 3 == 0 { "yes" } else { "no" };
        text += &format!("{i},{size},{colour},{class}\n");
    }
    text
}

#[test]
fn nothing_needs_to_be_chosen_and_everything_can() {
    let source = "stagger:drift=recurring,every=500,samples=3000";
    let chosen = json(&["run", source]);
    assert_eq!(chosen["config"]["forgetting"], "auto");
    assert_eq!(chosen["config"]["ridge"], "auto");
    assert!(chosen["oca"].as_f64().unwrap() > 0.95, "{}", chosen["oca"]);
    let members = chosen["members"].as_array().unwrap();
    assert_eq!(members[0]["name"], "all samples");
    let weights: f64 = members.iter().map(|member| member["weight"].as_f64().unwrap()).sum();
    assert!((weights - 1.0).abs() < 1e-12);
    assert!(!chosen["restarts"].as_array().unwrap().is_empty(), "concepts change");

    let single = json(&["run", source, "--preset", "single"]);
    assert_eq!(single["config"]["forgetting"], 1.0);
    assert_eq!(single["config"]["stacking"], false);
    assert!(single["oca"].as_f64().unwrap() < 0.9, "one memory of everything is slow");

    let options =
        ["--forgetting", "0.95", "--ridge", "2", "--label-lags", "2", "--class-weight", "auto"];
    let given =
        json(&[&["run", source, "--enhancement-source", "feature-nodes"], &options[..]].concat());
    let config = &given["config"];
    assert_eq!(config["forgetting"], 0.95);
    assert_eq!(config["ridge"], 2.0);
    assert_eq!(config["label_lags"], 2);
    assert_eq!(config["class_weight"], "auto");
    assert_eq!(config["enhancement_source"], "feature-nodes");
    assert_eq!(given["members"].as_array().unwrap().len(), 2, "with labels and without");
}

#[test]
fn choices_that_do_not_go_together_are_refused() {
    for (options, message) in [
        (&["--forgetting", "none"][..], "expected a number or 'auto'"),
        (&["--stacking", "false", "--label-lags", "1"], "label_lags must be 0 without stacking"),
        (&["--correction-steps", "2"], "correction_steps must be 0 unless nested_models is 1"),
        (&["--model", "eous", "--ridge", "auto"], "eous needs a number for --ridge"),
        (&["--model", "perceptron", "--class-weight", "auto"], "perceptron has no --class-weight"),
    ] {
        let (code, error) = failure(&[&["run", "sea", "--limit", "10"], options].concat());
        assert_eq!(code, 2, "{error}");
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn a_run_without_a_source_takes_the_drifting_sea_stream() {
    let result = json(&["run", "--limit", "3000"]);
    assert_eq!(result["source"], "sea");
    assert_eq!(result["samples"], 3000);
    assert_eq!(result["inputs"], 3);
    assert_eq!(result["classes"], 2);
    assert!(result["oca"].as_f64().unwrap() > 0.84, "{}", result["oca"]);
    let keys = [
        "oca",
        "oce",
        "bacc",
        "avrbacc",
        "f1",
        "mcc",
        "kappa",
        "log_loss",
        "brier",
        "ece",
        "seconds",
        "samples_per_second",
    ];
    for key in keys {
        assert!(result[key].is_number(), "{key}");
    }
    assert_eq!(result["config"]["enhancement_nodes"], 40);
    let sum = result["oca"].as_f64().unwrap() + result["oce"].as_f64().unwrap();
    assert!((sum - 1.0).abs() < 1e-12);
}

#[test]
fn the_table_shows_every_metric_and_the_confusion() {
    let output = broadstream(&[&["run", "sea", "--limit", "500"], &SMALL[..]].concat());
    let text = stdout(&output);
    for part in [
        "accuracy (OCA)",
        "average balanced accuracy",
        "macro F1",
        "kappa",
        "Brier",
        "(ECE)",
        "Confusion",
        "samples/s",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    assert!(output.stderr.is_empty(), "no progress bar where there is no terminal");
}

#[test]
fn windowed_metrics_look_back_as_far_as_asked() {
    let window =
        |more: &[&str]| json(&[&["run", "sea", "--limit", "700"], more].concat())["window"].clone();
    assert_eq!(window(&[])["samples"], 700);
    assert_eq!(window(&["--metrics-window", "50"])["samples"], 50);
    let text = failure(&["run", "sea", "--metrics-window", "0"]).1;
    assert!(text.contains("metrics_window must be at least 1, got 0"), "{text}");
}

#[test]
fn drifts_are_reported_where_the_concept_changes() {
    let source = "stagger:drift=recurring,every=1000,samples=3000";
    let result = json(&["run", source, "--forgetting", "0.99"]);
    let drifts: Vec<u64> =
        result["drifts"].as_array().unwrap().iter().map(|drift| drift.as_u64().unwrap()).collect();
    assert_eq!(drifts.iter().map(|drift| drift / 1000).collect::<Vec<_>>(), [1, 2]);
    let arguments = ["run", source, "--forgetting", "0.99"];
    let text = stdout(&broadstream(&[&arguments, &SMALL[..]].concat()));
    assert!(
        text.contains(&format!("\ndrift detected at: {}, {}\n", drifts[0], drifts[1])),
        "{text}"
    );
    let calm = stdout(&broadstream(&[&["run", "sea", "--limit", "500"], &SMALL[..]].concat()));
    assert!(!calm.contains("drifts"), "{calm}");
}

#[test]
fn results_do_not_depend_on_the_block_or_on_separate_times() {
    let run = |more: &[&str]| {
        let mut result =
            json(&[&["run", "sea", "--limit", "700", "--forgetting", "0.99"], more].concat());
        let object = result.as_object_mut().unwrap();
        for key in ["seconds", "samples_per_second", "times"] {
            object.remove(key).unwrap();
        }
        result
    };
    let whole = run(&[]);
    assert_eq!(run(&["--block", "1"]), whole);
    assert_eq!(run(&["--block", "17"]), whole);
    assert_eq!(run(&["--separate-times"]), whole);
    assert_ne!(run(&["--seed", "9"]), whole);
}

#[test]
fn labels_may_come_late() {
    let source = "stagger:samples=600";
    let run = |delay| json(&["run", source, "--delay", delay]);
    let (known, late) = (run("0"), run("200"));
    assert_eq!((&known["delay"], &late["delay"]), (&Value::from(0), &Value::from(200)));
    assert_eq!(run("1")["log_loss"], known["log_loss"]);
    let unpredicted = |result: &Value| {
        let cells = result["confusion"].as_array().unwrap().iter().flat_map(|row| row.as_array());
        600 - cells.flatten().map(|count| count.as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!((unpredicted(&known), unpredicted(&late)), (1, 200));
    let shown = stdout(&broadstream(&["run", source, "--model", "no-change", "--delay", "9"]));
    assert!(shown.starts_with("stagger:samples=600: 600 samples"), "{shown}");
    assert!(shown.lines().next().unwrap().ends_with(", labels 9 samples late"), "{shown}");
    let majority = |arguments: [&str; 3]| -> Value {
        let more = [source, "--json", "--delay", "200"];
        serde_json::from_str(&stdout(&broadstream(&[&arguments, &more[..]].concat()))).unwrap()
    };
    let compared = &majority(["compare", "--models", "majority"])[0];
    assert_eq!(compared["parameters"]["delay"], 200.0);
    assert_eq!(compared["metrics"]["oca"], majority(["run", "--model", "majority"])["oca"]);
}

#[test]
fn times_can_be_measured_apart() {
    let result = json(&["run", "sea", "--limit", "200", "--separate-times"]);
    assert!(result["times"]["predicting"].as_f64().unwrap() > 0.0);
    assert!(result["times"]["learning"].as_f64().unwrap() > 0.0);
}

#[test]
fn files_of_all_kinds_are_read() {
    let folder = TempDir::new().unwrap();
    let text = table(60);
    let plain = file(&folder, "table.csv", &text);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let gzip = file(&folder, "table.gz", gzip.finish().unwrap());
    let tabs = file(&folder, "table.tsv", text.replace(',', "\t"));
    let run = |source: &str| json(&["run", source, "--drop", "id"]);
    let expected = run(&plain);
    assert_eq!(expected["samples"], 60);
    assert_eq!(expected["inputs"], 4, "size and three colours");
    assert_eq!(expected["target"], "class");
    assert!(expected["oca"].as_f64().unwrap() > 0.8);
    for source in [&gzip, &tabs] {
        assert_eq!(run(source)["oca"], expected["oca"]);
    }
    let codes = json(&["run", &plain, "--drop", "id", "--categories", "integer-codes"]);
    assert_eq!(codes["inputs"], 2);
    let other = json(&["run", &plain, "--drop", "id", "--target", "colour"]);
    assert_eq!(other["classes"], 3);
}

#[test]
fn standard_input_is_a_source() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_broadstream"))
        .args(["run", "-", "--json", "--drop", "id"])
        .args(SMALL)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(table(40).as_bytes()).unwrap();
    let result: Value = serde_json::from_str(&stdout(&child.wait_with_output().unwrap())).unwrap();
    assert_eq!(result["samples"], 40);
    assert_eq!(result["source"], "standard input");
}

#[test]
fn curves_and_predictions_are_written() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (curve, predictions) = (path("curve.csv"), path("predictions.csv"));
    let result = json(&[
        "run",
        "sea",
        "--limit",
        "250",
        "--curve",
        &curve,
        "--curve-every",
        "100",
        "--predictions",
        &predictions,
    ]);
    let curve = fs::read_to_string(curve).unwrap();
    let rows: Vec<&str> = curve.lines().collect();
    assert!(rows[0].starts_with("sample,oca,"));
    let samples: Vec<&str> = rows[1..].iter().map(|row| row.split(',').next().unwrap()).collect();
    assert_eq!(samples, ["100", "200", "250"]);
    let last: f64 = rows[3].split(',').nth(1).unwrap().parse().unwrap();
    assert_eq!(last, result["oca"].as_f64().unwrap());
    let members = result["members"].as_array().unwrap();
    let of_members = |what: &'static str| {
        members.iter().map(move |member| format!("{what}:{}", member["name"].as_str().unwrap()))
    };
    let names = of_members("weight").chain(of_members("features"));
    let names: Vec<String> = ["ece".into(), "drifts".into()].into_iter().chain(names).collect();
    let columns: Vec<&str> = rows[0].split(',').collect();
    assert_eq!(columns[9], names[0]);
    let drifts = columns.iter().position(|column| *column == "drifts").unwrap();
    assert_eq!(columns[drifts..], names[1..]);
    let mut cells = rows[3].split(',').skip(drifts + 1);
    let weights = cells.by_ref().take(members.len()).map(|cell| cell.parse::<f64>().unwrap());
    assert!(weights.eq(members.iter().map(|member| member["weight"].as_f64().unwrap())));
    let features = |member: &Value| match member["rests"].as_bool().unwrap() {
        true => 0,
        false => member["features"].as_u64().unwrap(),
    };
    assert!(cells.map(|cell| cell.parse::<u64>().unwrap()).eq(members.iter().map(features)));
    let reliability = result["reliability"].as_array().unwrap();
    let counts = reliability.iter().map(|bin| bin["count"].as_u64().unwrap());
    assert_eq!(counts.sum::<u64>(), 249, "before the first sample no class was known");

    let predictions = fs::read_to_string(predictions).unwrap();
    assert_eq!(predictions.lines().next(), Some("sample,label,prediction,probability"));
    let correct = predictions
        .lines()
        .skip(1)
        .filter(|row| {
            let cells: Vec<&str> = row.split(',').collect();
            cells[1] == cells[2]
        })
        .count();
    assert_eq!(correct as f64 / 250.0, result["oca"].as_f64().unwrap());
}

#[test]
fn shuffling_and_presets_work_on_files() {
    let folder = TempDir::new().unwrap();
    let path = file(&folder, "table.csv", table(120));
    let run = |more: &[&str]| json(&[&["run", &path, "--drop", "id"], more].concat());
    assert_eq!(run(&["--shuffle", "1"])["oca"], run(&["--shuffle", "1"])["oca"]);
    let sorted = file(
        &folder,
        "sorted.csv",
        format!("x,class\n{}{}", "1,a\n".repeat(50), "2,b\n".repeat(50)),
    );
    let shuffled = json(&["run", &sorted, "--shuffle", "1", "--limit", "20"]);
    assert_eq!((&shuffled["samples"], &shuffled["classes"]), (&20.into(), &2.into()));
    let paper = run(&["--preset", "paper"]);
    assert_eq!(paper["inputs"], 2, "the paper codes categories as integers");
    assert_eq!(paper["config"]["ridge"], 1e-8);
    assert_eq!(paper["config"]["scaling"]["given"]["size"]["scale"], 6.0);
    let drift = run(&["--preset", "paper-drift", "--ridge", "0.5"]);
    assert_eq!(drift["config"]["forgetting"], 0.99);
    assert_eq!(drift["config"]["ridge"], 0.5);
    let scaling = file(&folder, "scaling.csv", "input,centre,scale\nsize,3,2\n");
    let given = run(&["--scaling-file", &scaling]);
    assert_eq!(given["config"]["scaling"]["given"]["size"]["centre"], 3.0);
}

#[test]
fn baselines_run_too() {
    let folder = TempDir::new().unwrap();
    let path = file(&folder, "runs.csv", "x,class\n1,a\n2,a\n3,a\n4,b\n5,b\n6,b\n");
    let output = broadstream(&["run", &path, "--model", "no-change", "--json"]);
    let result: Value = serde_json::from_str(&stdout(&output)).unwrap();
    // The first sample has no prediction, the first b is taken for an a.
    assert!((result["oca"].as_f64().unwrap() - 4.0 / 6.0).abs() < 1e-12);
    let majority = broadstream(&["run", &path, "--model", "majority", "--json"]);
    let result: Value = serde_json::from_str(&stdout(&majority)).unwrap();
    assert!((result["oca"].as_f64().unwrap() - 2.0 / 6.0).abs() < 1e-12);
}

#[test]
fn every_baseline_learns_a_stream() {
    let broad = ["eous", "refactorise", "i-bls", "ri-bls", "bls-cil"];
    for model in broad.into_iter().filter(|model| is_built(model)) {
        let run = ["run", "sea", "--limit", "400", "--model", model, "--seed", "3"];
        // The recursion of I-BLS wants a small ridge, and features of which few are nearly alike.
        let more = ["--ridge", "1e-12", "--enhancement-source", "feature-nodes"];
        let more: &[&str] = if model == "i-bls" { &more } else { &[] };
        let result = json(&[&run[..], more].concat());
        assert_eq!(result["config"]["model"], model);
        assert_eq!(result["config"]["enhancement_nodes"], 40);
        assert_eq!(result["config"]["seed"], 3);
        assert!(result["config"]["forgetting"].is_null(), "{model} does not forget");
        assert_eq!(result["config"]["ridge"].is_null(), model == "bls-cil", "{model}");
        assert!(result["oca"].as_f64().unwrap() > 0.7, "{model}: {}", result["oca"]);
    }
    let models =
        ["perceptron", "passive-aggressive", "multilayer-perceptron", "hedge-backpropagation"];
    for model in models {
        let arguments = ["run", "sea", "--limit", "400", "--json", "--model", model];
        let result: Value = serde_json::from_str(&stdout(&broadstream(&arguments))).unwrap();
        assert_eq!(result["config"]["model"], model);
        assert!(result["config"]["scaling"]["standard"].is_object(), "{model}");
        assert!(result["oca"].as_f64().unwrap() > 0.6, "{model}: {}", result["oca"]);
    }
}

#[test]
fn every_model_that_scales_can_scale_robustly() {
    for (model, size) in [
        ("online-bls", &SMALL[..]),
        ("eous", &SMALL),
        ("perceptron", &[]),
        ("hedge-backpropagation", &[]),
    ] {
        let run = ["run", "sea", "--limit", "400", "--json", "--model", model];
        let scaling = ["--scaling", "robust", "--freeze-scaling-after", "300"];
        let output = broadstream(&[&run[..], &scaling, size].concat());
        let result: Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_eq!(result["config"]["scaling"]["robust"]["clip"], 4.0, "{model}");
        assert!(result["oca"].as_f64().unwrap() > 0.6, "{model}: {}", result["oca"]);
    }
}

#[test]
fn the_papers_algorithms_predict_as_online_bls_does() {
    let folder = TempDir::new().unwrap();
    let predictions = |model: &str, more: &[&str]| {
        let path = folder.path().join(model).to_str().unwrap().to_owned();
        let run = ["run", "sea", "--limit", "300", "--model", model, "--predictions", &path];
        stdout(&broadstream(&[&run[..], &SMALL, more].concat()));
        let text = fs::read_to_string(path).unwrap();
        // All but the probability, whose last digits differ.
        let rows = text.lines().map(|row| row.rsplit_once(',').unwrap().0.to_owned());
        rows.collect::<Vec<_>>()
    };
    let expected = predictions("online-bls", &["--preset", "single", "--nested-models", "1"]);
    assert_eq!(expected.len(), 301);
    for model in ["eous", "refactorise", "ri-bls"].into_iter().filter(|model| is_built(model)) {
        assert_eq!(predictions(model, &[]), expected, "{model}");
    }
}

#[test]
#[cfg(not(feature = "dense-baselines"))]
fn a_model_that_this_build_lacks_is_refused_and_still_listed() {
    let help = stdout(&broadstream(&["run", "--help"]));
    for model in DENSE_BASELINES {
        assert!(help.contains(model), "{model} is not listed");
        let needs = format!("the model {model} needs a build with --features dense-baselines");
        let (code, text) = failure(&["run", "sea", "--model", model]);
        assert!(code == 2 && text.contains(&needs), "{code}: {text}");
        let (code, text) = failure(&["compare", "sea", "--models", model]);
        assert!(code == 2 && text.contains(&needs), "{code}: {text}");
    }
}

#[test]
fn a_stream_too_long_for_i_bls_ends_in_an_error() {
    let run = ["run", "sea", "--limit", "400", "--model", "i-bls", "--memory-limit", "300KB"];
    let (code, text) = failure(&[&run[..], &SMALL].concat());
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("more than the memory limit of 300000 bytes"), "{text}");
}

#[test]
fn faulty_data_is_an_error_with_its_place() {
    let folder = TempDir::new().unwrap();
    let wide: String = (0..300).map(|i| format!("{i},")).collect::<String>() + "a\n";
    for (name, content, arguments, message) in [
        ("ragged.csv", "a,b\n1,x\n2\n".to_owned(), vec![], "line 3: expected 2 fields, found 1"),
        ("empty.csv", String::new(), vec![], "the stream is empty"),
        ("header.csv", "a,b\n".to_owned(), vec![], "the stream is empty"),
        (
            "one.csv",
            "a,b\n1,x\n2,x\n".to_owned(),
            vec![],
            "has only the class 'x' in all 2 samples",
        ),
        (
            "label.csv",
            "a,b\n1,x\n2,\n".to_owned(),
            vec![],
            "line 3, column 'b': the label is missing",
        ),
        ("unknown.csv", "a,b\n1,x\n".to_owned(), vec!["--target", "c"], "there is no column 'c'"),
        (
            "infinite.csv",
            "a,b\n1,x\ninf,y\n".to_owned(),
            vec![],
            "line 3, column 'a': expected a finite",
        ),
        (
            "text.csv",
            "a,b\n1,x\ntwo,y\n".to_owned(),
            vec!["--numeric", "a"],
            "line 3, column 'a': expected a number, found 'two'",
        ),
        ("binary.csv", "a,b\n1,\0\n".to_owned(), vec![], "not text"),
        (
            "wide.csv",
            wide.repeat(2),
            vec!["--no-header", "--preset", "single", "--memory-limit", "6MB"],
            "the inputs need",
        ),
        (
            "huge.csv",
            "a,b\n1,x\n1e300,y\n".to_owned(),
            vec!["--scaling", "none"],
            "sample 2: input 'a' is 1e300 after scaling, beyond the limit",
        ),
    ] {
        let path = file(&folder, name, content);
        let (code, text) = failure(&[&["run", &path], &arguments[..]].concat());
        assert_eq!(code, 1, "{name}: {text}");
        assert!(text.starts_with("error: ") && text.contains(message), "{name}: {text}");
        assert!(text.contains(name), "{name} is not named in: {text}");
    }
    let (code, text) = failure(&["run", "no-such-file.csv"]);
    assert_eq!(code, 1);
    assert!(text.contains("no-such-file.csv"), "{text}");
    let (code, text) = failure(&["run", folder.path().to_str().unwrap()]);
    assert_eq!(code, 1);
    assert!(text.contains("directory"), "{text}");
}

#[test]
fn bad_usage_has_its_own_exit_code() {
    for arguments in [
        &["run", "--ridge", "0"][..],
        &["run", "--ridge", "-1"],
        &["run", "--forgetting", "1.5"],
        &["run", "--forgetting", "nan"],
        &["run", "--enhancement-nodes", "0"],
        &["run", "--block", "0"],
        &["run", "--limit", "0"],
        &["run", "--colour", "red"],
        &["run", "sea:variant=9"],
        &["run", "sea:noise=much"],
        &["run", "sea:flavour=1"],
        &["run", "sea:variant=1,width=5"],
        &["run", "sea", "--target", "class"],
        &["run", "sea", "--model", "majority", "--ridge", "2"],
        &["run", "sea", "--model", "i-bls", "--forgetting", "0.9"],
        &["run", "sea", "--model", "eous", "--nested-models", "2"],
        &["run", "sea", "--model", "eous", "--preset", "paper-drift"],
        &["run", "sea", "--model", "eous", "--zero-tolerance", "0"],
        &["run", "sea", "--model", "i-bls", "--zero-tolerance", "1"],
        &["run", "sea", "--model", "bls-cil", "--ridge", "2"],
        &["run", "sea", "--model", "bls-cil", "--separation", "-1"],
        &["run", "sea", "--model", "perceptron", "--seed", "2"],
        &["run", "sea", "--model", "multilayer-perceptron", "--learning-rate", "0"],
        &["run", "sea", "--model", "multilayer-perceptron", "--discount", "0.9"],
        &["run", "sea", "--model", "hedge-backpropagation", "--smoothing", "0"],
        &["run", "sea", "--hidden-layers", "2"],
        &["run", "sea", "--preset", "single", "--refresh-every", "5"],
        &["run", "sea", "--forgetting", "0.5", "--refresh-every", "1100"],
        &["run", "sea", "--scaling", "none", "--freeze-scaling-after", "5"],
        &["run", "sea", "--freeze-scaling-after", "1"],
        &["run", "sea", "--curve-every", "5"],
        &["run", "sea", "--drift-confidence", "0"],
        &["run", "sea", "--drift-confidence", "NaN"],
        &["generate", "nothing"],
        &["generate"],
        &[],
    ] {
        let (code, text) = failure(arguments);
        assert_eq!(code, 2, "{arguments:?}: {text}");
        assert!(!text.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_generated_file_gives_the_result_of_its_generator() {
    let folder = TempDir::new().unwrap();
    let generated = stdout(&broadstream(&["generate", "hyperplane:inputs=4", "--samples", "400"]));
    assert_eq!(generated.lines().next(), Some("0,1,2,3,class"));
    assert_eq!(generated.lines().count(), 401);
    let path = file(&folder, "hyperplane.csv", generated);
    let from_file = json(&["run", &path]);
    let direct = json(&["run", "hyperplane:inputs=4,samples=400"]);
    for key in ["oca", "log_loss", "confusion"] {
        assert_eq!(from_file[key], direct[key], "{key}");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_broadstream"))
        .args(["generate", "sea"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));

    // A file that cannot be written is a failure all the same.
    let full = Path::new("/dev/full");
    if full.exists() {
        let (code, message) =
            failure(&["run", "sea", "--limit", "9", "--predictions", "/dev/full"]);
        assert_eq!(code, 1, "{message}");
    }
}

#[test]
fn help_and_completions_are_there() {
    for arguments in [&["--help"][..], &["run", "--help"], &["generate", "--help"], &["--version"]]
    {
        assert!(!stdout(&broadstream(arguments)).is_empty());
    }
    for shell in ["bash", "zsh", "fish"] {
        let script = stdout(&broadstream(&["completions", shell]));
        assert!(script.contains("broadstream"), "{shell}");
    }
}

#[test]
fn what_is_read_is_never_overwritten() {
    let folder = TempDir::new().unwrap();
    let text = table(30);
    let path = file(&folder, "table.csv", &text);
    let aside = folder.path().join(".").join("table.csv").to_str().unwrap().to_owned();
    for arguments in [["--predictions", &path], ["--curve", &aside]] {
        let (code, message) = failure(&[&["run", &path], &arguments[..]].concat());
        assert_eq!(code, 2, "{message}");
        assert!(message.contains("would overwrite"), "{message}");
    }
    let old = file(&folder, "old.csv", "kept");
    let (code, _) = failure(&["run", "no-such-file.csv", "--curve", &old]);
    assert_eq!(code, 1);
    let (code, _) = failure(&["run", &path, "--curve", &old, "--predictions", &old]);
    assert_eq!(code, 2);
    assert_eq!(fs::read_to_string(&old).unwrap(), "kept");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_scaling_file_is_read_by_its_header() {
    let folder = TempDir::new().unwrap();
    let path = file(&folder, "table.csv", table(30));
    let run = |scaling: &str| {
        let scaling = file(&folder, "scaling.csv", scaling);
        broadstream(&["run", &path, "--drop", "1", "--scaling-file", &scaling, "--json"])
    };
    let result: Value =
        serde_json::from_str(&stdout(&run("scale,input,centre\n2,size,3\n"))).unwrap();
    assert_eq!(result["config"]["scaling"]["given"]["size"]["scale"], 2.0);
    for (content, message) in [
        ("input,scale\nsize,2\n", "missing field `centre`"),
        ("input,centre,scale\nsize,0,1\nsize,0,2\n", "'size' is listed twice"),
        ("input,centre,scale\nsize,0,0\n", "a finite positive scale"),
        ("input,centre,scale\nother,0,1\n", "none for 'size'"),
    ] {
        let output = run(content);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && text.contains(message), "{content:?}: {text}");
    }
}

#[test]
fn columns_may_be_counted_from_the_end() {
    let folder = TempDir::new().unwrap();
    let path = file(&folder, "table.csv", table(30));
    let result = json(&["run", &path, "--target", "-1", "--drop", "-2,1"]);
    assert_eq!(result["inputs"], 1);
    assert_eq!(result["target"], "class");
}

#[test]
fn many_classes_leave_the_confusion_out() {
    let folder = TempDir::new().unwrap();
    let rows: String = (0..300).map(|i| format!("{i},label {i}\n")).collect();
    let path = file(&folder, "ids.csv", format!("x,class\n{rows}"));
    let result = json(&["run", &path]);
    assert_eq!(result["classes"], 300);
    assert!(result["confusion"].is_null());
}

#[test]
fn a_fault_is_met_at_the_same_sample_for_any_block() {
    let folder = TempDir::new().unwrap();
    let rows: String = (0..90).map(|i| format!("{i},{}\n", i % 2)).collect();
    let path = file(&folder, "late.csv", format!("x,class\n{rows}1e30,0\n5,1\n"));
    for block in ["1", "64", "1000"] {
        let arguments = ["run", &path, "--scaling", "none", "--block", block];
        let (code, message) = failure(&[&arguments, &SMALL[..]].concat());
        assert_eq!(code, 1);
        assert!(message.contains("sample 91: input 'x' is 1e30"), "{message}");
    }
}

#[test]
fn a_file_that_cannot_be_written_fails_at_once() {
    let missing: PathBuf = Path::new("no-such-folder").join("curve.csv");
    let (code, text) = failure(&["run", "sea", "--curve", missing.to_str().unwrap()]);
    assert_eq!(code, 1);
    assert!(text.contains("no-such-folder"), "{text}");
}
