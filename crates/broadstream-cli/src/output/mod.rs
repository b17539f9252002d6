//! What commands show and write, and how they end.

pub(crate) mod csv_file;
pub(crate) mod curve;
pub(crate) mod failure;
pub(crate) mod machine;
pub(crate) mod page;
pub(crate) mod progress;
pub(crate) mod record;
pub(crate) mod run;
