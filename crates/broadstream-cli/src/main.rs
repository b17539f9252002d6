//! The `broadstream` command.
//!
//! Arguments are parsed without doing work ([`args`]), then one of the [`commands`] builds what it needs
//! from them ([`build`]), runs, and shows its results ([`output`]). Each of these modules knows only those
//! that are named before it here: args, build, output, commands.
//!
//! Data goes to standard output, everything else to standard error. The exit code is 0 on success, 1 if a
//! command failed, and 2 if the command line was wrong. A reader that closes the pipe early is not a failure.

mod args;
mod build;
mod commands;
mod output;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::{CommandFactory, Parser};

use crate::{
    args::{Arguments, Command, DatasetsCommand},
    commands::{
        compare, datasets, experiment, export, generate, run,
        saved::{fit_partial, inspect, learn, merge, predict, unlearn},
    },
    output::failure,
};

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(message) => return failure::report_parsing(&message),
    };
    let result = match arguments.command {
        Command::Run(run) => run::run(&run),
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
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}
