//! `broadstream experiment`, `compare` and `run --report`, as a user runs them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::tempdir;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn broadstream(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_broadstream"));
    command.args(arguments);
    command
}

fn miniature(output: &Path) -> Command {
    let mut command = broadstream(&["experiment", "--jobs", "1", "--output"]);
    command.arg(output).arg(data("miniature.toml"));
    command
}

/// What a command printed; it must have succeeded.
fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    String::from_utf8(output.stdout).unwrap()
}

/// What a command said on failing with that code.
fn refused(command: &mut Command, code: i32) -> String {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stderr).unwrap()
}

/// Compares a file with the stored one; with UPDATE_GOLDEN=1 it is stored instead.
fn check_golden(found: &Path, stored: &str) {
    let found = fs::read_to_string(found).unwrap();
    let path = data(stored);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, &found).unwrap();
    }
    assert!(fs::read_to_string(&path).unwrap() == found, "{stored} is not what the program writes");
}

#[test]
fn an_experiment_goes_from_its_declaration_to_its_page() {
    let output = tempdir().unwrap();
    let text = printed(&mut miniature(output.path()));
    let folder = output.path().join("miniature");
    assert!(text.contains("no more") && text.contains("85.2"), "{text}");
    assert!(text.trim_end().ends_with("miniature/index.html"), "{text}");
    check_golden(&folder.join("accuracy.tex"), "miniature.tex");
    check_golden(&folder.join("error-on-the-way.svg"), "miniature-curves.svg");
    check_golden(&folder.join("error-by-size.svg"), "miniature-lines.svg");

    // Two streams, two seeds, two sizes and two methods, and the label before once per stream.
    let records: Vec<_> = fs::read_dir(folder.join("records")).unwrap().collect();
    assert_eq!(records.len(), 2 * 2 * 2 * 2 + 2);
    let page = fs::read_to_string(folder.join("index.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("Miniature"));
    assert!(!page.contains("src=\"http") && !page.contains("href=\"http"), "it needs the network");
    let overview = fs::read_to_string(output.path().join("index.html")).unwrap();
    assert!(overview.contains("Miniature") && overview.contains("2 streams"), "{overview}");
}

#[test]
fn a_killed_experiment_goes_on_where_it_stopped() {
    let (whole, broken) = (tempdir().unwrap(), tempdir().unwrap());
    printed(&mut miniature(whole.path()));
    let records = broken.path().join("miniature/records");
    let mut child =
        miniature(broken.path()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let finished = || -> Vec<PathBuf> {
        let entries = fs::read_dir(&records).into_iter().flatten().flatten();
        entries.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "json")).collect()
    };
    let deadline = Instant::now() + Duration::from_secs(60);
    while finished().len() < 3 {
        assert!(Instant::now() < deadline, "no record after a minute");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!broken.path().join("miniature/index.html").exists(), "it ended before it was killed");
    let before: Vec<_> = finished()
        .into_iter()
        .map(|path| (fs::metadata(&path).unwrap().modified().unwrap(), path))
        .collect();

    printed(&mut miniature(broken.path()));
    for (time, path) in before {
        assert_eq!(
            fs::metadata(&path).unwrap().modified().unwrap(),
            time,
            "{path:?} was made again"
        );
    }
    let files = ["accuracy.tex", "error-on-the-way.svg", "error-by-size.svg"];
    for file in files.into_iter().chain(cfg!(feature = "png").then_some("error-by-size.png")) {
        let read = |folder: &Path| fs::read(folder.join("miniature").join(file)).unwrap();
        assert!(read(whole.path()) == read(broken.path()), "{file}");
    }
}

#[test]
fn faults_of_an_experiment_are_named() {
    let folder = tempdir().unwrap();
    let message = refused(&mut broadstream(&["experiment", "table9"]), 2);
    assert!(message.contains("there is no experiment 'table9'") && message.contains("table2"));
    let message = refused(&mut broadstream(&["experiment", "table2", "--streams", "moon"]), 2);
    assert!(message.contains("--streams must be among image-segment"), "{message}");
    let empty = folder.path().to_str().unwrap();
    let message = refused(
        broadstream(&["experiment", "table2", "--data", empty])
            .env("BROADSTREAM_DATA", empty)
            .env("XDG_CACHE_HOME", empty),
        1,
    );
    assert!(message.contains("broadstream datasets fetch image-segment"), "{message}");

    let own = folder.path().join("own.toml");
    for (text, expected) in [
        ("title = 1", "own.toml"),
        (
            "title='t'\nstreams=['sea']\n[[methods]]\nname='m'\noptions={speed=3}",
            "method 'm': unexpected argument '--speed'",
        ),
        (
            "title='t'\nlimit=50\nstreams=['sea']\n[[methods]]\nname='m'\noptions={ridge=-1}",
            "ridge must be above 0",
        ),
        ("title='t'\n[[methods]]\nname='m'\n[[streams]]\nname='s'\nsource='gone.csv'", "gone.csv"),
    ] {
        fs::write(&own, text).unwrap();
        let output =
            broadstream(&["experiment", "-q", "--output", empty]).arg(&own).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && message.contains(expected), "{message}");
    }
}

#[test]
#[cfg(not(feature = "dense-baselines"))]
fn an_experiment_that_this_build_cannot_finish_does_not_start() {
    let output = tempdir().unwrap();
    for (name, lacked) in
        [("complexity", "the model ri-bls"), ("stability", "the experiment on stability")]
    {
        let mut command = broadstream(&["experiment", name, "--limit", "50", "--output"]);
        let message = refused(command.arg(output.path()), 2);
        let needs = format!("{lacked} needs a build with --features dense-baselines");
        assert!(message.contains(&needs), "{message}");
        assert!(!output.path().join(name).exists(), "{name} left files");
    }
}

#[test]
#[cfg(feature = "dense-baselines")]
fn residuals_stay_below_the_bound_of_the_paper() {
    let output = tempdir().unwrap();
    let mut command = broadstream(&["experiment", "stability", "--seeds", "1", "--output"]);
    printed(command.arg(output.path()));
    let table = output.path().join("stability/residual-by-condition-number.csv");
    let table = fs::read_to_string(table).unwrap();
    let residual = |method: &str, condition: &str| -> f64 {
        let row = format!("K,{method},{condition},");
        let row = table.lines().find_map(|line| line.strip_prefix(&row)).expect(&row);
        row.split(',').next().unwrap().parse().unwrap()
    };
    for condition in ["1", "100000", "10000000000"] {
        let bound = residual("theorem-1", condition);
        for method in ["ewea", "online-bls", "explicit-inverse"] {
            let residual = residual(method, condition);
            assert!(residual > 0.0 && residual < bound, "{method} at {condition}: {residual}");
        }
    }
}

#[test]
fn models_are_compared_in_one_pass() {
    let folder = tempdir().unwrap();
    let page = folder.path().join("page.html");
    let mut command = broadstream(&["compare", "sea", "--limit", "800", "--json", "--models"]);
    command.args(["no-change,majority", "--with", "small=--enhancement-nodes 30 --seed 3"]);
    command.arg("--report").arg(&page);
    let records: Value = serde_json::from_str(&printed(&mut command)).unwrap();
    let oca = |method: &str| {
        let records = records.as_array().unwrap();
        records.iter().find(|r| r["method"] == method).unwrap()["metrics"]["oca"].as_f64().unwrap()
    };
    let alone = printed(&mut broadstream(&[
        "run",
        "sea",
        "--limit",
        "800",
        "--enhancement-nodes",
        "30",
        "--seed",
        "3",
        "--json",
    ]));
    let alone: Value = serde_json::from_str(&alone).unwrap();
    assert_eq!(oca("small"), alone["oca"].as_f64().unwrap());
    assert!(oca("small") > oca("majority") && oca("majority") > oca("no-change"));
    assert!(fs::read_to_string(page).unwrap().contains("<svg"));

    let table =
        printed(&mut broadstream(&["compare", "sea", "--limit", "100", "--models", "majority"]));
    assert!(table.contains("| Majority class |"), "{table}");
    let message = refused(&mut broadstream(&["compare", "sea", "--with", "x=--speed 3"]), 2);
    assert!(message.contains("model 'x': unexpected argument '--speed'"), "{message}");
    let message = refused(
        &mut broadstream(&["compare", "sea", "--with", "majority=", "--models", "majority"]),
        2,
    );
    assert!(message.contains("two models are called 'majority'"), "{message}");
}

#[test]
fn a_run_leaves_a_page() {
    let folder = tempdir().unwrap();
    let page = folder.path().join("run.html");
    let mut command = broadstream(&["run", "sea", "--limit", "500", "--enhancement-nodes", "20"]);
    command.args(["--separate-times", "--curve-every", "100", "--report"]).arg(&page);
    printed(&mut command);
    let page = fs::read_to_string(page).unwrap();
    for part in ["Accuracy over time", "Confusion", "Classes", "Configuration", "enhancement_nodes"]
    {
        assert!(page.contains(part), "{part} is missing");
    }
    let message = refused(&mut broadstream(&["run", "sea", "--curve-every", "5"]), 2);
    assert!(message.contains("--curve-every needs --curve or --report"), "{message}");
}
