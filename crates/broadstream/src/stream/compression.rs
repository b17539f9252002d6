//! Transparent decompression: the first bytes of a source tell whether it is gzip, zstd or plain.

use std::io::{self, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;
use zstd::stream::read::Decoder as ZstdDecoder;

/// Reads the plain bytes of a source, whether it is gzip (one or several members), zstd (one or
/// several frames) or neither.
///
/// The format is told from the first bytes, not from a file name, so that pipes work too. The
/// result is buffered: small reads are cheap, and large ones bypass the buffer. A truncated source
/// yields all bytes up to its end and then an error.
///
/// ```
/// use std::io::{Cursor, Read};
///
/// let mut text = String::new();
/// broadstream::stream::decompress(Box::new(Cursor::new("a,b\n")))?.read_to_string(&mut text)?;
/// assert_eq!(text, "a,b\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn decompress(mut reader: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    // A pipe may return its first bytes one by one, and a text may be shorter than the magic number. So
    // reading stops at the first byte that rules out compression: a short line must not be waited on.
    let mut magic = Vec::with_capacity(MAGIC);
    while Format::may_begin(&magic) && reader.by_ref().take(1).read_to_end(&mut magic)? > 0 {}
    let format = Format::of(&magic);
    let source = BufReader::with_capacity(BUFFER, Cursor::new(magic).chain(reader));
    Ok(match format {
        Format::Gzip => Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(source))),
        Format::Zstd => {
            Box::new(BufReader::with_capacity(BUFFER, ZstdDecoder::with_buffer(source)?))
        }
        Format::Plain => Box::new(source),
    })
}

/// How many of the first bytes tell the format.
const MAGIC: usize = 4;

/// Large enough that the cost of system calls and decoder calls is negligible beside the decoding itself.
const BUFFER: usize = 128 * 1024;

enum Format {
    Gzip,
    Zstd,
    Plain,
}

impl Format {
    /// Whether more bytes may make a compressed format of these.
    fn may_begin(magic: &[u8]) -> bool {
        matches!(
            magic,
            [] | [0x1f | 0x28 | 0x50..=0x5f]
                | [0x28, 0xb5]
                | [0x28, 0xb5, 0x2f]
                | [0x50..=0x5f, 0x2a]
                | [0x50..=0x5f, 0x2a, 0x4d]
        )
    }

    fn of(magic: &[u8]) -> Self {
        match magic {
            [0x1f, 0x8b, ..] => Format::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd] => Format::Zstd,
            // A skippable frame, with which parallel compressors begin.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Format::Zstd,
            _ => Format::Plain,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Returns one byte per read, as a slow pipe may.
    struct Drip(Cursor<Vec<u8>>);

    impl Read for Drip {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = buffer.len().min(1);
            self.0.read(&mut buffer[..most])
        }
    }

    /// Returns its bytes and then fails the test rather than waiting for more.
    struct Waiting(Cursor<&'static [u8]>);

    impl Read for Waiting {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let read = self.0.read(buffer)?;
            assert!(read > 0, "asked for more than a line");
            Ok(read)
        }
    }

    #[test]
    fn a_short_line_is_not_waited_on() {
        for text in [&b"\n"[..], b"5\n", b"{}\n", b"P\n", b"P*\n", b"_*M\n"] {
            let mut reader = decompress(Box::new(Waiting(Cursor::new(text)))).unwrap();
            let mut line = vec![0; text.len()];
            reader.read_exact(&mut line).unwrap();
            assert_eq!(line, text);
        }
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        zstd::encode_all(bytes, 3).unwrap()
    }

    fn read(bytes: Vec<u8>) -> (Vec<u8>, io::Result<()>) {
        let mut plain = Vec::new();
        let outcome = decompress(Box::new(Drip(Cursor::new(bytes))))
            .and_then(|mut reader| reader.read_to_end(&mut plain));
        (plain, outcome.map(|_| ()))
    }

    #[test]
    fn no_byte_is_lost_however_short_the_source() {
        let text = b"\x1f\x8a(\xb5/\xfcplain";
        for length in 0..text.len() {
            for start in 0..=length {
                let (plain, outcome) = read(text[start..length].to_vec());
                outcome.unwrap();
                assert_eq!(plain, &text[start..length]);
            }
        }
    }

    #[test]
    fn members_and_frames_follow_each_other() {
        let text: Vec<u8> = (0..300_000u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
        let (first, second) = text.split_at(100_001);
        let skippable = b"\x53\x2a\x4d\x18\x02\0\0\0ab".to_vec();
        for packed in [
            [gzip(first), gzip(second)].concat(),
            [zstd(first), zstd(second)].concat(),
            [skippable, zstd(&text)].concat(),
        ] {
            let (plain, outcome) = read(packed);
            outcome.unwrap();
            assert!(plain == text);
        }
    }

    #[test]
    fn a_source_cut_short_is_an_error_after_its_bytes() {
        let text: Vec<u8> = (0..50_000u32).flat_map(|i| i.to_le_bytes()).collect();
        for packed in [gzip(&text), zstd(&text)] {
            let half = packed.len() / 2;
            let (plain, outcome) = read(packed[..half].to_vec());
            assert_eq!(outcome.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
            assert!(text.starts_with(&plain));
        }
    }
}
