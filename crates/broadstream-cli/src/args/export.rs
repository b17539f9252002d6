//! The arguments of `broadstream export`.

use clap::{Args, ValueHint};

use super::InputArguments;

/// Write a stream to standard output as CSV, in the order in which 'run' learns it.
///
/// Other programs can then learn the same samples in the same order. Numbers are written as they were
/// read, categories as text, missing cells as empty cells. The target is the last column.
#[derive(Args)]
#[command(after_long_help = EXPORT_EXAMPLES)]
pub(crate) struct ExportArguments {
    /// A file, '-' for standard input, or a generator; files are CSV, JSON lines, ARFF or LIBSVM (plain,
    /// gzip or zstd), Parquet or Arrow
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) source: String,

    #[command(flatten)]
    pub(crate) input: InputArguments,
}

const EXPORT_EXAMPLES: &str = "\
Examples:
  broadstream export letter.csv.gz --shuffle 1 > shuffled.csv
      The samples of 'broadstream run letter.csv.gz --shuffle 1', in its order.
  broadstream export adult.csv --categories integer-codes --limit 5000
      Categories as numbers 0, 1, 2, … in order of appearance.
  broadstream export sea --limit 5000 | .venv/bin/python peers/stream_learners.py \\
      --method river-hoeffding-tree
      Another library on the same stream.";
