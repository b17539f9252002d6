//! The reasons of predictions and the importance of columns, as commands print them.

use serde_json::Value;

use super::Folder;

/// Rows with two columns of numbers, whose names need escaping, and one of categories.
fn trained() -> Folder {
    let folder = Folder::new();
    let mut rows = "the amount,a:b%,city,label\n".to_owned();
    for i in 0..400 {
        let (amount, other) = (37 * i % 101, 7 * i % 13);
        let city = ["Rome", "Oslo", "Bonn"][i % 3];
        let label = if amount > 60 && city == "Oslo" { "fraud" } else { "ok" };
        rows += &format!("{amount},{other},{city},{label}\n");
    }
    folder.write("rows.csv", rows);
    let options = "--preset single --enhancement-nodes 60 --quiet";
    folder.stdout(&format!("run rows.csv {options} --save m.bsm"));
    folder
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The rows as JSON lines, without one of their cells or with all of them.
fn json_rows(without: &str) -> String {
    let rows = [(85, "Oslo"), (20, "Rome"), (70, "Lima")].map(|(amount, city)| {
        let mut row = serde_json::json!({ "the amount": amount, "a:b%": 3, "city": city });
        row.as_object_mut().unwrap().remove(without);
        row.to_string()
    });
    rows.join("\n")
}

#[test]
fn a_change_is_the_difference_of_two_lines_of_predict() {
    let folder = trained();
    let columns = ["the amount", "a:b%", "city"];
    folder.write("all.jsonl", json_rows(""));
    let explained = lines(&folder.stdout("predict m.bsm all.jsonl --explain 9"));
    let plain = lines(&folder.stdout("predict m.bsm all.jsonl"));
    for column in columns {
        folder.write("without.jsonl", json_rows(column));
        // One row at a time is another block, and must not matter.
        let without = lines(&folder.stdout("predict m.bsm without.jsonl --explain 1"));
        for (with, without) in explained.iter().zip(&without) {
            let reasons = with["reasons"].as_array().unwrap();
            assert_eq!(reasons.len(), 3);
            let reason = reasons.iter().find(|reason| reason["column"] == column).unwrap();
            if with["prediction"] == without["prediction"] {
                let probability = |line: &Value| line["probability"].as_f64().unwrap();
                let expected = probability(with) - probability(without);
                assert!((reason["change"].as_f64().unwrap() - expected).abs() < 1e-9, "{column}");
            }
        }
    }
    for (explained, plain) in explained.iter().zip(&plain) {
        let mut without_reasons = explained.clone();
        without_reasons.as_object_mut().unwrap().remove("reasons");
        assert_eq!(without_reasons, *plain, "the prediction itself is the same");
    }
}

#[test]
fn csv_has_the_same_reasons_in_one_cell() {
    let folder = trained();
    folder.write("all.jsonl", json_rows(""));
    folder.write("all.csv", "the amount,a:b%,city\n85,3,Oslo\n20,3,Rome\n70,3,Lima\n");
    let json = lines(&folder.stdout("predict m.bsm all.jsonl --explain 2"));
    let text = folder.stdout("predict m.bsm all.csv --explain 2");
    let mut table = text.lines();
    assert_eq!(table.next(), Some("prediction,probability,leverage,reasons"));
    for (line, json) in table.zip(json) {
        let pairs: Vec<&str> = line.rsplit(',').next().unwrap().split(' ').collect();
        assert_eq!(pairs.len(), 2);
        for (pair, reason) in pairs.iter().zip(json["reasons"].as_array().unwrap()) {
            let (column, change) = pair.split_once(':').unwrap();
            let column = column.replace("%20", " ").replace("%3A", ":").replace("%25", "%");
            assert_eq!(column, reason["column"]);
            let expected = reason["change"].as_f64().unwrap();
            assert!((change.parse::<f64>().unwrap() - expected).abs() < 1e-6);
        }
    }
}

#[test]
fn nothing_predicted_has_no_reasons() {
    let folder = trained();
    folder.write("costs.csv", "truth,ok,fraud,abstain\nok,0,9,-1\nfraud,9,0,-1\n");
    folder.write("row.jsonl", "{\"city\": \"Rome\"}\n{}\n");
    let found = lines(&folder.stdout("predict m.bsm row.jsonl --explain 2 --costs costs.csv"));
    for line in &found {
        assert_eq!((&line["prediction"], &line["reasons"]), (&Value::Null, &serde_json::json!([])));
    }
    // A row without any cell is predicted, and no column has a part in that.
    let found = lines(&folder.stdout("predict m.bsm row.jsonl --explain 2"));
    assert_eq!(found[0]["reasons"][0]["column"], "city");
    assert_eq!(found[1]["reasons"], serde_json::json!([]));
}

#[test]
fn a_number_of_reasons_must_be_one_at_least() {
    let folder = trained();
    for wrong in ["0", "-1", "many"] {
        let (code, message) = folder.failure(&format!("predict m.bsm rows.csv --explain={wrong}"));
        assert!(code == 2 && message.contains("--explain"), "{message}");
    }
}

#[test]
fn importance_is_in_inspect_in_json_and_in_the_report() {
    let folder = trained();
    let options = "--preset single --enhancement-nodes 60 --quiet --report report.html";
    let run = folder.json(&format!("run rows.csv {options}"));
    let inspected = folder.json("inspect m.bsm");
    assert_eq!(run["importance"], inspected["importance"], "the same run");
    let importance = run["importance"].as_array().unwrap();
    let names: Vec<&str> = importance.iter().map(|row| row["column"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 3);
    assert_eq!(names[2], "a:b%", "which is noise");
    let text = folder.stdout("inspect m.bsm");
    let table = text.split("importance of columns").nth(1).unwrap();
    assert!(table.lines().nth(1).unwrap().starts_with(names[0]), "{table}");
    let page = String::from_utf8(folder.read("report.html")).unwrap();
    assert!(page.contains("Importance of columns") && page.contains("the amount"));
    let baseline = folder.json("run rows.csv --model majority --quiet");
    assert_eq!(baseline["importance"], serde_json::json!([]));
}
