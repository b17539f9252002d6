//! `broadstream fit-partial`: the sums of a part of the data, of which `merge` makes a model.

use std::time::Instant;

use anyhow::{Context, Result};
use broadstream::{
    Block, Partial,
    model_file::{Content, ModelFile},
};
use broadstream_store::LockedPath;

use crate::{
    args::{BadUsage, FitPartialArguments, ModelName},
    build::{like::input_like, model, source::Source, threads::use_all_cores},
    output::{printable::note, progress::Progress},
};

/// The samples that are added together.
const BLOCK: u64 = 1024;

pub(crate) fn fit_partial(arguments: &FitPartialArguments) -> Result<()> {
    let FitPartialArguments { input, model: options, .. } = arguments;
    if !matches!(options.model, ModelName::OnlineBls) {
        return Err(BadUsage("only the model online-bls has sums".to_owned()).into());
    }
    let source = Source::parse(&arguments.source)?;
    let target = LockedPath::lock(&arguments.output)?;
    let input = &input_like(input, &source, options.like.as_deref())?;
    let mut opened = source.open(input, options.preset)?;
    opened.warn(&source);
    let options = use_all_cores(options);
    let model = model::online_bls(&options, &source, input, &*opened.stream)?;
    let mut sums = Partial::like(&model)?;
    let (progress, start) = (Progress::new(&opened, input.limit, arguments.quiet), Instant::now());
    let mut left = input.limit.unwrap_or(u64::MAX);
    let mut block = Block::new();
    while left > 0 {
        block.clear();
        let read = opened.stream.read_block(&mut block, left.min(BLOCK) as usize);
        let read = read.with_context(|| source.name())?;
        if read == 0 {
            break;
        }
        for input in &opened.stream.schema().inputs()[sums.declared_inputs().len()..] {
            sums.declare_input(&input.name, input.kind)?;
        }
        sums.learn_many(&block).with_context(|| source.name())?;
        left -= read as u64;
        progress.show_added(sums.learned(), start.elapsed());
    }
    progress.finish();
    target.write_model(&ModelFile {
        encoding: opened.stream.encoding().as_ref(),
        ..ModelFile::of(Content::Partial(&sums), opened.stream.schema())
    })?;
    let (samples, seconds) = (sums.learned(), start.elapsed().as_secs_f64());
    let name = arguments.output.display();
    let speed = samples as f64 / seconds;
    note(&format!("{name}: sums of {samples} samples, {speed:.0} samples/s"));
    Ok(())
}
