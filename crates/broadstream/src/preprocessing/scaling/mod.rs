//! Scales inputs to a common size before the random features see them.
//!
//! A running scaling transforms a sample with the statistics of the samples before it and is
//! updated with it afterwards, so that predicting and learning a sample see the same features. An
//! absent input is 0 after scaling and does not enter the statistics. Indicators are not scaled.

mod state;

use std::collections::BTreeMap;

use crate::{
    data::{Block, InputKind, Sample},
    error::Error,
    preprocessing::quantiles::Quantiles,
    stream::Stream,
};

/// How numeric inputs are scaled.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Scaling {
    /// None: the inputs are of similar size already.
    None,
    /// (x − mean) / standard deviation of the samples so far, clipped to ±`clip`.
    ///
    /// Clipping bounds the effect of a single outlier, or of an input that was constant for long.
    Standard {
        /// The largest magnitude after scaling; 4 by default.
        clip: f64,
    },
    /// The mean of two views of x: its standardised value z, as in [`Standard`](Self::Standard),
    /// and its rank among the samples so far, r = √3 · (2·F(x) − 1), where F(x) is the share of
    /// values below x plus half the share equal to it.
    ///
    /// Both have variance 1 for a continuous input. The rank separates values that an outlier or a
    /// heavy tail would squeeze together, and bounds inputs that are nearly constant, as the pixels
    /// of an image are; z preserves distances. A large outlier still shrinks z for every other
    /// value but leaves the rank unchanged, and so half of the scaled value.
    ///
    /// Ranks come from a summary of up to 1.6 kB per numeric input. They are exact, except for the
    /// last few samples, while an input has at most 64 different values. Otherwise F is mostly
    /// within 0.02 of the exact value after 2 000 samples and within 0.04 before; for two clusters
    /// far apart, errors of 0.03 and 0.06 were observed. A weight counts as that many repetitions,
    /// to the accuracy of the summary.
    ///
    /// ```
    /// use broadstream::{OnlineBls, OnlineBlsConfig, Scaling};
    ///
    /// let config = OnlineBlsConfig { scaling: Scaling::ROBUST, ..Default::default() };
    /// let model = OnlineBls::new(config)?;
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    Robust {
        /// The largest magnitude of z; 4 by default.
        clip: f64,
    },
    /// (x − min) / (max − min) of the samples so far, within \[0, 1\].
    MinMax,
    /// (x − centre) / scale, given for every numeric input by its name.
    Given(BTreeMap<String, Affine>),
}

impl Scaling {
    /// Running standardisation with the default clipping.
    pub const STANDARD: Scaling = Scaling::Standard { clip: 4.0 };

    /// Running standardisation together with ranks, with the default clipping.
    pub const ROBUST: Scaling = Scaling::Robust { clip: 4.0 };

    /// The memory that the statistics of a numeric input take, beyond a few bytes.
    pub(crate) fn bytes_per_input(&self) -> u128 {
        if matches!(self, Scaling::Robust { .. }) { Quantiles::BYTES as u128 } else { 0 }
    }

    /// The min–max scaling of a whole stream, or of its first `limit` samples, as a given scaling,
    /// for use in a second pass over the same stream.
    pub fn fit_min_max(stream: &mut dyn Stream, limit: Option<u64>) -> Result<Self, Error> {
        const BLOCK: u64 = 256;
        let mut ranges = Scaler::new(Scaling::MinMax, None)?;
        let mut left = limit.unwrap_or(u64::MAX);
        let mut block = Block::new();
        loop {
            block.clear();
            let read = stream.read_block(&mut block, left.min(BLOCK) as usize)?;
            for input in &stream.schema().inputs()[ranges.inputs.len()..] {
                ranges.declare_input(&input.name, input.kind)?;
            }
            for i in 0..read {
                ranges.observe(block.sample(i), block.weight(i));
            }
            left -= read as u64;
            if read == 0 || left == 0 {
                break;
            }
        }
        let inputs = stream.schema().inputs().iter().zip(&ranges.inputs);
        let given = inputs.filter_map(|(input, scale)| match *scale {
            InputScale::Range { min, max } if max > min => {
                Some((input.name.clone(), Affine { centre: min, scale: max - min }))
            }
            // Constant, or never present: only the centre matters.
            InputScale::Range { min, .. } => {
                let centre = if min.is_finite() { min } else { 0.0 };
                Some((input.name.clone(), Affine { centre, scale: 1.0 }))
            }
            _ => None,
        });
        Ok(Scaling::Given(given.collect()))
    }
}

/// The scaling (x − centre) / scale of one input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine {
    /// The value that becomes 0.
    pub centre: f64,
    /// The distance from the centre that becomes 1.
    pub scale: f64,
}

/// The largest magnitude that enters a mean or a variance: its square is still far from overflow.
const LARGEST_OBSERVED: f64 = 1e150;

/// The largest magnitude after scaling. Features are linear in it and the factor squares them: with
/// larger values, rounding would lose all other inputs in a sum.
pub(crate) const LARGEST_SCALED: f64 = 1e15;

/// A scaling rule with the statistics that it needs.
#[derive(Clone, Debug)]
pub(crate) struct Scaler {
    rule: Scaling,
    /// The number of samples until the statistics freeze.
    until_frozen: Option<u64>,
    inputs: Vec<InputScale>,
    /// The statistics of inputs that are not declared yet, from another scaler.
    templates: BTreeMap<String, InputScale>,
    /// How many samples were observed, and their total weight.
    observed: u64,
    observed_weight: f64,
}

/// A sample counts at most as much as this many average ones. A single one of enormous weight would
/// otherwise fix the scaling for good.
const LARGEST_SHARE: f64 = 1e3;

/// √3, the largest magnitude of a uniform variable of variance 1.
const ROOT_OF_3: f64 = 1.732_050_807_568_877_2;

/// The statistics of one input.
#[derive(Clone, Debug, PartialEq)]
enum InputScale {
    Unscaled,
    Moments(Moments),
    Robust { moments: Moments, quantiles: Quantiles },
    Range { min: f64, max: f64 },
    Given(Affine),
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Moments {
    weight: f64,
    mean: f64,
    variance: f64,
}

impl Scaler {
    pub(crate) fn new(rule: Scaling, freeze_after: Option<u64>) -> Result<Self, Error> {
        if let Scaling::Standard { clip } | Scaling::Robust { clip } = rule
            && !(clip > 0.0 && clip <= LARGEST_SCALED)
        {
            let value = clip.to_string();
            return Err(Error::Config { option: "clip", rule: "above 0 and at most 1e15", value });
        }
        if let Scaling::Given(affine) = &rule
            && let Some((name, affine)) = affine.iter().find(|(_, affine)| !affine.is_sound())
        {
            return Err(Error::Config {
                option: "scaling",
                rule: "a finite centre and a finite positive scale for each input",
                value: format!("centre {}, scale {} for '{name}'", affine.centre, affine.scale),
            });
        }
        Ok(Scaler::unfrozen(rule, freeze_after))
    }

    /// A scaler without inputs.
    fn unfrozen(rule: Scaling, until_frozen: Option<u64>) -> Self {
        let (inputs, templates) = (Vec::new(), BTreeMap::new());
        Scaler { rule, until_frozen, inputs, templates, observed: 0, observed_weight: 0.0 }
    }

    pub(crate) fn declare_input(&mut self, name: &str, kind: InputKind) -> Result<(), Error> {
        let scale = match (&self.rule, kind) {
            (Scaling::None, _) | (_, InputKind::Indicator) => InputScale::Unscaled,
            (Scaling::Standard { .. }, _) => InputScale::Moments(Moments::default()),
            (Scaling::Robust { .. }, _) => {
                InputScale::Robust { moments: Moments::default(), quantiles: Quantiles::default() }
            }
            (Scaling::MinMax, _) => {
                InputScale::Range { min: f64::INFINITY, max: f64::NEG_INFINITY }
            }
            (Scaling::Given(affine), _) => match affine.get(name) {
                Some(affine) => InputScale::Given(*affine),
                None => {
                    return Err(Error::Config {
                        option: "scaling",
                        rule: "given for every numeric input",
                        value: format!("none for '{name}'"),
                    });
                }
            },
        };
        let template = self.templates.remove(name).filter(|_| kind == InputKind::Numeric);
        let is_running = !matches!(scale, InputScale::Unscaled | InputScale::Given(_));
        if self.until_frozen == Some(0) && is_running && template.is_none() {
            // It would always be 0.
            return Err(Error::Config {
                option: "scaling",
                rule: "frozen only once it has seen every numeric input",
                value: format!("nothing about '{name}'"),
            });
        }
        self.inputs.push(template.unwrap_or(scale));
        Ok(())
    }

    /// Removes the last input, which no sample has used. A template for it is kept in case the
    /// input appears again.
    pub(crate) fn withdraw_input(&mut self, name: &str) {
        let Some(scale) = self.inputs.pop() else { return };
        let is_running = !matches!(scale, InputScale::Unscaled | InputScale::Given(_));
        if self.until_frozen == Some(0) && is_running {
            self.templates.insert(name.to_owned(), scale);
        }
    }

    /// Returns an input whose scaled value would exceed the bound, with that value. Running
    /// scalings bound their values themselves, so learning cannot fail once this check has passed.
    pub(crate) fn find_too_large(&self, x: Sample<'_>) -> Option<(usize, f64)> {
        x.iter().find_map(|(input, x)| {
            let value = match self.inputs[input] {
                InputScale::Unscaled => x,
                InputScale::Given(Affine { centre, scale }) => (x - centre) / scale,
                InputScale::Moments(_) | InputScale::Robust { .. } | InputScale::Range { .. } => {
                    return None;
                }
            };
            (value.is_nan() || value.abs() > LARGEST_SCALED).then_some((input, value))
        })
    }

    /// Appends the scaled values of a sample to `scaled`.
    pub(crate) fn transform(&self, x: Sample<'_>, scaled: &mut Vec<f64>) {
        let clip = match self.rule {
            Scaling::Standard { clip } | Scaling::Robust { clip } => clip,
            _ => LARGEST_SCALED,
        };
        scaled.extend(x.iter().map(|(input, x)| self.inputs[input].transform(x, clip)));
    }

    /// Updates the statistics with a sample.
    pub(crate) fn observe(&mut self, x: Sample<'_>, weight: f64) {
        match &mut self.until_frozen {
            Some(0) => return,
            Some(left) => *left -= 1,
            None => {}
        }
        self.show(x, weight);
    }

    /// As [`observe`](Self::observe), without counting the sample towards freezing.
    pub(crate) fn show(&mut self, x: Sample<'_>, weight: f64) {
        let most = LARGEST_SHARE * (self.observed_weight / self.observed as f64);
        // Before the first sample there is no average, and the limit is NaN.
        let weight = if weight > most { most } else { weight };
        self.observed = self.observed.saturating_add(1);
        self.observed_weight += weight;
        for (input, x) in x.iter() {
            self.inputs[input].observe(x.clamp(-LARGEST_OBSERVED, LARGEST_OBSERVED), weight);
        }
    }

    /// Freezes the statistics.
    pub(crate) fn freeze(&mut self) {
        self.until_frozen = Some(0);
    }

    /// Whether the statistics no longer change, so that equal inputs are always scaled equally.
    pub(crate) fn is_frozen(&self) -> bool {
        matches!(self.rule, Scaling::None | Scaling::Given(_)) || self.until_frozen == Some(0)
    }

    /// Takes over the statistics of another scaler with the same rule for inputs that are declared
    /// later, and freezes them.
    pub(crate) fn take_templates<'a>(
        &mut self,
        names: impl Iterator<Item = &'a str>,
        other: &Scaler,
    ) {
        self.until_frozen = Some(0);
        self.templates = other.templates.clone();
        for (name, known) in names.zip(&other.inputs) {
            if !matches!(known, InputScale::Unscaled | InputScale::Given(_)) {
                self.templates.insert(name.to_owned(), known.clone());
            }
        }
    }

    /// Describes the scaling of an input for a message.
    pub(crate) fn describe(&self, input: usize) -> String {
        match &self.inputs[input] {
            InputScale::Unscaled => "none".to_owned(),
            InputScale::Moments(Moments { mean, variance, .. })
            | InputScale::Robust { moments: Moments { mean, variance, .. }, .. } => {
                format!("mean {mean:.6} and variance {variance:.6}")
            }
            InputScale::Range { min, max } => format!("range {min} to {max}"),
            InputScale::Given(Affine { centre, scale }) => {
                format!("centre {centre}, scale {scale}")
            }
        }
    }

    /// Declares an input of another scaler with the same rule, with the scaling that it has there.
    pub(crate) fn declare_like(&mut self, name: &str, other: &Scaler, other_input: usize) {
        let scale = other.inputs[other_input].clone();
        if let (Scaling::Given(given), InputScale::Given(affine)) = (&mut self.rule, &scale) {
            given.insert(name.to_owned(), *affine);
        }
        self.templates.remove(name);
        self.inputs.push(scale);
    }

    pub(crate) fn rule(&self) -> &Scaling {
        &self.rule
    }

    /// Whether two scalers scale an input equally.
    pub(crate) fn agrees(&self, input: usize, other: &Scaler, other_input: usize) -> bool {
        self.inputs[input] == other.inputs[other_input]
    }
}

impl InputScale {
    #[inline]
    fn transform(&self, x: f64, clip: f64) -> f64 {
        match *self {
            InputScale::Unscaled => x,
            InputScale::Moments(ref moments) => moments.standardise(x, clip).unwrap_or(0.0),
            InputScale::Robust { ref moments, ref quantiles } => {
                let Some(z) = moments.standardise(x, clip) else { return 0.0 };
                let r = ROOT_OF_3 * (2.0 * quantiles.mid_rank(x) - 1.0);
                0.5 * (z + r)
            }
            InputScale::Range { min, max } => {
                if max > min {
                    ((x - min) / (max - min)).clamp(0.0, 1.0)
                } else {
                    0.0
                }
            }
            InputScale::Given(Affine { centre, scale }) => (x - centre) / scale,
        }
    }

    #[inline]
    fn observe(&mut self, x: f64, sample_weight: f64) {
        match self {
            InputScale::Moments(moments) => moments.observe(x, sample_weight),
            InputScale::Robust { moments, quantiles } => {
                moments.observe(x, sample_weight);
                quantiles.observe(x, sample_weight);
            }
            InputScale::Range { min, max } => {
                *min = min.min(x);
                *max = max.max(x);
            }
            InputScale::Unscaled | InputScale::Given(_) => {}
        }
    }
}

impl Moments {
    /// The distance from the mean in standard deviations, or `None` while there is no spread.
    #[inline]
    fn standardise(&self, x: f64, clip: f64) -> Option<f64> {
        (self.variance > 0.0).then(|| ((x - self.mean) / self.variance.sqrt()).clamp(-clip, clip))
    }

    /// West's update of a weighted mean and variance.
    #[inline]
    fn observe(&mut self, x: f64, weight: f64) {
        self.weight += weight;
        let share = weight / self.weight;
        let deviation = x - self.mean;
        self.mean += share * deviation;
        self.variance = (1.0 - share) * (self.variance + share * deviation * deviation);
    }
}

impl Affine {
    fn is_sound(&self) -> bool {
        self.centre.is_finite() && self.scale.is_finite() && self.scale > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaler(rule: Scaling, inputs: usize) -> Scaler {
        let mut scaler = Scaler::new(rule, None).unwrap();
        for i in 0..inputs {
            scaler.declare_input(&i.to_string(), InputKind::Numeric).unwrap();
        }
        scaler
    }

    fn transform(scaler: &Scaler, x: &[f64]) -> Vec<f64> {
        let mut scaled = Vec::new();
        scaler.transform(Sample::dense(x), &mut scaled);
        scaled
    }

    #[test]
    fn standardisation_is_weighted() {
        let (mut weighted, mut repeated) =
            (scaler(Scaling::STANDARD, 1), scaler(Scaling::STANDARD, 1));
        for (x, times) in [(1.0, 3), (4.0, 1), (-2.0, 2)] {
            weighted.observe(Sample::dense(&[x]), times as f64);
            for _ in 0..times {
                repeated.observe(Sample::dense(&[x]), 1.0);
            }
        }
        // Values 1, 1, 1, 4, -2, -2 have mean 0.5 and variance 4.25.
        let expected = (2.0 - 0.5) / 4.25f64.sqrt();
        assert!((transform(&weighted, &[2.0])[0] - expected).abs() < 1e-15);
        assert!((transform(&repeated, &[2.0])[0] - expected).abs() < 1e-15);
    }

    #[test]
    fn extremes_stay_finite() {
        for rule in [Scaling::STANDARD, Scaling::ROBUST, Scaling::MinMax] {
            let mut scaler = scaler(rule, 1);
            for x in [0.0, 1e300, -1e300, f64::MIN_POSITIVE / 4.0, f64::MAX, 1.0] {
                let scaled = transform(&scaler, &[x])[0];
                assert!(scaled.abs() <= 4.0, "{x} became {scaled}");
                scaler.observe(Sample::dense(&[x]), 1.0);
            }
        }
        let unscaled = scaler(Scaling::None, 2);
        assert_eq!(unscaled.find_too_large(Sample::dense(&[1.0, 1e300])), Some((1, 1e300)));
    }

    #[test]
    fn robust_scaling_is_the_mean_of_distance_and_rank() {
        let mut scaler = scaler(Scaling::ROBUST, 1);
        scaler.observe(Sample::dense(&[1.0]), 2.0);
        assert_eq!(transform(&scaler, &[7.0]), [0.0], "nothing is known of the spread yet");
        for (x, weight) in [(1.0, 1.0), (4.0, 1.0), (-2.0, 2.0)] {
            scaler.observe(Sample::dense(&[x]), weight);
        }
        // Values 1, 1, 1, 4, -2, -2 have mean 0.5 and variance 4.25.
        for (x, rank) in [(-9.0, 0.0), (-2.0, 1.0 / 6.0), (1.0, 3.5 / 6.0), (2.0, 5.0 / 6.0)] {
            let z = ((x - 0.5) / 4.25f64.sqrt()).max(-4.0);
            let expected = (z + 3f64.sqrt() * (2.0 * rank - 1.0)) / 2.0;
            let scaled = transform(&scaler, &[x])[0];
            assert!((scaled - expected).abs() < 1e-14, "{x} became {scaled}, not {expected}");
        }
        for clip in [0.0, -1.0, f64::NAN, 1e16] {
            assert!(Scaler::new(Scaling::Robust { clip }, None).is_err());
        }
    }

    #[test]
    fn an_outlier_cannot_press_robust_values_together() {
        let spread = |rule: Scaling| {
            let mut scaler = scaler(rule, 1);
            for i in 0..10_000 {
                let x = if i == 5000 { 1e9 } else { f64::from(i * 7919 % 1000) };
                scaler.observe(Sample::dense(&[x]), 1.0);
            }
            transform(&scaler, &[950.0])[0] - transform(&scaler, &[50.0])[0]
        };
        assert!(spread(Scaling::STANDARD) < 1e-3);
        // z is lost, the rank is intact: half of √3 · 2 · 0.9.
        assert!((spread(Scaling::ROBUST) - 0.9 * ROOT_OF_3).abs() < 0.05);
    }

    #[test]
    fn min_max_stays_within_its_bounds() {
        let mut scaler = scaler(Scaling::MinMax, 1);
        assert_eq!(transform(&scaler, &[7.0]), [0.0], "nothing is known yet");
        for x in [2.0, 4.0] {
            scaler.observe(Sample::dense(&[x]), 1.0);
        }
        assert_eq!(transform(&scaler, &[3.0]), [0.5]);
        assert_eq!(transform(&scaler, &[9.0]), [1.0]);
        assert_eq!(transform(&scaler, &[-9.0]), [0.0]);
    }

    #[test]
    fn a_frozen_scaling_stays() {
        let mut scaler = Scaler::new(Scaling::MinMax, Some(2)).unwrap();
        scaler.declare_input("x", InputKind::Numeric).unwrap();
        for x in [0.0, 10.0, 1000.0] {
            scaler.observe(Sample::dense(&[x]), 1.0);
        }
        assert_eq!(transform(&scaler, &[5.0]), [0.5]);
        let mut scaler = Scaler::new(Scaling::ROBUST, Some(100)).unwrap();
        scaler.declare_input("x", InputKind::Numeric).unwrap();
        let mut at_half = Vec::new();
        for i in 0..1000 {
            scaler.observe(Sample::dense(&[f64::from(i)]), 1.0);
            at_half.push(transform(&scaler, &[50.0])[0]);
        }
        assert_ne!(at_half[98], at_half[99]);
        assert!(at_half[99..].iter().all(|scaled| *scaled == at_half[99]));
    }

    #[test]
    fn a_first_pass_finds_the_ranges() {
        use crate::stream::synth::{Generator, Sea};
        let mut sea = Sea::new(0, 0.0, 1).unwrap();
        let (mut x, mut largest) = (Vec::new(), f64::NEG_INFINITY);
        for _ in 0..300 {
            sea.next(&mut x);
            largest = largest.max(x[0]);
        }
        let mut stream = Sea::new(0, 0.0, 1).unwrap().take(1000);
        let Scaling::Given(given) = Scaling::fit_min_max(&mut stream, Some(300)).unwrap() else {
            panic!("expected a given scaling");
        };
        assert_eq!(given.len(), 3);
        assert_eq!(given["0"].centre + given["0"].scale, largest);
    }

    #[test]
    fn a_given_scaling_must_be_complete_and_sound() {
        let given = |centre, scale| {
            Scaling::Given(BTreeMap::from([("x".to_owned(), Affine { centre, scale })]))
        };
        let mut scaler = Scaler::new(given(1.0, 2.0), None).unwrap();
        scaler.declare_input("x", InputKind::Numeric).unwrap();
        scaler.declare_input("c=1", InputKind::Indicator).unwrap();
        assert_eq!(transform(&scaler, &[5.0, 1.0]), [2.0, 1.0]);
        assert!(scaler.declare_input("y", InputKind::Numeric).is_err());
        for (centre, scale) in [(f64::NAN, 1.0), (0.0, 0.0), (0.0, -1.0), (0.0, f64::INFINITY)] {
            assert!(Scaler::new(given(centre, scale), None).is_err());
        }
    }
}
