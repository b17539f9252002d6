//! What can go wrong on the way from records to pages.

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A record is not what a record must be.
    #[error("{file}, line {line}: {cause}")]
    Record {
        /// The name of the file, as the caller gave it.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong there; a part of the message, and so not the source of the error.
        cause: serde_json::Error,
    },

    /// A record was written by a later version.
    #[error("{file}, line {line}: a record must have format {newest} or older, got {found}")]
    Format {
        /// The name of the file, as the caller gave it.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The format of the record.
        found: u64,
        /// The newest format that this version reads.
        newest: u64,
    },

    /// An option of a view breaks its rule.
    #[error("view '{view}': {option} must be {rule}, got '{value}'")]
    View {
        /// The view's title.
        view: String,
        /// The option's name.
        option: &'static str,
        /// What it must be.
        rule: &'static str,
        /// What was given.
        value: String,
    },

    /// Runs of different kinds would be averaged.
    #[error(
        "view '{view}': the runs of {place} differ in {differs} ({values}): \
         show it as rows or columns, or choose by a filter"
    )]
    Mixed {
        /// The view's title.
        view: String,
        /// The cell or the point.
        place: String,
        /// In what they differ: `stream`, `method` or a parameter's name.
        differs: String,
        /// Two of the values.
        values: String,
    },

    /// The same run was given twice.
    #[error("view '{view}': {place} has two runs with seed {seed}")]
    Repeated {
        /// The view's title.
        view: String,
        /// The cell or the point.
        place: String,
        /// The seed of both.
        seed: u64,
    },

    /// A figure could not be turned into pixels.
    #[error("figure '{figure}' cannot be drawn as pixels: {reason}")]
    Picture {
        /// The figure's name.
        figure: String,
        /// Why not.
        reason: String,
    },

    /// A page could not be filled in.
    #[error("a page cannot be filled in: {0}")]
    Page(#[from] minijinja::Error),
}
