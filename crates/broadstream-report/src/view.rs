//! Views: declarations of one table or one figure of an experiment each.
//!
//! ```
//! use broadstream_report::View;
//!
//! #[derive(serde::Deserialize)]
//! struct Experiment {
//!     views: Vec<View>,
//! }
//!
//! let experiment: Experiment = toml::from_str(r#"
//!     [[views]]
//!     kind = "table"
//!     title = "Final accuracy"
//!     rows = "method"
//!     columns = "stream"
//!     metrics = ["oca"]
//!
//!     [[views]]
//!     kind = "lines"
//!     title = "Error by size"
//!     metric = "oce"
//!     x = "enhancement_nodes"
//! "#)?;
//! assert_eq!(experiment.views[1].title(), "Error by size");
//! # Ok::<(), toml::de::Error>(())
//! ```

use std::collections::BTreeMap;

use serde::Deserialize;

/// One table or one figure.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum View {
    /// A table of final metrics.
    Table(TableView),
    /// A metric over the samples of a stream.
    Curves(CurvesView),
    /// A metric as bars, grouped by stream.
    Bars(BarsView),
    /// A metric against a parameter.
    Lines(LinesView),
}

/// A table of final metrics: mean ± standard deviation over seeds.
///
/// The best mean is bold and the second best underlined, within each column, or within each row if
/// rows are streams. Means that print the same rank the same. Runs that stopped early are marked with
/// an asterisk and not ranked; cited results are marked with a dagger.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TableView {
    /// The title.
    pub title: String,
    /// A sentence that tells the reader what to look for. Default empty.
    pub caption: String,
    /// `method` (also when empty, the default), `stream`, or the name of a parameter.
    pub rows: String,
    /// `stream` (also when empty, the default), `method` or `metric`.
    pub columns: String,
    /// The keys of the metrics. Default `["oca"]` when empty.
    pub metrics: Vec<String>,
    /// Only these streams, in this order. Default empty: all.
    pub streams: Vec<String>,
    /// Only these methods, in this order. Default empty: all.
    pub methods: Vec<String>,
    /// Only runs with these parameter values. Default empty: all.
    #[serde(rename = "where")]
    pub only: BTreeMap<String, f64>,
    /// The number of decimals. Default `None`: chosen by the metric, with one decimal for percentages
    /// next to cited results.
    pub decimals: Option<usize>,
}

/// A metric over the samples: one panel per stream, one line per method, and a band of ± one standard
/// deviation over seeds.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CurvesView {
    /// The title.
    pub title: String,
    /// A sentence that tells the reader what to look for. Default empty.
    pub caption: String,
    /// The key of the metric; those of the last window are `window_oca` and the like. Default `oca`
    /// when empty.
    pub metric: String,
    /// Only these streams, in this order. Default empty: all.
    pub streams: Vec<String>,
    /// Only these methods, in this order. Default empty: all.
    pub methods: Vec<String>,
    /// Only runs with these parameter values. Default empty: all.
    #[serde(rename = "where")]
    pub only: BTreeMap<String, f64>,
}

/// Bars grouped by stream, one per method, with error bars of one standard deviation.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BarsView {
    /// The title.
    pub title: String,
    /// A sentence that tells the reader what to look for. Default empty.
    pub caption: String,
    /// The key of the metric. Default `update_time` when empty.
    pub metric: String,
    /// Whether the axis is logarithmic. Default no.
    pub log: bool,
    /// Only these streams, in this order. Default empty: all.
    pub streams: Vec<String>,
    /// Only these methods, in this order. Default empty: all.
    pub methods: Vec<String>,
    /// Only runs with these parameter values. Default empty: all.
    #[serde(rename = "where")]
    pub only: BTreeMap<String, f64>,
}

/// A metric against a parameter: one panel per stream, one line per method, and error bars of one
/// standard deviation.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinesView {
    /// The title.
    pub title: String,
    /// A sentence that tells the reader what to look for. Default empty.
    pub caption: String,
    /// The key of the metric. Default `oca` when empty.
    pub metric: String,
    /// The name of the parameter.
    pub x: String,
    /// Whether the axis of the parameter is logarithmic. Default no.
    pub log_x: bool,
    /// Whether the axis of the metric is logarithmic. Default no.
    pub log_y: bool,
    /// Whether to fit a power law to each line, by least squares on the logarithms of the means.
    /// Default no.
    pub fit: bool,
    /// Only these streams, in this order. Default empty: all.
    pub streams: Vec<String>,
    /// Only these methods, in this order. Default empty: all.
    pub methods: Vec<String>,
    /// Only runs with these parameter values. Default empty: all.
    #[serde(rename = "where")]
    pub only: BTreeMap<String, f64>,
}

impl View {
    /// The view's title.
    pub fn title(&self) -> &str {
        match self {
            View::Table(view) => &view.title,
            View::Curves(view) => &view.title,
            View::Bars(view) => &view.title,
            View::Lines(view) => &view.title,
        }
    }

    /// The view's caption.
    pub fn caption(&self) -> &str {
        match self {
            View::Table(view) => &view.caption,
            View::Curves(view) => &view.caption,
            View::Bars(view) => &view.caption,
            View::Lines(view) => &view.caption,
        }
    }
}

/// The key, or the default if it is empty.
pub(crate) fn or_default<'a>(key: &'a str, default: &'a str) -> &'a str {
    if key.is_empty() { default } else { key }
}
