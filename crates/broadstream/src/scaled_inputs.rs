//! The inputs of a model by name, and their scaling.

use std::collections::HashMap;

use crate::{
    error::Error,
    sample::Sample,
    scaling::{LARGEST_SCALED, Scaler, Scaling},
    schema::InputKind,
};

/// Named inputs that are scaled before a model sees them.
#[derive(Clone, Debug)]
pub(crate) struct ScaledInputs {
    /// The position of each input by its name.
    names: HashMap<String, usize>,
    scaler: Scaler,
}

impl ScaledInputs {
    pub(crate) fn new(scaling: Scaling, freeze_after: Option<u64>) -> Result<Self, Error> {
        Ok(ScaledInputs { names: HashMap::new(), scaler: Scaler::new(scaling, freeze_after)? })
    }

    /// How many inputs are declared.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// Checks that no input has that name.
    pub(crate) fn check_new(&self, name: &str) -> Result<(), Error> {
        if self.names.contains_key(name) {
            return Err(Error::DuplicateInput { name: name.to_owned() });
        }
        Ok(())
    }

    pub(crate) fn declare(&mut self, name: &str, kind: InputKind) -> Result<(), Error> {
        self.check_new(name)?;
        self.scaler.declare_input(name, kind)?;
        self.names.insert(name.to_owned(), self.names.len());
        Ok(())
    }

    /// Checks that a sample is finite, of declared inputs and not too large.
    pub(crate) fn check(&self, x: Sample<'_>) -> Result<(), Error> {
        x.check(self.len())?;
        self.check_size(x)
    }

    /// Checks that a sample of declared inputs is not too large after scaling.
    pub(crate) fn check_size(&self, x: Sample<'_>) -> Result<(), Error> {
        let Some((position, value)) = self.scaler.find_too_large(x) else { return Ok(()) };
        let input = self.names.iter().find(|(_, at)| **at == position);
        let input = input.map_or_else(|| position.to_string(), |(name, _)| name.clone());
        Err(Error::InputTooLarge { input, value, limit: LARGEST_SCALED })
    }

    /// Appends the scaled values of a sample to `scaled`.
    pub(crate) fn transform(&self, x: Sample<'_>, scaled: &mut Vec<f64>) {
        self.scaler.transform(x, scaled);
    }

    /// Takes a learned sample into account.
    pub(crate) fn observe(&mut self, x: Sample<'_>, weight: f64) {
        self.scaler.observe(x, weight);
    }
}
