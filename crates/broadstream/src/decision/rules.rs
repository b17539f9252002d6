//! Decisions for balanced accuracy, F1 and Matthews correlation.
//!
//! Given the probabilities p of a sample's classes and the share πₖ of each class among all
//! samples, every objective decides for
//!
//! ```text
//! arg maxₖ pₖ / πₖᵃ
//! ```
//!
//! and they differ in a. With a = 0 it is the most probable class, which maximises the accuracy.
//! With a = 1 it maximises the mean recall, which is the balanced accuracy: a correct decision for
//! class k then counts 1/πₖ, and pₖ/πₖ is what it is expected to count. In between, a rare class is
//! decided for where it is more probable than its share suggests but less than one half. For two
//! classes this is a threshold on the probability, which falls from ½ at a = 0 to the share of the
//! rarer class at a = 1. The best F1 is reached with a threshold of half the optimal F1 (Lipton,
//! Elkan and Naryanaswamy, ECML 2014), which lies in that range; so does the best threshold for the
//! Matthews correlation of calibrated probabilities.
//!
//! The share of a class is the larger of that among recent samples, whose weights halve every 10 000
//! samples, and that among all. So a class becomes frequent soon where a stream drifts, and does not
//! count as ever rarer while it is away. With recent samples alone, the balanced decisions on a
//! stream whose classes come and go had an accuracy of 41 %.
//!
//! For F1 and Matthews correlation, a runs over the 17 values 0, 1/16, …, 1. Each of these rules
//! decides every sample, and its confusion counts are kept with weights that halve every
//! 10 000 samples. The rule whose counts have the best macro F1 makes the decisions for F1, and the
//! same holds for the Matthews correlation. That needs 36 numbers for each class.
//!
//! # How close it comes to the best rule
//!
//! A sample's predictions depend on the past, but given the past its contribution to any of the
//! counts lies in [0, 1], so the Azuma–Hoeffding inequality applies. Let weights wₜ have the
//! effective sample size n = (Σ wₜ)² / Σ wₜ², which is 28 854 in the long run. With probability 1 − δ,
//! the weighted share of each of the 3c counts (correct, true and decided, of c classes) of all
//! 17 rules differs from its conditional expectation by at most
//!
//! ```text
//! ε = √(ln(102 c / δ) / 2n)
//! ```
//!
//! The F1 of class k is 2·correct / (true + decided), whose denominator is at least the share πₖ, so
//! it is known within 4ε/πₖ, and the macro F1 within the mean of these. The rule that is chosen is
//! therefore worse than the best of the 17 by at most twice that. Counts of samples before a drift
//! lose half of their weight every 10 000 samples, and then the bound holds for what came after it.
//!
//! A gradient rule for macro F1 (which decides for the largest (pⱼ − Fⱼ/2) / (true + decided))
//! and its counterpart for the Matthews correlation were rejected: they were worse than the
//! 17 rules on nearly every stream tried, since their fixed point is reached slowly from below.

use crate::{
    data::{Decisions, arg_max},
    error::ModelFileError,
    numeric::{exp_m1, ln},
    state::{ReadScope, WriteScope},
};

/// The number of rules: a is a multiple of 1/16.
const RULES: usize = 17;

/// By how much a sample weighs more than the one before it: 2^(1/10 000).
const GROWTH: f64 = 1.000_069_317_120_376_5;

/// The number of samples after which the best rules are chosen again.
const REVIEW_EVERY: u64 = 32;

/// Before this many samples, rules are not compared.
const LEAST_SAMPLES: u64 = 100;

/// The weight of a sample above which all weights are divided by it.
const LARGEST_UNIT: f64 = 1e100;

/// The total weight that earlier samples can have in units of the last one: 1 / (1 − 2^(−1/10 000)).
const MEMORY: f64 = 14_427.45;

/// The largest weight of a sample. A larger one would outweigh all others.
const LARGEST_WEIGHT: f64 = 1e6;

/// What each rule decides for a sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleDecisions {
    classes: [Option<usize>; RULES],
}

/// The running counts from which decisions follow.
#[derive(Clone, Debug)]
pub(crate) struct DecisionRules {
    /// The weight of the next sample of weight 1. It grows, which is as if all earlier weights
    /// decayed.
    unit: f64,
    samples: u64,
    /// The weight of the samples of each class.
    truths: Vec<f64>,
    /// The same without decay, in which one sample of weight 1 weighs 1.
    totals: Vec<f64>,
    /// For each class and rule the weight of the samples decided so, and of those correctly.
    decided: Vec<[f64; RULES]>,
    correct: Vec<[f64; RULES]>,
    /// The rules with the best F1 and the best Matthews correlation.
    best: [usize; 2],
}

impl DecisionRules {
    pub(crate) fn new() -> Self {
        DecisionRules {
            unit: 1.0,
            samples: 0,
            truths: Vec::new(),
            totals: Vec::new(),
            decided: Vec::new(),
            correct: Vec::new(),
            best: [0; 2],
        }
    }

    /// What each rule decides for a sample with these scores, which mean these probabilities.
    pub(crate) fn judge(&self, scores: &[f64], probabilities: &[f64]) -> RuleDecisions {
        let mut classes = [None; RULES];
        let mut highest = [f64::NEG_INFINITY; RULES];
        let sums = self.sums();
        for (class, p) in probabilities.iter().enumerate() {
            let step = self.step(class, sums);
            let mut value = *p;
            for (highest, decided) in highest.iter_mut().zip(&mut classes) {
                if value > *highest {
                    (*highest, *decided) = (value, Some(class));
                }
                value *= step;
            }
        }
        // Probabilities may be equal where scores differ.
        classes[0] = arg_max(scores);
        RuleDecisions { classes }
    }

    /// The decisions under all objectives.
    pub(crate) fn decisions(&self, rules: &RuleDecisions) -> Decisions {
        let [f1, mcc] = self.best;
        Decisions::new([0, RULES - 1, f1, mcc].map(|rule| rules.classes[rule]))
    }

    /// The factors by which the probabilities of the classes are multiplied before the largest is
    /// decided for, under all objectives, up to a common factor.
    pub(crate) fn factors(&self, classes: usize) -> [Vec<f64>; 4] {
        let ([f1, mcc], sums) = (self.best, self.sums());
        let factor = |class, rule: usize| self.step(class, sums).powi(rule as i32);
        [0, RULES - 1, f1, mcc].map(|rule| (0..classes).map(|class| factor(class, rule)).collect())
    }

    /// The share of each class among recent samples.
    pub(crate) fn shares(&self, classes: usize) -> Vec<f64> {
        let sum: f64 = self.truths.iter().sum();
        let share = |class| self.truths.get(class).map_or(0.0, |weight| weight / sum.max(1e-300));
        (0..classes).map(share).collect()
    }

    /// The weights of all samples: of recent ones in units of the next sample, and without decay.
    fn sums(&self) -> [f64; 2] {
        [self.truths.iter().sum::<f64>() / self.unit, self.totals.iter().sum()]
    }

    /// πₖ^(−1/16). One sample is added to each class, so that a class seen once does not count as rarer
    /// than it may be.
    fn step(&self, class: usize, sums: [f64; 2]) -> f64 {
        let weight = |weights: &[f64]| weights.get(class).copied().unwrap_or(0.0);
        let recent = (weight(&self.truths) / self.unit + 1.0) / (sums[0] + 1.0);
        let share = recent.max((weight(&self.totals) + 1.0) / (sums[1] + 1.0));
        1.0 + exp_m1(-ln(share) / (RULES - 1) as f64)
    }

    /// Learns that a sample was of that class.
    pub(crate) fn observe(&mut self, rules: &RuleDecisions, class: usize, weight: f64) {
        let decided = rules.classes.iter().flatten().copied().max().unwrap_or(0);
        self.add_classes(self.truths.len().max(class + 1).max(decided + 1));
        let weight = weight.min(LARGEST_WEIGHT);
        self.totals[class] += weight;
        let weight = weight * self.unit;
        self.truths[class] += weight;
        for (rule, decided) in rules.classes.iter().enumerate() {
            let Some(decided) = *decided else { continue };
            self.decided[decided][rule] += weight;
            if decided == class {
                self.correct[class][rule] += weight;
            }
        }
        self.unit *= GROWTH;
        if self.unit > LARGEST_UNIT {
            self.rescale();
        }
        self.samples += 1;
        if self.samples >= LEAST_SAMPLES && self.samples.is_multiple_of(REVIEW_EVERY) {
            self.review();
        }
    }

    /// Adds the counts of a model that learned other samples; `classes[k]` is the number here of
    /// its class k.
    pub(crate) fn merge(&mut self, other: &DecisionRules, classes: &[usize]) {
        let factor = self.unit / other.unit;
        for (k, class) in classes.iter().enumerate().take(other.truths.len()) {
            self.add_classes(self.truths.len().max(class + 1));
            self.truths[*class] += other.truths[k] * factor;
            self.totals[*class] += other.totals[k];
            for rule in 0..RULES {
                self.decided[*class][rule] += other.decided[k][rule] * factor;
                self.correct[*class][rule] += other.correct[k][rule] * factor;
            }
        }
        self.samples += other.samples;
        if self.samples >= LEAST_SAMPLES {
            self.review();
        }
    }

    /// Adds samples that were learned without being predicted: the total weight of each class.
    pub(crate) fn add_totals(&mut self, totals: &[f64], classes: &[usize]) {
        let sum: f64 = totals.iter().sum();
        let factor = self.unit * (MEMORY / sum.max(MEMORY));
        for (total, class) in totals.iter().zip(classes) {
            self.add_classes(self.truths.len().max(class + 1));
            self.truths[*class] += total * factor;
            self.totals[*class] += total;
        }
    }

    fn add_classes(&mut self, classes: usize) {
        self.truths.resize(classes, 0.0);
        self.totals.resize(classes, 0.0);
        self.decided.resize(classes, [0.0; RULES]);
        self.correct.resize(classes, [0.0; RULES]);
    }

    fn rescale(&mut self) {
        let rows = self.decided.iter_mut().chain(&mut self.correct);
        for weight in rows.flatten().chain(&mut self.truths) {
            *weight /= self.unit;
        }
        self.unit = 1.0;
    }

    /// Chooses the best rules. Of equals the one closest to the most probable class wins.
    fn review(&mut self) {
        let best = |score: &dyn Fn(usize) -> f64| {
            arg_max(&(0..RULES).map(score).collect::<Vec<f64>>()).unwrap_or(0)
        };
        self.best = [best(&|rule| self.f1(rule)), best(&|rule| self.mcc(rule))];
    }

    /// The macro F1 of a rule.
    fn f1(&self, rule: usize) -> f64 {
        let classes = self.truths.iter().zip(&self.decided).zip(&self.correct);
        let rows =
            classes.map(|((truth, decided), correct)| (truth + decided[rule], correct[rule]));
        let (mut sum, mut occurring) = (0.0, 0.0f64);
        for (all, correct) in rows.filter(|(all, _)| *all > 0.0) {
            sum += 2.0 * correct / all;
            occurring += 1.0;
        }
        sum / occurring.max(1.0)
    }

    /// The Matthews correlation of a rule.
    fn mcc(&self, rule: usize) -> f64 {
        // Of the samples that were decided at all: the very first is not. Shares instead of
        // weights, whose fourth power could overflow.
        let all: f64 = self.decided.iter().map(|decided| decided[rule]).sum();
        let total: f64 = self.truths.iter().sum();
        if all <= 0.0 || total <= 0.0 {
            return 0.0;
        }
        let (mut agreement, mut by_chance, mut truths, mut decisions) = (0.0, 0.0, 0.0, 0.0);
        for ((truth, decided), correct) in self.truths.iter().zip(&self.decided).zip(&self.correct)
        {
            let (t, d) = (truth / total, decided[rule] / all);
            agreement += correct[rule] / all;
            by_chance += t * d;
            truths += t * t;
            decisions += d * d;
        }
        let room = ((1.0 - truths) * (1.0 - decisions)).max(0.0).sqrt();
        if room < 1e-12 { 0.0 } else { (agreement - by_chance) / room }
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        to.float("unit", self.unit);
        to.integer("samples", self.samples);
        to.integers("best", self.best.map(|rule| rule as u64).to_vec());
        to.floats("truths", self.truths.clone());
        to.floats("totals", self.totals.clone());
        to.floats("decided", self.decided.as_flattened().to_vec());
        to.floats("correct", self.correct.as_flattened().to_vec());
    }

    /// Takes over the saved counts of a model with `classes` classes.
    pub(crate) fn restore(
        &mut self,
        from: &ReadScope<'_>,
        classes: usize,
    ) -> Result<(), ModelFileError> {
        let unit = from.float("unit", 1.0..=LARGEST_UNIT)?;
        let samples = from.integer("samples")?;
        let best = from.integers("best", 2, RULES as u64 - 1)?;
        let truths = from.any_floats("truths")?;
        from.check("truths", truths.len() <= classes, "at most as many as there are classes")?;
        let known = truths.len();
        // In units of the last sample, so that no sum can overflow.
        let most = unit * 1e30;
        let sound = |weight: &f64| (0.0..=most).contains(weight);
        from.check_each("truths", &truths, "weights", sound)?;
        let totals = from.floats("totals", known)?;
        from.check_each("totals", &totals, "weights", |weight| (0.0..=1e100).contains(weight))?;
        let mut tables = [Vec::new(), Vec::new()];
        for (name, table) in ["decided", "correct"].into_iter().zip(&mut tables) {
            let weights = from.floats(name, known * RULES)?;
            from.check_each(name, &weights, "weights", sound)?;
            *table = weights.as_chunks::<RULES>().0.to_vec();
        }
        let [decided, correct] = tables;
        let best = [best[0] as usize, best[1] as usize];
        *self = DecisionRules { unit, samples, truths, totals, decided, correct, best };
        Ok(())
    }
}

#[cfg(test)]
mod tests;
