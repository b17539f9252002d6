//! A new model with the features, options and scaling of a saved one.

use std::path::Path;

use anyhow::{Context, Result};
use broadstream::{
    OnlineBls,
    stream::{ColumnCoding, EncodedColumn},
};
use broadstream_store::read_model;

use super::source::Source;
use crate::args::InputArguments;

/// A model like the saved one, which has learned nothing. The two can be merged later.
pub(crate) fn like(path: &Path) -> Result<OnlineBls> {
    let saved = read_model(path)?;
    saved.model.like().with_context(|| path.display().to_string())
}

/// The options of the input, where what they leave open is as it was for a saved model, if there is one. Models
/// whose columns became inputs in different ways cannot be merged.
pub(crate) fn input_like(
    input: &InputArguments,
    source: &Source,
    path: Option<&Path>,
) -> Result<InputArguments> {
    let mut input = input.clone();
    if let Some(path) = path
        && !matches!(source, Source::Generator(_))
        && let Some(encoding) = read_model(path)?.encoding
    {
        input.max_categories.get_or_insert(encoding.max_categories);
        if input.text.is_empty() {
            let is_text = |column: &&EncodedColumn| column.coding == ColumnCoding::Text;
            let texts = encoding.columns.iter().filter(is_text);
            input.text = texts.map(|column| column.name.clone()).collect();
        }
        if input.dates.is_empty() {
            input.dates = encoding.dates;
        }
    }
    Ok(input)
}
