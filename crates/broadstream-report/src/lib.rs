//! Tables, figures and pages from the results of experiments.
//!
//! A [`Record`] is one run. A [`View`] declares what to show of many runs: a table, curves, bars, or
//! lines against a parameter. [`render`] turns views into Markdown, LaTeX, CSV, HTML, SVG and PNG.
//! [`experiment_page`] puts them on one self-contained page, [`overview_page`] links several such
//! pages, and [`run_page`] shows a single run.
//!
//! Nothing here reads a clock or writes a file. Results are strings and bytes, and the same records
//! always give the same results.
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
//! let view = View::Curves(CurvesView { title: "Accuracy over time".into(), ..Default::default() });
//! let rendered = render(&[view], &records, &labels)?;
//! let page = experiment_page(&ExperimentPage {
//!     title: "Drift",
//!     description: "How accuracy follows a drifting stream.",
//!     date: Some("2025-01-31"),
//!     rendered: &rendered,
//!     records: &records,
//!     labels: &labels,
//! })?;
//! assert!(page.contains("<svg") && page.contains("Accuracy over time"));
//! # Ok::<(), broadstream_report::Error>(())
//! ```

mod csv_text;
mod error;
mod escape;
mod figure;
mod labels;
mod number;
mod page;
mod record;
mod render;
mod select;
mod summary;
mod table;
mod view;

pub use crate::{
    error::Error,
    labels::{Labels, Metric},
    page::{
        ChangeRow, ClassReliability, ClassRow, Event, ExperimentLink, ExperimentPage,
        ImportanceRow, MemberRow, ObjectiveRow, OverviewPage, ReliabilityRow, RunReport, TimeBin,
        experiment_page, overview_page, run_page,
    },
    record::{CurvePoint, RECORD_FORMAT, Record, UpdateTime},
    render::{FigureOutput, Output, Rendered, RenderedView, TableOutput, render},
    summary::Summary,
    view::{BarsView, CurvesView, LinesView, TableView, View},
};
