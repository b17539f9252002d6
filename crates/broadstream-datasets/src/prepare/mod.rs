//! Converts the publishers' files into the exact CSV text of the catalogue.
//!
//! Cells of text files keep the publisher's text, the label becomes the last column, `class`, and
//! lines end with a line feed. Each function takes the unpacked parts of its dataset in the order of
//! the catalogue.
//!
//! The publishers' hosts could not be reached when this was written. The code follows the published
//! descriptions of the formats and the copies from which the checksums were computed. The checksum
//! decides whether a download gave the same text.

mod arff;
mod idx;
mod lines;
mod tables;

pub(crate) use self::{
    arff::electricity,
    idx::mnist,
    tables::{adult, covertype, image_segment, letter, shuttle, usps},
};

#[cfg(test)]
fn part(name: &str, bytes: impl Into<Vec<u8>>) -> crate::part::Part {
    let reader = Box::new(std::io::Cursor::new(bytes.into()));
    crate::part::Part { name: name.to_owned(), reader }
}

/// The text that a preparation writes for these parts.
#[cfg(test)]
fn prepared(
    prepare: crate::dataset::Prepare,
    parts: Vec<crate::part::Part>,
) -> Result<String, crate::DatasetError> {
    let mut text = Vec::new();
    let mut out = crate::output::Output::new(&mut text, "prepared.csv".as_ref());
    prepare(parts, &mut out)?;
    assert_eq!(out.finish().size, text.len() as u64);
    Ok(String::from_utf8(text).unwrap())
}

/// As [`prepared`], for parts given as text and named part 0, part 1 and so on.
#[cfg(test)]
fn prepared_texts(
    prepare: crate::dataset::Prepare,
    texts: &[&str],
) -> Result<String, crate::DatasetError> {
    let parts = texts.iter().enumerate().map(|(i, text)| part(&format!("part {i}"), *text));
    prepared(prepare, parts.collect())
}
