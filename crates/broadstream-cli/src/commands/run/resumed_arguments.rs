//! The arguments of a run that is resumed: those that it began with, and a few that may be given again.

use std::ffi::OsString;

use anyhow::{Context, Result};
use clap::{ArgMatches, CommandFactory, FromArgMatches, parser::ValueSource};

use crate::args::{Arguments, BadUsage, RunArguments, first_paragraph};

/// Options that may differ when a run is resumed: none of them changes a result.
const MAY_DIFFER: [&str; 10] = [
    "resume",
    "every",
    "save",
    "precision",
    "limit",
    "json",
    "quiet",
    "threads",
    "block",
    "report",
];

/// Of these, the options that go into the next checkpoint, so that they hold the next time too.
const CARRIED_OVER: [&str; 5] = ["every", "save", "precision", "limit", "report"];

/// What a command was called with, as text.
pub(super) fn in_utf8(arguments: &[OsString]) -> Result<Vec<String>> {
    let texts = arguments.iter().cloned().map(OsString::into_string);
    let texts: Result<Vec<String>, _> = texts.collect();
    texts.map_err(|argument| {
        let rule = format!("a checkpoint needs arguments in UTF-8, got {}", argument.display());
        BadUsage(rule).into()
    })
}

/// The arguments of a resumed run, parsed and as the next checkpoint stores them. They are those that it
/// began with; options that are given now replace them if they may differ, and are refused if not.
pub(super) fn resumed_arguments(
    began_with: &[String],
    given_now: &[String],
) -> Result<(RunArguments, Vec<String>)> {
    let stored = run_matches(began_with)?;
    let given = run_matches(given_now)?;
    let is_given = |id: &str| given.value_source(id) == Some(ValueSource::CommandLine);
    check_unchanged(&stored, &given, is_given)?;
    let (mut run, now) = (run_arguments(&stored)?, run_arguments(&given)?);
    run.saving.resume = now.saving.resume;
    run.saving.save = now.saving.save.or(run.saving.save);
    if is_given("precision") {
        run.saving.storage.precision = now.saving.storage.precision;
    }
    run.saving.every = now.saving.every.or(run.saving.every);
    run.input.limit = now.input.limit.or(run.input.limit);
    if let Some(threads) = now.model.options.threads() {
        run.model.options.given.insert("threads".to_owned(), threads.into());
    }
    run.evaluation.report = now.evaluation.report.or(run.evaluation.report);
    run.evaluation.json |= now.evaluation.json;
    run.evaluation.quiet |= now.evaluation.quiet;
    if is_given("block") {
        run.evaluation.block = now.evaluation.block;
    }
    if is_given("report") && values(&stored, "report") == NONE && values(&stored, "curve") == NONE {
        let rule = "--report needs a curve, and the run began without --curve or --report";
        return Err(BadUsage(rule.to_owned()).into());
    }
    let carried_over = CARRIED_OVER.iter().filter(|option| is_given(option));
    let arguments = carried_over.fold(began_with.to_vec(), |arguments, option| {
        with_value(arguments, option, values(&given, option))
    });
    Ok((run, arguments))
}

/// Refuses options that have another value than the run began with, and may not.
fn check_unchanged(
    stored: &ArgMatches,
    given: &ArgMatches,
    is_given: impl Fn(&str) -> bool,
) -> Result<()> {
    let command = Arguments::command();
    let options = command.find_subcommand("run").into_iter().flat_map(|run| run.get_arguments());
    for option in options.filter(|option| is_given(option.get_id().as_str())) {
        let id = option.get_id().as_str();
        let [now, then] = [given, stored].map(|matches| values(matches, id));
        if now != then && !MAY_DIFFER.contains(&id) {
            let name = option.get_long().map_or("SOURCE".to_owned(), |long| format!("--{long}"));
            let rule = format!("{name} must be that of the run, {then}, got {now}");
            return Err(BadUsage(rule).into());
        }
    }
    Ok(())
}

/// Arguments in which an option has another value.
fn with_value(arguments: Vec<String>, option: &str, value: String) -> Vec<String> {
    let (option, mut replaced) = (format!("--{option}"), Vec::new());
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        if argument == option {
            arguments.next();
        } else if !argument.starts_with(&format!("{option}=")) {
            replaced.push(argument);
        }
    }
    replaced.extend([option, value]);
    replaced
}

/// What stands for an option that was not given.
const NONE: &str = "not given";

/// The values of an option, for comparison and messages.
fn values(matches: &ArgMatches, id: &str) -> String {
    let values = matches.get_raw(id).map(|values| {
        let texts = values.map(|value| value.to_string_lossy().into_owned());
        texts.collect::<Vec<String>>().join(",")
    });
    values.unwrap_or_else(|| NONE.to_owned())
}

fn run_matches(arguments: &[String]) -> Result<ArgMatches> {
    let line = ["broadstream", "run"].into_iter().chain(arguments.iter().map(String::as_str));
    let mut matches =
        Arguments::command().try_get_matches_from(line).map_err(|error| first_paragraph(&error))?;
    let (_, run) = matches.remove_subcommand().context("these are not the arguments of a run")?;
    Ok(run)
}

fn run_arguments(matches: &ArgMatches) -> Result<RunArguments> {
    RunArguments::from_arg_matches(matches).map_err(|error| first_paragraph(&error))
}
