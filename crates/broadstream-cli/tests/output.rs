//! What reaches the screen: errors that name what failed, once, and text from data that is only text.

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

use tempfile::TempDir;

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_broadstream"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

const SMALL: &str =
    "--preset single --nested-models 1 --scaling none --enhancement-nodes 9 --quiet";

/// A folder with rows and a model of them.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..50).map(|i| format!("{},{}\n", i % 7, i % 2)).collect();
    fs::write(folder.path().join("rows.csv"), format!("a,y\n{rows}")).unwrap();
    let saved = run(folder.path(), &words(&format!("run rows.csv {SMALL} --save m.bsm")));
    assert!(saved.status.success(), "{}", String::from_utf8_lossy(&saved.stderr));
    folder
}

/// Every command that prints something.
fn commands() -> Vec<String> {
    let run = format!("run rows.csv {SMALL}");
    let compare = "compare rows.csv --quiet --models majority";
    let texts = [
        &run,
        &format!("{run} --json"),
        compare,
        &format!("{compare} --json"),
        "predict m.bsm rows.csv",
        "learn m.bsm rows.csv -o other.bsm",
        "inspect m.bsm",
        "inspect m.bsm --json",
        "unlearn m.bsm rows.csv -o other.bsm",
        "generate sea --samples 9",
        "export rows.csv",
        "datasets list",
        "datasets list --json",
        "datasets verify",
        "experiment",
        "completions bash",
        "help",
        "run --help",
        "--version",
    ];
    texts.map(str::to_owned).into()
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_named_once() {
    let folder = folder();
    for arguments in commands() {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_broadstream"));
        command.args(words(&arguments)).current_dir(folder.path()).stdin(Stdio::null());
        let output = command.stdout(full).stderr(Stdio::piped()).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        let expected = "writing standard output: No space left on device (os error 28)\n";
        let before = if arguments.starts_with("learn") { "no row was learned: " } else { "" };
        assert_eq!(message, format!("error: {before}{expected}"), "{arguments}");
        assert_eq!(output.status.code(), Some(1), "{arguments}");
    }
    assert!(!folder.path().join(".other.bsm.lock").exists());
}

#[test]
fn a_closed_standard_output_is_no_error() {
    let folder = folder();
    for arguments in commands() {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_broadstream"));
        command.args(words(&arguments)).current_dir(folder.path()).stdin(Stdio::null());
        let output = command.stdout(writer).stderr(Stdio::piped()).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        let expected = match arguments.starts_with("learn") {
            true => "50 rows learned, 0 without a label\n",
            false => "",
        };
        assert_eq!((message.as_str(), output.status.code()), (expected, Some(0)), "{arguments}");
    }
}

/// There is nobody to be told, which changes nothing else.
#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_error_is_no_panic() {
    let folder = folder();
    for (arguments, code) in
        [("run missing.csv", 1), ("merge m.bsm -o n.bsm", 0), ("run --nope", 2)]
    {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_broadstream"));
        command.args(words(arguments)).current_dir(folder.path()).stderr(full);
        assert_eq!(command.status().unwrap().code(), Some(code), "{arguments}");
    }
}

#[test]
fn the_page_of_a_comparison_does_not_need_a_reader_of_its_table() {
    let folder = folder();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_broadstream"));
    let arguments = "compare rows.csv --quiet --models majority --report page.html";
    command.args(words(arguments)).current_dir(folder.path());
    assert!(command.stdout(writer).status().unwrap().success());
    assert!(folder.path().join("page.html").exists());
}

#[test]
fn each_failed_run_of_an_experiment_is_told_once() {
    let folder = folder();
    let text = "title = \"t\"\nseeds = 1\n\
                [[streams]]\nname = \"one\"\nsource = \"no-one.csv\"\n\
                [[streams]]\nname = \"two\"\nsource = \"no-two.csv\"\n\
                [[methods]]\nname = \"m\"\noptions = { model = \"majority\" }\n\
                [[views]]\nkind = \"table\"\ntitle = \"A table\"\nmetrics = [\"oca\"]\n";
    fs::write(folder.path().join("e.toml"), text).unwrap();
    let output = run(folder.path(), &words("experiment e.toml --quiet --jobs 1"));
    let message = String::from_utf8(output.stderr).unwrap();
    for part in ["no-one.csv", "no-two.csv", "2 of 2 runs failed"] {
        assert_eq!(message.matches(part).count(), 1, "{message}");
    }
}

/// A class, columns and a category that clear the screen, forge a line and turn text around.
#[test]
fn text_from_data_is_only_text() {
    const HOSTILE: &str = "\u{1b}[2J\u{9b}31m\u{202e}x\u{2066}\u{7}";
    let folder = folder();
    let mut rows = format!("{HOSTILE}n,\"{HOSTILE}\nc\",y\n");
    for i in 0..40 {
        let class =
            if i % 2 == 0 { HOSTILE.to_owned() } else { format!("\"{HOSTILE}\nerror: forged\"") };
        rows += &format!("{i},{HOSTILE}{},{class}\n", i % 3);
    }
    let file = format!("{HOSTILE}.csv");
    fs::write(folder.path().join(&file), &rows).unwrap();
    fs::write(folder.path().join("bad.csv"), rows.replace("\n7,", &format!("\n{HOSTILE},")))
        .unwrap();
    let save = words(SMALL).into_iter().chain(["--save", "h.bsm", "--checkpoint", "c.bsm"]);
    let train: Vec<&str> = ["run", &file].into_iter().chain(save).collect();
    let missing = format!("missing{HOSTILE}.csv");
    let name = format!("{HOSTILE}=--model majority");
    let commands: Vec<Vec<&str>> = vec![
        train,
        vec!["compare", &file, "--quiet", "--models", "majority"],
        vec!["compare", &file, "--quiet", "--models", "majority", "--with", &name],
        vec!["inspect", "h.bsm"],
        vec!["inspect", "c.bsm"],
        vec!["inspect", &file],
        vec!["run", &missing],
        vec!["run", &file, "--target", HOSTILE],
        vec!["run", "bad.csv"],
        vec!["learn", "h.bsm", "bad.csv", "--quiet"],
        vec!["predict", "h.bsm", "rows.csv"],
        vec!["predict", &missing],
        vec!["merge", "h.bsm", &missing, "-o", "x.bsm"],
        vec!["merge", "h.bsm", "-o", &missing],
        vec!["unlearn", "h.bsm", &file, "-o", "y.bsm"],
        vec!["datasets", "list", "--data", HOSTILE],
        vec!["datasets", "verify", "--data", HOSTILE],
        vec!["experiment", &missing],
        vec!["generate", HOSTILE],
    ];
    let mut escaped = 0;
    for arguments in commands {
        let output = run(folder.path(), &arguments);
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8(text).unwrap();
        let is_acted_on = |c: &char| {
            c.is_control() && *c != '\n'
                || ('\u{202a}'..='\u{202e}').contains(c)
                || *c == '\u{2066}'
        };
        let found: String = text.chars().filter(is_acted_on).collect();
        assert!(found.is_empty(), "{arguments:?}: {found:?} in {text:?}");
        assert!(!text.contains("\nerror: forged"), "{arguments:?}: {text}");
        escaped += usize::from(text.contains("\\u{1b}[2J"));
    }
    assert!(escaped > 12, "only {escaped} commands showed the text at all");
    // Programs get it as it is.
    let predicted = run(folder.path(), &["predict", "h.bsm", &file]);
    assert!(String::from_utf8(predicted.stdout).unwrap().contains(HOSTILE));
    let inspected = run(folder.path(), &["inspect", "h.bsm", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&inspected.stdout).unwrap();
    assert_eq!(json["labels"][0], HOSTILE);
    let exported = run(folder.path(), &["export", &file]);
    assert!(String::from_utf8(exported.stdout).unwrap().contains(HOSTILE));
}
