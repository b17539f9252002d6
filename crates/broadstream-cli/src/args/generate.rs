//! The arguments of `broadstream generate`.

use clap::Args;

/// The generators and their parameters.
const GENERATORS: &str = include_str!("generators.txt");

/// Write the stream of a generator to standard output as CSV.
///
/// The streams equal those of River's generators of the same names to the bit; random-rbf and waveform,
/// which use the C library, do so on the same machine.
#[derive(Args)]
#[command(after_long_help = GENERATORS)]
pub(crate) struct GenerateArguments {
    /// The generator, with parameters if any: 'sea', 'sea:variant=2,noise=0', 'random-tree'
    pub(crate) generator: String,

    /// How many samples to write [default: the generator's own, 100 000]
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<u64>,
}
