//! Models on their way to another machine, another day or another version of this program.
//!
//! A [`ModelFile`] says what is written: a model, the names behind its numbers, and whatever a program
//! wants to find again. [`read`] gives it back as [`Saved`]. A model that was saved and read continues bit
//! for bit as if it had never stopped.
//!
//! A file is refused, and nothing is made of it, if it is cut short, altered, too long, of a newer format
//! or inconsistent; the error says which. `container` has the bytes, `config` the options.
//!
//! ```
//! use broadstream::{
//!     Classifier, InputKind, OnlineBls, OnlineBlsConfig, Sample, Schema,
//!     model_file::{self, ModelFile},
//! };
//!
//! let mut model = OnlineBls::new(OnlineBlsConfig { enhancement_nodes: 50, ..OnlineBlsConfig::single() })?;
//! let mut schema = Schema::new("state");
//! schema.push_input("voltage", InputKind::Numeric);
//! model.declare_input("voltage", InputKind::Numeric)?;
//! model.learn_one(Sample::dense(&[231.5]), schema.class_of("on"), 1.0)?;
//!
//! let mut bytes = Vec::new();
//! ModelFile::new(&model, &schema).write(&mut bytes)?;
//! let saved = model_file::read(&mut bytes.as_slice())?;
//! assert_eq!(saved.model.weights(), model.weights());
//! assert_eq!(saved.schema.labels(), ["on"]);
//! # Ok::<(), broadstream::Error>(())
//! ```

mod config;
mod container;
mod error;

use std::{
    collections::HashSet,
    io::{Read, Write},
};

use serde_json::{Map, Value};

pub use self::error::ModelFileError;

use crate::{
    classifier::Classifier,
    error::Error,
    online_bls::{OnlineBls, OnlineBlsConfig},
    schema::Schema,
    state::{ReadScope, StateWriter},
};

/// The format version that is written, and the newest that is read.
pub const VERSION: u32 = container::VERSION;

/// What a model file is to hold.
#[derive(Clone, Copy, Debug)]
pub struct ModelFile<'a> {
    /// The model.
    pub model: &'a OnlineBls,
    /// The names of its inputs, labels and target. Labels may be left out altogether.
    pub schema: &'a Schema,
    /// What the program that writes the file wants to find again; none of the library's business.
    pub notes: Option<&'a Map<String, Value>>,
    /// Whether the random weights of the features are stored. Without them the file is smaller, and
    /// they are drawn again from the seed when it is read. Default true.
    pub feature_weights: bool,
}

impl<'a> ModelFile<'a> {
    /// A model with its names, and nothing else.
    pub fn new(model: &'a OnlineBls, schema: &'a Schema) -> Self {
        ModelFile { model, schema, notes: None, feature_weights: true }
    }

    /// Writes the file. Whoever calls this sees to it that a file which could not be written does not
    /// take the place of one that could.
    pub fn write(&self, to: &mut dyn Write) -> Result<(), Error> {
        let mut state = StateWriter::default();
        let mut root = state.root();
        root.value("program", env!("CARGO_PKG_VERSION"));
        root.value("config", self.model.config().to_json());
        let mut schema = root.scope("schema");
        schema.value("target", self.schema.target());
        schema.texts("labels", self.schema.labels().iter().map(String::as_str));
        root.value("notes", self.notes.cloned().unwrap_or_default());
        self.model.save(&mut root.scope("model"), self.feature_weights);
        Ok(container::write(state, to)?)
    }
}

/// What a model file held.
#[derive(Debug)]
pub struct Saved {
    /// The model. It has one thread, whatever it had; [`OnlineBls::set_threads`] gives it more.
    pub model: OnlineBls,
    /// The names of its inputs, labels and target.
    pub schema: Schema,
    /// What the program that wrote the file wanted to find again.
    pub notes: Map<String, Value>,
    /// The version of the program that wrote the file.
    pub program: String,
}

/// Reads a model file to its end.
pub fn read(from: &mut dyn Read) -> Result<Saved, Error> {
    let body = container::read(from)?;
    let state = container::parse(&body)?;
    let root = state.root();
    let config = OnlineBlsConfig::from_state(&root.scope("config")?)?;
    let config = OnlineBlsConfig { threads: 1, ..config };
    let model = OnlineBls::restore(config, &root.scope("model")?)?;
    let notes = root.value("notes")?.as_object();
    Ok(Saved {
        schema: schema(&root.scope("schema")?, &model)?,
        model,
        notes: notes.cloned().ok_or_else(|| root.invalid("notes", "an object"))?,
        program: root.text("program")?.to_owned(),
    })
}

fn schema(from: &ReadScope<'_>, model: &OnlineBls) -> Result<Schema, ModelFileError> {
    let mut schema = Schema::new(from.text("target")?);
    for input in model.declared_inputs() {
        schema.push_input(&input.name, input.kind);
    }
    let labels = from.texts("labels")?;
    let enough = labels.is_empty() || labels.len() >= model.classes();
    from.check("labels", enough, "a label for each class")?;
    let distinct = labels.iter().collect::<HashSet<_>>().len() == labels.len();
    from.check("labels", distinct, "different from one another")?;
    for label in labels {
        schema.class_of(label);
    }
    Ok(schema)
}
