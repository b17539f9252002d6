//! Rows for a model that the caller has as JSON objects, one at a time.

use super::{LiveFormat, LiveOptions, encoder, keys::LiveKeys};
use crate::{
    data::{Sample, Schema},
    error::Error,
    stream::{
        Place, RowEncoder, RowEncoding, RowPurpose, StreamError, cell::HeldCell, jsonl::read_object,
    },
};

/// Reads rows for a model that are JSON objects in memory, as [`LiveRows`](super::LiveRows) reads those of a
/// source.
///
/// A row that is refused, or only predicted, leaves nothing behind if [`undo`](Self::undo) follows it.
///
/// ```
/// use broadstream::{
///     Schema,
///     stream::{JsonRows, LiveOptions, Place, RowEncoding, UnknownColumns},
/// };
///
/// let schema = Schema::new("buys");
/// let encoding = RowEncoding::of_schema(&schema);
/// let options = LiveOptions { unknown: UnknownColumns::Learn, ..LiveOptions::default() };
/// let mut rows = JsonRows::new(options, schema, encoding)?;
///
/// let (sample, class) = rows.read(br#"{"age": 31, "buys": "yes"}"#, Place::Row(1))?;
/// assert_eq!(sample.iter().collect::<Vec<_>>(), [(0, 31.0)]);
/// assert_eq!(class, Some(0));
/// rows.settle();
///
/// let sample = rows.read_inputs(br#"{"job": "clerk", "buys": "no"}"#, Place::Row(2))?;
/// assert_eq!(sample.len(), 1);
/// assert!(rows.undo());
/// assert_eq!((rows.schema().inputs().len(), rows.schema().labels().len()), (1, 1));
///
/// let refused = rows.read(br#"{"age": "old"}"#, Place::Row(3)).unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "row 3, column 'age': expected a number, found 'old' \
///      (declare the column categorical if it holds categories)"
/// );
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct JsonRows {
    keys: LiveKeys,
    encoder: RowEncoder,
    path: String,
    label: HeldCell,
}

impl JsonRows {
    /// Rows for a model that was trained on a stream of that schema and encoding. Options of CSV are
    /// refused.
    #[expect(clippy::needless_pass_by_value, reason = "as to `LiveRows::new`")]
    pub fn new(options: LiveOptions, schema: Schema, encoding: RowEncoding) -> Result<Self, Error> {
        options.format_options().check(LiveFormat::JsonLines)?;
        let encoder = encoder(&options, schema, &encoding)?;
        let keys = LiveKeys::new(&encoding, &options);
        Ok(JsonRows { keys, encoder, path: String::new(), label: HeldCell::default() })
    }

    /// The sample of a row, and the class of its label if it has one. `place` is where it stands, for
    /// messages.
    pub fn read(
        &mut self,
        object: &[u8],
        place: Place,
    ) -> Result<(Sample<'_>, Option<usize>), StreamError> {
        let JsonRows { keys, encoder, path, label } = self;
        let label = read_object(object, place, encoder, keys, path, label)?;
        let class = encoder.class(label)?;
        Ok((self.encoder.sample(), class))
    }

    /// The sample of a row that is to be predicted. Its label is passed over if it has one.
    pub fn read_inputs(&mut self, object: &[u8], place: Place) -> Result<Sample<'_>, StreamError> {
        let JsonRows { keys, encoder, path, label } = self;
        read_object(object, place, encoder, keys, path, label)?;
        Ok(self.encoder.sample())
    }

    /// The class of a label that comes without its row; `None` if it is missing. `label` is the text of a
    /// JSON value: a string, a number or a boolean.
    ///
    /// ```
    /// use broadstream::{Schema, stream::{JsonRows, LiveOptions, Place, RowEncoding}};
    ///
    /// let schema = Schema::new("buys");
    /// let encoding = RowEncoding::of_schema(&schema);
    /// let mut rows = JsonRows::new(LiveOptions::default(), schema, encoding)?;
    /// assert_eq!(rows.class_of("\"yes\"", Place::Row(1))?, Some(0));
    /// assert_eq!(rows.class_of("7", Place::Row(2))?, Some(1));
    /// assert_eq!(rows.class_of("null", Place::Row(3))?, None);
    /// assert_eq!(rows.schema().labels(), ["yes", "7"]);
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn class_of(&mut self, label: &str, place: Place) -> Result<Option<usize>, StreamError> {
        // A row with nothing but the label is read as any other, so that a label means the same in both.
        let target = serde_json::Value::from(self.encoder.schema().target());
        let row = format!("{{{target}:{label}}}");
        let JsonRows { keys, encoder, path, label } = self;
        let label = read_object(row.as_bytes(), place, encoder, keys, path, label)?;
        encoder.class(label)
    }

    /// The inputs and labels of the model, and those that rows have added since.
    pub fn schema(&self) -> &Schema {
        self.encoder.schema()
    }

    /// How rows are encoded by now; columns and categories may have been added.
    pub fn encoding(&self) -> RowEncoding {
        self.encoder.encoding()
    }

    /// Says what the rows to come are for.
    pub fn set_purpose(&mut self, purpose: RowPurpose) {
        self.encoder.set_purpose(purpose);
    }

    /// Keeps what rows have added so far; see [`RowEncoder::settle`].
    pub fn settle(&mut self) {
        self.encoder.settle();
    }

    /// Removes what rows have added since they were last settled; see [`RowEncoder::undo`].
    pub fn undo(&mut self) -> bool {
        self.encoder.undo()
    }
}
