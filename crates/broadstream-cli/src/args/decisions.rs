//! What decisions are made for, in the commands on saved models.

use std::path::PathBuf;

use broadstream::{Objective, OnlineBlsConfig, Values};
use clap::{
    Args, ValueHint,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};

#[derive(Args)]
#[command(next_help_heading = "Decisions")]
pub(crate) struct DecisionArguments {
    /// What decisions are made for; nothing is learned again [default: as the model was saved]
    #[arg(long, value_name = "OBJECTIVE", value_parser = objective_parser())]
    pub(crate) objective: Option<Objective>,

    /// A CSV file with what decisions cost: each is then the one with the least expected cost [default: as
    /// the model was saved]
    #[arg(long, value_name = "FILE", conflicts_with = "objective", value_hint = ValueHint::FilePath)]
    pub(crate) costs: Option<PathBuf>,
}

/// The names are those of the library's option.
fn objective_parser() -> impl TypedValueParser<Value = Objective> {
    let names = match OnlineBlsConfig::option("objective").map(|option| option.values) {
        Some(Values::Choice(names)) => names,
        _ => &[],
    };
    let values = names.iter().map(|named| PossibleValue::new(named.name).help(named.help));
    PossibleValuesParser::new(values).try_map(|name| {
        let named = Objective::ALL.into_iter().find(|objective| objective.as_str() == name);
        named.ok_or_else(|| format!("there is no objective '{name}'"))
    })
}
