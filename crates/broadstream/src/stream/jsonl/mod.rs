//! JSON lines: one object per line, read row by row in bounded memory.
//!
//! `object` walks the values of a line, and `objects` gives them to a [`RowEncoder`] under their keys.

mod object;
mod objects;

use std::{collections::HashSet, fmt, io::Read};

pub(super) use self::objects::{Keys, Objects};

use super::{
    ColumnOptions, Place, RowEncoder, RowEncoding, Stream, StreamError, decompress, lines::Lines,
};
use crate::{
    data::{Block, Schema},
    error::Error,
};

/// The samples of a file of JSON lines, plain or compressed by gzip or zstd.
///
/// Each line is an object, and its keys are columns; the values of an object within have the keys
/// `outer.inner`, and arrays are refused unless their key is dropped. A column is numeric if its first value is a number or a
/// boolean, which is 1 or 0, and categorical if it is a string; `null` and an absent key are missing.
/// Keys may come and go, in any order. Labels are strings, numbers or booleans.
///
/// ```
/// use broadstream::{
///     Block,
///     stream::{ColumnOptions, Stream, jsonl::JsonLinesStream},
/// };
///
/// let text = r#"
///     {"age": 31, "job": "clerk", "buys": true}
///     {"job": "baker", "home": {"rooms": 3}, "buys": false}
/// "#;
/// let mut stream = JsonLinesStream::new(Box::new(text.as_bytes()), ColumnOptions::default())?;
/// let mut block = Block::new();
/// assert_eq!(stream.read_block(&mut block, 100)?, 2);
///
/// let names: Vec<_> = stream.schema().inputs().iter().map(|input| &input.name).collect();
/// assert_eq!(names, ["age", "job=clerk", "job=baker", "home.rooms"]);
/// assert_eq!(stream.schema().labels(), ["true", "false"]);
/// assert_eq!(block.sample(1).iter().collect::<Vec<_>>(), [(2, 1.0), (3, 3.0)]);
/// # Ok::<(), broadstream::Error>(())
/// ```
pub struct JsonLinesStream {
    objects: Objects,
    keys: KeyOptions,
    encoder: RowEncoder,
    line: u64,
    ended: bool,
}

/// What the options say about keys.
struct KeyOptions {
    options: ColumnOptions,
    dropped: HashSet<String>,
}

impl JsonLinesStream {
    /// Reads the first object, which tells the target unless the options do: it is the one of the
    /// keys `target`, `label`, `class` and `y` that is there or, when none or several are, the last
    /// key. The options name columns by their keys; a key that never comes changes nothing.
    pub fn new(reader: Box<dyn Read + Send>, options: ColumnOptions) -> Result<Self, Error> {
        let source = decompress(reader)
            .map_err(|source| StreamError::Read { place: Place::Line(1), source })?;
        Self::of_lines(Lines::new(source), options)
    }

    /// Reads the first object of a file of which no line has been taken yet.
    pub(super) fn of_lines(lines: Lines, options: ColumnOptions) -> Result<Self, Error> {
        options.check()?;
        let mut objects = Objects::of(lines);
        let dropped: HashSet<String> = options.drop.iter().cloned().collect();
        let keys = KeyOptions { options, dropped };
        let (line, first) = objects.first_keys(&keys)?;
        let KeyOptions { options, dropped } = &keys;
        let target = match &options.target {
            Some(target) => target.clone(),
            None => default_target(&first, dropped).ok_or(StreamError::Empty)?.to_owned(),
        };
        let mut encoder = RowEncoder::new(target.as_str(), options.categories);
        for key in &first {
            if *key == target {
                encoder.target_here();
            } else if !dropped.contains(key) && encoder.column(key).is_none() {
                encoder.add_column(key, options.declared(key), Place::Line(line))?;
            }
        }
        for name in &options.drop {
            encoder.leave_out(name);
        }
        Ok(JsonLinesStream { objects, keys, encoder, line: 0, ended: false })
    }

    /// The line of the object read last; 0 before the first.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The keys that are learned from, as far as they have come.
    ///
    /// ```
    /// use broadstream::stream::{ColumnOptions, jsonl::JsonLinesStream};
    ///
    /// let text = "{\"age\": 31, \"home\": {\"rooms\": 3}, \"y\": 1}";
    /// let stream = JsonLinesStream::new(Box::new(text.as_bytes()), ColumnOptions::default())?;
    /// assert_eq!(stream.columns().collect::<Vec<_>>(), ["age", "home.rooms"]);
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.encoder.columns()
    }

    /// Appends the next sample to `block`; `false` at the end.
    fn read_sample(&mut self, block: &mut Block) -> Result<bool, Error> {
        let JsonLinesStream { objects, keys, encoder, .. } = self;
        let Some(line) = objects.next()? else { return Ok(false) };
        self.line = line;
        objects.read(encoder, keys)?;
        let (sample, class) = encoder.finish(objects.label().cell())?;
        block.push(sample, class, 1.0)?;
        Ok(true)
    }
}

impl Keys for KeyOptions {
    fn drops(&self, key: &str) -> bool {
        self.dropped.contains(key)
    }

    fn unknown(
        &self,
        key: &str,
        place: Place,
        encoder: &mut RowEncoder,
    ) -> Result<Option<usize>, StreamError> {
        encoder.add_column(key, self.options.declared(key), place).map(Some)
    }
}

impl Stream for JsonLinesStream {
    fn schema(&self) -> &Schema {
        self.encoder.schema()
    }

    /// The number of keys so far besides the target, at least 1: the first object may have none.
    fn inputs_per_sample(&self) -> usize {
        self.encoder.columns().len().max(1)
    }

    fn encoding(&self) -> Option<RowEncoding> {
        Some(self.encoder.encoding())
    }

    fn read_block(&mut self, block: &mut Block, most: usize) -> Result<usize, Error> {
        let mut read = 0;
        while read < most && !self.ended && (read == 0 || self.objects.is_ready()) {
            let outcome = self.read_sample(block);
            self.ended = !matches!(outcome, Ok(true));
            read += usize::from(outcome?);
        }
        Ok(read)
    }
}

impl fmt::Debug for JsonLinesStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonLinesStream")
            .field("line", &self.line)
            .field("ended", &self.ended)
            .field("schema", self.schema())
            .finish_non_exhaustive()
    }
}

/// The key that holds the labels if nothing is said about it.
fn default_target<'k>(keys: &'k [String], dropped: &HashSet<String>) -> Option<&'k String> {
    const USUAL: [&str; 4] = ["target", "label", "class", "y"];
    let mut keys = keys.iter().filter(|key| !dropped.contains(*key));
    let mut usual = keys.clone().filter(|key| USUAL.contains(&key.as_str()));
    match (usual.next(), usual.next()) {
        (Some(one), None) => Some(one),
        _ => keys.next_back(),
    }
}
