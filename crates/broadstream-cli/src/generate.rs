//! `broadstream generate`: a generator's stream as CSV.

use std::io::{self, BufWriter};

use anyhow::Result;

use broadstream::stream::synth::Generator;

use crate::{
    args::GenerateArguments,
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
    let mut generator = spec.open()?;
    to_stdout(write_samples(&mut *generator, spec.samples))
}

fn write_samples(generator: &mut dyn Generator, samples: u64) -> Result<()> {
    let (inputs, labels) = (generator.inputs(), generator.labels());
    let mut writer = csv::Writer::from_writer(BufWriter::new(io::stdout().lock()));
    writer.write_record(inputs.iter().map(String::as_str).chain([generator.target()]))?;
    let mut x = Vec::new();
    for _ in 0..samples {
        let class = generator.next(&mut x);
        writer.write_record(x.iter().map(f64::to_string).chain([labels[class].clone()]))?;
    }
    Ok(writer.flush()?)
}
