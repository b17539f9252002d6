//! The command line as the user types it: a file for each command, and for the options that several share.

mod baseline;
mod compare;
mod datasets;
mod decisions;
mod experiment;
mod export;
mod generate;
mod input;
mod model;
mod model_options;
mod run;
mod saved;
mod saving;
#[cfg(feature = "serve")]
mod serve;
mod usage;

pub(crate) use self::{
    baseline::BaselineArguments,
    compare::CompareArguments,
    datasets::{DatasetsCommand, FetchArguments, ListArguments, VerifyArguments},
    decisions::DecisionArguments,
    experiment::ExperimentArguments,
    export::ExportArguments,
    generate::GenerateArguments,
    input::{InputArguments, choice},
    model::{ModelArguments, ModelName},
    model_options::WHOLE_STREAM,
    run::RunArguments,
    saved::{
        FitPartialArguments, InspectArguments, LearnArguments, MergeArguments, PredictArguments,
        RowArguments, RowFormat, UnknownColumns, UnlearnArguments,
    },
    saving::{PrecisionName, SavingArguments, StorageArguments},
    usage::{BadUsage, first_paragraph},
};

#[cfg(feature = "serve")]
pub(crate) use self::serve::{ServeArguments, ServeCommand, TokenCommand};

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueHint};
use clap_complete::Shell;

/// Classify data streams online, one sample at a time.
#[derive(Parser)]
#[command(name = "broadstream", version, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  broadstream run                             the drifting SEA stream, 100 000 samples
  broadstream run sensors.csv --target state  your own data
  broadstream compare sensors.csv             several models side by side
  broadstream experiment                      the experiments of the paper
  broadstream predict model.bsm < rows.csv    with a model saved by 'run --save'
  broadstream serve --demo                    a service with a live page
  broadstream generate sea | head             what a generator makes
  broadstream datasets fetch letter           a dataset of the paper

'broadstream help COMMAND' describes a command in detail.";

#[derive(Subcommand)]
pub(crate) enum Command {
    Run(Box<RunArguments>),
    Compare(Box<CompareArguments>),
    Experiment(ExperimentArguments),
    Predict(PredictArguments),
    Learn(LearnArguments),
    Unlearn(UnlearnArguments),
    Merge(MergeArguments),
    FitPartial(Box<FitPartialArguments>),
    Inspect(InspectArguments),
    Generate(GenerateArguments),
    Export(ExportArguments),
    #[cfg(feature = "serve")]
    Serve(ServeArguments),
    #[command(subcommand)]
    Datasets(DatasetsCommand),
    /// Write completions for a shell to standard output
    Completions {
        /// The shell
        shell: Shell,
    },
}

#[derive(Args)]
pub(crate) struct DataFolder {
    /// The folder with the datasets [default: BROADSTREAM_DATA, or the user's cache]
    #[arg(long = "data", value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
