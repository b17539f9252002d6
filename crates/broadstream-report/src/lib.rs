//! From the results of experiments to tables, figures and pages.
//!
//! A [`Record`] is one run. A [`View`] says what to show of many: a table, curves, bars, or lines
//! against a parameter. [`render`] turns views into Markdown, LaTeX, CSV and HTML, into SVG and PNG;
//! [`experiment_page`] puts them on one page that needs nothing else, [`overview_page`] links several
//! such pages, and [`run_page`] shows a single run.
//!
//! Nothing here reads a clock or writes a file: results are strings and bytes, the same for the same
//! records.
//!
//! ```
//! use broadstream_report::{CurvesView, ExperimentPage, Labels, Record, View, experiment_page, render};
//!
//! let records = Record::read(
//!     r#"{"format": 1, "experiment": "drift", "stream": "sea", "method": "online-bls", "seed": 0,
//!         "samples": 2000, "metrics": {"oca": 0.86},
//!         "curve": [{"sample": 1000, "oca": 0.84}, {"sample": 2000, "oca": 0.86}]}"#,
//!     "runs.jsonl",
//! )?;
//! let labels = Labels::default();
//! let view = View::Curves(CurvesView { title: "Accuracy on the way".into(), ..Default::default() });
//! let rendered = render(&[view], &records, &labels)?;
//! let page = experiment_page(&ExperimentPage {
//!     title: "Drift",
//!     description: "How accuracy follows a drifting stream.",
//!     date: Some("2025-01-31"),
//!     rendered: &rendered,
//!     records: &records,
//!     labels: &labels,
//! })?;
//! assert!(page.contains("<svg") && page.contains("Accuracy on the way"));
//! # Ok::<(), broadstream_report::Error>(())
//! ```

mod error;
mod escape;
mod figure;
mod labels;
mod number;
mod page;
mod record;
mod render;
mod select;
mod separated;
mod summary;
mod table;
mod view;

pub use crate::{
    error::Error,
    labels::{Labels, Metric},
    page::{
        ClassRow, Event, ExperimentLink, ExperimentPage, MemberRow, OverviewPage, ReliabilityRow,
        RunReport, TimeBin, experiment_page, overview_page, run_page,
    },
    record::{CurvePoint, RECORD_FORMAT, Record, UpdateTime},
    render::{FigureOutput, Output, Rendered, RenderedView, TableOutput, render},
    summary::Summary,
    view::{BarsView, CurvesView, LinesView, TableView, View},
};
