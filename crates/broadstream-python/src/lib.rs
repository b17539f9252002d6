//! The compiled part of the Python package `broadstream`.
//!
//! It lets Python hold a model, a stream and an evaluation. Whatever is about Python's own libraries
//! (tables, scikit-learn, River, CapyMOA) is written in Python, around this.
//!
//! Every call follows the same course: Python's values become a [`Block`](broadstream::Block) while
//! the interpreter is held, the model works on it while the interpreter is free for other threads, and
//! the answers become Python's values. A call that is refused leaves its model as it was.

mod cells;
mod certificate;
mod columns;
mod datasets;
mod error;
mod evaluation;
mod guarded;
mod interrupt;
mod labels;
mod learner;
mod model;
mod numbers;
mod options;
mod predictions;
mod rows;
mod saved;
mod stream;

use pyo3::prelude::*;

/// The compiled part of broadstream.
#[pymodule]
mod _broadstream {
    #[pymodule_export]
    use crate::{
        certificate::Certificate,
        datasets::{datasets, find_dataset, generators},
        evaluation::evaluate_stream,
        model::{OnlineBLS, restore_model},
        options::options,
        stream::{Samples, Stream},
    };

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
