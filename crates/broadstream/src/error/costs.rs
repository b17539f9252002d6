//! The errors of a cost matrix.

/// What is wrong with a cost matrix.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CostsError {
    /// The table could not be read.
    #[error("costs are not a CSV table: {reason}")]
    Unreadable {
        /// What the reader says, with the line.
        reason: String,
    },

    /// With fewer labels there is nothing to decide.
    #[error("costs need at least two labels, got {labels}")]
    FewLabels {
        /// The number of labels.
        labels: usize,
    },

    /// The number of costs does not match that of labels.
    #[error("costs must have {expected} entries, got {found}")]
    Count {
        /// The number of costs given.
        found: usize,
        /// The number required.
        expected: usize,
    },

    /// A label has two rows or two columns.
    #[error("the label '{label}' has costs twice{place}")]
    Duplicate {
        /// The label.
        label: String,
        /// Where, after a space.
        place: String,
    },

    /// A row is about a label that cannot be decided.
    #[error("{place}: the label '{label}' has a row of costs, but no column")]
    NoColumn {
        /// The label.
        label: String,
        /// Where the row is.
        place: String,
    },

    /// A label can be decided, but there are no costs for when it is true.
    #[error("the label '{label}' is in {place}, but has no row of costs")]
    NoRow {
        /// The label.
        label: String,
        /// Where the label is.
        place: String,
    },

    /// The costs of a true label are not an object.
    #[error("the costs of '{label}' must be an object with the cost of each decision, got {value}")]
    Row {
        /// The label.
        label: String,
        /// What was given.
        value: String,
    },

    /// A cell of a table is not a cost.
    #[error("{place}, column '{column}': a cost must be a number within ±1e15, got '{value}'")]
    Cell {
        /// The line.
        place: String,
        /// The column.
        column: String,
        /// The cell.
        value: String,
    },

    /// A cost is not a number, or too large.
    #[error(
        "the cost of deciding '{decision}' when '{truth}' is true must be a number within ±1e15, got \
         {value}"
    )]
    Value {
        /// The true label.
        truth: String,
        /// The decision.
        decision: String,
        /// What was given.
        value: String,
    },

    /// A cost is missing.
    #[error("there is no cost of deciding '{decision}' when '{truth}' is true")]
    Missing {
        /// The true label.
        truth: String,
        /// The decision.
        decision: String,
    },

    /// A label of the stream or the model has no costs.
    #[error("there are no costs for the label '{label}': there are some for {labels}")]
    Unknown {
        /// The label.
        label: String,
        /// The labels that have costs.
        labels: String,
    },
}
