//! The errors of the library: each variant states the rule, the value received and the place.

mod costs;
mod model_file;
mod place;
mod stream;

pub use self::{costs::CostsError, model_file::ModelFileError, place::Place, stream::StreamError};

/// An error of the library. A call that returns one leaves its model unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no option of that name.
    #[error("a model has no option '{name}'")]
    UnknownOption {
        /// The name that was given.
        name: String,
    },

    /// A configuration value breaks its rule.
    #[error("{option} must be {rule}, got {value}")]
    Config {
        /// The option's name, the same in Rust, on the command line and in JSON.
        option: &'static str,
        /// What the option must be.
        rule: &'static str,
        /// The value that was given.
        value: String,
    },

    /// An input is NaN or infinite.
    #[error("input {input} must be a finite number, got {value}")]
    InputNotFinite {
        /// Position of the input among the declared ones.
        input: usize,
        /// The value that was given.
        value: f64,
    },

    /// An input is too large to square safely and the scaling does not bound it.
    #[error(
        "input '{input}' is {value:e} after scaling, beyond the limit of {limit:e}: \
         use a running scaling, or scale the input beforehand"
    )]
    InputTooLarge {
        /// The input's name.
        input: String,
        /// Its value after scaling.
        value: f64,
        /// The largest magnitude accepted.
        limit: f64,
    },

    /// A sample names an input that was not declared to the model.
    #[error("input {input} was not declared: the model has {declared} inputs, counted from 0")]
    UnknownInput {
        /// Position named by the sample.
        input: usize,
        /// How many inputs are declared.
        declared: usize,
    },

    /// A sparse sample lists its inputs out of order, or one of them twice.
    #[error("a sparse sample's inputs must increase, but {next} follows {previous}")]
    InputOrder {
        /// The previous input.
        previous: u32,
        /// The input that should have been larger.
        next: u32,
    },

    /// An input of that name exists already.
    #[error("input '{name}' is declared twice")]
    DuplicateInput {
        /// The name given twice.
        name: String,
    },

    /// A sample weight is negative, not finite, or too small or large to compute with.
    #[error("a sample weight must be 0 or lie in [1e-12, 1e12], got {value}")]
    Weight {
        /// The value that was given.
        value: f64,
    },

    /// A drift detector was given a value that it cannot sum.
    #[error("a value monitored for drift must be a number within ±{limit:e}, got {value}")]
    DriftValue {
        /// The value that was given.
        value: f64,
        /// The largest magnitude accepted.
        limit: f64,
    },

    /// Classes are numbered in order of appearance; this one skips numbers.
    #[error("class {class} skips numbers: the next new class is {next}")]
    ClassGap {
        /// The class given.
        class: usize,
        /// The largest class accepted.
        next: usize,
    },

    /// A class cannot be explained because the model has not seen it.
    #[error("class {class} was not seen: the model has {classes} classes, counted from 0")]
    UnknownClass {
        /// The class given.
        class: usize,
        /// How many classes were seen.
        classes: usize,
    },

    /// A slice has the wrong length.
    #[error("{what} must have {expected} entries, got {found}")]
    Length {
        /// Which slice.
        what: &'static str,
        /// The length required.
        expected: usize,
        /// The length given.
        found: usize,
    },

    /// The sample cannot have been learned: removing it would leave no valid state.
    #[error(
        "cannot unlearn this sample: weight × leverage must be below 1, got {weighted_leverage}; \
         it was not learned, or not with this weight, or was partly forgotten"
    )]
    CannotUnlearn {
        /// The sample's weight times its leverage.
        weighted_leverage: f64,
    },

    /// Rounding errors would be too large for an operation that must be exact.
    #[error(
        "cannot {operation}: scores may be off by {error:.0e}, and at most 1e-7 is allowed, because \
         the condition number is {condition:.0e}; {advice}"
    )]
    IllConditioned {
        /// The operation.
        operation: &'static str,
        /// The estimated error of scores, relative to the largest.
        error: f64,
        /// The estimated condition number of the regression.
        condition: f64,
        /// Which inputs are to blame, and what to do.
        advice: String,
    },

    /// An operation that must be exact cannot be.
    #[error("cannot {operation}: {reason}")]
    NotExact {
        /// The operation.
        operation: &'static str,
        /// The rule that is broken, and by what.
        reason: String,
    },

    /// Two models do not have the same features, so their sums cannot be added.
    #[error("cannot merge models of different {what}: {own} here, {other} there")]
    Unlike {
        /// The property in which they differ.
        what: &'static str,
        /// Its value in this model.
        own: String,
        /// Its value in the other model.
        other: String,
    },

    /// No sample of that class, or none of that weight, was learned.
    #[error(
        "cannot unlearn a sample of class {class} and weight {weight}: the learned samples of that \
         class have a total weight of {learned}"
    )]
    NeverLearned {
        /// The class given.
        class: usize,
        /// The weight given.
        weight: f64,
        /// The total weight learned of that class and not unlearned since.
        learned: f64,
    },

    /// A label was given for a sample that is not waiting for one.
    #[error(
        "no sample is waiting for a label under ticket {ticket}: it was already labelled, or was \
         dropped because at most {capacity} samples may wait"
    )]
    NotWaiting {
        /// The ticket.
        ticket: u64,
        /// How many samples may wait.
        capacity: usize,
    },

    /// More memory would be needed than the configuration allows.
    #[error("{what} need {needed} bytes, more than the memory limit of {limit} bytes")]
    Memory {
        /// What would be stored.
        what: &'static str,
        /// The bytes it would take.
        needed: u128,
        /// The bytes allowed in total.
        limit: u64,
    },

    /// The operating system refused threads.
    #[error("cannot start {count} threads: {reason}")]
    Threads {
        /// The number of threads requested.
        count: usize,
        /// The system's reason.
        reason: String,
    },

    /// A method that inverts or factorises a matrix for each sample cannot do so any more.
    #[error("the matrix of {method} is singular to rounding with this sample: {remedy} may help")]
    Singular {
        /// The method.
        method: &'static str,
        /// A change that would keep the matrix regular.
        remedy: &'static str,
    },

    /// A gradient step would be so large that the model could not recover from it.
    #[error(
        "a gradient step of {step:e} is beyond the limit of {limit:e}: \
         use a running scaling, or a smaller learning_rate"
    )]
    StepTooLarge {
        /// The largest change of a weight.
        step: f64,
        /// The largest change accepted.
        limit: f64,
    },

    /// A sample of a stream could not be learned.
    #[error("sample {sample}: {reason}")]
    Sample {
        /// Its number in the stream, from 1.
        sample: u64,
        /// What is wrong with it. It is part of the message, and therefore not the source of the error.
        reason: Box<Error>,
    },

    /// A stream could not be read.
    #[error(transparent)]
    Stream(#[from] StreamError),

    /// A cost matrix is faulty, or lacks a label.
    #[error(transparent)]
    Costs(#[from] CostsError),

    /// A model file could not be read or written.
    #[error(transparent)]
    ModelFile(#[from] ModelFileError),
}
