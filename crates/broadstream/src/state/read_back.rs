//! Reads what was written through bytes and text, as from a file.

use std::collections::BTreeMap;

use super::{FloatBytes, ReadScope, StateReader, StateWriter};

impl StateWriter {
    /// Passes everything that was written to a reader.
    pub(crate) fn read_back<T>(&self, read: impl FnOnce(&ReadScope<'_>) -> T) -> T {
        let text = serde_json::to_string(&self.values).unwrap();
        let floats = as_bytes(&self.floats, |value| value.to_le_bytes());
        let singles = as_bytes(&self.singles, |value| value.to_le_bytes());
        let integers = as_bytes(&self.integers, |value| value.to_le_bytes());
        let reader = StateReader {
            values: serde_json::from_str(&text).unwrap(),
            floats: (floats.iter().map(|(name, bytes)| (name.clone(), FloatBytes::Double(bytes))))
                .chain(
                    singles.iter().map(|(name, bytes)| (name.clone(), FloatBytes::Single(bytes))),
                )
                .collect(),
            integers: integers.iter().map(|(name, bytes)| (name.clone(), &bytes[..])).collect(),
        };
        read(&reader.root())
    }
}

fn as_bytes<T, const SIZE: usize>(
    arrays: &BTreeMap<String, Vec<T>>,
    bytes: impl Fn(&T) -> [u8; SIZE],
) -> BTreeMap<String, Vec<[u8; SIZE]>> {
    let arrays = arrays.iter();
    arrays.map(|(name, values)| (name.clone(), values.iter().map(&bytes).collect())).collect()
}
