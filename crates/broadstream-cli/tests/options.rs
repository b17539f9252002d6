//! The command line and the guide have every option of the library, by its name, with its meaning and its
//! defaults.

use std::{env, fs, path::Path, process::Command};

use broadstream::{ConfigOption, OnlineBlsConfig, Preset, Topic, Values};
use serde_json::Value;

fn broadstream(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_broadstream")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The help with every run of white space as one space.
fn help() -> String {
    broadstream(&["run", "--help"]).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_option_is_a_flag_with_its_help_and_its_default() {
    let help = help();
    for option in OnlineBlsConfig::options() {
        let flag = format!("--{}", option.name.replace('_', "-"));
        let start = help.find(&format!(" {flag} ")).or_else(|| help.find(&format!(" {flag}[")));
        let text = &help[start.unwrap_or_else(|| panic!("{flag} is not in the help"))..];
        let text = &text[..text[3..].find(" --").map_or(text.len(), |end| end + 3)];
        assert!(text.contains(option.help), "{flag}: {text}");
        let default = option.default_in(Preset::Default);
        let shown = match &default {
            Value::Null | Value::Bool(false) => continue,
            Value::String(text) => text.clone(),
            Value::Object(object) => object.keys().next().unwrap().clone(),
            _ if option.name == "memory_limit" => "4GiB".to_owned(),
            _ if option.name == "threads" => "as many as there are cores".to_owned(),
            value => value.to_string(),
        };
        assert!(text.contains(&format!("[default: {shown}")), "{flag} by default {shown}: {text}");
    }
}

#[test]
fn every_preset_is_named_and_explained() {
    let help = help();
    for (_, named) in Preset::all() {
        assert!(help.contains(&format!("{}: {}", named.name, named.help)), "{}", named.name);
    }
}

#[test]
fn options_are_resolved_as_the_library_does() {
    for (preset, named) in Preset::all() {
        for (flags, given) in [
            (vec![], serde_json::json!({})),
            (vec!["--stacking", "true"], serde_json::json!({ "stacking": true })),
            (vec!["--window=50"], serde_json::json!({ "window": 50 })),
            (vec!["--keep-weights"], serde_json::json!({ "keep_weights": true })),
            (vec!["--keep-weights=false"], serde_json::json!({ "keep_weights": false })),
        ] {
            // What the command line knows of the stream and of the machine.
            let mut given = given.as_object().unwrap().clone();
            given.extend([
                ("threads".to_owned(), 1.into()),
                ("inputs_per_sample".to_owned(), 3.into()),
            ]);
            given.insert("enhancement_nodes".to_owned(), 20.into());
            let expected = OnlineBlsConfig::resolve(preset, &given).unwrap().to_json();
            let always = ["--threads=1", "--enhancement-nodes=20", "--scaling=none", "--limit=50"];
            let arguments =
                [&["run", "sea", "--json", "-q", "--preset", named.name], &always[..], &flags];
            let shown: Value = serde_json::from_str(&broadstream(&arguments.concat())).unwrap();
            for (name, value) in expected.iter().filter(|(name, _)| *name != "scaling") {
                assert_eq!(&shown["config"][name], value, "{name} with {} {flags:?}", named.name);
            }
        }
    }
}

/// `UPDATE_GOLDEN=1` writes the tables into the page.
#[test]
fn the_guide_lists_every_option() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/options.md");
    let found = fs::read_to_string(&page).unwrap();
    let presets =
        Preset::all().map(|(_, named)| format!("| `{}` | {} |\n", named.name, named.help));
    let table = format!("| preset | meaning |\n|---|---|\n{}", presets.collect::<String>());
    let mut expected = with_table(&found, "<!-- presets -->\n", &table, "<!-- end of presets -->");
    let topics = [
        ("Memory", Topic::Memory),
        ("Prediction", Topic::Prediction),
        ("Features", Topic::Features),
        ("Inputs", Topic::Inputs),
        ("Resources", Topic::Resources),
    ];
    for (name, topic) in topics {
        let options = OnlineBlsConfig::options().iter().filter(|option| option.topic == topic);
        let rows = options.map(|option| {
            format!(
                "| `{}` | {} | {} | {} |\n",
                option.name,
                option.help,
                values(option),
                defaults(option)
            )
        });
        let head = "| option | meaning | values | default |\n|---|---|---|---|\n";
        let table = format!("{head}{}", rows.collect::<String>());
        let start = format!("<!-- options: {name} -->\n");
        expected = with_table(&expected, &start, &table, "<!-- end of options -->");
    }
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&page, &expected).unwrap();
    } else {
        assert!(
            found == expected,
            "docs/reference/options.md: UPDATE_GOLDEN=1 make test writes it"
        );
    }
}

/// The page with another table between two marks.
fn with_table(page: &str, start: &str, table: &str, end: &str) -> String {
    let (before, rest) = page.split_once(start).unwrap_or_else(|| panic!("no {start}"));
    let (_, after) = rest.split_once(end).unwrap();
    format!("{before}{start}\n{table}\n{end}{after}")
}

fn values(option: &ConfigOption) -> String {
    match option.values {
        Values::Count { rule, .. } if rule.starts_with("a whole") => rule.to_owned(),
        Values::Count { rule, .. } => format!("a whole number, {rule}"),
        Values::CountOrAuto { rule, .. } => format!("a whole number, {rule}; or `auto`"),
        Values::NumberOrAuto { rule, .. } => format!("a number, {rule}; or `auto`"),
        Values::Flag => "`true` or `false`".to_owned(),
        Values::Bytes => "bytes".to_owned(),
        Values::Choice(names) | Values::Scaling(names) => {
            let names: Vec<String> =
                names.iter().map(|named| format!("`{}`", named.name)).collect();
            names.join(", ")
        }
        _ => String::new(),
    }
}

fn defaults(option: &ConfigOption) -> String {
    let mut defaults: Vec<(String, Vec<String>)> = Vec::new();
    for (preset, named) in Preset::all() {
        let text = match option.default_in(preset) {
            Value::Null => "left out".to_owned(),
            Value::String(text) => format!("`{text}`"),
            Value::Object(object) => format!("`{}`", object.keys().next().unwrap()),
            Value::Number(number) if option.name == "memory_limit" => {
                format!("{} GiB", number.as_u64().unwrap() >> 30)
            }
            value => value.to_string(),
        };
        let name = format!("`{}`", named.name);
        match defaults.iter_mut().find(|(known, _)| *known == text) {
            Some((_, presets)) => presets.push(name),
            None => defaults.push((text, vec![name])),
        }
    }
    let others = defaults.iter().skip(1);
    let others = others.map(|(value, presets)| format!("; {value} in {}", presets.join(", ")));
    defaults[0].0.clone() + &others.collect::<String>()
}
