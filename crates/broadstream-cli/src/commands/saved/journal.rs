//! The rows that `learn` has learned since it last wrote the model.
//!
//! An entry of the journal holds the rows of a block as they were read, or the source of the rows after it:
//! how they are read, and the header. To replay a journal is to read these bytes as rows once more. Since
//! the model that results does not depend on how rows are cut into blocks, it is the model that was lost.

use std::io::Cursor;

use anyhow::{Context, Result, bail};
use broadstream::{
    model_file::Saved,
    stream::{LiveFormat, LiveOptions, LiveRows, RowEncoding, RowPurpose, UnknownColumns},
};
use broadstream_store::{Journal, JournalEntries};
use serde_json::{Value, json};

use super::responder::{Responder, RowCounts};

/// The kind of an entry with the source of the rows after it: a line of JSON, then the header as it was read.
const SOURCE: u8 = 1;

/// The kind of an entry with rows: how many, in 4 bytes, little-endian, and their text.
const ROWS: u8 = 2;

/// A journal of rows.
pub(super) struct RowJournal {
    journal: Journal,
    /// Whether the journal has the source of the rows.
    has_source: bool,
    /// The rows of the next entry.
    rows: u32,
    text: Vec<u8>,
}

impl RowJournal {
    /// A journal of rows in one that is empty.
    pub(super) fn new(journal: Journal) -> Self {
        RowJournal { journal, has_source: false, rows: 0, text: Vec::new() }
    }

    /// Adds a row to the next entry.
    pub(super) fn push(&mut self, text: &[u8]) {
        self.rows += 1;
        self.text.extend(text);
    }

    /// Brings the rows that were added to the disk.
    pub(super) fn commit(&mut self, source: &LiveRows) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        if !self.has_source {
            self.journal.append(SOURCE, &encode_source(source))?;
            self.has_source = true;
        }
        self.journal.append(ROWS, &[&self.rows.to_le_bytes()[..], &self.text].concat())?;
        self.rows = 0;
        self.text.clear();
        Ok(())
    }

    /// Whether the model file lacks rows that the journal has.
    pub(super) fn has_rows(&self) -> bool {
        self.has_source
    }

    /// The journal, for the store to write the model with. It is empty afterwards.
    pub(super) fn restart(&mut self) -> &mut Journal {
        self.has_source = false;
        &mut self.journal
    }

    /// What the journal is called in messages.
    pub(super) fn name(&self) -> String {
        self.journal.path().display().to_string()
    }

    pub(super) fn into_inner(self) -> Journal {
        self.journal
    }
}

/// How many rows a journal has that its model file lacks.
pub(super) fn count(content: &JournalEntries) -> u64 {
    let rows = content.entries.iter().filter(|(kind, _)| *kind == ROWS);
    rows.filter_map(|(_, entry)| Some(u64::from(split_rows(entry)?.0))).sum()
}

/// Lets a model predict and learn the rows of its journal.
pub(super) fn replay(content: &JournalEntries, saved: &mut Saved) -> Result<RowCounts> {
    let mut counts = RowCounts::default();
    let mut source: Option<(LiveOptions, Vec<u8>)> = None;
    for (kind, entry) in &content.entries {
        match (*kind, &mut source) {
            (SOURCE, source) => {
                counts += read_rows(source.take(), saved)?;
                *source = Some(decode_source(entry).context("the source of rows is malformed")?);
            }
            (ROWS, Some((_, text))) => {
                let (_, rows) = split_rows(entry).context("an entry with rows is malformed")?;
                text.extend(rows);
            }
            (ROWS, None) => bail!("rows come before their source"),
            (kind, _) => bail!("an entry has the kind {kind}, which this version does not know"),
        }
    }
    counts += read_rows(source, saved)?;
    if counts.rows != count(content) {
        bail!("it says that it has {} rows, but it has {}", count(content), counts.rows);
    }
    Ok(counts)
}

/// Lets a model respond to the rows of one source.
fn read_rows(source: Option<(LiveOptions, Vec<u8>)>, saved: &mut Saved) -> Result<RowCounts> {
    let Some((options, text)) = source else { return Ok(RowCounts::default()) };
    let schema = saved.schema.clone();
    let encoding = saved.encoding.clone().unwrap_or_else(|| RowEncoding::of_schema(&schema));
    let mut rows = LiveRows::new(Box::new(Cursor::new(text)), options, schema, encoding)?;
    let mut responder = Responder::learning(&mut saved.model);
    responder.read(&mut rows, u64::MAX)?;
    let counts = responder.counts;
    (saved.schema, saved.encoding) = (rows.schema().clone(), Some(rows.encoding()));
    Ok(counts)
}

fn split_rows(entry: &[u8]) -> Option<(u32, &[u8])> {
    let (count, text) = entry.split_first_chunk()?;
    Some((u32::from_le_bytes(*count), text))
}

fn encode_source(source: &LiveRows) -> Vec<u8> {
    let LiveOptions { delimiter, header, drop, unknown, decimal_comma, max_categories, .. } =
        source.options();
    let format = source.format().map(|format| match format {
        LiveFormat::Csv => "csv",
        LiveFormat::JsonLines => "jsonl",
    });
    let unknown = match unknown {
        UnknownColumns::Refuse => "refuse",
        UnknownColumns::Ignore => "ignore",
        UnknownColumns::Learn => "learn",
    };
    let line = json!({
        "format": format,
        "delimiter": delimiter,
        "header": header,
        "drop": drop,
        "unknown": unknown,
        "decimal_comma": decimal_comma,
        "max_categories": max_categories,
    });
    [format!("{line}\n").as_bytes(), source.header()].concat()
}

/// How rows are read, and the header that their text begins with.
fn decode_source(entry: &[u8]) -> Option<(LiveOptions, Vec<u8>)> {
    let end = entry.iter().position(|byte| *byte == b'\n')?;
    let source: Value = serde_json::from_slice(&entry[..end]).ok()?;
    let drop = source["drop"].as_array()?.iter().map(|name| name.as_str().map(str::to_owned));
    let options = LiveOptions {
        format: match source["format"].as_str()? {
            "csv" => Some(LiveFormat::Csv),
            "jsonl" => Some(LiveFormat::JsonLines),
            _ => return None,
        },
        delimiter: match &source["delimiter"] {
            Value::Null => None,
            byte => Some(u8::try_from(byte.as_u64()?).ok()?),
        },
        header: optional_flag(&source["header"])?,
        decimal_comma: optional_flag(&source["decimal_comma"])?,
        max_categories: match source.get("max_categories") {
            // Journals of earlier versions do not have it. Every category had an input of its own then.
            None => Some(usize::MAX),
            Some(Value::Null) => None,
            Some(most) => Some(usize::try_from(most.as_u64()?).ok()?),
        },
        purpose: RowPurpose::Learn,
        drop: drop.collect::<Option<Vec<String>>>()?,
        unknown: match source["unknown"].as_str()? {
            "refuse" => UnknownColumns::Refuse,
            "ignore" => UnknownColumns::Ignore,
            "learn" => UnknownColumns::Learn,
            _ => return None,
        },
    };
    Some((options, entry[end + 1..].to_vec()))
}

/// A flag that may be missing.
fn optional_flag(value: &Value) -> Option<Option<bool>> {
    match value {
        Value::Null => Some(None),
        flag => flag.as_bool().map(Some),
    }
}
