//! A sample that is kept until its label arrives.

use crate::{data::Sample, error::ModelFileError, preprocessing::ScaledSample};

/// A sample with everything that its features depend on besides the map, which never changes: its
/// raw and scaled values, and the labels before it. The inputs are kept rather than the features
/// because there are fewer of them, and they give the features to the bit.
///
/// [`OnlineBls::prepare`](crate::OnlineBls::prepare) makes it, and
/// [`OnlineBls::learn_prepared`](crate::OnlineBls::learn_prepared) learns it later with the features that it
/// had then. [`to_bytes`](Self::to_bytes) is for programs that wait for labels longer than they live.
#[derive(Clone, Debug, PartialEq)]
pub struct PreparedSample {
    values: Vec<f64>,
    scaled: ScaledSample,
    labels: Vec<usize>,
}

/// The bytes of a sample whose value i belongs to input i, and of one that lists its inputs.
const DENSE: u8 = 0;
const SPARSE: u8 = 1;

impl PreparedSample {
    /// A sample, its scaled values, and the classes of the samples before it.
    pub(super) fn new(x: Sample<'_>, scaled: &[f64], labels: &[usize]) -> Self {
        PreparedSample {
            values: x.values().to_vec(),
            scaled: ScaledSample::new(x, scaled),
            labels: labels.to_vec(),
        }
    }

    /// The inputs with their scaled values.
    pub(crate) fn sample(&self) -> Sample<'_> {
        self.scaled.sample()
    }

    /// The same, to be kept.
    pub(crate) fn scaled(&self) -> &ScaledSample {
        &self.scaled
    }

    /// The values before scaling.
    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    /// The classes of the samples before it, the latest first.
    pub(super) fn labels(&self) -> &Vec<usize> {
        &self.labels
    }

    /// The sample as bytes, which mean the same on every machine. They hold every bit of its numbers.
    ///
    /// ```
    /// use broadstream::{Classifier, InputKind, OnlineBls, OnlineBlsConfig, PreparedSample, Sample};
    ///
    /// let mut model = OnlineBls::new(OnlineBlsConfig::single())?;
    /// model.declare_input("volts", InputKind::Numeric)?;
    /// let prepared = model.prepare(Sample::dense(&[231.5]))?;
    /// assert_eq!(PreparedSample::from_bytes(&prepared.to_bytes())?, prepared);
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        let sample = self.sample();
        let mut bytes = Vec::with_capacity(9 + 20 * self.values.len() + 4 * self.labels.len());
        bytes.push(if sample.inputs().is_some() { SPARSE } else { DENSE });
        bytes.extend((self.values.len() as u32).to_le_bytes());
        bytes.extend((self.labels.len() as u32).to_le_bytes());
        let inputs = sample.inputs().unwrap_or_default();
        bytes.extend(inputs.iter().flat_map(|input| input.to_le_bytes()));
        bytes.extend(self.values.iter().flat_map(|value| value.to_le_bytes()));
        bytes.extend(sample.values().iter().flat_map(|value| value.to_le_bytes()));
        bytes.extend(self.labels.iter().flat_map(|class| (*class as u32).to_le_bytes()));
        bytes
    }

    /// The sample that [`to_bytes`](Self::to_bytes) was called on. Bytes that it cannot have returned are
    /// refused.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelFileError> {
        let malformed = |rule: &str| ModelFileError::Malformed(format!("a prepared sample {rule}"));
        let mut rest = bytes;
        let mut take = |length: usize| {
            let (taken, left) = rest.split_at_checked(length)?;
            rest = left;
            Some(taken)
        };
        let truncated = || malformed("is truncated");
        let kind = take(1).ok_or_else(truncated)?[0];
        let values = word(take(4).ok_or_else(truncated)?) as usize;
        let labels = word(take(4).ok_or_else(truncated)?) as usize;
        let inputs = match kind {
            DENSE => None,
            SPARSE => Some(words(take(4 * values).ok_or_else(truncated)?)),
            _ => return Err(malformed("must begin with 0 or 1")),
        };
        let values = numbers(take(8 * values).ok_or_else(truncated)?);
        let scaled = numbers(take(8 * values.len()).ok_or_else(truncated)?);
        let labels = words(take(4 * labels).ok_or_else(truncated)?);
        if !rest.is_empty() {
            return Err(malformed("is too long"));
        }
        if !values.iter().chain(&scaled).all(|value| value.is_finite()) {
            return Err(malformed("must have finite values"));
        }
        let sample = match &inputs {
            None => Sample::dense(&values),
            Some(inputs) => Sample::sparse(inputs, &values)
                .map_err(|_| malformed("must have increasing inputs"))?,
        };
        let labels: Vec<usize> = labels.into_iter().map(|class| class as usize).collect();
        Ok(PreparedSample::new(sample, &scaled, &labels))
    }
}

/// A little-endian number of up to 4 bytes.
fn word(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(word).collect()
}

fn numbers(bytes: &[u8]) -> Vec<f64> {
    let (numbers, _) = bytes.as_chunks();
    numbers.iter().map(|number| f64::from_le_bytes(*number)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_what_is_read_and_nothing_else_is() {
        let (values, scaled) = ([-0.0, 1e-300, 7.25], [0.1 + 0.2, f64::MIN_POSITIVE, -1.0]);
        for x in [
            Sample::dense(&values),
            Sample::sparse(&[0, 4, 900], &values).unwrap(),
            Sample::sparse(&[], &[]).unwrap(),
        ] {
            let prepared = PreparedSample::new(x, &scaled[..x.len()], &[3, 0]);
            let bytes = prepared.to_bytes();
            let read = PreparedSample::from_bytes(&bytes).unwrap();
            assert_eq!((&read, read.to_bytes()), (&prepared, bytes.clone()));
            for end in 0..bytes.len() {
                assert!(PreparedSample::from_bytes(&bytes[..end]).is_err(), "{end} bytes");
            }
            assert!(PreparedSample::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
        }
        let sparse = Sample::sparse(&[1, 2], &[1.0, 2.0]).unwrap();
        let good = PreparedSample::new(sparse, &[1.0, 2.0], &[]).to_bytes();
        for (at, byte, rule) in [(0, 2, "0 or 1"), (9, 5, "increasing"), (24, 0x7f, "finite")] {
            let mut bad = good.clone();
            bad[at] = byte;
            if rule == "finite" {
                bad[at - 1] = 0xf0;
            }
            let refused = PreparedSample::from_bytes(&bad).unwrap_err().to_string();
            assert!(refused.contains(rule), "{rule}: {refused}");
        }
        // A claim of 4 billion values must not be believed before they are there.
        assert!(PreparedSample::from_bytes(&[0, 255, 255, 255, 255, 0, 0, 0, 0]).is_err());
    }
}
