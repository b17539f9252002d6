//! Models that are saved, merged, corrected and looked at.

use broadstream::model_file::{self, ModelFile};
use serde_json::{Map, Value};

use super::{EXACT, Folder, rows};

fn norm(folder: &Folder, file: &str) -> f64 {
    folder.json(&format!("inspect {file}"))["weight_norm"].as_f64().unwrap()
}

#[test]
fn parts_learned_apart_become_the_whole_and_rows_are_taken_back() {
    let folder = Folder::new();
    for (name, range) in
        [("all.csv", 0..400), ("a.csv", 0..180), ("b.csv", 180..300), ("c.csv", 300..400)]
    {
        folder.write(name, rows(range));
    }
    folder.write("some.csv", rows(120..124));
    let without = rows(0..120) + rows(124..400).split_once('\n').unwrap().1;
    folder.write("without.csv", without);
    for name in ["all", "a", "without"] {
        folder.stdout(&format!("run {name}.csv {EXACT} --save {name}.bsm"));
    }
    folder.stdout("run b.csv --like a.bsm --quiet --save b.bsm");
    folder.stdout("fit-partial c.csv --like a.bsm --quiet -o c.bsm");
    folder.stdout("merge a.bsm b.bsm c.bsm -o one.bsm");
    folder.stdout("merge c.bsm b.bsm a.bsm -o other.bsm");
    let whole = norm(&folder, "all.bsm");
    for file in ["one.bsm", "other.bsm"] {
        assert!((norm(&folder, file) / whole - 1.0).abs() < 1e-9, "{file}");
        assert_eq!(folder.json(&format!("inspect {file}"))["learned"], 400);
    }
    // Predictions too, label for label.
    let predictions = |model: &str| -> Vec<(String, f64)> {
        let text = folder.stdout(&format!("predict {model} all.csv"));
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let row = |row: csv::Result<csv::StringRecord>| {
            let row = row.unwrap();
            (row[0].to_owned(), row[1].parse().unwrap())
        };
        reader.records().map(row).collect()
    };
    let expected = predictions("all.bsm");
    for (found, expected) in predictions("other.bsm").iter().zip(&expected) {
        assert_eq!(found.0, expected.0);
        assert!((found.1 - expected.1).abs() < 1e-9);
    }
    let certificate = folder.json("unlearn one.bsm some.csv");
    assert_eq!((&certificate["samples"], &certificate["learned"]), (&4.into(), &396.into()));
    assert!(certificate["error"].as_f64().unwrap() < 1e-9, "{certificate}");
    assert!((norm(&folder, "one.bsm") / norm(&folder, "without.bsm") - 1.0).abs() < 1e-9);
    assert!(norm(&folder, "other.bsm") != norm(&folder, "one.bsm"));

    // Sums alone can be merged and stay sums.
    folder.stdout("fit-partial b.csv --like a.bsm --quiet -o bs.bsm");
    folder.stdout("merge bs.bsm c.bsm --sums -o sums.bsm");
    folder.stdout("merge sums.bsm a.bsm -o last.bsm");
    assert!((norm(&folder, "last.bsm") / whole - 1.0).abs() < 1e-9);
    assert_eq!(folder.json("inspect sums.bsm")["kind"], "sums");
}

#[test]
fn a_model_learns_on_as_if_it_had_never_been_saved() {
    let folder = Folder::new();
    folder.write("all.csv", rows(0..300));
    folder.write("first.csv", rows(0..140));
    folder.write("rest.csv", rows(140..300));
    for options in ["", "--preset single", "--window 60"] {
        let run = format!("--enhancement-nodes 20 --quiet {options}");
        folder.stdout(&format!("run all.csv {run} --predictions p.csv --save all.bsm"));
        folder.stdout(&format!("run first.csv {run} --save part.bsm"));
        let answers = folder.stdout("learn part.bsm rest.csv");
        // The rest of the predictions are the answers.
        let predictions = String::from_utf8(folder.read("p.csv")).unwrap();
        let expected: Vec<String> = predictions
            .lines()
            .skip(141)
            .map(|line| line.splitn(3, ',').nth(2).unwrap().to_owned())
            .collect();
        let found: Vec<&str> = answers.lines().skip(1).collect();
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found.rsplit_once(',').unwrap().0, expected, "{options}");
        }
        assert_eq!(norm(&folder, "part.bsm"), norm(&folder, "all.bsm"), "{options}");
    }
}

#[test]
fn a_file_tells_what_is_in_it() {
    let folder = Folder::new();
    folder.write("rows.csv", rows(0..200));
    folder.stdout("run rows.csv --enhancement-nodes 20 --quiet --save a.bsm --checkpoint b.bsm");
    folder
        .stdout("run rows.csv --enhancement-nodes 20 --quiet --save c.bsm --omit-feature-weights");
    assert!(folder.read("c.bsm").len() < folder.read("a.bsm").len());
    assert_eq!(norm(&folder, "c.bsm"), norm(&folder, "a.bsm"));
    let text = folder.stdout("inspect b.bsm");
    for part in ["checkpoint", "format 1", "large (", "200 samples evaluated", "forgetting 0.999"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let json = folder.json("inspect a.bsm");
    assert_eq!(json["kind"], "model");
    assert_eq!(json["inputs"].as_array().unwrap().len(), 6);
    assert_eq!(json["labels"], serde_json::json!(["small", "large", "late"]));
    assert!(json["health"][0]["residual"].as_f64().unwrap() < 1e-12);
    assert_eq!(json["config"]["enhancement_nodes"], 20);
}

#[test]
fn bad_files_and_rows_are_errors_and_change_nothing() {
    let folder = Folder::new();
    folder.write("rows.csv", rows(0..200));
    folder.write("row.csv", rows(20..21));
    folder.write("text.bsm", "no model");
    folder.write("bad.csv", "size,colour,weight,class\n1,red,2,small\n2,red,x,small\n");
    folder.write("unknown.csv", "size,wieght,class\n1,2,small\n");
    folder.write("far.csv", "size,colour,weight,class\n1e9,red,-1e9,small\n");
    folder.write("new.csv", "size,colour,weight,class\n1,pink,3,small\n");
    folder.write("open.csv", "size,colour,weight,class\n1,red,3,\n");
    folder.stdout(&format!("run rows.csv {EXACT} --save a.bsm"));
    folder.stdout("run rows.csv --enhancement-nodes 20 --quiet --save default.bsm");
    folder.stdout(&format!("run rows.csv {EXACT} --seed 5 --save seed.bsm"));
    let codes =
        "--preset single --enhancement-nodes 9 --scaling none --categories integer-codes --quiet";
    folder.write("rows2.csv", rows(2..200));
    folder.stdout(&format!("run rows.csv {codes} --save codes.bsm"));
    folder.stdout(&format!("run rows2.csv {codes} --save codes2.bsm"));
    folder.stdout("run rows.csv --enhancement-nodes 9 --quiet --checkpoint checkpoint.bsm");
    let model = folder.read("a.bsm");
    folder.write("cut.bsm", &model[..model.len() / 2]);
    for (arguments, message) in [
        ("inspect text.bsm", "text.bsm: this is not a broadstream model file"),
        ("inspect cut.bsm", "cut.bsm: the file is truncated"),
        ("inspect missing.bsm", "missing.bsm: "),
        ("predict .", "directory, expected a file"),
        ("predict a.bsm missing.csv", "missing.csv"),
        (
            "learn a.bsm bad.csv",
            "bad.csv; no row was learned: line 3, column 'weight': expected a number, found 'x'",
        ),
        ("learn a.bsm unknown.csv", "wieght"),
        (
            "unlearn a.bsm far.csv",
            "far.csv: line 2: cannot unlearn this sample: weight × leverage must be below 1",
        ),
        ("unlearn a.bsm new.csv", "line 2: the model does not know the input 'colour=pink'"),
        ("unlearn a.bsm open.csv", "line 2: the label is missing"),
        ("unlearn default.bsm row.csv", "cannot unlearn: forgetting must be 1, got auto"),
        ("merge a.bsm default.bsm -o m.bsm", "default.bsm: cannot merge: forgetting must be 1"),
        (
            "merge a.bsm seed.bsm -o m.bsm",
            "seed.bsm: cannot merge models of different seed: 0 here, 5 there",
        ),
        ("run rows.csv --like a.bsm --ridge 2", "leave --ridge out"),
        ("fit-partial rows.csv -o m.bsm", "forgetting must be 1, got auto"),
        ("fit-partial rows.csv --preset single -o m.bsm", "the scaling must be frozen"),
        (
            "merge codes.bsm codes2.bsm -o m.bsm",
            "column 'colour' does not fit the inputs of the model: its categories are numbered differently",
        ),
        ("learn checkpoint.bsm row.csv", "write the model to another file with --output"),
        ("run rows.csv --enhancement-nodes 20 --quiet --save missing/x.bsm", "missing"),
        ("run rows.csv --like a.bsm --quiet --predictions a.bsm", "--predictions would overwrite"),
        ("run rows.csv --quiet --checkpoint new.bsm --save ./new.bsm", "would overwrite"),
        ("run rows.csv --window 9 --forgetting 0.9", "window must be none unless forgetting is 1"),
    ] {
        let (_, found) = folder.failure(arguments);
        assert!(found.contains(message), "{arguments}: {found}");
    }
    assert!(folder.read("a.bsm") == model);
    assert!(!folder.names().iter().any(|name| name.starts_with('.') || name == "m.bsm"));
}

#[test]
fn what_another_program_noted_beside_a_model_stays() {
    let folder = Folder::new();
    folder.write("rows.csv", rows(0..60));
    folder.stdout(&format!("run rows.csv {EXACT} --save a.bsm"));
    let saved = model_file::read(&mut folder.read("a.bsm").as_slice()).unwrap();
    let notes = Map::from_iter([("python".to_owned(), Value::Bool(true))]);
    let mut bytes = Vec::new();
    let file = ModelFile {
        encoding: saved.encoding.as_ref(),
        notes: Some(&notes),
        ..ModelFile::new(&saved.model, &saved.schema)
    };
    file.write(&mut bytes).unwrap();
    folder.write("noted.bsm", bytes);
    folder.stdout("learn noted.bsm rows.csv --quiet");
    folder.stdout("unlearn noted.bsm rows.csv");
    let found = model_file::read(&mut folder.read("noted.bsm").as_slice()).unwrap();
    assert_eq!(found.notes, notes);
    assert_eq!(found.model.learned(), saved.model.learned());
}
