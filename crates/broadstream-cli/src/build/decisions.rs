//! What decisions are made for: the objective and the costs that were given.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use broadstream::{Costs, model_file::Saved};

use crate::args::DecisionArguments;

/// Reads the costs of decisions from a CSV file.
pub(crate) fn read_costs(path: &Path) -> Result<Costs> {
    let name = || path.display().to_string();
    let text = fs::read(path).with_context(name)?;
    Costs::from_csv(&text).with_context(name)
}

/// Lets a saved model decide as the arguments say. Without any it decides as it did when it was saved; an
/// objective that is given replaces saved costs.
pub(crate) fn apply(arguments: &DecisionArguments, saved: &mut Saved) -> Result<()> {
    if let Some(objective) = arguments.objective {
        saved.model.set_objective(objective);
        saved.costs = None;
    }
    if let Some(path) = &arguments.costs {
        saved.costs = Some(read_costs(path)?);
    }
    if let Some(costs) = &saved.costs {
        // A label without costs is refused before the first row is read.
        costs.by_class(saved.schema.labels())?;
    }
    Ok(())
}
