//! Adaptive windowing (Bifet and Gavaldà, SDM 2007): a window that grows while its values look
//! alike.
//!
//! Every 32 values the window W is cut in two at each border between its [buckets](super::buckets).
//! The older and the newer part, of n₀ and n₁ values, differ by more than chance if the distance of
//! their means exceeds
//!
//! ε = √(2/m · σ² · ln(2 ln|W| / δ)) + 2/(3m) · ln(2 ln|W| / δ),  1/m = 1/(n₀ − 4) + 1/(n₁ − 4),
//!
//! where σ² is the variance of W. In that case the oldest bucket is dropped, until no such cut is
//! left. The second term has no unit, so values should be of the order of 1, as errors are.
//!
//! The details are those of River (`river.drift.ADWIN` 0.26, which the tests compare with): parts
//! of fewer than five values are not compared, and the value after a change starts a new window
//! instead of continuing with the rest of the old one. The method is implemented here because the
//! crates that have it are parts of larger libraries, and none of them documents that it agrees
//! with River.

use super::buckets::{Bucket, Buckets, MOST_VALUES};
use crate::{
    error::{Error, ModelFileError},
    state::{ReadScope, WriteScope},
};

/// The window is examined once in this many values, since examining it costs more than adding a
/// value.
const EXAMINE_EVERY: u64 = 32;

/// The smallest number of values in a part.
const SMALLEST_PART: f64 = 5.0;

/// Larger values could overflow when squared and summed.
const LARGEST: f64 = 1e100;

/// A detector of changes in the mean of a sequence.
///
/// ```
/// use broadstream::drift::Adwin;
///
/// let mut adwin = Adwin::new(Adwin::CONFIDENCE)?;
/// let mut changes = Vec::new();
/// for k in 0..2000 {
///     let error = if k < 1000 { k % 10 == 0 } else { k % 2 == 0 };
///     if let Some(change) = adwin.add(f64::from(u8::from(error)))? {
///         assert!(change.is_rise());
///         changes.push(k);
///     }
/// }
/// assert_eq!(changes, [1055]);
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Adwin {
    confidence: f64,
    buckets: Buckets,
    /// The number of values since the window was started.
    age: u64,
    /// Whether the last value revealed a change, so that the next one starts a new window.
    changed: bool,
}

/// A change in the mean of a sequence.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// The mean of the values before the change, which have left the window.
    pub before: f64,
    /// The mean of the values after it, which are still in the window.
    pub after: f64,
}

impl Change {
    /// Whether the mean went up. If the values are errors, the model became worse.
    pub fn is_rise(&self) -> bool {
        self.after > self.before
    }
}

impl Adwin {
    /// The customary confidence.
    pub const CONFIDENCE: f64 = 0.002;

    /// A detector with an empty window. `confidence` is δ, the probability of a false alarm on a
    /// sequence that does not change; a smaller value makes detection more cautious and slower. It
    /// must lie between 0 and 1, both excluded.
    pub fn new(confidence: f64) -> Result<Self, Error> {
        if confidence > 0.0 && confidence < 1.0 {
            Ok(Adwin { confidence, buckets: Buckets::new(), age: 0, changed: false })
        } else {
            let (option, rule) = ("drift_confidence", "between 0 and 1, both excluded");
            Err(Error::Config { option, rule, value: confidence.to_string() })
        }
    }

    /// Adds a value and returns the change that it revealed, if any. A value that is not finite, or
    /// beyond ±1e100, is an error and leaves the detector unchanged.
    pub fn add(&mut self, value: f64) -> Result<Option<Change>, Error> {
        if value.is_nan() || value.abs() > LARGEST {
            return Err(Error::DriftValue { value, limit: LARGEST });
        }
        if self.changed {
            (self.buckets, self.age, self.changed) = (Buckets::new(), 0, false);
        }
        self.buckets.push(value);
        self.age += 1;
        if !self.age.is_multiple_of(EXAMINE_EVERY) {
            return Ok(None);
        }
        let whole = self.buckets.total();
        while self.can_be_cut() {
            self.buckets.drop_oldest();
            self.changed = true;
        }
        Ok(self.changed.then(|| {
            let kept = self.buckets.total();
            let before = (whole.sum - kept.sum) / (whole.count - kept.count);
            Change { before, after: kept.mean() }
        }))
    }

    /// The number of values in the window.
    pub fn width(&self) -> u64 {
        self.buckets.total().count as u64
    }

    /// The mean of the values in the window; 0 if it is empty.
    pub fn mean(&self) -> f64 {
        if self.width() == 0 { 0.0 } else { self.buckets.total().mean() }
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        to.integer("age", self.age);
        to.value("changed", self.changed);
        self.buckets.save(to);
    }

    pub(crate) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        self.buckets.restore(from)?;
        (self.age, self.changed) = (from.integer("age")?, from.flag("changed")?);
        // Only a change removes values from the window.
        let width = self.width();
        let sound = if self.changed { self.age > width } else { self.age == width };
        from.check("age", sound && self.age <= MOST_VALUES, "the number of values in the window")
    }

    /// Whether some cut leaves two parts that differ by more than chance.
    fn can_be_cut(&self) -> bool {
        let whole = self.buckets.total();
        let (mut older, mut sum) = (0.0, 0.0);
        self.buckets.oldest_first().any(|bucket| {
            older += bucket.count;
            sum += bucket.sum;
            let newer = whole.count - older;
            older >= SMALLEST_PART
                && newer >= SMALLEST_PART
                && (sum / older - (whole.sum - sum) / newer).abs()
                    > self.epsilon(whole, older, newer)
        })
    }

    /// ε: how far apart the means of two parts with these numbers of values may lie by chance.
    fn epsilon(&self, whole: Bucket, older: f64, newer: f64) -> f64 {
        let log = (2.0 * whole.count.ln() / self.confidence).ln();
        let by_m = 1.0 / (older - SMALLEST_PART + 1.0) + 1.0 / (newer - SMALLEST_PART + 1.0);
        (2.0 * by_m * whole.variance() * log).sqrt() + 2.0 / 3.0 * log * by_m
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{numeric::Random, state::StateWriter};

    #[test]
    fn a_confidence_that_is_none_is_refused() {
        for confidence in [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY] {
            let message = Adwin::new(confidence).unwrap_err().to_string();
            let rule = "drift_confidence must be between 0 and 1, both excluded, got ";
            assert_eq!(message, format!("{rule}{confidence}"));
        }
    }

    #[test]
    fn odd_values_are_refused_and_leave_no_trace() {
        let mut adwin = Adwin::new(Adwin::CONFIDENCE).unwrap();
        assert_eq!((adwin.width(), adwin.mean()), (0, 0.0));
        adwin.add(3.0).unwrap();
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e101] {
            adwin.add(value).unwrap_err();
            assert_eq!((adwin.width(), adwin.mean()), (1, 3.0));
        }
        assert_eq!(
            adwin.add(f64::NAN).unwrap_err().to_string(),
            "a value monitored for drift must be a number within ±1e100, got NaN"
        );
    }

    #[test]
    fn the_window_forgets_what_was_before_a_change() {
        let mut adwin = Adwin::new(Adwin::CONFIDENCE).unwrap();
        for k in 0..1000 {
            assert_eq!(adwin.add(f64::from(k % 2)).unwrap(), None);
        }
        assert_eq!(adwin.width(), 1000);
        let change = (0..1000).find_map(|_| adwin.add(-5.0).unwrap()).unwrap();
        assert!(!change.is_rise() && adwin.width() < 40, "{change:?}, {}", adwin.width());
        adwin.add(-5.0).unwrap();
        assert_eq!((adwin.width(), adwin.mean()), (1, -5.0));
    }

    /// Adds errors whose rate alternates between low and high.
    fn add(adwin: &mut Adwin, random: &mut Random, values: std::ops::Range<usize>) {
        for k in values {
            let error = random.below(10) < [1, 6][k / 300 % 2];
            adwin.add(f64::from(u8::from(error))).unwrap();
        }
    }

    #[test]
    fn a_restored_detector_is_the_one_that_was_saved() {
        let mut random = Random::new(1, "test", "saved detector");
        let mut adwin = Adwin::new(Adwin::CONFIDENCE).unwrap();
        let mut saved_at_a_change = 0;
        for k in 0..2500 {
            let mut state = StateWriter::default();
            adwin.save(&mut state.root());
            let mut restored = Adwin::new(Adwin::CONFIDENCE).unwrap();
            state.read_back(|from| restored.restore(from)).unwrap();
            assert_eq!(format!("{restored:?}"), format!("{adwin:?}"));
            saved_at_a_change += u32::from(adwin.changed);
            add(&mut adwin, &mut random, k..k + 1);
        }
        assert!(saved_at_a_change > 3, "{saved_at_a_change}");
    }

    #[test]
    fn an_altered_detector_is_refused_or_can_go_on() {
        let mut random = Random::new(2, "test", "altered detector");
        let mut adwin = Adwin::new(Adwin::CONFIDENCE).unwrap();
        add(&mut adwin, &mut random, 0..290);
        let mut state = StateWriter::default();
        adwin.save(&mut state.root());
        let alterations = state.alterations();
        let mut refused = 0;
        for (entry, altered) in &alterations {
            let mut restored = Adwin::new(Adwin::CONFIDENCE).unwrap();
            match altered.read_back(|from| restored.restore(from)) {
                Ok(()) => add(&mut restored, &mut random, 290..990),
                Err(_) => refused += 1,
            }
            assert!(restored.mean().is_finite(), "{entry}");
        }
        assert!(refused > alterations.len() / 2, "{refused} of {}", alterations.len());
    }

    #[test]
    fn a_constant_never_changes() {
        for value in [0.0, 0.1, -1e6] {
            let mut adwin = Adwin::new(0.5).unwrap();
            for _ in 0..100_000 {
                assert_eq!(adwin.add(value).unwrap(), None);
            }
        }
    }
}
