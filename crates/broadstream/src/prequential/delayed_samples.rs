//! Samples that were predicted and whose labels have not arrived yet.

use crate::{
    data::{Block, Sample, check_class},
    error::{Error, ModelFileError},
    state::{ReadScope, WriteScope},
};

/// A queue of samples, the oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct DelayedSamples {
    samples: Block,
    /// How many of the first samples have left the queue already.
    left: usize,
}

impl DelayedSamples {
    pub(super) fn len(&self) -> usize {
        self.samples.len() - self.left
    }

    /// Appends a sample.
    pub(super) fn push(&mut self, x: Sample<'_>, class: usize, weight: f64) -> Result<(), Error> {
        self.samples.push(x, class, weight)
    }

    /// The sample that has waited longest, with its class and weight.
    pub(super) fn oldest(&self) -> Option<(Sample<'_>, usize, f64)> {
        self.iter().next()
    }

    /// Removes the oldest sample.
    pub(super) fn drop_oldest(&mut self) -> Result<(), Error> {
        self.left = self.samples.len().min(self.left + 1);
        // A block cannot drop its first samples, so they stay until they outnumber those that wait.
        // Copying the latter then costs no more than adding them did.
        if self.left > self.len() {
            let mut samples = Block::new();
            for (x, class, weight) in self.iter() {
                samples.push(x, class, weight)?;
            }
            (self.samples, self.left) = (samples, 0);
        }
        Ok(())
    }

    fn iter(&self) -> impl Iterator<Item = (Sample<'_>, usize, f64)> {
        let DelayedSamples { samples, left } = self;
        (*left..samples.len()).map(|i| (samples.sample(i), samples.class(i), samples.weight(i)))
    }

    pub(super) fn save(&self, to: &mut WriteScope<'_>) {
        to.integers("lengths", self.iter().map(|(x, ..)| x.len() as u64).collect());
        to.floats("values", self.iter().flat_map(|(x, ..)| x.values()).copied().collect());
        // Dense samples list no inputs.
        let inputs = self.iter().flat_map(|(x, ..)| x.inputs().unwrap_or_default());
        to.integers("inputs", inputs.map(|input| u64::from(*input)).collect());
        to.integers("classes", self.iter().map(|(_, class, _)| class as u64).collect());
        to.floats("weights", self.iter().map(|(.., weight)| weight).collect());
    }

    /// Restores `length` samples for a model with this many inputs and classes.
    pub(super) fn restore(
        &mut self,
        from: &ReadScope<'_>,
        length: u64,
        inputs: usize,
        mut classes: usize,
    ) -> Result<(), ModelFileError> {
        let lengths = from.any_integers("lengths")?;
        let all = lengths.len() as u64 == length;
        from.check("lengths", all, &format!("{length}, the number of delayed samples"))?;
        let sum = lengths.iter().try_fold(0_usize, |sum, length| {
            usize::try_from(*length).ok().and_then(|length| sum.checked_add(length))
        });
        let sum = sum.ok_or_else(|| from.invalid("lengths", "numbers of inputs"))?;
        let values = from.floats("values", sum)?;
        let present = from.any_integers("inputs")?;
        let sound = |input: &u64| *input < inputs.min(u32::MAX as usize) as u64;
        from.check_each("inputs", &present, &format!("below {inputs}"), sound)?;
        let present: Vec<u32> = present.into_iter().map(|input| input as u32).collect();
        from.check("inputs", [0, sum].contains(&present.len()), "none or one for each value")?;
        let labels = from.integers("classes", lengths.len(), u64::from(u32::MAX))?;
        let weights = from.floats("weights", lengths.len())?;
        let (mut samples, mut start) = (Block::new(), 0);
        for (i, length) in lengths.iter().enumerate() {
            let range = start..start + *length as usize;
            start = range.end;
            let x = match present.get(range.clone()) {
                Some(inputs) if !present.is_empty() => Sample::sparse(inputs, &values[range]),
                _ => Ok(Sample::dense(&values[range])),
            };
            let class = labels[i] as usize;
            x.and_then(|x| {
                x.check_declared(inputs)?;
                classes = check_class(class, classes)?;
                samples.push(x, class, weights[i])
            })
            .map_err(|error| from.invalid("values", &format!("sound samples: {error}")))?;
        }
        (self.samples, self.left) = (samples, 0);
        Ok(())
    }
}
