//! How well the probability of a class ranks samples: ROC AUC, the area under precision and recall,
//! and the recall at a fixed rate of alarms.
//!
//! For a rare class it matters less where a threshold lies than whether its samples come first when
//! all are sorted by its probability. With P samples of the class and N others:
//!
//! - ROC AUC is the share of the P·N pairs in which the sample of the class has the higher
//!   probability; pairs of equals count one half (`roc_auc_score`).
//! - The area under precision and recall is the average precision Σ (Rᵢ − Rᵢ₋₁) Pᵢ over all
//!   thresholds from the highest down (`average_precision_score`).
//! - The recall at an alarm rate r is the share of the P samples among the r·(P + N) samples with the
//!   highest probability; of samples with the same probability a share counts.
//!
//! Sorting would need all samples. Instead each class has a histogram of its probabilities over a
//! fixed grid: 32 bins for each power of two, towards 0 and likewise towards 1, so that
//! probabilities of one in a thousand are as well separated as others. Probabilities in the same bin count
//! as equal. So values are exact if different probabilities lie in different bins, as multiples of
//! 1/64 do, and otherwise off by no more than half of the share of pairs that share a bin. A
//! histogram takes at most 1861 bins, and the classes from the 257th on have none.

use std::collections::BTreeMap;

use super::MOST_SAMPLES;
use crate::{
    error::ModelFileError,
    state::{ReadScope, WriteScope},
};

/// The number of classes that are ranked, so that memory stays bounded.
pub(super) const MOST_CLASSES: usize = 256;

/// Bins for each power of two.
const BINS_PER_OCTAVE_BITS: u32 = 5;

/// Below 2^−30, probabilities are not told apart.
const LEAST: f64 = 1.0 / (1u64 << 30) as f64;

/// The bin of 1.
const LAST: u16 = 2 * HALF;

/// The bin of ½: that of 0, one for what is below [`LEAST`], and 29 powers of two.
const HALF: u16 = 2 + (29 << BINS_PER_OCTAVE_BITS);

/// The probabilities of a class by bin: how many samples of other classes and of this one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Histogram {
    bins: BTreeMap<u16, [u64; 2]>,
    /// How many samples of other classes and of this one there are.
    counts: [u64; 2],
}

/// Running histograms of the probabilities of all classes.
///
/// ```
/// use broadstream::metrics::Ranking;
///
/// let mut ranking = Ranking::new();
/// for (truth, p) in [(1, 0.75), (0, 0.5), (1, 0.5), (0, 0.25)] {
///     ranking.add(truth, &[1.0 - p, p]);
/// }
/// assert_eq!(ranking.auc_of(1), Some(0.875));
/// assert_eq!(ranking.average_precision_of(1), Some(0.5 + 0.5 * 2.0 / 3.0));
/// assert_eq!(ranking.recall_at(1, 0.25), Some(0.5));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranking {
    samples: u64,
    classes: Vec<Histogram>,
}

impl Ranking {
    /// No samples yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a sample of class `truth` with the probability of each class known to the model. A class
    /// that is not in the list has probability 0.
    pub fn add(&mut self, truth: usize, probabilities: &[f64]) {
        self.add_bins(truth, &bins(probabilities));
    }

    /// Adds a sample by the bins of its probabilities.
    pub(super) fn add_bins(&mut self, truth: usize, bins: &[u16]) {
        self.samples += 1;
        self.each(truth, bins, |counts, own| counts[own] += 1);
    }

    /// Removes a sample that was added.
    pub(super) fn remove_bins(&mut self, truth: usize, bins: &[u16]) {
        self.samples -= 1;
        self.each(truth, bins, |counts, own| counts[own] -= 1);
        for (class, bin) in listed(truth, bins) {
            if self.classes[class].bins.get(&bin) == Some(&[0, 0]) {
                self.classes[class].bins.remove(&bin);
            }
        }
        while self.classes.last().is_some_and(|class| class.counts == [0, 0]) {
            self.classes.pop();
        }
    }

    /// Changes the counts of the bins that a sample lies in.
    fn each(&mut self, truth: usize, bins: &[u16], change: impl Fn(&mut [u64; 2], usize)) {
        for (class, bin) in listed(truth, bins) {
            if self.classes.len() <= class {
                self.classes.resize_with(class + 1, Histogram::default);
            }
            let Histogram { bins, counts } = &mut self.classes[class];
            let of_class = usize::from(class == truth);
            change(bins.entry(bin).or_default(), of_class);
            change(counts, of_class);
        }
    }

    /// The mean [AUC](Self::auc_of) of the classes that have one; 0 if none has.
    pub fn auc(&self) -> f64 {
        self.mean(|class| self.auc_of(class))
    }

    /// The mean [average precision](Self::average_precision_of) of the classes that have one; 0 if
    /// none has.
    pub fn average_precision(&self) -> f64 {
        self.mean(|class| self.average_precision_of(class))
    }

    /// The area under the ROC curve of a class against all others; `None` unless samples of the class and
    /// others have occurred.
    pub fn auc_of(&self, class: usize) -> Option<f64> {
        let [others, own] = self.counts(class).filter(|counts| !counts.contains(&0))?;
        let (mut below, mut pairs) = (0.0, 0.0);
        for [negative, positive] in self.ascending(class) {
            let (negative, positive) = (negative as f64, positive as f64);
            pairs += positive * (below + negative / 2.0);
            below += negative;
        }
        Some(pairs / (others as f64 * own as f64))
    }

    /// The average precision of a class against all others; `None` unless a sample of the class has
    /// occurred.
    pub fn average_precision_of(&self, class: usize) -> Option<f64> {
        let [_, own] = self.counts(class).filter(|counts| counts[1] > 0)?;
        let (mut correct, mut all, mut area) = (0.0, 0.0, 0.0);
        for [negative, positive] in self.ascending(class).rev() {
            correct += positive as f64;
            all += (negative + positive) as f64;
            if positive > 0 {
                area += positive as f64 * (correct / all);
            }
        }
        Some(area / own as f64)
    }

    /// The recall of a class if an alarm is raised for the share `rate` of all samples, those with the
    /// highest probability of the class; `None` unless a sample of the class has occurred.
    pub fn recall_at(&self, class: usize, rate: f64) -> Option<f64> {
        let [_, own] = self.counts(class).filter(|counts| counts[1] > 0)?;
        let mut alarms = rate.clamp(0.0, 1.0) * self.samples as f64;
        let mut found = 0.0;
        for [negative, positive] in self.ascending(class).rev() {
            let all = (negative + positive) as f64;
            if all > alarms {
                found += positive as f64 * (alarms / all);
                break;
            }
            found += positive as f64;
            alarms -= all;
        }
        Some(found / own as f64)
    }

    /// The number of samples.
    pub(super) fn samples(&self) -> u64 {
        self.samples
    }

    fn mean(&self, of: impl Fn(usize) -> Option<f64>) -> f64 {
        let values = (0..self.classes.len()).filter_map(of);
        let (sum, count) = values.fold((0.0, 0.0), |(sum, count), x| (sum + x, count + 1.0));
        if count == 0.0 { 0.0 } else { sum / count }
    }

    /// How many samples of other classes and of this one there are.
    fn counts(&self, class: usize) -> Option<[u64; 2]> {
        let counts = self.classes.get(class)?.counts;
        Some([self.samples - counts[1], counts[1]])
    }

    /// The counts of a class by bin, from the lowest probability up.
    fn ascending(&self, class: usize) -> impl DoubleEndedIterator<Item = [u64; 2]> {
        let Histogram { bins, counts } = &self.classes[class];
        // The samples from before the class was known come first: their probability was 0.
        let unlisted = [self.samples - counts[0] - counts[1], 0];
        let lowest = bins.get(&0).copied().unwrap_or_default();
        let first = [unlisted[0] + lowest[0], lowest[1]];
        let others = bins.iter().filter(|(bin, _)| **bin > 0).map(|(_, counts)| *counts);
        std::iter::once(first).chain(others)
    }

    pub(super) fn save(&self, to: &mut WriteScope<'_>) {
        to.integer("samples", self.samples);
        to.integer("classes", self.classes.len());
        let rows = self.classes.iter().enumerate().flat_map(|(class, histogram)| {
            let bins = histogram.bins.iter();
            bins.flat_map(move |(bin, [others, own])| {
                [class as u64, u64::from(*bin), *others, *own]
            })
        });
        to.integers("bins", rows.collect());
    }

    pub(super) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        let samples = from.integer("samples")?;
        from.check("samples", samples <= MOST_SAMPLES, "at most 2^53")?;
        let classes = from.count("classes", MOST_CLASSES)?;
        let rows = from.any_integers("bins")?;
        let (rows, rest) = rows.as_chunks::<4>();
        from.check("bins", rest.is_empty(), "rows of class, bin and two counts")?;
        let mut histograms = vec![Histogram::default(); classes];
        for &[class, bin, others, own] in rows {
            let known = class < classes as u64 && bin <= u64::from(LAST);
            from.check("bins", known, "rows of known classes and bins")?;
            let Histogram { bins, counts } = &mut histograms[class as usize];
            let new = bins.insert(bin as u16, [others, own]).is_none();
            let sums = [counts[0].checked_add(others), counts[1].checked_add(own)];
            let [Some(others), Some(own)] = sums else {
                return Err(from.invalid("bins", "counts of at most 2^53 samples"));
            };
            *counts = [others, own];
            let within = others.checked_add(own).is_some_and(|sum| sum <= samples);
            from.check("bins", new && within, "different rows, of at most as many samples")?;
        }
        *self = Ranking { samples, classes: histograms };
        Ok(())
    }
}

/// The classes whose histograms a sample is part of, with its bins. A class that the model did not
/// know has the bin of 0, which is only written down for the sample's own class: for all others it
/// is the difference to the number of samples.
fn listed(truth: usize, bins: &[u16]) -> impl Iterator<Item = (usize, u16)> {
    let own = (truth >= bins.len() && truth < MOST_CLASSES).then_some((truth, 0));
    bins.iter().copied().enumerate().chain(own)
}

/// The bins of the probabilities of the classes that are ranked.
pub(super) fn bins(probabilities: &[f64]) -> Vec<u16> {
    probabilities.iter().take(MOST_CLASSES).map(|p| bin(*p)).collect()
}

/// Whether a number is that of a bin.
pub(super) fn is_bin(bin: u64) -> bool {
    bin <= u64::from(LAST)
}

/// The bin of a probability. One that is NaN or negative counts as 0, and one above 1 as 1.
fn bin(p: f64) -> u16 {
    // The difference is exact from ½ on.
    if p > 0.5 { LAST - distance((1.0 - p).max(0.0)) } else { distance(p) }
}

/// The bin of a distance from 0 of at most ½.
fn distance(x: f64) -> u16 {
    const SHIFT: u32 = 52 - BINS_PER_OCTAVE_BITS;
    if x >= LEAST {
        2 + ((x.to_bits() >> SHIFT) - (LEAST.to_bits() >> SHIFT)) as u16
    } else {
        u16::from(x > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::{numeric::Random, state::StateWriter};

    #[test]
    fn bins_follow_the_order_of_probabilities() {
        let (mut last, mut steps) = (bin(0.0), 0);
        let mut random = Random::new(1, "test", "bins");
        let mut ps: Vec<f64> = (0..5000).map(|_| random.signed_unit().abs().powi(9)).collect();
        ps.extend(ps.clone().iter().map(|p| 1.0 - p));
        ps.extend((0..=64).map(|k| f64::from(k) / 64.0));
        ps.sort_by(f64::total_cmp);
        for p in ps {
            assert!(bin(p) >= last, "{p}");
            steps += usize::from(bin(p) > last);
            last = bin(p);
        }
        assert!(steps > 1000);
        let grid: std::collections::BTreeSet<u16> =
            (0..=64).map(|k| bin(f64::from(k) / 64.0)).collect();
        assert_eq!(grid.len(), 65);
        assert_eq!([bin(f64::NAN), bin(-1.0), bin(0.0), bin(0.5)], [0, 0, 0, HALF]);
        assert_eq!([bin(1.0), bin(7.0), bin(f64::INFINITY)], [LAST; 3]);
    }

    /// The three values of a class by their definitions.
    fn by_definition(samples: &[(usize, Vec<f64>)], class: usize, rate: f64) -> [Option<f64>; 3] {
        let p = |row: &Vec<f64>| row.get(class).copied().unwrap_or(0.0);
        let of = |own: bool| -> Vec<f64> {
            let rows = samples.iter().filter(|(truth, _)| (*truth == class) == own);
            rows.map(|(_, row)| p(row)).collect()
        };
        let (own, others) = (of(true), of(false));
        let auc = (!own.is_empty() && !others.is_empty()).then(|| {
            let pairs = own.iter().flat_map(|a| others.iter().map(move |b| (a, b)));
            let won = pairs.map(|(a, b)| {
                if a > b {
                    1.0
                } else if a == b {
                    0.5
                } else {
                    0.0
                }
            });
            won.sum::<f64>() / (own.len() * others.len()) as f64
        });
        let precision_at = |threshold: f64| {
            let above = |list: &[f64]| list.iter().filter(|p| **p >= threshold).count() as f64;
            above(&own) / (above(&own) + above(&others))
        };
        let precision = (!own.is_empty())
            .then(|| own.iter().map(|p| precision_at(*p)).sum::<f64>() / own.len() as f64);
        // With ties broken at random a sample is among the first with this probability.
        let alarms = rate * samples.len() as f64;
        let recall = (!own.is_empty()).then(|| {
            let chance = |p: &f64| {
                let all = own.iter().chain(&others);
                let above = all.clone().filter(|q| *q > p).count() as f64;
                let equal = all.filter(|q| *q == p).count() as f64;
                ((alarms - above) / equal).clamp(0.0, 1.0)
            };
            own.iter().map(chance).sum::<f64>() / own.len() as f64
        });
        [auc, precision, recall]
    }

    proptest! {
        #[test]
        fn values_equal_their_definitions_also_after_removals(
            samples in vec((0_usize..4, vec(0_u32..=16, 0..4)), 1..50), removed in 0_usize..50,
        ) {
            let samples: Vec<(usize, Vec<f64>)> = samples
                .into_iter()
                .map(|(truth, row)| (truth, row.into_iter().map(|k| f64::from(k) / 16.0).collect()))
                .collect();
            let mut ranking = Ranking::new();
            samples.iter().for_each(|(truth, row)| ranking.add(*truth, row));
            let removed = removed % samples.len();
            for (truth, row) in &samples[..removed] {
                ranking.remove_bins(*truth, &bins(row));
            }
            for class in 0..4 {
                let expected = by_definition(&samples[removed..], class, 0.2);
                let found = [ranking.auc_of(class), ranking.average_precision_of(class), ranking.recall_at(class, 0.2)];
                for (found, expected) in found.into_iter().zip(expected) {
                    let (Some(found), Some(expected)) = (found, expected) else {
                        // A class that only ever had probabilities is listed, one without is not.
                        prop_assert!(found.is_none() && expected.is_none());
                        continue;
                    };
                    prop_assert!((found - expected).abs() < 1e-12, "{} {}", found, expected);
                }
            }
            let mut state = StateWriter::default();
            ranking.save(&mut state.root());
            let mut restored = Ranking::new();
            state.read_back(|from| restored.restore(from)).unwrap();
            prop_assert_eq!(&restored, &ranking);
        }
    }

    #[test]
    fn classes_beyond_the_limit_take_no_memory() {
        let mut ranking = Ranking::new();
        ranking.add(100_000, &vec![0.001; 1000]);
        ranking.add(usize::MAX, &[]);
        assert_eq!(ranking.classes.len(), MOST_CLASSES);
        assert_eq!((ranking.auc(), ranking.average_precision()), (0.0, 0.0));
        assert_eq!(ranking.auc_of(100_000), None);
    }
}
