//! The command line has every option of the library, by its name, with its meaning and its defaults.

use std::process::Command;

use broadstream::{OnlineBlsConfig, Preset};
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
