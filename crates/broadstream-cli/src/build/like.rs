//! A new model with the features, options and scaling of a saved one.

use std::path::Path;

use anyhow::{Context, Result};
use broadstream::OnlineBls;
use broadstream_store::read_model;

/// A model like the saved one, which has learned nothing. The two can be merged later.
pub(crate) fn like(path: &Path) -> Result<OnlineBls> {
    let saved = read_model(path)?;
    saved.model.like().with_context(|| path.display().to_string())
}
