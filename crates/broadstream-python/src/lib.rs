//! The compiled part of the Python package `broadstream`.
//!
//! It wraps models, streams and evaluations. Everything specific to Python libraries (tables,
//! scikit-learn, River, CapyMOA) is written in Python on top of it.
//!
//! Every call has three steps: it converts Python values to a [`Block`](broadstream::Block) while
//! attached to the interpreter, runs the model detached from it so that other threads can proceed, and
//! converts the results to Python values. A call that fails leaves its model unchanged.

mod cells;
mod certificate;
mod columns;
mod command;
mod costs;
mod datasets;
mod error;
mod evaluation;
mod explanations;
mod files;
mod foreign;
mod guarded;
mod interrupt;
mod labels;
mod late_labels;
mod learner;
mod members;
mod model;
mod numbers;
mod options;
mod predictions;
mod row_source;
mod rows;
mod saved;
mod shared;
mod stream;

use pyo3::prelude::*;

/// The compiled part of broadstream.
#[pymodule]
mod _broadstream {
    #[pymodule_export]
    use crate::{
        certificate::Certificate,
        command::run_command,
        datasets::{datasets, fetch_dataset, find_dataset, generators},
        evaluation::evaluate_stream,
        late_labels::{LateLabels, LatePrediction},
        model::{OnlineBLS, restore_model},
        options::{options, presets},
        stream::{Samples, Stream},
    };

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
