//! Declarations of experiments: whatever can be parsed can be shown, with records that fit it.

#![no_main]

#[path = "../../../crates/broadstream-cli/src/commands/experiment/declaration.rs"]
#[expect(dead_code, reason = "only the program runs what is declared")]
mod declaration;

use broadstream_fuzz as _;
use broadstream_report::{RECORD_FORMAT, Record, render};

use self::declaration::Declaration;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(text) = str::from_utf8(data) else { return };
    match Declaration::parse(text, "fuzz.toml") {
        Ok(declaration) => show(&declaration),
        Err(error) => assert!(format!("{error:#}").starts_with("fuzz.toml: "), "{error:#}"),
    }
});

/// Renders the views, as the command does after the last run.
fn show(declaration: &Declaration) {
    match render(&declaration.views, &records(declaration), &declaration.labels) {
        Ok(rendered) => {
            assert_eq!(rendered.views.len(), declaration.views.len());
            let files = rendered.views.iter().map(|view| view.files().len());
            assert!(files.min().is_none_or(|files| files > 0), "every view is written");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Two runs of some methods on some streams.
fn records(declaration: &Declaration) -> Vec<Record> {
    let mut records = Vec::new();
    for stream in declaration.streams.iter().take(3) {
        for method in declaration.methods.iter().take(3) {
            for seed in 0..2 {
                let value = 1.0 / (records.len() + 2) as f64;
                let metrics = ["oca", "bacc", "mcc", "log_loss", "update_seconds", "residual"];
                let swept = declaration.sweep.iter().take(3);
                let swept =
                    swept.filter_map(|(name, values)| Some((name.clone(), *values.first()?)));
                records.push(Record {
                    format: RECORD_FORMAT,
                    stream: stream.shown().to_owned(),
                    method: method.name.clone(),
                    seed,
                    samples: 100,
                    metrics: metrics.map(|name| (name.to_owned(), value)).into(),
                    parameters: swept.chain(stream.parameters.clone()).collect(),
                    ..Record::default()
                });
            }
        }
    }
    records
}
