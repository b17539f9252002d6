//! `broadstream merge`: models that were trained apart become one.

use std::fmt;

use anyhow::{Context, Result, bail};
use broadstream::{
    Classifier, Input, OnlineBls, Partial, Schema,
    model_file::{Content, Loaded, ModelFile, Saved},
    stream::RowEncoding,
};
use broadstream_store::{LockedPath, read_journal, read_model_or_sums};

use super::{journal, rows};
use crate::{
    args::{MergeArguments, StorageArguments},
    output::printable::note,
};

pub(crate) fn merge(arguments: &MergeArguments) -> Result<()> {
    let target = LockedPath::lock(&arguments.output)?;
    let mut merged: Option<Merged> = None;
    for path in &arguments.files {
        let loaded = read_model_or_sums(path)?;
        let left = journal::count(&read_journal(path)?);
        if left > 0 {
            let (name, left) = (path.display(), rows::counted(left));
            bail!("{name}.journal: {left} were learned that the model lacks; 'learn' adds them");
        }
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
    merged.write(&target, &arguments.storage)?;
    note(&format!("{}: {merged}", arguments.output.display()));
    Ok(())
}

/// The files that were merged so far.
struct Merged {
    content: ModelOrSums,
    /// The labels by class. Each file may number its classes in its own way.
    labels: Vec<String>,
    target: String,
    encoding: Option<RowEncoding>,
}

enum ModelOrSums {
    Model(Box<OnlineBls>),
    Sums(Box<Partial>),
}

impl Merged {
    fn new(loaded: Loaded) -> Result<Self> {
        let (content, schema, encoding) = into_parts(loaded);
        let target = schema.target().to_owned();
        let labels = learned_labels(&schema, content.classes())?.to_vec();
        Ok(Merged { content, labels, target, encoding })
    }

    fn with(mut self, loaded: Loaded) -> Result<Self> {
        let (other, schema, encoding) = into_parts(loaded);
        if schema.target() != self.target {
            bail!("its target is '{}', that of the others '{}'", schema.target(), self.target);
        }
        if let (Some(own), Some(other)) = (&mut self.encoding, encoding) {
            own.merge(other)?;
        }
        // By class of the other, the class here.
        let classes: Vec<usize> = learned_labels(&schema, other.classes())?
            .iter()
            .map(|label| {
                let known = self.labels.iter().position(|known| known == label);
                known.unwrap_or_else(|| {
                    self.labels.push(label.clone());
                    self.labels.len() - 1
                })
            })
            .collect();
        match (&mut self.content, &other) {
            (ModelOrSums::Model(own), ModelOrSums::Model(other)) => own.merge(other, &classes)?,
            (ModelOrSums::Model(own), ModelOrSums::Sums(other)) => {
                own.merge_partial(other, &classes)?;
            }
            (ModelOrSums::Sums(own), ModelOrSums::Sums(other)) => own.merge(other, &classes)?,
            (ModelOrSums::Sums(own), ModelOrSums::Model(other)) => {
                let mut model = own.clone().into_model()?;
                model.merge(other, &classes)?;
                self.content = ModelOrSums::Model(Box::new(model));
            }
        }
        Ok(self)
    }

    fn into_model(mut self) -> Result<Self> {
        if let ModelOrSums::Sums(sums) = self.content {
            self.content = ModelOrSums::Model(Box::new(sums.into_model()?));
        }
        Ok(self)
    }

    fn write(&self, to: &LockedPath, storage: &StorageArguments) -> Result<()> {
        let mut schema = Schema::new(&self.target);
        let (content, inputs) = match &self.content {
            ModelOrSums::Model(model) => (Content::Model(model), model.declared_inputs()),
            ModelOrSums::Sums(sums) => (Content::Partial(sums), sums.declared_inputs()),
        };
        for Input { name, kind } in inputs {
            schema.push_input(name, *kind);
        }
        for label in &self.labels {
            schema.class_of(label);
        }
        let encoding = self.encoding.as_ref();
        let file = ModelFile { encoding, ..ModelFile::of(content, &schema) };
        Ok(to.write_model(&storage.apply(file))?)
    }
}

impl fmt::Display for Merged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, learned) = match &self.content {
            ModelOrSums::Model(model) => ("a model", model.learned()),
            ModelOrSums::Sums(sums) => ("sums", sums.learned()),
        };
        write!(f, "{what} of {learned} samples, {} classes", self.labels.len())
    }
}

impl ModelOrSums {
    fn classes(&self) -> usize {
        match self {
            ModelOrSums::Model(model) => model.classes(),
            ModelOrSums::Sums(sums) => sums.classes(),
        }
    }
}

fn into_parts(loaded: Loaded) -> (ModelOrSums, Schema, Option<RowEncoding>) {
    match loaded {
        Loaded::Model(saved) => {
            let Saved { model, schema, encoding, .. } = *saved;
            (ModelOrSums::Model(Box::new(model)), schema, encoding)
        }
        Loaded::Partial(saved) => {
            let Saved { model, schema, encoding, .. } = *saved;
            (ModelOrSums::Sums(Box::new(model)), schema, encoding)
        }
    }
}

/// The labels of the classes that were learned. Files are merged by label, so there must be one for each.
fn learned_labels(schema: &Schema, classes: usize) -> Result<&[String]> {
    schema.labels().get(..classes).context("it has no labels that could name its classes")
}
