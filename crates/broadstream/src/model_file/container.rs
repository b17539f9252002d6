//! The bytes of a model file: a header of 64 bytes, then the state as [safetensors].
//!
//! | bytes | what |
//! |---:|---|
//! | 8 | `89 42 53 4d 0d 0a 1a 0a`, which no text starts with and copying as text would change |
//! | 4 | the format version |
//! | 4 | zero |
//! | 8 | the number of bytes after the header |
//! | 32 | their SHA-256 digest |
//! | 8 | zero |
//!
//! Numbers are little-endian. The rest is a safetensors file that any reader of that format
//! accepts: arrays of F64 and U64 by name, and everything else as JSON in its metadata, under
//! `state`.
//!
//! [safetensors]: https://docs.rs/safetensors

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    io::{Read, Write},
};

use safetensors::{Dtype, SafeTensors, View};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::ModelFileError;
use crate::state::{FloatBytes, Precision, StateReader, StateWriter};

/// The newest format version that is read. It is written for files in single precision, which
/// programs that know version 1 alone cannot read.
pub(super) const VERSION: u32 = 2;

/// The version of all other files, which older programs can read.
const DOUBLE_PRECISION_VERSION: u32 = 1;

const MAGIC: [u8; 8] = *b"\x89BSM\r\n\x1a\n";

const HEADER: usize = 64;

/// The name in the metadata of all values that are not arrays.
const STATE: &str = "state";

pub(super) fn write(state: StateWriter, to: &mut dyn Write) -> Result<(), ModelFileError> {
    let StateWriter { values, floats, singles, integers, broken, precision } = state;
    if let Some(entry) = broken {
        return Err(ModelFileError::Broken { entry });
    }
    let version = match precision {
        Precision::Double => DOUBLE_PRECISION_VERSION,
        Precision::Single => VERSION,
    };
    let floats = floats.into_iter().map(|(name, values)| (name, Array::floats(values)));
    let singles = singles.into_iter().map(|(name, values)| (name, Array::singles(values)));
    let integers = integers.into_iter().map(|(name, values)| (name, Array::integers(values)));
    let values = HashMap::from([(STATE.to_owned(), Value::Object(values).to_string())]);
    let body = safetensors::serialize(floats.chain(singles).chain(integers), Some(values))
        .map_err(|error| ModelFileError::Malformed(error.to_string()))?;
    let mut header = Vec::with_capacity(HEADER);
    header.extend(MAGIC);
    header.extend(version.to_le_bytes());
    header.extend([0; 4]);
    header.extend((body.len() as u64).to_le_bytes());
    header.extend(Sha256::digest(&body));
    header.resize(HEADER, 0);
    to.write_all(&header).and_then(|()| to.write_all(&body)).map_err(ModelFileError::Write)
}

/// The version of a file and its body, after checking its checksum. Memory grows with the bytes that arrive, not
/// with what the header declares.
pub(super) fn read(from: &mut dyn Read) -> Result<(u32, Vec<u8>), ModelFileError> {
    let mut header = Vec::with_capacity(HEADER);
    from.take(HEADER as u64).read_to_end(&mut header).map_err(ModelFileError::Read)?;
    if header.is_empty() || header.iter().zip(MAGIC).any(|(found, expected)| *found != expected) {
        return Err(ModelFileError::NotAModel);
    }
    let Ok(header) = <[u8; HEADER]>::try_from(header.as_slice()) else {
        return Err(ModelFileError::Truncated {
            expected: HEADER as u64,
            found: header.len() as u64,
        });
    };
    let [_, version, length, ..] = header.as_chunks::<8>().0 else {
        return Err(ModelFileError::NotAModel);
    };
    let ([version, unused], _) = version.as_chunks::<4>() else {
        return Err(ModelFileError::NotAModel);
    };
    let version = u32::from_le_bytes(*version);
    if version > VERSION {
        return Err(ModelFileError::Newer { version, newest: VERSION });
    }
    if version == 0 || *unused != [0; 4] || header[56..] != [0; 8] {
        return Err(ModelFileError::Malformed("its header has unknown entries".to_owned()));
    }
    let expected = u64::from_le_bytes(*length);
    let mut body = Vec::new();
    from.take(expected).read_to_end(&mut body).map_err(ModelFileError::Read)?;
    let found = body.len() as u64;
    if found < expected {
        return Err(ModelFileError::Truncated { expected, found });
    }
    if from.read(&mut [0]).map_err(ModelFileError::Read)? > 0 {
        return Err(ModelFileError::TooLong { expected });
    }
    if Sha256::digest(&body)[..] != header[24..56] {
        return Err(ModelFileError::Checksum);
    }
    Ok((version, body))
}

/// The values and arrays of a body.
pub(super) fn parse(body: &[u8]) -> Result<StateReader<'_>, ModelFileError> {
    let malformed = |error: &dyn ToString| ModelFileError::Malformed(error.to_string());
    let (_, metadata) = SafeTensors::read_metadata(body).map_err(|error| malformed(&error))?;
    let state = metadata.metadata().as_ref().and_then(|values| values.get(STATE));
    let state = state.ok_or_else(|| malformed(&"it contains no state"))?;
    let Value::Object(values) = serde_json::from_str(state).map_err(|error| malformed(&error))?
    else {
        return Err(malformed(&"its state is not an object"));
    };
    let tensors = SafeTensors::deserialize(body).map_err(|error| malformed(&error))?;
    let (mut floats, mut integers) = (BTreeMap::new(), BTreeMap::new());
    for (name, tensor) in tensors.tensors() {
        let bytes = tensor.data();
        match tensor.dtype() {
            Dtype::F64 => {
                floats.insert(name, FloatBytes::Double(bytes.as_chunks().0));
            }
            Dtype::F32 => {
                floats.insert(name, FloatBytes::Single(bytes.as_chunks().0));
            }
            Dtype::U64 => {
                integers.insert(name, bytes.as_chunks().0);
            }
            other => return Err(malformed(&format!("array '{name}' is of type {other:?}"))),
        }
    }
    Ok(StateReader { values, floats, integers })
}

/// An array that is converted to bytes on demand.
struct Array {
    shape: [usize; 1],
    numbers: Numbers,
}

enum Numbers {
    Floats(Vec<f64>),
    Singles(Vec<f32>),
    Integers(Vec<u64>),
}

impl Array {
    fn floats(values: Vec<f64>) -> Self {
        Array { shape: [values.len()], numbers: Numbers::Floats(values) }
    }

    fn singles(values: Vec<f32>) -> Self {
        Array { shape: [values.len()], numbers: Numbers::Singles(values) }
    }

    fn integers(values: Vec<u64>) -> Self {
        Array { shape: [values.len()], numbers: Numbers::Integers(values) }
    }
}

impl View for Array {
    fn dtype(&self) -> Dtype {
        match self.numbers {
            Numbers::Floats(_) => Dtype::F64,
            Numbers::Singles(_) => Dtype::F32,
            Numbers::Integers(_) => Dtype::U64,
        }
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Owned(match &self.numbers {
            Numbers::Floats(values) => values.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Numbers::Singles(values) => values.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Numbers::Integers(values) => values.iter().flat_map(|x| x.to_le_bytes()).collect(),
        })
    }

    fn data_len(&self) -> usize {
        match &self.numbers {
            Numbers::Floats(values) => size_of_val(values.as_slice()),
            Numbers::Singles(values) => size_of_val(values.as_slice()),
            Numbers::Integers(values) => size_of_val(values.as_slice()),
        }
    }
}
