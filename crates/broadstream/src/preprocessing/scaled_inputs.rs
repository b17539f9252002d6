//! The inputs of a model by name, with their scaling.

use std::collections::HashMap;

use crate::{
    data::{Columns, Input, InputKind, Sample},
    error::Error,
    preprocessing::scaling::{LARGEST_SCALED, Scaler, Scaling},
    state::{ReadScope, WriteScope},
};

/// Named inputs that are scaled before a model sees them.
#[derive(Clone, Debug)]
pub(crate) struct ScaledInputs {
    inputs: Vec<Input>,
    /// The position of each input by its name.
    positions: HashMap<String, usize>,
    columns: Columns,
    scaler: Scaler,
    /// The largest size of each input after scaling, in the samples learned so far.
    sizes: Vec<f64>,
}

impl ScaledInputs {
    pub(crate) fn new(scaling: Scaling, freeze_after: Option<u64>) -> Result<Self, Error> {
        let scaler = Scaler::new(scaling, freeze_after)?;
        let (inputs, positions, sizes) = (Vec::new(), HashMap::new(), Vec::new());
        Ok(ScaledInputs { inputs, positions, columns: Columns::default(), scaler, sizes })
    }

    /// The number of declared inputs.
    pub(crate) fn len(&self) -> usize {
        self.inputs.len()
    }

    /// The inputs in the order of their declaration.
    pub(crate) fn declared(&self) -> &[Input] {
        &self.inputs
    }

    /// The column of each input.
    pub(crate) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The position of an input.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }

    /// Whether the scaling of a value never changes any more.
    pub(crate) fn is_frozen(&self) -> bool {
        self.scaler.is_frozen()
    }

    /// Scales inputs, none of which may be declared yet, as `other` scales them now, and freezes
    /// that.
    pub(crate) fn take_scaling(&mut self, other: &ScaledInputs) {
        let names = other.inputs.iter().map(|input| input.name.as_str());
        self.scaler.take_templates(names, &other.scaler);
    }

    /// Checks that inputs of the same name have the same kind and the same scaling.
    pub(crate) fn check_mergeable(&self, other: &ScaledInputs) -> Result<(), Error> {
        for (theirs, input) in other.inputs.iter().enumerate() {
            let Some(own) = self.position(&input.name) else { continue };
            let what = if self.inputs[own].kind != input.kind {
                "kind of an input"
            } else if !self.scaler.agrees(own, &other.scaler, theirs) {
                "scaling"
            } else {
                continue;
            };
            let [own, other] = [(self, own), (other, theirs)].map(|(inputs, position)| {
                let Input { name, kind } = &inputs.inputs[position];
                format!("{} for '{name}' ({kind:?})", inputs.scaler.describe(position))
            });
            return Err(Error::Unlike { what, own, other });
        }
        Ok(())
    }

    /// Declares an input of another model with the scaling that it has there.
    pub(crate) fn declare_like(
        &mut self,
        other: &ScaledInputs,
        position: usize,
    ) -> Result<(), Error> {
        let Input { name, kind } = &other.inputs[position];
        self.check_new(name)?;
        self.scaler.declare_like(name, &other.scaler, position);
        self.push(Input { name: name.clone(), kind: *kind });
        Ok(())
    }

    /// The rule by which inputs are scaled.
    pub(crate) fn rule(&self) -> &Scaling {
        self.scaler.rule()
    }

    /// Checks that no input has that name.
    pub(crate) fn check_new(&self, name: &str) -> Result<(), Error> {
        if self.positions.contains_key(name) {
            return Err(Error::DuplicateInput { name: name.to_owned() });
        }
        Ok(())
    }

    pub(crate) fn declare(&mut self, name: &str, kind: InputKind) -> Result<(), Error> {
        self.check_new(name)?;
        self.scaler.declare_input(name, kind)?;
        self.push(Input { name: name.to_owned(), kind });
        Ok(())
    }

    /// Adds an input whose scaling is declared.
    fn push(&mut self, input: Input) {
        self.positions.insert(input.name.clone(), self.inputs.len());
        self.columns.push(&input);
        self.inputs.push(input);
        self.sizes.push(0.0);
    }

    /// Removes the last input, which no sample has used.
    pub(crate) fn withdraw_last(&mut self) {
        if let Some(input) = self.inputs.pop() {
            self.sizes.pop();
            self.columns.pop();
            self.positions.remove(&input.name);
            self.scaler.withdraw_input(&input.name);
        }
    }

    /// Updates the scaling with a sample that is not learned.
    pub(crate) fn show(&mut self, x: Sample<'_>, weight: f64) {
        self.scaler.show(x, weight);
    }

    /// Freezes the scaling.
    pub(crate) fn freeze(&mut self) {
        self.scaler.freeze();
    }

    /// Checks that a sample's values are finite, declared and not too large after scaling.
    pub(crate) fn check(&self, x: Sample<'_>) -> Result<(), Error> {
        x.check(self.len())?;
        self.check_size(x)
    }

    /// Checks that a sample of declared inputs is not too large after scaling.
    pub(crate) fn check_size(&self, x: Sample<'_>) -> Result<(), Error> {
        let Some((position, value)) = self.scaler.find_too_large(x) else { return Ok(()) };
        let input = self.inputs[position].name.clone();
        Err(Error::InputTooLarge { input, value, limit: LARGEST_SCALED })
    }

    /// Appends the scaled values of a sample to `scaled`.
    pub(crate) fn transform(&self, x: Sample<'_>, scaled: &mut Vec<f64>) {
        self.scaler.transform(x, scaled);
    }

    /// Updates the scaling with a learned sample.
    pub(crate) fn observe(&mut self, x: Sample<'_>, weight: f64) {
        self.scaler.observe(x, weight);
    }

    /// Records the scaled values of a learned sample.
    pub(crate) fn observe_sizes(&mut self, x: Sample<'_>, scaled: &[f64]) {
        for ((input, _), value) in x.iter().zip(scaled) {
            self.sizes[input] = self.sizes[input].max(value.abs());
        }
    }

    /// Takes over the sizes of inputs that another model has learned.
    pub(crate) fn merge_sizes(&mut self, other: &ScaledInputs) {
        for (input, size) in other.inputs.iter().zip(&other.sizes) {
            if let Some(position) = self.position(&input.name) {
                self.sizes[position] = self.sizes[position].max(*size);
            }
        }
    }

    /// Each input's name and its largest size after scaling.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = (&str, f64)> {
        self.inputs.iter().map(|input| input.name.as_str()).zip(self.sizes.iter().copied())
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        to.texts("names", self.inputs.iter().map(|input| input.name.as_str()));
        let indicators = self.inputs.iter().enumerate();
        let indicators = indicators.filter(|(_, input)| input.kind == InputKind::Indicator);
        to.integers("indicators", indicators.map(|(position, _)| position as u64).collect());
        to.floats("sizes", self.sizes.clone());
        self.scaler.save(&mut to.scope("scaling"));
    }

    /// Declares the saved inputs and takes over their scaling.
    pub(crate) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), Error> {
        let names = from.texts("names")?;
        let mut kinds = vec![InputKind::Numeric; names.len()];
        for position in from.any_integers("indicators")? {
            let kind = usize::try_from(position).ok().and_then(|position| kinds.get_mut(position));
            let rule = "positions among the inputs";
            *kind.ok_or_else(|| from.invalid("indicators", rule))? = InputKind::Indicator;
        }
        for (name, kind) in names.iter().zip(kinds) {
            self.declare(name, kind)?;
        }
        // Files of earlier versions do not tell the sizes.
        if from.length("sizes") > 0 {
            self.sizes = from.floats("sizes", names.len())?;
        }
        Ok(self.scaler.restore(&from.scope("scaling")?)?)
    }
}
