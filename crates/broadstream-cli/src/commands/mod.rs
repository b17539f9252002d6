//! The commands, a file or a folder for each. Those on saved models are together in [`saved`].

pub(crate) mod compare;
pub(crate) mod datasets;
pub(crate) mod experiment;
pub(crate) mod export;
pub(crate) mod generate;
pub(crate) mod run;
pub(crate) mod saved;
#[cfg(feature = "serve")]
pub(crate) mod serve;
