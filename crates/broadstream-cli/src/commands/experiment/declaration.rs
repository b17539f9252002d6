//! An experiment as its TOML file declares it.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, Result, bail};
use broadstream_report::{Labels, View};
use serde::Deserialize;

use super::stability::Stability;

/// What to run, and what to show of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Declaration {
    pub(crate) title: String,
    /// What the experiment finds out, in a paragraph.
    #[serde(default)]
    pub(crate) description: String,
    /// Runs of each method on each stream: with seeds 0, 1, 2, …
    #[serde(default = "ten")]
    pub(crate) seeds: u64,
    /// The most samples of each stream.
    #[serde(default)]
    pub(crate) limit: Option<u64>,
    /// Whether to learn one sample at a time and measure how long each takes.
    #[serde(default)]
    pub(crate) times: bool,
    /// Points of each curve.
    #[serde(default = "a_hundred")]
    pub(crate) curve_points: u64,
    #[serde(default)]
    pub(crate) streams: Vec<StreamDeclaration>,
    #[serde(default)]
    pub(crate) methods: Vec<MethodDeclaration>,
    /// Options that take each of some values: every method runs with every combination.
    #[serde(default)]
    pub(crate) sweep: BTreeMap<String, Vec<f64>>,
    /// Instead of streams and methods: how solvers fare as matrices become worse.
    #[serde(default)]
    pub(crate) stability: Option<Stability>,
    /// Figures from publications, shown beside the runs.
    #[serde(default)]
    pub(crate) cited: Vec<Citation>,
    #[serde(default)]
    pub(crate) labels: Labels,
    #[serde(default)]
    pub(crate) views: Vec<View>,
}

/// A dataset of the catalogue by its name, or a source of one's own.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "NameOrTable")]
pub(crate) struct StreamDeclaration {
    pub(crate) name: String,
    /// A file, relative to the experiment's, or a generator. `None`: the catalogue's.
    pub(crate) source: Option<String>,
    /// Whether each seed has an order of its own. `None`: as the catalogue says, or not.
    pub(crate) shuffle: Option<bool>,
    /// The most samples of this stream.
    pub(crate) limit: Option<u64>,
    /// Options of `broadstream run` that say how the source is read, such as `target`.
    pub(crate) options: toml::Table,
    /// The stream's name in tables and figures, if several share one.
    pub(crate) shown_as: Option<String>,
    /// What sets it apart from streams of the same name there, such as its number of classes.
    pub(crate) parameters: BTreeMap<String, f64>,
    /// Makes each point of a curve a record of its own, with its number of samples as the parameter of
    /// this name and the update time since the point before: for costs that grow with the stream.
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

/// A model with its options, or another program.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MethodDeclaration {
    pub(crate) name: String,
    /// Options of `broadstream run` that describe the model, such as `preset = "paper"`.
    #[serde(default)]
    pub(crate) options: toml::Table,
    /// A method of the program for third-party learners, instead of a model of this one.
    #[serde(default)]
    pub(crate) peer: Option<String>,
    /// The most samples for this method, if it is too slow for more.
    #[serde(default)]
    pub(crate) limit: Option<u64>,
    /// Only on these streams. Default: on all.
    #[serde(default)]
    pub(crate) streams: Vec<String>,
    /// Only these swept options apply to it. Default: all.
    #[serde(default)]
    pub(crate) sweep: Option<Vec<String>>,
    /// The most seeds for this method, if it is too slow for more.
    #[serde(default)]
    pub(crate) seeds: Option<u64>,
}

/// What a publication says of a method on a stream.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Citation {
    pub(crate) stream: String,
    pub(crate) method: String,
    /// In percent, as publications have them; `oca_sd` and the like are standard deviations.
    pub(crate) percent: BTreeMap<String, f64>,
}

fn ten() -> u64 {
    10
}

fn a_hundred() -> u64 {
    100
}

impl StreamDeclaration {
    /// What the stream is called in tables and figures.
    pub(crate) fn shown(&self) -> &str {
        self.shown_as.as_deref().unwrap_or(&self.name)
    }
}

impl Declaration {
    /// Reads a declaration; `name` is what errors call it.
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

    fn check(&self) -> Result<()> {
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
            (&format!("{LEAST}streams = ['moon']"), "names the stream 'moon'"),
            (&format!("{LEAST}[[views]]\nkind = 'pie'"), "unknown variant `pie`"),
        ] {
            let error = format!("{:#}", Declaration::parse(text, "t.toml").unwrap_err());
            assert!(error.contains("t.toml") && error.contains(message), "{error}");
        }
    }
}
