//! The arguments of `broadstream datasets`.

use clap::{Args, Subcommand, ValueHint};

use super::DataFolder;

/// The streams that the paper uses: what they are, where they are, how to get them.
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
/// With --json also how each is prepared, its licence, its citation and its addresses.
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
/// A dataset that is there and intact is left alone. A download that was broken off is taken up
/// where it ended. Only a file with the catalogue's checksum is stored.
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

    /// How often to try again after a failure that may pass
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) retries: u32,

    /// The most that a downloaded file may take, as in 500MB or 1GiB
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
