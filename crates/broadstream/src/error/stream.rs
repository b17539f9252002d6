//! What can be wrong with a stream, and where.

use std::io;

use super::Place;

/// Why a stream could not be read. Lines and rows count from 1.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The source failed, or its bytes could not be decompressed.
    #[error("{place}: cannot read on")]
    Read {
        /// Where the source stopped.
        place: Place,
        /// The error of the source.
        #[source]
        source: io::Error,
    },

    /// There is no sample.
    #[error("the stream is empty: expected at least one row of data")]
    Empty,

    /// The source is not text.
    #[error("{place}: this is not text ({reason}); expected UTF-8, plain, gzip or zstd")]
    NotText {
        /// Where it was noticed.
        place: Place,
        /// What was noticed.
        reason: &'static str,
    },

    /// A line does not end.
    #[error("line {line} is longer than {limit} bytes: is this a text file?")]
    LineTooLong {
        /// The line.
        line: u64,
        /// The longest accepted.
        limit: usize,
    },

    /// A quote is opened and not closed before the end.
    #[error("line {line}: a quote opened in this row is never closed")]
    OpenQuote {
        /// The line where the row starts.
        line: u64,
    },

    /// A row has another number of fields than the rows before it.
    #[error("line {line}: expected {expected} fields, found {found}")]
    Ragged {
        /// The line.
        line: u64,
        /// Fields per row.
        expected: usize,
        /// Fields in this row.
        found: usize,
    },

    /// A row or a header breaks the rules of its format.
    #[error("{place}: expected {expected}, found {found}")]
    Unexpected {
        /// Where it stands.
        place: Place,
        /// What should be there.
        expected: String,
        /// What was found instead.
        found: String,
    },

    /// A cell has a value that its column does not declare.
    #[error("{place}, column '{column}': expected one of {declared}, found '{cell}'")]
    Undeclared {
        /// Where the cell stands.
        place: Place,
        /// The column.
        column: String,
        /// The values that it declares.
        declared: String,
        /// The cell.
        cell: String,
    },

    /// A column has a type that no model can learn from.
    #[error(
        "column '{column}': expected numbers or categories, found the type {kind} \
         (leave the column out by naming it in drop)"
    )]
    UnsupportedType {
        /// The column.
        column: String,
        /// The type that the source declares.
        kind: String,
    },

    /// An option was given that this kind of source does not have.
    #[error("{kind} has no option '{option}', got {value}")]
    UnusedOption {
        /// The format, or a generator.
        kind: &'static str,
        /// The option's name, the same in Rust, on the command line and in Python.
        option: &'static str,
        /// What was given.
        value: String,
    },

    /// A named or numbered column does not exist.
    #[error("there is no column '{column}': the columns are {available}")]
    UnknownColumn {
        /// What was asked for.
        column: String,
        /// What there is.
        available: String,
    },

    /// Two columns share a name.
    #[error("{place}: two columns are named '{column}'")]
    DuplicateColumn {
        /// Where the second one was found.
        place: Place,
        /// The name.
        column: String,
    },

    /// The target is among the columns to leave out.
    #[error("the target must be read, but column '{target}' is to be dropped")]
    TargetDropped {
        /// The target's name.
        target: String,
    },

    /// A column is declared to be of two kinds.
    #[error(
        "column '{column}' must be either numeric, categorical, text or dates, but is declared to be two of them"
    )]
    KindConflict {
        /// The column.
        column: String,
    },

    /// No column is left to learn from.
    #[error("no input columns: the stream has only its target '{target}'")]
    NoInputs {
        /// The target's name.
        target: String,
    },

    /// A cell of a numeric column is not a number.
    #[error(
        "{place}, column '{column}': expected a number, found '{cell}' \
         (declare the column categorical if it holds categories)"
    )]
    NotANumber {
        /// Where the cell stands.
        place: Place,
        /// The column.
        column: String,
        /// The cell.
        cell: String,
    },

    /// A cell of a numeric column is a number with the other decimal sign than that of its file.
    #[error(
        "{place}, column '{column}': expected a number with {expected}, found '{cell}' (the option \
         decimal_comma says which sign the numbers have)"
    )]
    DecimalSign {
        /// Where the cell stands.
        place: Place,
        /// The column.
        column: String,
        /// The sign that numbers have here.
        expected: &'static str,
        /// The cell.
        cell: String,
    },

    /// A cell of a numeric column is infinite or too large for a 64-bit float.
    #[error("{place}, column '{column}': expected a finite number, found '{cell}'")]
    NotFinite {
        /// Where the cell stands.
        place: Place,
        /// The column.
        column: String,
        /// The cell.
        cell: String,
    },

    /// A column or category would get the name of another input.
    #[error("{place}, column '{column}': input names must differ, but '{name}' is taken")]
    InputNameTaken {
        /// Where the cell stands.
        place: Place,
        /// The column.
        column: String,
        /// The name that two inputs would have.
        name: String,
    },

    /// A line is not a JSON object.
    #[error("{place}, byte {byte}: expected a JSON object: {reason}")]
    Json {
        /// The line or the row.
        place: Place,
        /// Where in it, from 1.
        byte: usize,
        /// What is wrong with it.
        reason: String,
    },

    /// A row has an array.
    #[error(
        "{place}, column '{column}': expected one value, found an array; drop the column, or give \
         its values names"
    )]
    Array {
        /// Where the row stands.
        place: Place,
        /// The key or column.
        column: String,
    },

    /// The name of a column is too long.
    #[error("{place}: the name of a column must be at most {limit} bytes long")]
    NameTooLong {
        /// Where it was found.
        place: Place,
        /// The longest accepted.
        limit: usize,
    },

    /// The columns of rows are not those that the model's inputs came from.
    #[error("column '{column}' does not fit the inputs of the model: {reason}")]
    Encoding {
        /// The column.
        column: String,
        /// Why it does not.
        reason: &'static str,
    },

    /// A row for a model has a column that the model does not know.
    #[error(
        "{place}: the model has no column '{column}', its columns are {known}; drop the column, or \
         ignore or learn unknown ones"
    )]
    UnfamiliarColumn {
        /// Where the column was found.
        place: Place,
        /// Its name.
        column: String,
        /// The columns of the model.
        known: String,
    },

    /// A row for a model has neither the names nor the number of its columns.
    #[error(
        "line {line}: expected the columns {columns}, by name or in this order, with or without \
         '{target}', found {found} fields"
    )]
    UnlikeTraining {
        /// The line.
        line: u64,
        /// Fields in this row.
        found: usize,
        /// The columns of the model and its target, in their order.
        columns: String,
        /// The target.
        target: String,
    },

    /// A row has two values for one column.
    #[error("{place}, column '{column}': expected one value per row, found two")]
    DuplicateCell {
        /// Where the row stands.
        place: Place,
        /// The column.
        column: String,
    },

    /// A category or a label is too long.
    #[error("{place}, column '{column}': a category or label must be at most {limit} bytes long")]
    CellTooLong {
        /// Where the cell stands.
        place: Place,
        /// The column.
        column: String,
        /// The longest accepted.
        limit: usize,
    },

    /// A cell of a column of dates is none, or has another form than those before.
    #[error(
        "{place}, column '{column}': expected {expected}, found '{cell}' (declare the column \
         categorical if it does not hold dates)"
    )]
    NotADate {
        /// Where the cell stands.
        place: Place,
        /// The column.
        column: String,
        /// What the column holds, with an example.
        expected: &'static str,
        /// The cell.
        cell: String,
    },

    /// A row that is to be unlearned has a category that once shared an input with others.
    #[error(
        "{place}, column '{column}': expected a category that has always had the same input, but \
         '{cell}' may have shared one with rare categories before it got its own, and rows cannot be \
         unlearned with another input than they were learned with"
    )]
    SharedBefore {
        /// Where the cell stands.
        place: Place,
        /// The column.
        column: String,
        /// The category.
        cell: String,
    },

    /// A row has no label.
    #[error("{place}, column '{column}': the label is missing")]
    MissingLabel {
        /// Where the cell stands.
        place: Place,
        /// The target column.
        column: String,
    },

    /// All rows have the same label.
    #[error(
        "column '{target}' has only the class '{label}' in all {samples} samples: there is nothing to \
         predict"
    )]
    SingleClass {
        /// The target column.
        target: String,
        /// Its only label.
        label: String,
        /// How many samples there were.
        samples: u64,
    },

    /// A stream that is read again has other samples than before.
    #[error(
        "this is not the stream that was evaluated: its first {samples} samples, or the names of \
         their inputs and labels, differ"
    )]
    Differs {
        /// How many samples were compared.
        samples: u64,
    },

    /// A stream that is read again ends before the place that was reached.
    #[error(
        "this is not the stream that was evaluated: it ends after {found} samples, \
         but {samples} were evaluated"
    )]
    EndsBefore {
        /// How many samples were evaluated.
        samples: u64,
        /// How many there are now.
        found: u64,
    },

    /// The text that names a generator cannot be understood.
    #[error("{generator}: {rule}")]
    GeneratorText {
        /// The generator.
        generator: &'static str,
        /// What was expected, and what was found.
        rule: String,
    },

    /// A generator has no parameter of that name.
    #[error("{generator} has no parameter '{parameter}': it has {known}")]
    UnknownParameter {
        /// The generator.
        generator: &'static str,
        /// What was given.
        parameter: String,
        /// The parameters that it has.
        known: String,
    },

    /// There is no generator of that name.
    #[error("there is no generator '{name}': expected one of {known}")]
    UnknownGenerator {
        /// What was given.
        name: String,
        /// The generators that there are.
        known: String,
    },

    /// A generator's parameter breaks its rule.
    #[error("{generator}: {parameter} must be {rule}, got {value}")]
    Parameter {
        /// The generator.
        generator: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// What it must be.
        rule: &'static str,
        /// What was given.
        value: String,
    },
}
