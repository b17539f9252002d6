//! `broadstream generate`: the stream of a generator as CSV.

use std::io;

use anyhow::Result;
use broadstream::stream::synth::NamedGenerator;

use crate::{args::GenerateArguments, commands::export::write_stream, output::failure::to_stdout};

pub(crate) fn generate(arguments: &GenerateArguments) -> Result<()> {
    let mut generator = NamedGenerator::parse(&arguments.generator)?;
    if let Some(samples) = arguments.samples {
        generator.samples = samples;
    }
    let mut stream = generator.open()?.take(generator.samples);
    to_stdout(write_stream(&mut stream, None, None, io::stdout().lock()))
}
