//! A sample's inputs after scaling, as the feature map receives them.
//!
//! The random map never changes, so these few numbers are enough to compute a sample's features
//! again at any time, to the bit, whatever the scaling has learned since.

use crate::{
    data::Sample,
    error::ModelFileError,
    state::{ReadScope, WriteScope},
};

/// The inputs of one sample after scaling.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ScaledSample {
    /// `None` when value i belongs to input i.
    inputs: Option<Vec<u32>>,
    values: Vec<f64>,
    /// The [code] of each value before scaling.
    codes: Vec<i8>,
}

/// What a value is as a code if it is none.
pub(crate) const NO_CODE: i8 = i8::MIN;

/// A value as a code, if it is a small whole number.
pub(crate) fn code(value: f64) -> i8 {
    let code = value as i8;
    if f64::from(code) == value { code } else { NO_CODE }
}

impl ScaledSample {
    /// A sample whose values are already scaled.
    pub(crate) fn new(x: Sample<'_>, scaled: &[f64]) -> Self {
        // One form for one sample, whatever block it came in: its size decides how long it is kept.
        let listed = x.inputs().filter(|_| !x.is_dense());
        ScaledSample {
            inputs: listed.map(<[u32]>::to_vec),
            values: scaled.to_vec(),
            codes: x.values().iter().map(|value| code(*value)).collect(),
        }
    }

    /// The code of each value before scaling.
    pub(crate) fn codes(&self) -> &[i8] {
        &self.codes
    }

    /// The inputs with their scaled values.
    pub(crate) fn sample(&self) -> Sample<'_> {
        match &self.inputs {
            Some(inputs) => Sample::sparse_unchecked(inputs, &self.values),
            None => Sample::dense(&self.values),
        }
    }

    /// Saves several samples together, since each is small.
    pub(crate) fn save_all<'a>(
        samples: impl Iterator<Item = &'a ScaledSample> + Clone,
        to: &mut WriteScope<'_>,
    ) {
        // Twice the length, plus one if the inputs are listed.
        let lengths = samples
            .clone()
            .map(|sample| 2 * sample.values.len() as u64 + u64::from(sample.inputs.is_some()));
        to.integers("lengths", lengths.collect());
        let inputs = samples.clone().flat_map(|sample| sample.inputs.iter().flatten());
        to.integers("inputs", inputs.map(|input| u64::from(*input)).collect());
        to.floats("values", samples.clone().flat_map(|sample| &sample.values).copied().collect());
        // Eight codes in a number.
        let codes: Vec<u8> =
            samples.flat_map(|sample| &sample.codes).map(|code| *code as u8).collect();
        if codes.iter().any(|code| *code != NO_CODE as u8) {
            let packed = codes.chunks(8).map(|eight| {
                let mut bytes = [0; 8];
                bytes[..eight.len()].copy_from_slice(eight);
                u64::from_le_bytes(bytes)
            });
            to.integers("codes", packed.collect());
        }
    }

    /// Restores the samples of a model with `inputs` declared inputs.
    pub(crate) fn restore_all(
        from: &ReadScope<'_>,
        inputs: usize,
    ) -> Result<Vec<Self>, ModelFileError> {
        let lengths = from.any_integers("lengths")?;
        let rule = "at most as many values as there are inputs";
        from.check_each("lengths", &lengths, rule, |length| length / 2 <= inputs as u64)?;
        let all = lengths.iter().fold(0_u64, |sum, length| sum.saturating_add(length / 2));
        let values = from.floats("values", usize::try_from(all).unwrap_or(usize::MAX))?;
        let listed = from.any_integers("inputs")?;
        // If no value is a code, or the file was written before codes were kept, there are none.
        let mut codes = vec![NO_CODE; values.len()];
        if let packed @ [_, ..] = from.optional_integers("codes").as_slice() {
            from.check("codes", packed.len() == values.len().div_ceil(8), "a code for each value")?;
            let bytes = packed.iter().flat_map(|eight| eight.to_le_bytes());
            codes.iter_mut().zip(bytes).for_each(|(code, byte)| *code = byte as i8);
        }
        let (mut values, mut listed) = (values.as_slice(), listed.as_slice());
        let mut codes = codes.as_slice();
        let mut samples = Vec::with_capacity(lengths.len());
        for length in lengths {
            let count = (length / 2) as usize;
            let own;
            (own, values) = values.split_at(count);
            let own_codes;
            (own_codes, codes) = codes.split_at(count);
            let mut positions = None;
            if length % 2 == 1 {
                let rule = "increasing positions of inputs";
                let (own, rest) =
                    listed.split_at_checked(count).ok_or_else(|| from.invalid("inputs", rule))?;
                let rising = own.is_sorted_by(|a, b| a < b);
                from.check("inputs", rising && own.iter().all(|i| *i < inputs as u64), rule)?;
                listed = rest;
                positions = Some(own.iter().map(|input| *input as u32).collect());
            }
            let (values, codes) = (own.to_vec(), own_codes.to_vec());
            samples.push(ScaledSample { inputs: positions, values, codes });
        }
        Ok(samples)
    }
}
