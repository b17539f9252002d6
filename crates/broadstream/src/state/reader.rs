//! Reading state.

use std::{collections::BTreeMap, ops::RangeInclusive};

use serde_json::{Map, Value};

use super::SEPARATOR;
use crate::error::ModelFileError;

/// Everything that was read. Arrays are the bytes of a file, as they lie there.
#[derive(Debug)]
pub(crate) struct StateReader<'a> {
    pub(crate) values: Map<String, Value>,
    pub(crate) floats: BTreeMap<String, FloatBytes<'a>>,
    pub(crate) integers: BTreeMap<String, &'a [[u8; 8]]>,
}

/// The bytes of an array of numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FloatBytes<'a> {
    Double(&'a [[u8; 8]]),
    /// Numbers that were rounded.
    Single(&'a [[u8; 4]]),
}

impl FloatBytes<'_> {
    fn len(self) -> usize {
        match self {
            FloatBytes::Double(bytes) => bytes.len(),
            FloatBytes::Single(bytes) => bytes.len(),
        }
    }

    fn numbers(self) -> Vec<f64> {
        match self {
            FloatBytes::Double(bytes) => bytes.iter().map(|x| f64::from_le_bytes(*x)).collect(),
            FloatBytes::Single(bytes) => {
                bytes.iter().map(|x| f64::from(f32::from_le_bytes(*x))).collect()
            }
        }
    }
}

impl StateReader<'_> {
    /// The outermost part.
    pub(crate) fn root(&self) -> ReadScope<'_> {
        ReadScope { prefix: String::new(), values: &self.values, state: self }
    }
}

/// A part of the state, to be read.
#[derive(Clone)]
pub(crate) struct ReadScope<'a> {
    prefix: String,
    values: &'a Map<String, Value>,
    state: &'a StateReader<'a>,
}

impl<'a> ReadScope<'a> {
    /// The part of that name within this one.
    pub(crate) fn scope(&self, name: &str) -> Result<ReadScope<'a>, ModelFileError> {
        match self.values.get(name) {
            Some(Value::Object(values)) => {
                let prefix = format!("{}{name}{SEPARATOR}", self.prefix);
                Ok(ReadScope { prefix, values, state: self.state })
            }
            _ => Err(self.invalid(name, "a part of the state")),
        }
    }

    /// Whether there is a value or a part of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    pub(crate) fn value(&self, name: &str) -> Result<&'a Value, ModelFileError> {
        self.values.get(name).ok_or_else(|| self.invalid(name, "present"))
    }

    /// A count that can grow further: no file was ever written after more than 2^60 samples.
    pub(crate) fn integer(&self, name: &str) -> Result<u64, ModelFileError> {
        const MOST: u64 = 1 << 60;
        let value = self.value(name)?.as_u64().filter(|value| *value <= MOST);
        value.ok_or_else(|| self.invalid(name, "a whole number from 0 to 2^60"))
    }

    /// A number of things, or a position among them, of at most `most`.
    pub(crate) fn count(&self, name: &str, most: usize) -> Result<usize, ModelFileError> {
        let count = usize::try_from(self.integer(name)?).ok().filter(|count| *count <= most);
        count.ok_or_else(|| self.invalid(name, &format!("at most {most}")))
    }

    pub(crate) fn flag(&self, name: &str) -> Result<bool, ModelFileError> {
        self.value(name)?.as_bool().ok_or_else(|| self.invalid(name, "true or false"))
    }

    /// A finite number within bounds.
    pub(crate) fn float(
        &self,
        name: &str,
        bounds: RangeInclusive<f64>,
    ) -> Result<f64, ModelFileError> {
        let value = self.value(name)?.as_f64().filter(|value| bounds.contains(value));
        let (low, high) = (bounds.start(), bounds.end());
        value.ok_or_else(|| self.invalid(name, &format!("a number from {low:e} to {high:e}")))
    }

    /// The same, or 0 if a file of an earlier version does not tell it.
    pub(crate) fn optional_float(
        &self,
        name: &str,
        bounds: RangeInclusive<f64>,
    ) -> Result<f64, ModelFileError> {
        if self.has(name) { self.float(name, bounds) } else { Ok(0.0) }
    }

    pub(crate) fn text(&self, name: &str) -> Result<&'a str, ModelFileError> {
        self.value(name)?.as_str().ok_or_else(|| self.invalid(name, "a text"))
    }

    pub(crate) fn texts(&self, name: &str) -> Result<Vec<&'a str>, ModelFileError> {
        let texts = self.value(name)?.as_array();
        let texts = texts.and_then(|texts| texts.iter().map(Value::as_str).collect());
        texts.ok_or_else(|| self.invalid(name, "a list of texts"))
    }

    /// An array of `length` finite numbers.
    pub(crate) fn floats(&self, name: &str, length: usize) -> Result<Vec<f64>, ModelFileError> {
        let values = self.any_floats(name)?;
        self.check_length(name, values.len(), length)?;
        self.check_each(name, &values, "finite numbers", |value| value.is_finite())?;
        Ok(values)
    }

    /// An array of any length, in which infinities and NaN are allowed.
    pub(crate) fn any_floats(&self, name: &str) -> Result<Vec<f64>, ModelFileError> {
        let bytes = self.state.floats.get(&format!("{}{name}", self.prefix));
        let bytes = bytes.ok_or_else(|| self.invalid(name, "an array of numbers"))?;
        Ok(bytes.numbers())
    }

    /// An array of `length` whole numbers, each at most `most`.
    pub(crate) fn integers(
        &self,
        name: &str,
        length: usize,
        most: u64,
    ) -> Result<Vec<u64>, ModelFileError> {
        let values = self.any_integers(name)?;
        self.check_length(name, values.len(), length)?;
        self.check_each(name, &values, &format!("at most {most}"), |value| *value <= most)?;
        Ok(values)
    }

    /// An array of whole numbers of any length and size.
    pub(crate) fn any_integers(&self, name: &str) -> Result<Vec<u64>, ModelFileError> {
        let bytes = self.state.integers.get(&format!("{}{name}", self.prefix));
        let bytes = bytes.ok_or_else(|| self.invalid(name, "an array of whole numbers"))?;
        Ok(bytes.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect())
    }

    /// An array of whole numbers, empty if it is missing.
    pub(crate) fn optional_integers(&self, name: &str) -> Vec<u64> {
        self.any_integers(name).unwrap_or_default()
    }

    /// Whether there is an array of numbers of that name.
    pub(crate) fn has_floats(&self, name: &str) -> bool {
        self.state.floats.contains_key(&format!("{}{name}", self.prefix))
    }

    /// The length of an array, without reading it; 0 if it is missing.
    pub(crate) fn length(&self, name: &str) -> usize {
        self.state.floats.get(&format!("{}{name}", self.prefix)).map_or(0, |bytes| bytes.len())
    }

    /// Checks that each entry of an array obeys a rule.
    pub(crate) fn check_each<T>(
        &self,
        name: &str,
        values: &[T],
        rule: &str,
        sound: impl FnMut(&T) -> bool,
    ) -> Result<(), ModelFileError> {
        if values.iter().all(sound) { Ok(()) } else { Err(self.invalid(name, rule)) }
    }

    /// Checks that an entry obeys a rule.
    pub(crate) fn check(&self, name: &str, sound: bool, rule: &str) -> Result<(), ModelFileError> {
        if sound { Ok(()) } else { Err(self.invalid(name, rule)) }
    }

    fn check_length(&self, name: &str, found: usize, length: usize) -> Result<(), ModelFileError> {
        self.check(name, found == length, &format!("an array of {length} numbers, not {found}"))
    }

    /// The error for an entry that breaks its rule.
    pub(crate) fn invalid(&self, name: &str, rule: &str) -> ModelFileError {
        ModelFileError::Invalid { entry: format!("{}{name}", self.prefix), rule: rule.to_owned() }
    }
}
