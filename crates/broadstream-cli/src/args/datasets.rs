//! The arguments of `broadstream datasets`.

use clap::{Args, Subcommand, ValueHint};

use super::DataFolder;

/// List, download and verify the datasets of the paper.
///
/// Files are looked for in the folder that --data names, then in that of the environment variable
/// BROADSTREAM_DATA, then in the user's cache, as NAME.csv, NAME.csv.gz or NAME.csv.zst.
#[derive(Subcommand)]
pub(crate) enum DatasetsCommand {
    List(ListArguments),
    Fetch(FetchArguments),
    Verify(VerifyArguments),
}

/// List all datasets with their sizes, and where their files are.
///
/// With --json also the preparation, licence, citation and addresses of each.
#[derive(Args)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    pub(crate) folder: DataFolder,

    /// Print a JSON array instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

/// Download datasets from their publishers and prepare them as CSV files.
///
/// A dataset that is already there and intact is not downloaded again. An interrupted download continues
/// where it stopped. Only a file with the checksum of the catalogue is stored.
#[derive(Args)]
pub(crate) struct FetchArguments {
    /// The datasets; 'broadstream datasets list' has their names
    #[arg(value_name = "NAME", required_unless_present = "all", conflicts_with = "all")]
    pub(crate) names: Vec<String>,

    /// Fetch every dataset that has a file
    #[arg(long)]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) folder: DataFolder,

    /// Download from URL/NAME/FILE instead of the publishers' addresses
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub(crate) mirror: Option<String>,

    /// How often to retry after a temporary failure
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) retries: u32,

    /// The maximum size of a downloaded file, as in 500MB or 1GiB
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = broadstream::parse_bytes)]
    pub(crate) size_limit: u64,

    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Compare the files of datasets with the catalogue.
///
/// The exit code is 1 if a file differs or cannot be read, or if a dataset that was named is
/// missing.
#[derive(Args)]
pub(crate) struct VerifyArguments {
    /// The datasets [default: all]
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,

    #[command(flatten)]
    pub(crate) folder: DataFolder,

    /// Print a JSON array instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}
