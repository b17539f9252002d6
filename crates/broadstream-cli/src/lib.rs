//! The `broadstream` command, as a library: [`run`] is all of it.
//!
//! The program calls it, and so does the Python package, whose command is the same code.
//!
//! Arguments are parsed without doing work (`args`), then one of the `commands` builds what it needs
//! from them (`build`), runs, and shows its results (`output`). Each of these modules knows only those
//! that are named before it here: args, build, output, commands.
//!
//! Data goes to standard output, everything else to standard error. The exit code is 0 on success, 1 if a
//! command failed, and 2 if the command line was wrong. A reader that closes the pipe early is not a failure.

mod args;
mod build;
mod commands;
mod output;

use std::{
    ffi::OsString,
    io::{self, Write},
};

use anyhow::Result;
use clap::{CommandFactory, Parser};

use crate::{
    args::{Arguments, Command, DatasetsCommand},
    commands::{
        compare, datasets, experiment, export, generate, run,
        saved::{fit_partial, inspect, learn, merge, predict, unlearn},
    },
    output::failure,
};

/// Runs the command, and returns its exit code. The first argument is the name of the program.
///
/// It writes to the standard output and error of the process, and reads its standard input. A command that
/// has something to save takes over the signals of the process.
///
/// ```
/// assert_eq!(broadstream_cli::run(["broadstream".into(), "--version".into()]), 0);
/// ```
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let given: Vec<OsString> = arguments.into_iter().collect();
    let arguments = match Arguments::try_parse_from(&given) {
        Ok(arguments) => arguments,
        Err(message) => return failure::report_parsing(&message),
    };
    let code = match execute(arguments.command, given) {
        Ok(()) => 0,
        Err(error) => failure::report(&error),
    };
    // A program does this as it ends, but this one may go on.
    let _ = io::stdout().flush();
    code
}

fn execute(command: Command, given: Vec<OsString>) -> Result<()> {
    match command {
        Command::Run(mut run) => {
            run.saving.own_arguments = given.into_iter().skip(2).collect();
            run::run(&run)
        }
        Command::Compare(compare) => compare::compare(&compare),
        Command::Experiment(experiment) => experiment::experiment(&experiment),
        Command::Predict(predict) => predict::predict(&predict),
        Command::Learn(learn) => learn::learn(&learn),
        Command::Unlearn(unlearn) => unlearn::unlearn(&unlearn),
        Command::Merge(merge) => merge::merge(&merge),
        Command::FitPartial(fit) => fit_partial::fit_partial(&fit),
        Command::Inspect(inspect) => inspect::inspect(&inspect),
        Command::Generate(generate) => generate::generate(&generate),
        Command::Export(export) => export::export(&export),
        #[cfg(feature = "serve")]
        Command::Serve(serve) => commands::serve::serve(&serve),
        Command::Datasets(DatasetsCommand::List(list)) => datasets::list(&list),
        Command::Datasets(DatasetsCommand::Fetch(fetch)) => datasets::fetch(&fetch),
        Command::Datasets(DatasetsCommand::Verify(verify)) => datasets::verify(&verify),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "broadstream", &mut script);
            failure::to_stdout(io::stdout().write_all(&script))
        }
    }
}
