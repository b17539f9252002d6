//! JSON lines: one object per line, read row by row in bounded memory.
//!
//! `object` walks the values of a line, and `objects` passes them to a [`RowEncoder`] under their keys.

mod object;
mod objects;

use std::{collections::HashSet, io::Read};

pub(super) use self::objects::{KeyRules, Objects, read_object};

use super::{
    EncodedRow, Place, RowEncoder, RowReader, RowStream, StreamError, TableOptions, TextFormat,
    decompress, lines::Lines,
};
use crate::error::Error;

/// The samples of a file of JSON lines, plain or compressed by gzip or zstd.
///
/// Each line is an object, and its keys are columns. The values of a nested object have the keys
/// `outer.inner`, and arrays are refused unless their key is dropped. A column is numeric if its first
/// value is a number or a boolean, which is 1 or 0, and categorical if it is a string. `null` and an
/// absent key are missing. Keys may come and go, in any order. Labels are strings, numbers or booleans.
///
/// The options name columns by their keys; naming a key that never comes has no effect.
///
/// ```
/// use broadstream::{
///     Block,
///     stream::{Stream, TableOptions, jsonl::JsonLinesStream},
/// };
///
/// let text = r#"
///     {"age": 31, "job": "clerk", "buys": true}
///     {"job": "baker", "home": {"rooms": 3}, "buys": false}
/// "#;
/// let mut stream = JsonLinesStream::new(Box::new(text.as_bytes()), TableOptions::default())?;
/// let mut block = Block::new();
/// assert_eq!(stream.read_block(&mut block, 100)?, 2);
///
/// let names: Vec<_> = stream.schema().inputs().iter().map(|input| &input.name).collect();
/// assert_eq!(names, ["age", "job=clerk", "job=baker", "home.rooms"]);
/// assert_eq!(stream.schema().labels(), ["true", "false"]);
/// assert_eq!(block.sample(1).iter().collect::<Vec<_>>(), [(2, 1.0), (3, 3.0)]);
/// # Ok::<(), broadstream::Error>(())
/// ```
pub type JsonLinesStream = RowStream<JsonLinesReader>;

/// Reads the rows of a file of JSON lines; see [`JsonLinesStream`].
pub struct JsonLinesReader {
    objects: Objects,
    keys: OptionKeys,
}

/// The options, as rules about keys.
struct OptionKeys {
    options: TableOptions,
    /// The keys to drop, as a set: each key of each object is looked up in it.
    dropped: HashSet<String>,
}

impl JsonLinesStream {
    /// Reads the first object, which tells the target unless the options do.
    #[expect(clippy::needless_pass_by_value, reason = "options are given away, as to any `new`")]
    pub fn new(reader: Box<dyn Read + Send>, options: TableOptions) -> Result<Self, Error> {
        options.check(TextFormat::JsonLines)?;
        // Not `Lines::open`, which would wait for more of a slow source than its first line.
        let source = decompress(reader)
            .map_err(|source| StreamError::Read { place: Place::Line(1), source })?;
        Self::of_lines(Lines::new(source), &options)
    }

    /// Reads the first object of a file from its first line.
    pub(super) fn of_lines(lines: Lines, options: &TableOptions) -> Result<Self, Error> {
        options.check_names()?;
        let mut objects = Objects::of(lines);
        let dropped: HashSet<String> = options.drop.iter().cloned().collect();
        let keys = OptionKeys { options: options.clone(), dropped };
        let (line, first) = objects.first_keys(&keys)?;
        let OptionKeys { options, dropped } = &keys;
        let target = match &options.target {
            Some(target) => target.clone(),
            None => default_target(&first, dropped).ok_or(StreamError::Empty)?.to_owned(),
        };
        let mut encoder = options.encoder(&target);
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
        Ok(RowStream::of(JsonLinesReader { objects, keys }, encoder))
    }
}

impl RowReader for JsonLinesReader {
    fn next_row<'e>(
        &mut self,
        encoder: &'e mut RowEncoder,
    ) -> Result<Option<EncodedRow<'e>>, Error> {
        if self.objects.next()?.is_none() {
            return Ok(None);
        }
        let label = self.objects.read(encoder, &self.keys)?;
        let (sample, class) = encoder.finish(label)?;
        Ok(Some(EncodedRow { sample, class, weight: 1.0 }))
    }

    fn is_ready(&mut self) -> bool {
        self.objects.is_ready()
    }
}

impl KeyRules for OptionKeys {
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

/// The key that holds the labels if the options name none.
fn default_target<'k>(keys: &'k [String], dropped: &HashSet<String>) -> Option<&'k String> {
    const USUAL: [&str; 4] = ["target", "label", "class", "y"];
    let mut keys = keys.iter().filter(|key| !dropped.contains(*key));
    let mut usual = keys.clone().filter(|key| USUAL.contains(&key.as_str()));
    match (usual.next(), usual.next()) {
        (Some(one), None) => Some(one),
        _ => keys.next_back(),
    }
}
