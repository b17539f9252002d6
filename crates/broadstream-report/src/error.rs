//! The errors of this crate.

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A record is malformed.
    #[error("{file}, line {line}: {cause}")]
    Record {
        /// The name of the file, as given by the caller.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The cause. It is part of the message, and therefore not the error's `source`.
        cause: serde_json::Error,
    },

    /// A record was written by a newer version.
    #[error("{file}, line {line}: a record must have format {newest} or older, got {found}")]
    Format {
        /// The name of the file, as given by the caller.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The format of the record.
        found: u64,
        /// The newest format that this version reads.
        newest: u64,
    },

    /// An option of a view has an invalid value.
    #[error("view '{view}': {option} must be {rule}, got '{value}'")]
    View {
        /// The view's title.
        view: String,
        /// The option's name.
        option: &'static str,
        /// The rule that it breaks.
        rule: &'static str,
        /// The value that was given.
        value: String,
    },

    /// A cell or a point would average runs that differ in more than their seed.
    #[error(
        "view '{view}': the runs of {place} differ in {differs} ({values}): \
         show it as rows or columns, or filter by one value"
    )]
    MixedRuns {
        /// The view's title.
        view: String,
        /// The cell or the point.
        place: String,
        /// What they differ in: `stream`, `method`, `cited` or a parameter's name.
        differs: String,
        /// Two of its values.
        values: String,
    },

    /// Two runs of a cell or a point have the same seed.
    #[error("view '{view}': {place} has two runs with seed {seed}")]
    DuplicateRun {
        /// The view's title.
        view: String,
        /// The cell or the point.
        place: String,
        /// The seed of both runs.
        seed: u64,
    },

    /// A figure could not be converted to PNG.
    #[error("figure '{figure}' cannot be converted to PNG: {reason}")]
    Png {
        /// The figure's name.
        figure: String,
        /// The cause.
        reason: String,
    },

    /// A page template could not be rendered.
    #[error("a page cannot be rendered: {0}")]
    Page(#[from] minijinja::Error),
}
