//! `broadstream generate`: a generator's stream as CSV.

use std::io;

use anyhow::Result;

use crate::{
    args::GenerateArguments,
    export::write_stream,
    failure::{BadUsage, to_stdout},
    source::GeneratorSpec,
};

pub(crate) fn generate(arguments: &GenerateArguments) -> Result<()> {
    let Some(mut spec) = GeneratorSpec::parse(&arguments.generator)? else {
        let name = &arguments.generator;
        let rule = format!("there is no generator '{name}': expected sea or hyperplane");
        return Err(BadUsage(rule).into());
    };
    if let Some(samples) = arguments.samples {
        spec.samples = samples;
    }
    let mut stream = spec.open()?.take(spec.samples);
    to_stdout(write_stream(&mut stream, None, None, io::stdout().lock()))
}
