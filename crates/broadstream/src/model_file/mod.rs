//! Model files, which outlive the program and may move to another machine or version of it.
//!
//! A [`ModelFile`] defines what is written: a model, the names of its inputs and labels, and notes
//! of the program. [`read`] returns it as [`Saved`]. A model that was saved and read continues bit
//! for bit as if it had never stopped.
//!
//! A file that is truncated, modified, too long, of a newer format or inconsistent is refused as a
//! whole, with an error that says which. `container` defines the bytes.
//!
//! ```
//! use broadstream::{
//!     Classifier, InputKind, Nodes, OnlineBls, OnlineBlsConfig, Sample, Schema,
//!     model_file::{self, ModelFile},
//! };
//!
//! let enhancement_nodes = Nodes::Fixed(50);
//! let mut model = OnlineBls::new(OnlineBlsConfig { enhancement_nodes, ..OnlineBlsConfig::single() })?;
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

mod container;

use std::{
    collections::HashSet,
    io::{Read, Write},
};

use serde_json::{Map, Value};

pub use crate::{error::ModelFileError, state::Precision};

use crate::{
    classifier::Classifier,
    config::OnlineBlsConfig,
    data::{Input, Schema},
    decision::Costs,
    error::Error,
    online_bls::{OnlineBls, Partial},
    prequential::EvaluationState,
    state::{ReadScope, StateWriter},
    stream::RowEncoding,
};

/// The newest format version that is read. Files in double precision are of version 1.
pub const VERSION: u32 = container::VERSION;

/// The contents of a model file to be written.
#[derive(Clone, Copy, Debug)]
pub struct ModelFile<'a> {
    /// The model, or the sums of one.
    pub content: Content<'a>,
    /// The names of its inputs, labels and target. Labels may be omitted altogether.
    pub schema: &'a Schema,
    /// How the rows that it learned were encoded, if it learned from rows.
    pub encoding: Option<&'a RowEncoding>,
    /// The progress of an evaluation of the model, if it is to be resumed.
    pub evaluation: Option<&'a EvaluationState>,
    /// What the decisions of the model cost, by label, if they are to be made for the least cost.
    pub costs: Option<&'a Costs>,
    /// Data of the program that writes the file, which the library does not interpret.
    pub notes: Option<&'a Map<String, Value>>,
    /// Whether the random weights of the features are stored. Without them the file is smaller, and
    /// they are drawn again from the seed when it is read. Default true.
    pub feature_weights: bool,
    /// How precisely the regressions are stored. Sums and the progress of an evaluation are refused
    /// in single precision: they must continue to the bit. Default double.
    pub precision: Precision,
}

/// What is stored: a model, or the sums of some samples.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Content<'a> {
    /// A model.
    Model(&'a OnlineBls),
    /// The sums of a part of the samples.
    Partial(&'a Partial),
}

impl Content<'_> {
    fn classes(self) -> usize {
        match self {
            Content::Model(model) => model.classes(),
            Content::Partial(partial) => partial.classes(),
        }
    }
}

impl<'a> ModelFile<'a> {
    /// A model with its names, and nothing else.
    pub fn new(model: &'a OnlineBls, schema: &'a Schema) -> Self {
        ModelFile::of(Content::Model(model), schema)
    }

    /// A model or its sums with their names, and nothing else.
    pub fn of(content: Content<'a>, schema: &'a Schema) -> Self {
        ModelFile {
            content,
            schema,
            encoding: None,
            evaluation: None,
            costs: None,
            notes: None,
            feature_weights: true,
            precision: Precision::Double,
        }
    }

    /// Writes the file. The caller must make sure that an incomplete file does not replace a good
    /// one.
    pub fn write(&self, to: &mut dyn Write) -> Result<(), Error> {
        let (labels, classes) = (self.schema.labels().len(), self.content.classes());
        if labels > 0 && labels < classes {
            return Err(ModelFileError::FewLabels { classes, labels }.into());
        }
        let must_continue = match self.content {
            Content::Partial(_) => Some("sums"),
            Content::Model(_) => self.evaluation.map(|_| "the checkpoint of an evaluation"),
        };
        if let (Precision::Single, Some(content)) = (self.precision, must_continue) {
            return Err(ModelFileError::MustBeExact { content }.into());
        }
        let mut state = StateWriter { precision: self.precision, ..StateWriter::default() };
        let mut root = state.root();
        root.value("program", env!("CARGO_PKG_VERSION"));
        let mut schema = root.scope("schema");
        schema.value("target", self.schema.target());
        schema.texts("labels", self.schema.labels().iter().map(String::as_str));
        root.value("notes", self.notes.cloned().unwrap_or_default());
        if let Some(encoding) = self.encoding {
            encoding.save(&mut root.scope("encoding"));
        }
        if let Some(evaluation) = self.evaluation {
            evaluation.save(&mut root.scope("evaluation"));
        }
        if let Some(costs) = self.costs {
            costs.save(&mut root.scope("costs"));
        }
        match self.content {
            Content::Model(model) => {
                root.value("config", stored(model.config()));
                model.save(&mut root.scope(MODEL), self.feature_weights);
            }
            Content::Partial(partial) => {
                root.value("config", stored(partial.config()));
                partial.save(&mut root.scope(PARTIAL), self.feature_weights);
            }
        }
        Ok(container::write(state, to)?)
    }
}

/// The configuration to store. The number of threads is left out: it depends on the machine, not
/// the model.
fn stored(config: &OnlineBlsConfig) -> Map<String, Value> {
    OnlineBlsConfig { threads: 1, ..config.clone() }.to_json()
}

/// The name under which a file stores a model or its sums.
const MODEL: &str = "model";
const PARTIAL: &str = "partial";

/// The contents of a model file that was read.
#[derive(Debug)]
#[non_exhaustive]
pub struct Saved<T = OnlineBls> {
    /// The model. It has one thread, whatever it had before; [`OnlineBls::set_threads`] gives it
    /// more.
    pub model: T,
    /// The names of its inputs, labels and target.
    pub schema: Schema,
    /// How the rows that it learned were encoded, if it learned from rows.
    pub encoding: Option<RowEncoding>,
    /// The progress of an evaluation of the model, if it is to be resumed.
    pub evaluation: Option<EvaluationState>,
    /// What the decisions of the model cost, by label.
    pub costs: Option<Costs>,
    /// Data of the program that wrote the file.
    pub notes: Map<String, Value>,
    /// The version of the program that wrote the file.
    pub program: String,
    /// The format version of the file.
    pub version: u32,
}

/// The contents of a model file that may hold a model or its sums.
#[derive(Debug)]
pub enum Loaded {
    /// A model.
    Model(Box<Saved<OnlineBls>>),
    /// The sums of a part of the samples.
    Partial(Box<Saved<Partial>>),
}

/// Reads a file with a model to its end.
pub fn read(from: &mut dyn Read) -> Result<Saved, Error> {
    match read_any(from)? {
        Loaded::Model(saved) => Ok(*saved),
        Loaded::Partial(_) => Err(ModelFileError::OnlySums.into()),
    }
}

/// Reads a file with a model, or with the sums of one, to its end.
pub fn read_any(from: &mut dyn Read) -> Result<Loaded, Error> {
    let (version, body) = container::read(from)?;
    let state = container::parse(&body)?;
    let root = state.root();
    let config = OnlineBlsConfig::from_state(&root.scope("config")?)?;
    let config = OnlineBlsConfig { threads: 1, ..config };
    if root.has(PARTIAL) {
        let partial = Partial::restore(config, &root.scope(PARTIAL)?)?;
        let schema = schema(&root, partial.declared_inputs(), partial.classes())?;
        return Ok(Loaded::Partial(Box::new(saved(version, &root, partial, schema)?)));
    }
    let model = OnlineBls::restore(config, &root.scope(MODEL)?)?;
    let schema = schema(&root, model.declared_inputs(), model.classes())?;
    Ok(Loaded::Model(Box::new(saved(version, &root, model, schema)?)))
}

fn saved<T>(
    version: u32,
    root: &ReadScope<'_>,
    model: T,
    schema: Schema,
) -> Result<Saved<T>, ModelFileError> {
    let notes = root.value("notes")?.as_object().cloned();
    let mut encoding = root.has("encoding").then(RowEncoding::default);
    if let Some(encoding) = &mut encoding {
        encoding.restore(&root.scope("encoding")?)?;
    }
    let evaluation = match root.has("evaluation") {
        true => Some(EvaluationState::restored(&root.scope("evaluation")?)?),
        false => None,
    };
    let costs = match root.has("costs") {
        true => Some(Costs::restored(&root.scope("costs")?)?),
        false => None,
    };
    Ok(Saved {
        model,
        schema,
        encoding,
        evaluation,
        costs,
        notes: notes.ok_or_else(|| root.invalid("notes", "an object"))?,
        program: root.text("program")?.to_owned(),
        version,
    })
}

fn schema(
    root: &ReadScope<'_>,
    inputs: &[Input],
    classes: usize,
) -> Result<Schema, ModelFileError> {
    let from = root.scope("schema")?;
    let mut schema = Schema::new(from.text("target")?);
    for input in inputs {
        schema.push_input(&input.name, input.kind);
    }
    let labels = from.texts("labels")?;
    let enough = labels.is_empty() || labels.len() >= classes;
    from.check("labels", enough, "a label for each class")?;
    let distinct = labels.iter().collect::<HashSet<_>>().len() == labels.len();
    from.check("labels", distinct, "different from one another")?;
    for label in labels {
        schema.class_of(label);
    }
    Ok(schema)
}
