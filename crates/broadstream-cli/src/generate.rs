//! `broadstream generate`: a generator's stream as CSV.

use std::io;

use anyhow::Result;

use crate::{
    args::GenerateArguments, export::write_stream, failure::to_stdout, generator::GeneratorSpec,
};

pub(crate) fn generate(arguments: &GenerateArguments) -> Result<()> {
    let mut spec = GeneratorSpec::parse_known(&arguments.generator)?;
    if let Some(samples) = arguments.samples {
        spec.samples = samples;
    }
    let mut stream = spec.open()?.take(spec.samples);
    to_stdout(write_stream(&mut stream, None, None, io::stdout().lock()))
}
