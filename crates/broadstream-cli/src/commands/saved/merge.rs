//! `broadstream merge` and `fit-partial`: models trained apart that become one.

use std::{fmt, path::Path, time::Instant};

use anyhow::{Context, Result, bail};
use broadstream::{
    Block, Classifier, Input, OnlineBls, Partial, Schema,
    model_file::{Content, Loaded, ModelFile, Saved},
    stream::RowEncoding,
};
use broadstream_store::{LockedPath, read_model, read_model_or_sums};

use crate::{
    args::{FitPartialArguments, MergeArguments, ModelName},
    build::{model, source::Source},
    output::{failure::BadUsage, progress::Progress},
};

pub(crate) fn merge(arguments: &MergeArguments) -> Result<()> {
    let place = LockedPath::lock(&arguments.output)?;
    let mut merged: Option<Merged> = None;
    for path in &arguments.files {
        let loaded = read_model_or_sums(path)?;
        merged = Some(
            match merged {
                None => Merged::new(loaded),
                Some(merged) => merged.with(loaded),
            }
            .with_context(|| path.display().to_string())?,
        );
    }
    let Some(merged) = merged else { return Ok(()) };
    let merged = if arguments.sums { merged } else { merged.into_model()? };
    merged.write(&place)?;
    eprintln!("{}: {merged}", arguments.output.display());
    Ok(())
}

/// What was merged so far.
struct Merged {
    sum: Sum,
    labels: Vec<String>,
    target: String,
    encoding: Option<RowEncoding>,
}

enum Sum {
    Model(Box<OnlineBls>),
    Partial(Box<Partial>),
}

impl Merged {
    fn new(loaded: Loaded) -> Result<Self> {
        let (sum, schema, encoding) = taken_apart(loaded);
        let target = schema.target().to_owned();
        let labels = labels(&schema, sum.classes())?.to_vec();
        Ok(Merged { sum, labels, target, encoding })
    }

    fn with(mut self, loaded: Loaded) -> Result<Self> {
        let (other, schema, encoding) = taken_apart(loaded);
        if schema.target() != self.target {
            bail!("its target is '{}', that of the others '{}'", schema.target(), self.target);
        }
        if let (Some(own), Some(other)) = (&mut self.encoding, encoding) {
            own.merge(other)?;
        }
        let numbers: Vec<usize> = labels(&schema, other.classes())?
            .iter()
            .map(|label| {
                let known = self.labels.iter().position(|known| known == label);
                known.unwrap_or_else(|| {
                    self.labels.push(label.clone());
                    self.labels.len() - 1
                })
            })
            .collect();
        match (&mut self.sum, &other) {
            (Sum::Model(model), Sum::Model(other)) => model.merge(other, &numbers)?,
            (Sum::Model(model), Sum::Partial(other)) => model.merge_partial(other, &numbers)?,
            (Sum::Partial(partial), Sum::Partial(other)) => partial.merge(other, &numbers)?,
            (Sum::Partial(partial), Sum::Model(other)) => {
                let mut model = partial.clone().into_model()?;
                model.merge(other, &numbers)?;
                self.sum = Sum::Model(Box::new(model));
            }
        }
        Ok(self)
    }

    fn into_model(mut self) -> Result<Self> {
        if let Sum::Partial(partial) = self.sum {
            self.sum = Sum::Model(Box::new(partial.into_model()?));
        }
        Ok(self)
    }

    fn write(&self, place: &LockedPath) -> Result<()> {
        let mut schema = Schema::new(&self.target);
        let inputs = match &self.sum {
            Sum::Model(model) => model.declared_inputs(),
            Sum::Partial(partial) => partial.declared_inputs(),
        };
        for Input { name, kind } in inputs {
            schema.push_input(name, *kind);
        }
        for label in &self.labels {
            schema.class_of(label);
        }
        let content = match &self.sum {
            Sum::Model(model) => Content::Model(model),
            Sum::Partial(partial) => Content::Partial(partial),
        };
        let encoding = self.encoding.as_ref();
        Ok(place.write_model(&ModelFile { encoding, ..ModelFile::of(content, &schema) })?)
    }
}

impl fmt::Display for Merged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, learned) = match &self.sum {
            Sum::Model(model) => ("a model", model.learned()),
            Sum::Partial(partial) => ("sums", partial.learned()),
        };
        write!(f, "{what} of {learned} samples, {} classes", self.labels.len())
    }
}

impl Sum {
    fn classes(&self) -> usize {
        match self {
            Sum::Model(model) => model.classes(),
            Sum::Partial(partial) => partial.classes(),
        }
    }
}

fn taken_apart(loaded: Loaded) -> (Sum, Schema, Option<RowEncoding>) {
    match loaded {
        Loaded::Model(saved) => {
            let Saved { model, schema, encoding, .. } = *saved;
            (Sum::Model(Box::new(model)), schema, encoding)
        }
        Loaded::Partial(saved) => {
            let Saved { model, schema, encoding, .. } = *saved;
            (Sum::Partial(Box::new(model)), schema, encoding)
        }
    }
}

/// The labels of the classes that were learned.
fn labels(schema: &Schema, classes: usize) -> Result<&[String]> {
    let known = schema.labels();
    known.get(..classes).context("it has no labels, by which its classes could be told")
}

pub(crate) fn fit_partial(arguments: &FitPartialArguments) -> Result<()> {
    let FitPartialArguments { input, model: options, .. } = arguments;
    if !matches!(options.model, ModelName::OnlineBls) {
        return Err(BadUsage("only the model online-bls has sums".to_owned()).into());
    }
    let source = Source::parse(&arguments.source)?;
    let place = LockedPath::lock(&arguments.output)?;
    let mut opened = source.open(input, options.preset)?;
    let options = crate::commands::run::use_all_cores(options);
    let model = model::online_bls(&options, &source, input, &*opened.stream)?;
    let mut partial = Partial::like(&model)?;
    let (progress, start) = (Progress::new(&opened, input.limit, arguments.quiet), Instant::now());
    let mut left = input.limit.unwrap_or(u64::MAX);
    let mut block = Block::new();
    while left > 0 {
        block.clear();
        let read = opened.stream.read_block(&mut block, left.min(1024) as usize);
        let read = read.with_context(|| source.name())?;
        if read == 0 {
            break;
        }
        for input in &opened.stream.schema().inputs()[partial.declared_inputs().len()..] {
            partial.declare_input(&input.name, input.kind)?;
        }
        partial.learn_many(&block).with_context(|| source.name())?;
        left -= read as u64;
        progress.show_added(partial.learned(), start.elapsed());
    }
    progress.finish();
    write_partial(&place, &partial, opened.stream.schema(), opened.stream.encoding().as_ref())?;
    let (samples, seconds) = (partial.learned(), start.elapsed().as_secs_f64());
    let name = arguments.output.display();
    eprintln!("{name}: sums of {samples} samples, {:.0} samples/s", samples as f64 / seconds);
    Ok(())
}

fn write_partial(
    place: &LockedPath,
    partial: &Partial,
    schema: &Schema,
    encoding: Option<&RowEncoding>,
) -> Result<()> {
    let content = Content::Partial(partial);
    Ok(place.write_model(&ModelFile { encoding, ..ModelFile::of(content, schema) })?)
}

/// A model like a saved one, which has learned nothing.
pub(crate) fn like(path: &Path) -> Result<OnlineBls> {
    let saved = read_model(path)?;
    saved.model.like().with_context(|| path.display().to_string())
}
