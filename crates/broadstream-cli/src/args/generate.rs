//! The arguments of `broadstream generate`.

use clap::Args;

/// The generators and their parameters.
const GENERATORS: &str = include_str!("generators.txt");

/// Write a generator's stream as CSV to standard output.
///
/// The streams are those of River's generators of the same names, to the bit; in random-rbf and
/// waveform, where the C library has a part in it, on the same machine.
#[derive(Args)]
#[command(after_long_help = GENERATORS)]
pub(crate) struct GenerateArguments {
    /// The generator, with parameters if any: 'sea', 'sea:variant=2,noise=0', 'random-tree'
    pub(crate) generator: String,

    /// How many samples to write [default: the generator's own, 100 000]
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<u64>,
}
