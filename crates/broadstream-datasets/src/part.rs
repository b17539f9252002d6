//! The unpacked parts of a publisher's files, which preparation reads.
//!
//! A raw file is plain, compressed by gzip or `compress`, or a zip archive of such files. It came over
//! the network, so nothing in it is trusted: no part yields more bytes than the size limit, whatever
//! its headers declare.

use std::{
    fs::File,
    io::{self, BufReader, Cursor, Read},
    path::Path,
};

use broadstream::stream::decompress;
use zip::ZipArchive;

use crate::{dataset::RawFile, error::DatasetError, unix_compress};

/// An unpacked file or archive member, with its name for error messages.
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) reader: Box<dyn Read + Send>,
}

/// Opens the parts of a downloaded file in order; none yields more than `limit` bytes.
pub(crate) fn open_parts(
    raw: &RawFile,
    path: &Path,
    limit: u64,
) -> Result<Vec<Part>, DatasetError> {
    let file = File::open(path).map_err(DatasetError::file("opening", path))?;
    if raw.members.is_empty() {
        return Ok(vec![unpack(raw.name, Box::new(file), limit)?]);
    }
    let broken = |member: &str| {
        let (archive, member) = (raw.name.to_owned(), member.to_owned());
        move |source| DatasetError::Archive { archive, member, source }
    };
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(broken(raw.members[0]))?;
    let mut parts = Vec::new();
    for member in raw.members {
        let member_name = format!("{}/{member}", raw.name);
        let entry = archive.by_name(member).map_err(broken(member))?;
        // The declared size is only a claim: a large one is refused, a small one is not trusted.
        if entry.size() > limit {
            return Err(DatasetError::TooLarge { name: member_name, limit });
        }
        let mut bytes = Vec::new();
        let read = entry.take(limit.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|source| unreadable(&member_name, source))?;
        if bytes.len() as u64 > limit {
            return Err(DatasetError::TooLarge { name: member_name, limit });
        }
        parts.push(unpack(&member_name, Box::new(Cursor::new(bytes)), limit)?);
    }
    Ok(parts)
}

/// Removes one layer of compression, if there is one.
fn unpack(name: &str, packed: Box<dyn Read + Send>, limit: u64) -> Result<Part, DatasetError> {
    let failed = |source| unreadable(name, source);
    let mut plain = decompress(packed).map_err(failed)?;
    let mut magic = Vec::new();
    plain.by_ref().take(2).read_to_end(&mut magic).map_err(failed)?;
    let compressed = magic == unix_compress::MAGIC;
    let whole = Cursor::new(magic).chain(plain);
    let reader: Box<dyn Read + Send> = if compressed {
        let mut bytes = Vec::new();
        whole.take(limit).read_to_end(&mut bytes).map_err(failed)?;
        Box::new(Cursor::new(unix_compress::decompress(&bytes, limit).map_err(failed)?))
    } else {
        Box::new(whole)
    };
    Ok(Part { name: name.to_owned(), reader: Box::new(Bounded { reader, left: limit }) })
}

fn unreadable(part: &str, source: io::Error) -> DatasetError {
    DatasetError::Unreadable { part: part.to_owned(), source }
}

/// A reader that fails, rather than ends, if its source has more than `left` bytes.
struct Bounded<R> {
    reader: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.left = self
            .left
            .checked_sub(read as u64)
            .ok_or_else(|| io::Error::other("it unpacks to more bytes than the size limit"))?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};
    use zip::{ZipWriter, write::SimpleFileOptions};

    use super::*;

    const ARCHIVE: RawFile =
        RawFile { name: "letters.zip", urls: &[], members: &["b.txt", "a.txt"] };
    const PLAIN: RawFile = RawFile { name: "letters.gz", urls: &[], members: &[] };

    fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in members {
            archive.start_file(*name, SimpleFileOptions::default()).unwrap();
            archive.write_all(bytes).unwrap();
        }
        archive.finish().unwrap().into_inner()
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// The texts of all parts of a file with these bytes.
    fn texts(raw: &RawFile, bytes: &[u8], limit: u64) -> Result<Vec<String>, DatasetError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(raw.name);
        std::fs::write(&path, bytes).unwrap();
        let mut texts = Vec::new();
        for mut part in open_parts(raw, &path, limit)? {
            let mut text = String::new();
            part.reader
                .read_to_string(&mut text)
                .map_err(|source| unreadable(&part.name, source))?;
            texts.push(text);
        }
        Ok(texts)
    }

    #[test]
    fn members_come_in_the_order_of_the_catalogue() {
        let bytes = zip(&[("a.txt", b"first"), ("other", b""), ("b.txt", &gzip(b"second"))]);
        assert_eq!(texts(&ARCHIVE, &bytes, 100).unwrap(), ["second", "first"]);
    }

    #[test]
    fn a_missing_member_is_an_error() {
        let error = texts(&ARCHIVE, &zip(&[("b.txt", b"x")]), 100).unwrap_err();
        assert_eq!(error.to_string(), "letters.zip: member 'a.txt' cannot be read");
        let error = texts(&ARCHIVE, b"<html>please log in</html>", 100).unwrap_err();
        assert!(matches!(error, DatasetError::Archive { .. }), "{error}");
    }

    #[test]
    fn nothing_unpacks_to_more_than_the_limit() {
        let bomb = vec![b' '; 5000];
        let error = texts(&ARCHIVE, &zip(&[("b.txt", &bomb), ("a.txt", b"")]), 4999).unwrap_err();
        assert!(matches!(error, DatasetError::TooLarge { limit: 4999, .. }), "{error}");
        for bytes in [gzip(&bomb), bomb.clone()] {
            let error = texts(&PLAIN, &bytes, 4999).unwrap_err();
            assert!(matches!(error, DatasetError::Unreadable { .. }), "{error}");
            assert_eq!(texts(&PLAIN, &bytes, 5000).unwrap()[0].len(), 5000);
        }
    }

    #[test]
    fn a_wrong_declared_size_does_not_lift_the_limit() {
        let bomb = vec![b' '; 5000];
        let honest = zip(&[("b.txt", &bomb), ("a.txt", b"")]);
        // Both headers of the first member declare 5000 bytes. Make them declare fewer or more.
        let declared = 5000u32.to_le_bytes();
        let places: Vec<usize> =
            (0..honest.len() - 4).filter(|&i| honest[i..i + 4] == declared).collect();
        assert!(!places.is_empty());
        for lie in [5u32, 0x7fff_ffff] {
            let mut bytes = honest.clone();
            for &place in &places {
                bytes[place..place + 4].copy_from_slice(&lie.to_le_bytes());
            }
            assert!(texts(&ARCHIVE, &bytes, 4999).is_err(), "{lie}");
        }
    }

    #[test]
    fn a_file_cut_short_is_an_error() {
        let bytes = gzip(&(0..9000u32).flat_map(u32::to_le_bytes).collect::<Vec<u8>>());
        let error = texts(&PLAIN, &bytes[..bytes.len() / 2], 1 << 20).unwrap_err();
        assert!(matches!(error, DatasetError::Unreadable { .. }), "{error}");
    }
}
