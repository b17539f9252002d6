//! The messages of Arrow's stream format, with every claim in them checked before it is relied on.
//!
//! A file is such a stream between magic bytes and a table of contents, its footer. It is read from its
//! start, so a file may come from a pipe too. At the end the footer must be there and list as many
//! batches as were read (`footer`): a file that was cut between two batches would otherwise pass for a
//! shorter one. A stream has nothing of the kind. The format lets it end without an end marker, so one that
//! was cut between two batches cannot be told from a whole one; inside a batch it can.
//!
//! The decoders of `arrow-ipc` check arrays, but they slice a message's body and reserve memory
//! according to its header. So the header is compared with the body here, before they see it.

use std::{
    collections::HashMap,
    io::{self, Cursor, Read},
};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::{
    MessageHeader,
    convert::{MessageBuffer, try_fb_to_schema},
    reader::{RecordBatchDecoder, read_dictionary},
};
use arrow_schema::{ArrowError, SchemaRef};

use crate::{footer::Footer, format::ColumnarFormat};

/// The largest header of a message, which grows with the number of columns.
pub(crate) const LARGEST_HEADER: u32 = 64 << 20;

/// The largest body of a message, as it is stored and when it is decompressed.
const LARGEST_BODY: u64 = 1 << 30;

/// The messages of a stream.
pub(crate) struct Messages {
    reader: Box<dyn Read + Send>,
    schema: SchemaRef,
    dictionaries: HashMap<i64, ArrayRef>,
    /// The positions of the columns to decode.
    columns: Vec<usize>,
    /// How many batches were read.
    batches: usize,
    /// Whether a footer must follow the messages.
    is_file: bool,
}

impl Messages {
    /// Reads up to the schema.
    pub(crate) fn open(
        mut reader: Box<dyn Read + Send>,
        format: ColumnarFormat,
    ) -> io::Result<Self> {
        let is_file = format == ColumnarFormat::ArrowFile;
        if is_file {
            reader = skip_magic(reader)?;
        }
        let Some((header, _)) = read_message(&mut reader)? else {
            return Err(invalid("expected a schema, found the end"));
        };
        let schema = header
            .as_ref()
            .header_as_schema()
            .ok_or_else(|| invalid("expected a schema as the first message"))?;
        if !schema.endianness().equals_to_target_endianness() {
            return Err(invalid("expected the byte order of this machine, found the other"));
        }
        let schema = SchemaRef::new(try_fb_to_schema(schema).map_err(io::Error::other)?);
        let columns = (0..schema.fields().len()).collect();
        let dictionaries = HashMap::new();
        Ok(Messages { reader, schema, dictionaries, columns, batches: 0, is_file })
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Decodes only the columns at these positions from now on.
    pub(crate) fn choose(&mut self, columns: Vec<usize>) {
        self.columns = columns;
    }

    /// The next batch, or `None` at the end. It is not called again after the end.
    pub(crate) fn next_batch(&mut self) -> io::Result<Option<RecordBatch>> {
        while let Some((header, body)) = read_message(&mut self.reader)? {
            let message = header.as_ref();
            let version = message.version();
            match message.header_type() {
                MessageHeader::RecordBatch => {
                    self.batches += 1;
                    let batch = message.header_as_record_batch().ok_or_else(no_content)?;
                    check_batch(batch, &body)?;
                    let schema = self.schema.clone();
                    let batch = RecordBatchDecoder::try_new(
                        &body,
                        batch,
                        schema,
                        &self.dictionaries,
                        &version,
                    )
                    .and_then(|decoder| {
                        decoder.with_projection(Some(&self.columns)).read_record_batch()
                    });
                    return batch.map(Some).map_err(io::Error::other);
                }
                MessageHeader::DictionaryBatch => {
                    let batch = message.header_as_dictionary_batch().ok_or_else(no_content)?;
                    check_batch(batch.data().ok_or_else(no_content)?, &body)?;
                    let dictionaries = &mut self.dictionaries;
                    read_dictionary(&body, batch, &self.schema, dictionaries, &version)
                        .map_err(io::Error::other)?;
                }
                MessageHeader::NONE => {}
                other => return Err(invalid(&format!("expected a batch, found {other:?}"))),
            }
        }
        if self.is_file {
            Footer::read(&mut self.reader)?.check_batches(self.batches)?;
        }
        Ok(None)
    }
}

/// Skips the magic bytes of a file and the zeros that align what follows. Some programs write up to 64
/// bytes of them.
fn skip_magic(mut reader: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    const MOST_ZEROS: usize = 1024;
    reader.read_exact(&mut [0; 8])?;
    let mut word = [0; 8];
    for _ in 0..MOST_ZEROS / word.len() {
        reader.read_exact(&mut word)?;
        if word != [0; 8] {
            break;
        }
    }
    Ok(Box::new(Cursor::new(word).chain(reader)))
}

/// The header and the body of the next message, or `None` at the end.
fn read_message(reader: &mut dyn Read) -> io::Result<Option<(MessageBuffer, Buffer)>> {
    let Some(mut length) = read_length(reader)? else { return Ok(None) };
    if length == CONTINUATION {
        length = read_length(reader)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    }
    if length == 0 {
        return Ok(None);
    }
    if length > LARGEST_HEADER {
        let rule = "the header of a message must have at most";
        return Err(invalid(&format!("{rule} {LARGEST_HEADER} bytes, found {length}")));
    }
    let header = read_exactly(reader, u64::from(length))?;
    let header = MessageBuffer::try_new(header).map_err(io::Error::other)?;
    let length = header.as_ref().bodyLength();
    let body = match u64::try_from(length) {
        Ok(length) if length <= LARGEST_BODY => read_exactly(reader, length)?,
        _ => {
            let rule = "the body of a message must have at most";
            return Err(invalid(&format!("{rule} {LARGEST_BODY} bytes, found {length}")));
        }
    };
    Ok(Some((header, body)))
}

/// The marker before the length of a message, since version 0.15 of the format.
const CONTINUATION: u32 = u32::MAX;

/// The next four bytes, or `None` if there are none.
fn read_length(reader: &mut dyn Read) -> io::Result<Option<u32>> {
    let mut bytes = Vec::with_capacity(4);
    reader.take(4).read_to_end(&mut bytes)?;
    match <[u8; 4]>::try_from(bytes) {
        Ok(bytes) => Ok(Some(u32::from_le_bytes(bytes))),
        Err(bytes) if bytes.is_empty() => Ok(None),
        Err(_) => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Reads that many bytes. Memory grows as they arrive, whatever length the header claims.
fn read_exactly(reader: &mut dyn Read, length: u64) -> io::Result<Buffer> {
    let mut bytes = Vec::new();
    if (reader.take(length).read_to_end(&mut bytes)? as u64) < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Buffer::from_vec(bytes))
}

/// Checks that the claims of a batch about its arrays and buffers are possible.
fn check_batch(batch: arrow_ipc::RecordBatch<'_>, body: &Buffer) -> io::Result<()> {
    let counts = batch.nodes().into_iter().flatten();
    let counts = counts.map(|node| (node.length(), node.null_count())).chain([(batch.length(), 0)]);
    for (length, nulls) in counts {
        if nulls < 0 || nulls > length {
            return Err(invalid(&format!("an array of {length} values cannot lack {nulls}")));
        }
    }
    let mut decompressed = 0u64;
    for buffer in batch.buffers().into_iter().flatten() {
        let start = usize::try_from(buffer.offset()).ok();
        let end =
            start.zip(usize::try_from(buffer.length()).ok()).and_then(|(s, l)| s.checked_add(l));
        let bytes = start.zip(end).and_then(|(start, end)| body.get(start..end));
        let Some(bytes) = bytes else {
            let (offset, length) = (buffer.offset(), buffer.length());
            let rule = format!("a buffer must lie within the {} bytes of its message", body.len());
            return Err(invalid(&format!("{rule}, found {length} from {offset} on")));
        };
        if batch.compression().is_some()
            && let Some(prefix) = bytes.first_chunk()
        {
            // -1 marks a buffer that is not compressed after all.
            let claimed = u64::try_from(i64::from_le_bytes(*prefix)).unwrap_or(0);
            decompressed = decompressed.saturating_add(claimed);
        }
    }
    if decompressed > LARGEST_BODY {
        let rule = "the body of a message must decompress to at most";
        return Err(invalid(&format!("{rule} {LARGEST_BODY} bytes, found {decompressed}")));
    }
    Ok(())
}

fn no_content() -> io::Error {
    invalid("a message must have the content that its header names")
}

pub(crate) fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, ArrowError::IpcError(message.to_owned()))
}
