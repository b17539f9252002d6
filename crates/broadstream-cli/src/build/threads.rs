//! How many threads a model gets.

use std::{num::NonZero, thread};

use super::applicable;
use crate::args::ModelArguments;

/// More threads than this do not make a model faster.
const MOST: usize = 8;

/// The threads that were asked for, or else one per core, as far as a model can use them.
pub(crate) fn given_or_all_cores(given: Option<usize>) -> usize {
    given.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZero::get).min(MOST))
}

/// Model options for a command that has the machine to itself: a model that can share its work uses all
/// cores, unless the options say otherwise.
pub(crate) fn use_all_cores(arguments: &ModelArguments) -> ModelArguments {
    let mut arguments = arguments.clone();
    if applicable::shares(arguments.model) {
        arguments.options.give_default("threads", given_or_all_cores(None));
    }
    arguments
}
