//! A scaling's statistics, saved and restored.

use std::collections::BTreeMap;

use super::{InputScale, LARGEST_OBSERVED, Moments, Scaler};
use crate::{
    data::InputKind,
    error::ModelFileError,
    preprocessing::quantiles::Quantiles,
    state::{ReadScope, WriteScope},
};

impl Scaler {
    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        to.value("until_frozen", self.until_frozen);
        to.integer("observed", self.observed);
        to.float("observed_weight", self.observed_weight);
        let (mut moments, mut ranges) = (Vec::new(), Vec::new());
        for input in &self.inputs {
            match *input {
                InputScale::Unscaled | InputScale::Given(_) => {}
                InputScale::Moments(ref known) | InputScale::Robust { moments: ref known, .. } => {
                    moments.extend([known.weight, known.mean, known.variance]);
                }
                InputScale::Range { min, max } => ranges.extend([min, max]),
            }
        }
        to.floats("moments", moments);
        to.any_floats("ranges", ranges);
        let quantiles = self.inputs.iter().filter_map(|input| match input {
            InputScale::Robust { quantiles, .. } => Some(quantiles),
            _ => None,
        });
        Quantiles::save_all(quantiles, &mut to.scope("quantiles"));
        if !self.templates.is_empty() {
            let mut to = to.scope("templates");
            to.texts("names", self.templates.keys().map(String::as_str));
            let templates = Scaler {
                inputs: self.templates.values().cloned().collect(),
                templates: BTreeMap::new(),
                ..self.clone()
            };
            templates.save(&mut to);
        }
    }

    /// Takes over the statistics of the declared inputs.
    pub(crate) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        self.until_frozen = match from.value("until_frozen")?.is_null() {
            true => None,
            false => Some(from.integer("until_frozen")?),
        };
        // Files of earlier versions do not tell these; the next sample then counts as the average.
        if from.has("observed") {
            self.observed = from.integer("observed")?;
            self.observed_weight = from.float("observed_weight", 0.0..=1e30)?;
        }
        let count = |wanted: fn(&InputScale) -> bool| {
            self.inputs.iter().filter(|input| wanted(input)).count()
        };
        let robust = count(|input| matches!(input, InputScale::Robust { .. }));
        let standard = count(|input| matches!(input, InputScale::Moments(_)));
        let moments = from.floats("moments", 3 * (robust + standard))?;
        let (moments, _) = moments.as_chunks::<3>();
        let sound = |moments: &[f64; 3]| {
            let [weight, mean, variance] = *moments;
            weight >= 0.0 && mean.abs() <= LARGEST_OBSERVED && variance >= 0.0
        };
        from.check_each("moments", moments, "weights, means and variances", sound)?;
        let ranges = from.any_floats("ranges")?;
        let range_inputs = count(|input| matches!(input, InputScale::Range { .. }));
        let rule = "a smallest and a largest value for each input";
        from.check("ranges", ranges.len() == 2 * range_inputs, rule)?;
        from.check_each("ranges", &ranges, rule, |bound| !bound.is_nan())?;
        let mut quantiles = Quantiles::restore_all(robust, &from.scope("quantiles")?)?.into_iter();
        let (mut moments, mut ranges) = (moments.iter(), ranges.as_chunks::<2>().0.iter());
        for input in &mut self.inputs {
            match input {
                InputScale::Unscaled | InputScale::Given(_) => {}
                InputScale::Moments(known) => known.take_next(&mut moments),
                InputScale::Robust { moments: known, quantiles: summary } => {
                    known.take_next(&mut moments);
                    *summary = quantiles.next().unwrap_or_default();
                }
                InputScale::Range { min, max } => {
                    [*min, *max] = ranges.next().copied().unwrap_or([*min, *max]);
                }
            }
        }
        self.restore_templates(from)
    }

    fn restore_templates(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        if !from.has("templates") {
            return Ok(());
        }
        let from = from.scope("templates")?;
        from.check("templates", !from.has("templates"), "without templates of its own")?;
        let names = from.texts("names")?;
        let mut templates = Scaler::unfrozen(self.rule.clone(), None);
        for name in &names {
            let declared = templates.declare_input(name, InputKind::Numeric);
            declared.map_err(|error| from.invalid("names", &format!("scaled: {error}")))?;
        }
        templates.restore(&from)?;
        let names = names.into_iter().map(str::to_owned);
        self.templates = names.zip(templates.inputs).collect();
        Ok(())
    }
}

impl Moments {
    fn take_next<'a>(&mut self, saved: &mut impl Iterator<Item = &'a [f64; 3]>) {
        if let Some(&[weight, mean, variance]) = saved.next() {
            *self = Moments { weight, mean, variance };
        }
    }
}
