//! From a declaration to the runs that it takes.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use broadstream_datasets::{Kind, Origin, dataset, find};
use clap::Parser;
use sha2::{Digest, Sha256};

use super::declaration::{Declaration, MethodDeclaration, StreamDeclaration};
use crate::{
    args::{InputArguments, ModelArguments, first_paragraph},
    build::{applicable, model, source::Source},
};

/// One run: a method on a stream with a seed.
pub(crate) struct PlannedRun {
    pub(crate) stream: String,
    pub(crate) method: String,
    pub(crate) seed: u64,
    pub(crate) parameters: BTreeMap<String, f64>,
    pub(crate) source: String,
    pub(crate) input: InputArguments,
    pub(crate) contestant: PlannedMethod,
    /// Why fewer samples are taken than other methods get.
    pub(crate) prefix: Option<String>,
    pub(crate) times: bool,
    pub(crate) curve_points: u64,
}

/// Who runs.
pub(crate) enum PlannedMethod {
    Model(Box<ModelArguments>),
    /// A method of the program for third-party learners.
    Peer(String),
}

/// The parts of a command line that a declaration spells as tables.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct StreamOptions {
    #[command(flatten)]
    input: InputArguments,
}

/// All runs of a declaration, stream by stream and seed by seed, so that a run cut short has all
/// methods of its first streams.
pub(crate) fn plan(
    declaration: &Declaration,
    folder: Option<&Path>,
    data: Option<&Path>,
) -> Result<Vec<PlannedRun>> {
    let mut runs = Vec::new();
    for stream in &declaration.streams {
        let source = StreamSource::of(stream, folder, data)
            .with_context(|| format!("stream '{}'", stream.name))?;
        for seed in 0..declaration.seeds {
            for method in &declaration.methods {
                let elsewhere =
                    !method.streams.is_empty() && !method.streams.contains(&stream.name);
                if elsewhere || method.seeds.is_some_and(|seeds| seed >= seeds) {
                    continue;
                }
                for parameters in combinations(declaration, method) {
                    let run = planned(declaration, &source, method, seed, parameters)
                        .with_context(|| format!("method '{}'", method.name))?;
                    runs.push(run);
                }
            }
        }
    }
    Ok(runs)
}

/// A stream as it is opened.
struct StreamSource<'a> {
    declared: &'a StreamDeclaration,
    source: String,
    shuffled: bool,
    /// Target and dropped columns of the catalogue.
    known: toml::Table,
}

impl<'a> StreamSource<'a> {
    fn of(
        declared: &'a StreamDeclaration,
        folder: Option<&Path>,
        data: Option<&Path>,
    ) -> Result<Self> {
        let mut known = toml::Table::new();
        let (source, drifting) = match &declared.source {
            Some(source) => (own_source(source, folder), true),
            None => {
                let dataset = dataset(&declared.name)?;
                let source = match &dataset.origin {
                    Origin::Generator(spec) => (*spec).to_owned(),
                    _ => {
                        known.insert("target".to_owned(), dataset.target.into());
                        let drop: Vec<toml::Value> =
                            dataset.drop.iter().map(|c| (*c).into()).collect();
                        known.insert("drop".to_owned(), drop.into());
                        find(dataset.name, data)?.display().to_string()
                    }
                };
                (source, dataset.kind == Kind::Drifting)
            }
        };
        Source::parse(&source)?;
        Ok(StreamSource {
            declared,
            source,
            shuffled: declared.shuffle.unwrap_or(!drifting),
            known,
        })
    }

    fn input(&self, seed: u64, limit: Option<u64>) -> Result<InputArguments> {
        let mut options = self.known.clone();
        options.extend(self.declared.options.clone());
        if self.shuffled {
            options.insert("shuffle".to_owned(), i64::try_from(seed)?.into());
        }
        if let Some(limit) = limit {
            options.insert("limit".to_owned(), i64::try_from(limit)?.into());
        }
        Ok(StreamOptions::try_parse_from(input_flags(&options)?)
            .map_err(|error| first_paragraph(&error))?
            .input)
    }
}

/// A generator stays what it is; a file is looked for beside the declaration.
fn own_source(source: &str, folder: Option<&Path>) -> String {
    match (Source::parse(source), folder) {
        (Ok(Source::File(path)), Some(folder)) => folder.join(path).display().to_string(),
        _ => source.to_owned(),
    }
}

fn planned(
    declaration: &Declaration,
    source: &StreamSource<'_>,
    method: &MethodDeclaration,
    seed: u64,
    swept: BTreeMap<String, f64>,
) -> Result<PlannedRun> {
    let limit = [declaration.limit, source.declared.limit].into_iter().flatten().min();
    let shorter = method.limit.filter(|own| limit.is_none_or(|limit| *own < limit));
    let contestant = match &method.peer {
        Some(peer) => PlannedMethod::Peer(peer.clone()),
        None => {
            let mut options = method.options.clone();
            options.extend(swept.iter().map(|(name, value)| (name.clone(), (*value).into())));
            let mut model = model::parse_options(model_flags(&options)?)?;
            // Before the first run, which may take hours, rather than when its turn comes.
            applicable::check_built(model.model)?;
            if applicable::takes_seed(model.model) {
                model.options.give_default("seed", seed);
            }
            PlannedMethod::Model(Box::new(model))
        }
    };
    let declared = source.declared;
    Ok(PlannedRun {
        stream: declared.shown().to_owned(),
        method: method.name.clone(),
        seed,
        parameters: swept.into_iter().chain(declared.parameters.clone()).collect(),
        source: source.source.clone(),
        input: source.input(seed, shorter.or(limit))?,
        contestant,
        prefix: shorter.map(|_| "the experiment gives it no more".to_owned()),
        times: declaration.times,
        curve_points: declaration.curve_points,
    })
}

/// Every combination of the swept options that apply to a method.
fn combinations(
    declaration: &Declaration,
    method: &MethodDeclaration,
) -> Vec<BTreeMap<String, f64>> {
    let mut combinations = vec![BTreeMap::new()];
    for (option, values) in &declaration.sweep {
        let applies = method.sweep.as_ref().is_none_or(|options| options.contains(option));
        if applies {
            combinations = combinations
                .iter()
                .flat_map(|base| {
                    values.iter().map(move |value| {
                        let mut combination = base.clone();
                        combination.insert(option.clone(), *value);
                        combination
                    })
                })
                .collect();
        }
    }
    combinations
}

/// `forgetting = 0.99` becomes `--forgetting=0.99`, `stacking = false` becomes `--stacking=false`.
fn model_flags(options: &toml::Table) -> Result<Vec<String>> {
    options
        .iter()
        .map(|(name, value)| match value {
            toml::Value::Boolean(value) => Ok(format!("{}={value}", flag(name))),
            value => Ok(format!("{}={}", flag(name), scalar(name, value)?)),
        })
        .collect()
}

/// `target = "y"` becomes `--target y`, `no_header = true` becomes `--no-header`.
fn input_flags(options: &toml::Table) -> Result<Vec<String>> {
    let mut arguments = Vec::new();
    for (name, value) in options {
        let option = flag(name);
        match value {
            toml::Value::Boolean(true) => arguments.push(option),
            toml::Value::Boolean(false) => {
                anyhow::bail!("option '{name}' must be true or left out, got false")
            }
            toml::Value::Array(values) => {
                for value in values {
                    arguments.extend([option.clone(), scalar(name, value)?]);
                }
            }
            value => arguments.extend([option, scalar(name, value)?]),
        }
    }
    Ok(arguments)
}

fn flag(option: &str) -> String {
    format!("--{}", option.replace('_', "-"))
}

fn scalar(name: &str, value: &toml::Value) -> Result<String> {
    Ok(match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Float(number) => number.to_string(),
        other => anyhow::bail!("option '{name}' must be a text, a number or a list, got {other}"),
    })
}

impl PlannedRun {
    /// The file of this run's record. It differs whenever something differs that may change the
    /// result, so that a record which is there need not be made again.
    pub(crate) fn file(&self, records: &Path) -> PathBuf {
        let mut text = format!(
            "{}\n{:?}\n{:?}\n{}\n{}\n",
            self.source, self.input, self.parameters, self.times, self.curve_points
        );
        match &self.contestant {
            PlannedMethod::Model(model) => text += &format!("{model:?}"),
            PlannedMethod::Peer(peer) => text += peer,
        }
        text += env!("CARGO_PKG_VERSION");
        let digest = Sha256::digest(text.as_bytes());
        let mark: String = digest[..6].iter().map(|byte| format!("{byte:02x}")).collect();
        let plain =
            |name: &str| name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "_");
        let (stream, method) = (plain(&self.stream), plain(&self.method));
        records.join(format!("{stream}.{method}.{}.{mark}.json", self.seed))
    }

    /// What the run is called while it is under way.
    pub(crate) fn title(&self) -> String {
        let parameters: Vec<String> =
            self.parameters.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let parameters = if parameters.is_empty() {
            String::new()
        } else {
            format!(", {}", parameters.join(", "))
        };
        format!("{} on {}{parameters}, seed {}", self.method, self.stream, self.seed)
    }
}
