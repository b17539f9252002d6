//! The arguments of `broadstream experiment`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::DataFolder;

/// Run a declared experiment and write its tables, figures and page.
///
/// Without a name, lists the experiments that come with the program. A file that ends in .toml declares
/// one of your own. An interrupted experiment continues where it stopped: every finished run has a record,
/// and only the missing ones are run.
#[derive(Args)]
#[command(after_long_help = EXPERIMENT_EXAMPLES)]
pub(crate) struct ExperimentArguments {
    /// A built-in experiment, or a TOML file
    #[arg(value_name = "NAME", value_hint = ValueHint::FilePath)]
    pub(crate) name: Option<String>,

    /// Runs of each method on each stream, with seeds 0, 1, 2, … [default: as declared]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) seeds: Option<u64>,

    /// The maximum number of samples of each stream [default: as declared]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,

    /// Number of parallel runs [default: one per processor, or one if times are measured]
    #[arg(long, value_name = "N", value_parser = parse_at_least_one)]
    pub(crate) jobs: Option<usize>,

    /// Only these streams
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) streams: Vec<String>,

    /// Only these methods
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) methods: Vec<String>,

    #[command(flatten)]
    pub(crate) folder: DataFolder,

    /// The folder for records, tables, figures and pages; each experiment has a folder in it
    #[arg(long, value_name = "DIR", default_value = "results", value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,

    /// The folder of the program that runs third-party learners
    #[arg(long, value_name = "DIR", default_value = "peers", value_hint = ValueHint::DirPath)]
    pub(crate) peers: PathBuf,

    /// Leave out third-party learners
    #[arg(long)]
    pub(crate) without_peers: bool,

    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

const EXPERIMENT_EXAMPLES: &str = "\
Examples:
  broadstream experiment
      List the built-in experiments.
  broadstream experiment table2 --limit 2000 --seeds 3 --data DIR
      The paper's Table 2 on fewer samples.
  broadstream experiment mine.toml --jobs 4
      Your own experiment; docs/experiments.md describes the declaration.";

fn parse_at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a whole number, at least 1".to_owned()),
        Ok(number) => Ok(number),
    }
}
