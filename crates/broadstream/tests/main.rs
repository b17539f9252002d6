//! The library's public API, tested in one program: linking it once takes a fraction of the time of
//! one program per file.

mod algorithms;
mod baselines;
mod coded_columns;
mod contract;
mod csv;
mod decisions;
mod drift;
mod exact;
mod metrics;
mod model_file;
mod no_tuning;
mod prequential;
mod rooms;
mod rows;
mod synth;
