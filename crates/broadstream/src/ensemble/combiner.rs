//! Combines the members' predictions into one.
//!
//! The members are the nested models of all regressions. Their scores are averaged, weighted by
//! recent error ([`ErrorWeightedAverage`]). With stacking, such an average, in which the last labels
//! count as predictions too, is only the starting point of a regression on the members' sharpened
//! probabilities, the average itself and the last labels ([`Stacking`]), whose scores are calibrated, first by a temperature ([`Temperature`]) and then
//! class by class ([`ClassCalibration`]). A temperature
//! per member was rejected: it was better on two streams of eight and worse on others, and costs a
//! logarithm per member and class.
//!
//! On streams that need few features this takes a good part of the time, so all of it is compiled for
//! the processor's instruction set, with the same bits.

#![allow(clippy::inline_always)]

use super::{
    class_calibration::{Calibrated, ClassCalibration},
    error_weighted_average::{ErrorWeightedAverage, weigh},
    stacking::Stacking,
    temperature::{Temperature, Tempered},
};
use crate::{
    config::OnlineBlsConfig,
    error::{Error, ModelFileError},
    features::RecentLabels,
    numeric::{InstructionSet, probability},
    state::{ReadScope, WriteScope},
};

/// Combines the members' predictions.
#[derive(Clone, Debug)]
pub(crate) struct Combiner {
    average: ErrorWeightedAverage,
    stacked: Option<Stacked>,
    instructions: InstructionSet,
}

#[derive(Clone, Debug)]
struct Stacked {
    stacking: Stacking,
    temperature: Temperature,
    calibration: ClassCalibration,
    labels: RecentLabels,
    /// The recent losses of the last labels as predictions.
    label_losses: ErrorWeightedAverage,
}

/// The combined prediction for one sample, and what is needed to learn from it.
#[derive(Default)]
pub(crate) struct Prediction {
    /// A score for each known class.
    pub(crate) scores: Vec<f64>,
    /// The scores that the probabilities are made of, which have no bounds.
    raw: Vec<f64>,
    /// The input of the stacking.
    stacking_inputs: Vec<f64>,
    /// What the temperature makes of its output, and the calibration of that.
    tempered: Tempered,
    calibrated: Calibrated,
}

impl Prediction {
    /// The score of each known class before it becomes a probability: of all of them, those too of which
    /// nothing is remembered.
    pub(crate) fn raw_scores(&self) -> &[f64] {
        &self.raw
    }
}

impl Combiner {
    pub(crate) fn new(members: usize, config: &OnlineBlsConfig) -> Self {
        let average = ErrorWeightedAverage::new(members);
        let label_losses = ErrorWeightedAverage::new(config.label_lags);
        let stacked = config.stacking.then(|| Stacked {
            stacking: Stacking::new(prior(&average, &label_losses)),
            temperature: Temperature::new(),
            calibration: ClassCalibration::new(),
            labels: RecentLabels::new(config.label_lags),
            label_losses,
        });
        Combiner { average, stacked, instructions: InstructionSet::detect() }
    }

    /// The weights of the members in the average, which sum to 1.
    pub(crate) fn weights(&self) -> &[f64] {
        self.average.weights()
    }

    /// The number of members.
    pub(crate) fn members(&self) -> usize {
        self.average.members()
    }

    /// Replaces the members: member i is or resembles the earlier member `sources[i]`, and has the
    /// recent loss `losses[i]`.
    pub(crate) fn reshape(&mut self, sources: &[usize], losses: Vec<f64>) -> Result<(), Error> {
        let before = self.average.members();
        self.average.reshape(losses);
        if let Some(Stacked { stacking, labels, .. }) = &mut self.stacked {
            // The average and the labels come after the members.
            let others = before..before + 1 + labels.lags();
            stacking.reshape(&sources.iter().copied().chain(others).collect::<Vec<usize>>())?;
        }
        Ok(())
    }

    /// The mean squared error of the stacking over recent samples without some of the members.
    pub(crate) fn loss_without(&self, gone: &[usize]) -> Result<f64, Error> {
        let Some(Stacked { stacking, label_losses, .. }) = &self.stacked else { return Ok(0.0) };
        let prior = prior(&self.average, label_losses);
        let stays: Vec<usize> = (0..prior.len()).filter(|i| !gone.contains(i)).collect();
        stacking.loss_with(&stays, &prior)
    }

    /// By how much a member reduces that error by chance.
    pub(crate) fn noise(&self, loss: f64) -> f64 {
        self.stacked.as_ref().map_or(0.0, |stacked| stacked.stacking.noise(loss))
    }

    /// A member's recent loss.
    pub(crate) fn recent_loss(&self, member: usize) -> f64 {
        self.average.loss(member)
    }

    /// Combines the members' scores of a sample: one row of `classes` scores per member, of which
    /// the first `known` belong to classes that were seen before.
    pub(crate) fn predict(&self, scores: &[f64], classes: usize, known: usize) -> Prediction {
        self.instructions.run(
            #[inline(always)]
            || self.combine(scores, classes, known),
        )
    }

    #[inline(always)]
    fn combine(&self, scores: &[f64], classes: usize, known: usize) -> Prediction {
        let Some(Stacked { stacking, temperature, calibration, labels, .. }) = &self.stacked else {
            let mut scores = self.average.combine(scores, classes);
            scores.truncate(known);
            return Prediction { raw: scores.clone(), scores, ..Prediction::default() };
        };
        if known == 0 {
            return Prediction::default();
        }
        // With room for the members, the average, the labels, and for sorting scores.
        let rows = scores.len() / classes + 2 + labels.lags();
        let mut stacking_inputs = Vec::with_capacity(rows * known);
        for row in scores.chunks_exact(classes) {
            let own = stacking_inputs.len();
            probability::append_from_scores(&row[..known], &mut stacking_inputs);
            sharpen(&mut stacking_inputs[own..]);
        }
        let average = self.average.combine(scores, classes);
        probability::append_from_scores(&average[..known], &mut stacking_inputs);
        labels.append_to(&mut stacking_inputs, known);
        let raw = stacking.scores(&stacking_inputs, known);
        let uncalibrated = probability::from_scores(&raw);
        let tempered = temperature.apply(&uncalibrated);
        let mut calibrated = calibration.apply(&tempered.probabilities);
        let scores = std::mem::take(&mut calibrated.probabilities);
        Prediction { scores, raw, stacking_inputs, tempered, calibrated }
    }

    /// Excludes classes of which nothing is remembered, so that a prediction is what it would be if
    /// they had never been seen. If all are excluded, no scores remain.
    pub(crate) fn exclude(&self, prediction: &mut Prediction, classes: &[usize]) {
        let scores = &mut prediction.scores;
        let known = scores.len();
        let excluded = classes.iter().filter(|class| **class < known);
        if excluded.clone().count() == known {
            scores.clear();
            return;
        }
        let least = if self.stacked.is_some() { 0.0 } else { f64::NEG_INFINITY };
        excluded.for_each(|class| scores[*class] = least);
        if self.stacked.is_some() {
            let sum: f64 = scores.iter().sum();
            scores.iter_mut().for_each(|score| *score /= sum);
        }
    }

    /// Learns that a predicted sample was of that class, and returns each member's squared error.
    pub(crate) fn observe(
        &mut self,
        prediction: &Prediction,
        scores: &[f64],
        classes: usize,
        class: usize,
        weight: f64,
    ) -> Result<Vec<f64>, Error> {
        self.instructions.run(
            #[inline(always)]
            || self.learn(prediction, scores, classes, class, weight),
        )
    }

    #[inline(always)]
    fn learn(
        &mut self,
        prediction: &Prediction,
        scores: &[f64],
        classes: usize,
        class: usize,
        weight: f64,
    ) -> Result<Vec<f64>, Error> {
        let errors = self.average.observe(scores, classes, class, weight);
        if let Some(Stacked { stacking, temperature, calibration, labels, label_losses }) =
            &mut self.stacked
        {
            let Prediction { stacking_inputs, tempered, calibrated, .. } = prediction;
            let known = tempered.probabilities.len();
            if known > 0 {
                let own = stacking_inputs.len() - labels.lags() * known;
                label_losses.observe(&stacking_inputs[own..], known, class, weight);
            }
            let prior = prior(&self.average, label_losses);
            stacking.observe(stacking_inputs, known, class, weight, &prior)?;
            if class < known {
                temperature.observe(tempered, class, weight);
                calibration.observe(calibrated, class, weight);
            }
            labels.push(class);
        }
        Ok(errors)
    }

    /// Adds the losses of members that learned other samples.
    pub(crate) fn merge(&mut self, other: &Combiner) {
        self.average.merge(&other.average);
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        self.average.save(&mut to.scope("average"));
        if let Some(Stacked { stacking, temperature, calibration, labels, label_losses }) =
            &self.stacked
        {
            label_losses.save(&mut to.scope("label_losses"));
            stacking.save(&mut to.scope("stacking"));
            temperature.save(&mut to.scope("temperature"));
            calibration.save(&mut to.scope("calibration"));
            labels.save(&mut to.scope("labels"));
        }
    }

    /// Takes over the saved state of a model with `classes` known classes.
    pub(crate) fn restore(
        &mut self,
        from: &ReadScope<'_>,
        classes: usize,
    ) -> Result<(), ModelFileError> {
        self.average.restore(&from.scope("average")?)?;
        if let Some(Stacked { stacking, temperature, calibration, labels, label_losses }) =
            &mut self.stacked
        {
            // Earlier files lack them.
            match from.has("label_losses") {
                true => label_losses.restore(&from.scope("label_losses")?)?,
                false => label_losses.distrust(),
            }
            stacking.restore(&from.scope("stacking")?)?;
            temperature.restore(&from.scope("temperature")?)?;
            // Earlier files lack it.
            if from.has("calibration") {
                calibration.restore(&from.scope("calibration")?, classes)?;
            }
            labels.restore(&from.scope("labels")?, classes)?;
        }
        Ok(())
    }

    /// Turns scores into probabilities.
    pub(crate) fn probabilities(&self, scores: &[f64]) -> Vec<f64> {
        match self.stacked {
            Some(_) => scores.to_vec(),
            None => probability::from_scores(scores),
        }
    }
}

/// The weights that stacking starts from: those of an average of the members and the last labels, by
/// recent error, and 0 for the average itself, which is included so that some of the sharpening can be
/// undone. Where labels persist for hundreds of samples, the last label is hard to beat, and without a
/// weight from the beginning each of the first changes would cost a few samples more.
#[inline(always)]
fn prior(average: &ErrorWeightedAverage, labels: &ErrorWeightedAverage) -> Vec<f64> {
    let losses: Vec<f64> = average.losses().iter().chain(labels.losses()).copied().collect();
    let mut weights = Vec::with_capacity(losses.len() + 1);
    weigh(&losses, &mut weights);
    weights.insert(average.members(), 0.0);
    weights
}

/// The squares of probabilities, divided by their sum. A regression on indicators is underconfident
/// when there are many classes, and a weighted sum of such predictions would be too.
#[inline(always)]
fn sharpen(probabilities: &mut [f64]) {
    probabilities.iter_mut().for_each(|p| *p *= *p);
    let sum: f64 = probabilities.iter().sum();
    probabilities.iter_mut().for_each(|p| *p /= sum);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_labels_persist_the_last_label_is_trusted_before_anything_else_is_known() {
        let mut combiner = Combiner::new(2, &OnlineBlsConfig::default());
        let mut errors = 0;
        // Two members that know nothing, and labels that change every hundred samples.
        let scores = [0.5, 0.5, 0.6, 0.4];
        for t in 0..1000 {
            let (known, class) = ((t > 0) as usize + (t > 100) as usize, t / 100 % 2);
            let prediction = combiner.predict(&scores, 2, known);
            let best = (0..prediction.scores.len())
                .max_by(|a, b| prediction.scores[*a].total_cmp(&prediction.scores[*b]));
            errors += u32::from(t > 0 && best != Some(class));
            combiner.observe(&prediction, &scores, 2, class, 1.0).unwrap();
        }
        assert_eq!(errors, 9, "one for each change");
    }
}
