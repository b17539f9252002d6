//! MNIST's IDX format: a magic number, the sizes, and then one byte per pixel or label.
//!
//! Numbers in the header are big-endian. The third byte of the magic number is the type of the
//! values (8 for bytes), and the fourth is the number of sizes that follow.

use std::{fmt::Write, io::Read};

use crate::{error::DatasetError, output::Output, part::Part};

const PIXELS: usize = 28 * 28;

/// The magic number and the sizes of one image.
const IMAGES: &[u32] = &[0x0803, 28, 28];
const LABELS: &[u32] = &[0x0801];

/// Prepares the files of images and labels in turn: first the training set, then the test set.
pub(crate) fn mnist(parts: Vec<Part>, out: &mut Output<'_>) -> Result<(), DatasetError> {
    let header: String = (0..PIXELS).map(|pixel| format!("f{pixel},")).collect();
    out.line(&(header + "class"))?;
    let mut parts = parts.into_iter();
    while let (Some(mut images), Some(mut labels)) = (parts.next(), parts.next()) {
        let count = read_header(&mut images, IMAGES)?;
        let found = read_header(&mut labels, LABELS)?;
        if found != count {
            let expected = format!("{count} labels, one per image");
            return Err(malformed(&labels, expected, found.to_string()));
        }
        write_rows(&mut images, &mut labels, count, out)?;
        for part in [&mut images, &mut labels] {
            if read_exact::<1>(part)?.is_some() {
                return Err(malformed(part, format!("{count} entries"), "more".to_owned()));
            }
        }
    }
    Ok(())
}

fn write_rows(
    images: &mut Part,
    labels: &mut Part,
    count: u32,
    out: &mut Output<'_>,
) -> Result<(), DatasetError> {
    let mut row = String::with_capacity(4 * PIXELS + 1);
    for done in 0..count {
        let (Some(pixels), Some([label])) = (read_exact::<PIXELS>(images)?, read_exact(labels)?)
        else {
            return Err(malformed(images, format!("{count} entries"), format!("only {done}")));
        };
        if label > 9 {
            return Err(malformed(labels, "a digit".to_owned(), label.to_string()));
        }
        row.clear();
        for pixel in pixels {
            // Writing to a string cannot fail.
            let _ = write!(row, "{pixel},");
        }
        row.push(char::from(b'0' + label));
        out.line(&row)?;
    }
    Ok(())
}

/// Checks the magic number and the size of an entry; returns the number of entries.
fn read_header(part: &mut Part, expected: &[u32]) -> Result<u32, DatasetError> {
    let mut numbers = Vec::new();
    for _ in 0..=expected.len() {
        let Some(bytes) = read_exact::<4>(part)? else {
            return Err(malformed(part, "a header".to_owned(), "the end".to_owned()));
        };
        numbers.push(u32::from_be_bytes(bytes));
    }
    let count = numbers.remove(1);
    if numbers != expected {
        return Err(malformed(part, format!("the header {expected:?}"), format!("{numbers:?}")));
    }
    Ok(count)
}

/// Reads the next `N` bytes; `None` if fewer are left.
fn read_exact<const N: usize>(part: &mut Part) -> Result<Option<[u8; N]>, DatasetError> {
    let mut bytes = [0; N];
    match part.reader.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(bytes)),
        Err(source) if source.kind() == std::io::ErrorKind::UnexpectedEof => Ok(None),
        Err(source) => Err(DatasetError::Unreadable { part: part.name.clone(), source }),
    }
}

fn malformed(part: &Part, expected: String, found: String) -> DatasetError {
    DatasetError::MalformedImages { part: part.name.clone(), expected, found }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{part, prepared},
        *,
    };

    fn images(count: u32, pixels: &[u8]) -> Vec<u8> {
        let header = [0x0803, count, 28, 28].map(u32::to_be_bytes).concat();
        [header, pixels.to_vec()].concat()
    }

    fn labels(count: u32, labels: &[u8]) -> Vec<u8> {
        [[0x0801, count].map(u32::to_be_bytes).concat(), labels.to_vec()].concat()
    }

    fn text(files: [Vec<u8>; 2]) -> Result<String, DatasetError> {
        prepared(mnist, files.map(|bytes| part("file", bytes)).into())
    }

    #[test]
    fn an_image_is_a_row() {
        let mut pixels = vec![0; 2 * PIXELS];
        pixels[1] = 255;
        pixels[PIXELS] = 7;
        let text = text([images(2, &pixels), labels(2, &[5, 0])]).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("f0,f1,") && lines[0].ends_with(",f783,class"));
        assert_eq!(lines[1], format!("0,255,{}5", "0,".repeat(782)));
        assert_eq!(lines[2], format!("7,{}0", "0,".repeat(783)));
        assert_eq!(lines.len(), 3);
    }

    #[test]
    fn malformed_files_are_errors() {
        let pixels = vec![0; PIXELS];
        let good = || (images(1, &pixels), labels(1, &[3]));
        let mut cases = vec![
            [Vec::new(), good().1],
            [good().1, good().0],
            [images(2, &pixels), labels(2, &[1, 2])],
            [images(1, &pixels[1..]), good().1],
            [good().0, labels(2, &[1, 2])],
            [good().0, labels(1, &[10])],
            [good().0, labels(1, &[1, 2])],
            [images(u32::MAX, &pixels), labels(u32::MAX, &[1])],
        ];
        cases.push([b"<html>not found</html>".to_vec(), good().1]);
        for files in cases {
            let error = text(files).unwrap_err();
            assert!(matches!(error, DatasetError::MalformedImages { .. }), "{error}");
        }
        text([good().0, good().1]).unwrap();
    }
}
