//! What commands show and write, and how they end.
//!
//! [`run`] has the results of a run as table, JSON and page, [`record`] an evaluation as experiments keep it,
//! [`curve`] the columns of metrics over time, [`csv_file`] a table that grows during a run, [`progress`]
//! the bar on the terminal, [`failure`] messages and exit codes, [`reserved_file`] a file that no other
//! program writes to meanwhile, [`printable`] text from data as people may see it.

pub(crate) mod changes;
pub(crate) mod csv_file;
pub(crate) mod curve;
pub(crate) mod failure;
pub(crate) mod health;
pub(crate) mod importance;
pub(crate) mod machine;
pub(crate) mod printable;
pub(crate) mod progress;
pub(crate) mod record;
pub(crate) mod reserved_file;
pub(crate) mod run;
