//! What the cells of a file mean, to a run and to the model that it saves.

use serde_json::Value;

use super::Folder;

/// Rows of a number with a fraction, a truth value and a label, written by `number` and `flag`.
fn table(delimiter: char, number: impl Fn(f64) -> String, flag: impl Fn(bool) -> String) -> String {
    let mut text = ["volts", "on", "state\n"].join(&delimiter.to_string());
    for i in 0..200 {
        let (volts, on) = (f64::from(i * 37 % 101) / 8.0 - 3.0, i % 3 == 0);
        let state = if (volts > 2.0) == on { "good" } else { "bad" };
        let cells = [number(volts), flag(on), state.to_owned()];
        text += &cells.join(&delimiter.to_string());
        text.push('\n');
    }
    text
}

fn with_comma(number: f64) -> String {
    number.to_string().replace('.', ",")
}

fn stderr(folder: &Folder, arguments: &str) -> String {
    let output = folder.output(arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    said
}

const RUN: &str = "--preset single --enhancement-nodes 20 --quiet";

#[test]
fn a_decimal_comma_is_read_as_a_decimal_point() {
    let folder = Folder::new();
    folder.write("point.csv", table(',', |number| number.to_string(), |on| on.to_string()));
    folder.write("comma.csv", table(';', with_comma, |on| on.to_string()));
    let quoted = |number| format!("\"{}\"", with_comma(number));
    folder.write("quoted.csv", table(',', quoted, |on| on.to_string()));
    let metrics =
        |arguments: &str| folder.json(&format!("run {arguments} {RUN}"))["metrics"].clone();
    let expected = metrics("point.csv --save point.bsm");
    let predictions = folder.stdout("predict point.bsm point.csv");
    for file in ["comma.csv", "quoted.csv"] {
        assert_eq!(metrics(&format!("{file} --save comma.bsm")), expected, "{file}");
        assert_eq!(metrics(&format!("{file} --decimal-comma")), expected, "{file}");
        let said = stderr(&folder, &format!("run {file} {RUN}"));
        assert!(said.contains("numbers are read with a decimal comma, such as '1,625' on line 3"));
        assert_eq!(stderr(&folder, &format!("run {file} {RUN} --decimal-comma")), "");
        assert_eq!(folder.stdout(&format!("predict comma.bsm {file}")), predictions);
        let pointed = "predict comma.bsm point.csv --no-decimal-comma";
        assert_eq!(folder.stdout(pointed), predictions);
        let (_, message) = folder.failure("predict comma.bsm point.csv");
        assert!(
            message.contains("expected a number with a decimal comma, found '1.625'"),
            "{message}"
        );
    }
    let said = stderr(&folder, &format!("run comma.csv {RUN} --no-decimal-comma"));
    assert!(
        said.contains("column 'volts' is read as categories, although its cells look like numbers")
    );
}

#[test]
fn a_truth_value_is_the_same_in_csv_and_json() {
    let folder = Folder::new();
    let point = |number: f64| number.to_string();
    for (name, [no, yes]) in
        [("lower", ["false", "true"]), ("python", ["False", "True"]), ("upper", ["FALSE", "TRUE"])]
    {
        let flag = |on| [no, yes][usize::from(on)].to_owned();
        folder.write(&format!("{name}.csv"), table(',', point, flag));
    }
    let object = |line: &str| {
        let [volts, on, state] = line.split(',').collect::<Vec<_>>().try_into().unwrap();
        format!("{{\"volts\": {volts}, \"on\": {on}, \"state\": \"{state}\"}}\n")
    };
    let csv = table(',', point, |on| on.to_string());
    folder.write("rows.jsonl", csv.lines().skip(1).map(object).collect::<String>());

    let trained = ["lower.csv", "python.csv", "upper.csv", "rows.jsonl"];
    for model in trained {
        folder.stdout(&format!("run {model} --target state {RUN} --save a.bsm"));
        let [first, others @ ..] = trained.map(|rows| predictions(&folder, rows));
        for other in others {
            assert_eq!(other, first, "{model}");
        }
    }
}

/// The predictions of a model for rows: labels, probabilities and leverages.
fn predictions(folder: &Folder, rows: &str) -> Vec<[String; 3]> {
    let text = folder.stdout(&format!("predict a.bsm {rows}"));
    let of_json = |line: &str| {
        let object: Value = serde_json::from_str(line).unwrap();
        ["prediction", "probability", "leverage"].map(|key| match &object[key] {
            Value::String(text) => text.clone(),
            // As CSV has it.
            number => number.as_f64().unwrap().to_string(),
        })
    };
    let of_csv = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
    let lines = text.lines().filter(|line| !line.starts_with("prediction,"));
    lines
        .map(|line| match line.starts_with('{') {
            true => of_json(line),
            false => of_csv(line).try_into().unwrap(),
        })
        .collect()
}

#[test]
fn categories_that_are_only_predicted_take_no_memory_for_good() {
    let folder = Folder::new();
    folder.write("rows.csv", format!("id,y\n{}", "a,0\nb,1\n".repeat(50)));
    folder.stdout("run rows.csv --enhancement-nodes 100 --memory-limit 24M --quiet --save a.bsm");
    let new: String = (0..20_000).map(|i| format!("new{i},label{i}\n")).collect();
    folder.write("new.csv", format!("id,y\n{new}"));
    let predictions = folder.stdout("predict a.bsm new.csv");
    assert_eq!(predictions.lines().count(), 20_001);
    folder.write("two.csv", "id,y\nnew7,0\nnew8,0\n");
    let two: Vec<String> =
        folder.stdout("predict a.bsm two.csv").lines().map(str::to_owned).collect();
    let among: Vec<&str> = predictions.lines().skip(8).take(2).collect();
    assert_eq!(two[1..], among, "a prediction does not depend on those before it");
}

#[test]
fn a_column_of_different_values_has_a_bounded_number_of_inputs() {
    let folder = Folder::new();
    let rows = |range: std::ops::Range<usize>| -> String {
        range.map(|i| format!("u{i},{}\n", i % 2)).collect()
    };
    let inputs = |file: &str| {
        let inspected: Value =
            serde_json::from_str(&folder.stdout(&format!("inspect {file} --json"))).unwrap();
        inspected["inputs"].as_array().map_or(0, Vec::len)
    };
    folder.write("ids.csv", format!("user,y\n{}", rows(0..10_001)));
    folder.stdout(&format!("run ids.csv {RUN} --max-categories 40 --save ids.bsm"));
    assert_eq!(inputs("ids.bsm"), 20 + 10, "half of them, and those that are shared");
    folder.write("more.csv", format!("user,y\n{}", rows(20_000..20_100)));
    folder.stdout("learn ids.bsm more.csv");
    assert_eq!(inputs("ids.bsm"), 20 + 10, "a model keeps its limit");
    folder.stdout("predict ids.bsm more.csv");

    let (code, message) = folder.failure("run ids.csv --max-categories 0");
    assert_eq!((code, message.contains("max_categories must be at least 1, got 0")), (2, true));
    let (_, message) = folder.failure("run sea --max-categories 5");
    assert!(message.contains("a generator has no option 'max_categories', got 5"), "{message}");
}

#[test]
fn a_run_that_continues_counts_rare_categories_as_one_that_never_stopped() {
    let folder = Folder::new();
    let user = |i: usize| {
        if i.is_multiple_of(3) { format!("often{}", i / 900) } else { format!("once{i}") }
    };
    let rows = |range: std::ops::Range<usize>| -> String {
        range.map(|i| format!("{},{},{}\n", user(i), i % 11, i % 2)).collect()
    };
    folder.write("all.csv", format!("user,n,y\n{}", rows(0..3000)));
    folder.write("first.csv", format!("user,n,y\n{}", rows(0..1300)));
    folder.write("rest.csv", format!("user,n,y\n{}", rows(1300..3000)));
    folder.stdout(&format!("run all.csv {RUN} --max-categories 30 --save all.bsm"));
    folder.stdout(&format!("run first.csv {RUN} --max-categories 30 --save parts.bsm"));
    folder.stdout("predict parts.bsm rest.csv");
    folder.stdout("learn parts.bsm rest.csv --journal");
    let predictions = |file: &str| folder.stdout(&format!("predict {file} all.csv"));
    assert_eq!(predictions("all.bsm"), predictions("parts.bsm"));

    // Parts of a stream can be learned separately if they share inputs alike.
    let scaled = "run first.csv --preset single --enhancement-nodes 20 --forgetting 1 --stacking false --label-lags 0 \
                  --max-categories 30 --save base.bsm";
    folder.stdout(scaled);
    folder.stdout("run rest.csv --like base.bsm --save a.bsm");
    folder.stdout("run first.csv --like base.bsm --save b.bsm");
    folder.stdout("run first.csv --like base.bsm --max-categories 60 --save c.bsm");
    folder.stdout("merge a.bsm b.bsm -o merged.bsm");
    let (_, message) = folder.failure("merge a.bsm c.bsm -o merged2.bsm");
    assert!(message.contains("give both the same max_categories"), "{message}");
    let (_, message) = folder.failure("unlearn merged.bsm first.csv");
    assert!(message.contains("a category that has always had the same input"), "{message}");
}
