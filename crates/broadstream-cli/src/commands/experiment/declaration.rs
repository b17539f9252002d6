//! The declaration of an experiment, as a TOML file has it.
//!
//! This file uses nothing else of the program, so that a fuzzer can include it.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, Result, bail};
use broadstream_report::{Labels, View};
use serde::Deserialize;

/// What to run, and which results to show.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Declaration {
    pub(crate) title: String,
    /// What the experiment finds out, in a paragraph.
    #[serde(default)]
    pub(crate) description: String,
    /// The number of runs of each method on each stream, with seeds 0, 1, 2, …
    #[serde(default = "ten")]
    pub(crate) seeds: u64,
    /// The maximum number of samples of each stream.
    #[serde(default)]
    pub(crate) limit: Option<u64>,
    /// Whether to learn one sample at a time and measure how long each takes.
    #[serde(default)]
    pub(crate) times: bool,
    /// The number of points of each curve.
    #[serde(default = "a_hundred")]
    pub(crate) curve_points: u64,
    #[serde(default)]
    pub(crate) streams: Vec<StreamDeclaration>,
    #[serde(default)]
    pub(crate) methods: Vec<MethodDeclaration>,
    /// Options with several values each: every method runs with every combination.
    #[serde(default)]
    pub(crate) sweep: BTreeMap<String, Vec<f64>>,
    /// Instead of streams and methods: the residuals of solvers as matrices become ill-conditioned.
    #[serde(default)]
    pub(crate) stability: Option<Stability>,
    /// Published results, shown beside the runs.
    #[serde(default)]
    pub(crate) cited: Vec<Citation>,
    #[serde(default)]
    pub(crate) labels: Labels,
    #[serde(default)]
    pub(crate) views: Vec<View>,
}

/// A dataset of the catalogue by its name, or any other source.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "NameOrTable")]
pub(crate) struct StreamDeclaration {
    pub(crate) name: String,
    /// A file, relative to the folder of the declaration, or a generator. `None` is the catalogue's.
    pub(crate) source: Option<String>,
    /// Whether each seed shuffles the samples in its own order. `None` is what the catalogue says of the
    /// dataset; other sources are then not shuffled.
    pub(crate) shuffle: Option<bool>,
    /// The maximum number of samples of this stream.
    pub(crate) limit: Option<u64>,
    /// The options of `broadstream run` for reading the source, such as `target`.
    pub(crate) options: toml::Table,
    /// The name in tables and figures, which several streams may share.
    pub(crate) shown_as: Option<String>,
    /// Parameters that distinguish it from other streams of that name, such as its number of classes.
    pub(crate) parameters: BTreeMap<String, f64>,
    /// Turns each point of a curve into a record, with the number of samples as the parameter of this name
    /// and the update time since the previous point. This shows costs that grow with the stream.
    pub(crate) samples_as: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum NameOrTable {
    Name(String),
    Table(StreamTable),
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct StreamTable {
    name: String,
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    shuffle: Option<bool>,
    #[serde(default)]
    limit: Option<u64>,
    #[serde(default)]
    options: toml::Table,
    #[serde(default)]
    shown_as: Option<String>,
    #[serde(default)]
    parameters: BTreeMap<String, f64>,
    #[serde(default)]
    samples_as: Option<String>,
}

impl From<NameOrTable> for StreamDeclaration {
    fn from(declared: NameOrTable) -> Self {
        let table = match declared {
            NameOrTable::Name(name) => StreamTable { name, ..StreamTable::default() },
            NameOrTable::Table(table) => table,
        };
        StreamDeclaration {
            name: table.name,
            source: table.source,
            shuffle: table.shuffle,
            limit: table.limit,
            options: table.options,
            shown_as: table.shown_as,
            parameters: table.parameters,
            samples_as: table.samples_as,
        }
    }
}

/// A model with its options, or a learner of another library.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MethodDeclaration {
    pub(crate) name: String,
    /// The model options of `broadstream run`, such as `preset = "paper"`.
    #[serde(default)]
    pub(crate) options: toml::Table,
    /// A learner of another library, by its name in the program that runs these.
    #[serde(default)]
    pub(crate) peer: Option<String>,
    /// The maximum number of samples, if the method is too slow for more.
    #[serde(default)]
    pub(crate) limit: Option<u64>,
    /// The streams that the method runs on. Default: all.
    #[serde(default)]
    pub(crate) streams: Vec<String>,
    /// The swept options that apply to the method. Default: all.
    #[serde(default)]
    pub(crate) sweep: Option<Vec<String>>,
    /// The maximum number of seeds, if the method is too slow for more.
    #[serde(default)]
    pub(crate) seeds: Option<u64>,
}

/// A published result of a method on a stream.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Citation {
    pub(crate) stream: String,
    pub(crate) method: String,
    /// Metrics in percent, as publications give them; those that end in `_sd` are standard deviations.
    pub(crate) percent: BTreeMap<String, f64>,
}

/// Systems of equations K·X = B to solve.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stability {
    /// The order of K.
    pub(crate) order: usize,
    /// Columns of B.
    pub(crate) classes: usize,
    /// Condition numbers κ of K, as powers of ten.
    pub(crate) exponents: Vec<i32>,
}

fn ten() -> u64 {
    10
}

fn a_hundred() -> u64 {
    100
}

impl StreamDeclaration {
    /// The name of the stream in tables and figures.
    pub(crate) fn shown(&self) -> &str {
        self.shown_as.as_deref().unwrap_or(&self.name)
    }
}

impl Declaration {
    /// Parses a declaration; errors begin with `name`.
    pub(crate) fn parse(text: &str, name: &str) -> Result<Self> {
        let declaration: Declaration = toml::from_str(text).with_context(|| name.to_owned())?;
        declaration.check().with_context(|| name.to_owned())?;
        Ok(declaration)
    }

    /// Reads a declaration from a file.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(|| name.clone())?;
        Self::parse(&text, &name)
    }

    /// How many runs the declaration asks for.
    fn runs(&self) -> u128 {
        let of_method = |method: &MethodDeclaration| {
            let applies = |option: &&String| match &method.sweep {
                Some(swept) => swept.contains(option),
                None => true,
            };
            let swept = self.sweep.iter().filter(|(option, _)| applies(option));
            let seeds = self.seeds.min(method.seeds.unwrap_or(u64::MAX));
            swept.fold(u128::from(seeds), |runs, (_, values)| {
                runs.saturating_mul(values.len() as u128)
            })
        };
        let of_methods = self.methods.iter().map(of_method).fold(0, u128::saturating_add);
        of_methods.saturating_mul(self.streams.len() as u128)
    }

    fn check(&self) -> Result<()> {
        /// Each run is planned before the first one starts.
        const MOST_RUNS: u128 = 1_000_000;
        if self.stability.is_none() && (self.streams.is_empty() || self.methods.is_empty()) {
            bail!("an experiment needs streams and methods, or a stability table");
        }
        unique("stream", self.streams.iter().map(|stream| stream.name.as_str()))?;
        unique("method", self.methods.iter().map(|method| method.name.as_str()))?;
        for (what, value) in [("seeds", self.seeds), ("curve_points", self.curve_points)] {
            if value == 0 {
                bail!("{what} must be at least 1, got 0");
            }
        }
        if self.runs() > MOST_RUNS {
            bail!("an experiment must have at most {MOST_RUNS} runs, got {}", self.runs());
        }
        for method in &self.methods {
            if method.peer.is_some() && !method.options.is_empty() {
                bail!("method '{}' is a peer and has no options", method.name);
            }
            for stream in &method.streams {
                if !self.streams.iter().any(|known| known.name == *stream) {
                    bail!(
                        "method '{}' names the stream '{stream}', which is not declared",
                        method.name
                    );
                }
            }
        }
        Ok(())
    }
}

fn unique<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut seen = std::collections::BTreeSet::new();
    for name in names {
        if name.is_empty() || !seen.insert(name) {
            bail!("every {what} needs a name of its own, got '{name}'");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: &str = "title = 't'\nstreams = ['sea']\n[[methods]]\nname = 'm'\n";

    #[test]
    fn a_name_is_enough_for_a_stream() {
        let declaration = Declaration::parse(LEAST, "t.toml").unwrap();
        assert_eq!(declaration.streams[0].name, "sea");
        assert_eq!((declaration.seeds, declaration.curve_points), (10, 100));
    }

    #[test]
    fn faults_are_named_with_their_place() {
        for (text, message) in [
            ("title = 't'", "an experiment needs streams and methods"),
            ("title = 't'\ncolour = 1", "unknown field `colour`"),
            (&format!("{LEAST}[[methods]]\nname = 'm'"), "every method needs a name of its own"),
            (&format!("seeds = 0\n{LEAST}"), "seeds must be at least 1, got 0"),
            (
                &format!("seeds = 9000000000000000000\n{LEAST}"),
                "an experiment must have at most 1000000 runs, got 9000000000000000000",
            ),
            (
                &format!("seeds = 1000\n{LEAST}[sweep]\na = [1, 2, 3]\nb = {:?}", [0; 400]),
                "an experiment must have at most 1000000 runs, got 1200000",
            ),
            (&format!("{LEAST}streams = ['moon']"), "names the stream 'moon'"),
            (&format!("{LEAST}[[views]]\nkind = 'pie'"), "unknown variant `pie`"),
        ] {
            let error = format!("{:#}", Declaration::parse(text, "t.toml").unwrap_err());
            assert!(error.contains("t.toml") && error.contains(message), "{error}");
        }
    }
}
