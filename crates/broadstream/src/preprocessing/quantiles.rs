//! The distribution of one input's past values, in bounded memory.
//!
//! Values are gathered into centroids, each a value and a weight, sorted by value. They answer one
//! question, the mid-rank
//!
//! ```text
//! F(x) = share of the weight below x + half the share at x
//! ```
//!
//! A centroid of equal values is a point: all its weight lies below any larger value. One that was
//! joined from different values is spread, half of it to either side, and F is linear from there to
//! its neighbours. A new value adds to the point that it equals, or to the nearest centroid if that
//! is spread and has room; otherwise it becomes a point. When there are too many centroids, light
//! neighbours are joined.
//!
//! F is therefore exact, except for the last few values, while there are at most [`CENTROIDS`]
//! different ones, however often each occurs, and a value with more than [`JOINT_SHARE`] of the
//! weight stays a point. The smallest and the largest value are points too: F is 0 below and 1
//! above them, and an outlier stands alone until a larger one comes. When it is then joined with
//! others, it moves their centroid no further than the distance to the next one on the other side.
//!
//! A weight w counts as w equal values. While F is exact, both are the same to rounding; later, the
//! repeated values may be gathered differently, and agree as closely as either does with the
//! definition.
//!
//! Dunning's t-digest is similar. It uses smaller centroids near the ends, which matters for
//! extreme quantiles, and an arcsine, whose last bit differs between platforms.

use crate::{
    error::ModelFileError,
    state::{ReadScope, WriteScope},
};

/// The most centroids that are kept for an input.
const CENTROIDS: usize = 64;

/// The ranks are summed again after at most this many values. Values go straight to their centroids
/// and only the ranks lag: sorting and merging a buffer of 32 values took 1.6 to 1.8 times as long.
const REFRESH_AFTER: u32 = 32;

/// The largest share of the weight that the ranks may leave out, so that they do not lag far behind
/// while there are few values.
const LEFT_OUT: f64 = 1.0 / 64.0;

/// The largest share of the weight that is joined into one centroid.
///
/// After joining, any two neighbours between the smallest and the largest value have more than
/// this. Hence there are fewer than 31 disjoint pairs, at most 61 such centroids, and 63 in all.
const JOINT_SHARE: f64 = 2.0 / (CENTROIDS - 2) as f64;

/// A summary of the weighted values of one input.
///
/// Nothing is allocated before the first value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Quantiles(Option<Box<Summary>>);

impl Quantiles {
    /// The bytes that a summary takes from its first value on.
    pub(crate) const BYTES: usize = size_of::<Summary>();

    /// The mid-rank F(x) among the observed values, of which the last few may be left out; ½ if
    /// there are none.
    #[inline]
    pub(crate) fn mid_rank(&self, x: f64) -> f64 {
        self.0.as_ref().map_or(0.5, |summary| summary.mid_rank(x))
    }

    /// Takes a finite value of positive weight into account.
    #[inline]
    pub(crate) fn observe(&mut self, value: f64, weight: f64) {
        self.0.get_or_insert_with(Summary::empty).observe(value, weight);
    }

    /// Saves the summaries of several inputs together, since each is small.
    pub(crate) fn save_all<'a>(all: impl Iterator<Item = &'a Quantiles>, to: &mut WriteScope<'_>) {
        let (mut counts, mut totals) = (Vec::new(), Vec::new());
        let (mut values, mut ranks, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for quantiles in all {
            let Some(summary) = &quantiles.0 else {
                counts.extend([0; 3]);
                totals.extend([0.0; 2]);
                continue;
            };
            let len = summary.len;
            counts.extend([len as u64, summary.points, u64::from(summary.left_out)]);
            totals.extend([summary.total_weight, summary.left_out_weight]);
            values.extend_from_slice(&summary.values[..len]);
            ranks.extend_from_slice(&summary.ranks[..len]);
            weights.extend_from_slice(&summary.weights[..len]);
        }
        to.integers("counts", counts);
        to.floats("totals", totals);
        to.floats("values", values);
        to.floats("ranks", ranks);
        to.floats("weights", weights);
    }

    /// Restores the summaries of `inputs` inputs.
    pub(crate) fn restore_all(
        inputs: usize,
        from: &ReadScope<'_>,
    ) -> Result<Vec<Self>, ModelFileError> {
        let counts = from.integers("counts", inputs.saturating_mul(3), u64::MAX)?;
        let totals = from.floats("totals", inputs.saturating_mul(2))?;
        let rule = "at most 64 centroids per input";
        let sound = |counts: &[u64; 3]| {
            let [len, points, left_out] = *counts;
            let fits = len <= CENTROIDS as u64 && (len == 64 || points >> len == 0);
            fits && left_out < u64::from(REFRESH_AFTER)
        };
        from.check_each("counts", counts.as_chunks::<3>().0, rule, sound)?;
        let all = counts.iter().step_by(3).sum::<u64>() as usize;
        let [values, ranks, weights] =
            [from.floats("values", all)?, from.floats("ranks", all)?, from.floats("weights", all)?];
        let mut quantiles = Vec::with_capacity(inputs);
        let mut start = 0;
        for (counts, totals) in counts.as_chunks::<3>().0.iter().zip(totals.as_chunks::<2>().0) {
            let own = start..start + counts[0] as usize;
            start = own.end;
            let parts = [&values, &ranks, &weights].map(|array| &array[own.clone()]);
            let summary = (!own.is_empty()).then(|| Summary::of(*counts, *totals, parts));
            let sound = summary.as_ref().is_none_or(|summary| summary.is_sound());
            from.check("values", sound, "sound summaries of past values")?;
            quantiles.push(Quantiles(summary));
        }
        Ok(quantiles)
    }
}

/// Values and ranks have arrays of their own: a search goes through the values and reads few ranks.
#[derive(Clone, Debug, PartialEq)]
struct Summary {
    /// The number of centroids.
    len: usize,
    /// One bit per centroid, set if it is a point.
    points: u64,
    total_weight: f64,
    /// How many values the ranks leave out.
    left_out: u32,
    left_out_weight: f64,
    /// Sorted, and infinite where there is no centroid.
    values: [f64; CENTROIDS],
    /// The share of the weight up to and including each centroid.
    ranks: [f64; CENTROIDS],
    weights: [f64; CENTROIDS],
}

impl Summary {
    #[cold]
    fn empty() -> Box<Self> {
        Box::new(Summary {
            len: 0,
            points: 0,
            total_weight: 0.0,
            left_out: 0,
            left_out_weight: 0.0,
            values: [f64::INFINITY; CENTROIDS],
            ranks: [1.0; CENTROIDS],
            weights: [0.0; CENTROIDS],
        })
    }

    /// A summary from saved numbers.
    fn of(counts: [u64; 3], totals: [f64; 2], [values, ranks, weights]: [&[f64]; 3]) -> Box<Self> {
        let mut summary = Summary::empty();
        summary.len = values.len();
        summary.points = counts[1];
        summary.left_out = counts[2] as u32;
        [summary.total_weight, summary.left_out_weight] = totals;
        summary.values[..values.len()].copy_from_slice(values);
        summary.ranks[..ranks.len()].copy_from_slice(ranks);
        summary.weights[..weights.len()].copy_from_slice(weights);
        summary
    }

    /// Whether a restored summary could have been made by observing values.
    fn is_sound(&self) -> bool {
        let [values, ranks, weights] =
            [&self.values, &self.ranks, &self.weights].map(|array| &array[..self.len]);
        let sum: f64 = weights.iter().sum();
        values.is_sorted()
            && ranks.is_sorted()
            && ranks.iter().all(|rank| (0.0..=1.0).contains(rank))
            && weights.iter().all(|weight| *weight > 0.0)
            && (self.total_weight - sum).abs() <= 1e-12 * sum
            && (0.0..=self.total_weight).contains(&self.left_out_weight)
    }

    #[inline]
    fn mid_rank(&self, x: f64) -> f64 {
        let k = self.search(x);
        if k == 0 {
            return if self.values[0] == x { 0.5 * self.ranks[0] } else { 0.0 };
        }
        if k >= self.len {
            return 1.0;
        }
        let (left, right) = (self.values[k - 1], self.values[k]);
        let (before, between, after) =
            (if k > 1 { self.ranks[k - 2] } else { 0.0 }, self.ranks[k - 1], self.ranks[k]);
        let middle = 0.5 * (between + after);
        if right == x {
            return middle;
        }
        let from = if self.is_point(k - 1) { between } else { 0.5 * (before + between) };
        let to = if self.is_point(k) { between } else { middle };
        let way = (x - left) / (right - left);
        // Rounding must not lift it above the rank at the end of the segment.
        (from + way * (to - from)).min(to)
    }

    #[inline]
    fn observe(&mut self, x: f64, weight: f64) {
        self.total_weight += weight;
        self.left_out += 1;
        self.left_out_weight += weight;
        let k = self.search(x);
        if k < self.len && self.values[k] == x {
            self.weights[k] += weight;
        } else if 0 < k && k < self.len {
            // Arithmetic on positions, since a branch here would be unpredictable.
            let to_left = usize::from(x - self.values[k - 1] < self.values[k] - x);
            let near = k - to_left;
            let joint = self.weights[near] + weight;
            if self.is_point(near) || joint > JOINT_SHARE * self.total_weight {
                return self.insert(x, weight);
            }
            let value = self.values[near];
            // The distance from the centroid to its neighbour away from x bounds the step, since x
            // may be far.
            let beyond = k - 2 * to_left;
            let reach = self.values[beyond + 1] - self.values[beyond];
            let step = weight / joint * (x - value).min(reach).max(-reach);
            // Rounding must not lead beyond x, and so not past the neighbour.
            self.values[near] = (value + step).min(value.max(x)).max(value.min(x));
            self.weights[near] = joint;
        } else {
            self.insert(x, weight);
        }
        if self.left_out == REFRESH_AFTER || self.left_out_weight > LEFT_OUT * self.total_weight {
            self.refresh_ranks();
        }
    }

    /// The number of centroids below x.
    #[inline]
    fn search(&self, x: f64) -> usize {
        let mut k = 0;
        for step in [32, 16, 8, 4, 2, 1] {
            k += step * usize::from(self.values[(k + step - 1) % CENTROIDS] < x);
        }
        k + usize::from(self.values[k] < x)
    }

    #[inline]
    fn is_point(&self, k: usize) -> bool {
        self.points >> k & 1 == 1
    }

    /// Makes a value a point of its own.
    #[inline(never)]
    fn insert(&mut self, x: f64, weight: f64) {
        if self.len == CENTROIDS {
            self.join();
        }
        let k = self.search(x);
        self.values.copy_within(k..self.len, k + 1);
        self.weights.copy_within(k..self.len, k + 1);
        (self.values[k], self.weights[k]) = (x, weight);
        let (bit, points) = (1 << k, self.points);
        let below = points & (bit - 1);
        self.points = below | bit | (points ^ below) << 1;
        self.len += 1;
        self.refresh_ranks();
    }

    /// Sums the ranks again.
    #[inline(never)]
    fn refresh_ranks(&mut self) {
        let ranks = &mut self.ranks[..self.len];
        let mut sum = 0.0;
        for (rank, weight) in ranks.iter_mut().zip(&self.weights) {
            sum += weight;
            *rank = sum;
        }
        let whole = 1.0 / sum;
        for rank in ranks {
            *rank = (*rank * whole).min(1.0);
        }
        // A sum of few numbers has less rounding error than one over all samples.
        self.total_weight = sum;
        (self.left_out, self.left_out_weight) = (0, 0.0);
    }

    /// Joins neighbours from the left as long as their share together is small enough, except for
    /// the smallest and the largest.
    fn join(&mut self) {
        let limit = JOINT_SHARE * self.total_weight;
        let last = self.len - 1;
        let (mut points, mut at) = (self.points & 0b11, 1);
        for k in 2..=last {
            let weight = self.weights[at] + self.weights[k];
            // With observed weights some can always be joined, but not with weights from any file.
            let none_joined = k + 1 == last && at + 1 == k;
            if (weight <= limit || none_joined) && k < last {
                self.values[at] = self.joint_value(at, k);
                self.weights[at] = weight;
                points &= !(1 << at);
            } else {
                at += 1;
                (self.values[at], self.weights[at]) = (self.values[k], self.weights[k]);
                points |= (self.points >> k & 1) << at;
            }
        }
        (self.len, self.points) = (at + 1, points);
        self.values[self.len..].fill(f64::INFINITY);
    }

    /// The value of two joined centroids: their mean, if the gap between them is not wider than the
    /// one on the other side of the heavier. A mean across a wide gap would lie where there is no
    /// value.
    fn joint_value(&self, left: usize, right: usize) -> f64 {
        let (low, high) = (self.values[left], self.values[right]);
        let share = self.weights[right] / (self.weights[left] + self.weights[right]);
        // Rounding must not lead beyond either.
        if share > 0.5 {
            let gap = (high - low).min(self.values[right + 1] - high);
            (high - (1.0 - share) * gap).max(low)
        } else {
            let gap = (high - low).min(low - self.values[left - 1]);
            (low + share * gap).min(high)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::numeric::Random;

    /// How far F may be from its definition. Half of a joined centroid is 0.016, and the ranks
    /// leave out as much; the rest is for centroids that overlap. Four seeds stayed below 0.034.
    const BOUND: f64 = 0.04;

    /// The same where a joined centroid may lie in a gap; four seeds stayed below 0.058.
    const BOUND_AT_GAPS: f64 = 0.07;

    fn exact(past: &[(f64, f64)], x: f64) -> f64 {
        let (mut below, mut at, mut total) = (0.0, 0.0, 0.0);
        for &(value, weight) in past {
            total += weight;
            below += if value < x { weight } else { 0.0 };
            at += if value == x { weight } else { 0.0 };
        }
        (below + 0.5 * at) / total
    }

    /// The largest error along a stream, at the values that come next, at past values and between
    /// them.
    fn error(values: impl Iterator<Item = f64>, weights: &[f64]) -> f64 {
        let mut random = Random::new(5, "probe", "");
        let (mut quantiles, mut past) = (Quantiles::default(), Vec::new());
        let mut error = 0.0_f64;
        for (i, value) in values.enumerate() {
            if i > 0 {
                let mut earlier = || past[random.below(i as u64) as usize];
                let ((a, _), (b, _)) = (earlier(), earlier());
                for x in [value, a, a + (b - a) * 0.01] {
                    error = error.max((quantiles.mid_rank(x) - exact(&past, x)).abs());
                }
            }
            let weight = weights[i % weights.len()];
            quantiles.observe(value, weight);
            past.push((value, weight));
        }
        error
    }

    fn normal(random: &mut Random) -> f64 {
        (0..12).map(|_| random.signed_unit()).sum::<f64>() / 2.0
    }

    #[test]
    fn ranks_are_near_their_definition() {
        type Draw = fn(&mut Random, usize) -> f64;
        let draws: [(&str, Draw); 10] = [
            ("uniform", |random, _| random.signed_unit()),
            ("normal", |random, _| normal(random)),
            ("outlier", |random, i| if i == 2000 { 1e9 } else { normal(random) }),
            ("heavy tails", |random, _| normal(random) / random.signed_unit().powi(3)),
            ("discrete", |random, _| random.below(16) as f64),
            ("pixels", |random, _| (random.signed_unit() * 256.0).floor().max(0.0)),
            ("nearly constant", |random, _| match random.below(50) {
                0 => random.signed_unit(),
                _ => 0.0,
            }),
            ("sorted", |_, i| (i * i) as f64),
            ("falling", |_, i| -(i as f64)),
            ("two clusters", |random, _| random.below(2) as f64 * 1000.0 + random.signed_unit()),
        ];
        for (name, draw) in draws {
            for weights in [&[1.0][..], &[1.0, 0.25, 3.0, 7.5, 0.5]] {
                let mut random = Random::new(1, "values", name);
                let error = error((0..4000).map(|i| draw(&mut random, i)), weights);
                let bound = if name == "two clusters" { BOUND_AT_GAPS } else { BOUND };
                assert!(error <= bound, "{name}, weights {weights:?}: {error}");
            }
        }
    }

    #[test]
    fn few_different_values_are_exact() {
        let mut random = Random::new(2, "values", "");
        let (mut quantiles, mut past) = (Quantiles::default(), Vec::new());
        for i in 0..3000 {
            let value = random.below(CENTROIDS as u64) as f64;
            let weight = [1.0, 0.5, 4.0][i % 3];
            quantiles.observe(value, weight);
            past.push((value, weight));
        }
        quantiles.0.as_mut().unwrap().refresh_ranks();
        for x in (-2..2 * CENTROIDS as i32 + 2).map(|x| f64::from(x) / 2.0) {
            let (rank, exact) = (quantiles.mid_rank(x), exact(&past, x));
            assert!((rank - exact).abs() < 1e-12, "at {x}: {rank}, not {exact}");
        }
    }

    #[test]
    fn joined_values_are_spread_and_all_others_points() {
        let mut quantiles = Quantiles::default();
        for i in 0..=CENTROIDS {
            quantiles.observe(i as f64, 1.0);
        }
        let summary = quantiles.0.unwrap();
        assert!(summary.len < CENTROIDS);
        for k in 0..summary.len {
            assert_eq!(summary.is_point(k), summary.weights[k] == 1.0, "centroid {k}");
        }
        let ends = [0, summary.len - 1];
        assert_eq!(ends.map(|k| summary.values[k]), [0.0, CENTROIDS as f64]);
        assert!(ends.iter().all(|&k| summary.is_point(k)));
    }

    #[test]
    fn a_frequent_value_stays_a_point() {
        let mut random = Random::new(3, "values", "");
        let mut quantiles = Quantiles::default();
        for i in 0..5000 {
            quantiles.observe(if i % 20 < 19 { 0.0 } else { random.signed_unit() }, 1.0);
        }
        let just_beside = [-f64::MIN_POSITIVE, 0.0, f64::MIN_POSITIVE];
        let [below, at, above] = just_beside.map(|x| quantiles.mid_rank(x));
        assert!((below - 0.025).abs() < 0.01 && (above - 0.975).abs() < 0.01, "{below}, {above}");
        assert!((at - 0.5).abs() < 0.01, "{at}");
    }

    #[test]
    fn outliers_leave_other_ranks_alone() {
        let mut random = Random::new(4, "values", "");
        let (mut without, mut with) = (Quantiles::default(), Quantiles::default());
        for i in 0..10_000 {
            let value = normal(&mut random);
            without.observe(value, 1.0);
            with.observe(if i % 2500 == 1250 { 1e9 * i as f64 } else { value }, 1.0);
        }
        for x in (-30..=30).map(|x| f64::from(x) / 10.0) {
            let (without, with) = (without.mid_rank(x), with.mid_rank(x));
            assert!((without - with).abs() <= BOUND, "at {x}: {without} became {with}");
        }
    }

    #[test]
    fn nothing_is_kept_before_the_first_value() {
        let mut quantiles = Quantiles::default();
        assert!(quantiles.0.is_none());
        assert_eq!(quantiles.mid_rank(3.0), 0.5);
        quantiles.observe(3.0, 1.0);
        assert_eq!([2.0, 3.0, 4.0].map(|x| quantiles.mid_rank(x)), [0.0, 0.5, 1.0]);
    }

    /// Finite values of every size, many of them equal, and no larger than the scaling accepts.
    fn value() -> impl Strategy<Value = f64> {
        prop_oneof![
            any::<f64>().prop_map(|x| if x.is_nan() { 0.0 } else { x.clamp(-1e150, 1e150) }),
            (-50_i32..50).prop_map(f64::from),
            -1.0..1.0,
            Just(-0.0),
            (0_u64..20).prop_map(f64::from_bits),
        ]
    }

    proptest! {
        #[test]
        fn ranks_rise_from_0_to_1(
            values in vec((value(), prop_oneof![Just(1.0), 1e-100..1e-90, 0.1..9.0, 1e90..1e100]), 1..600),
            mut probes in vec(value(), 50),
        ) {
            let mut quantiles = Quantiles::default();
            for &(value, weight) in &values {
                quantiles.observe(value, weight);
                let summary = quantiles.0.as_ref().unwrap();
                prop_assert!(summary.values.is_sorted() && summary.ranks[..summary.len].is_sorted());
                prop_assert!(summary.values[..summary.len].iter().all(|value| value.is_finite()));
            }
            probes.extend(values.iter().map(|(value, _)| *value));
            probes.sort_by(f64::total_cmp);
            let ranks: Vec<f64> = probes.iter().map(|&x| quantiles.mid_rank(x)).collect();
            prop_assert!(ranks.iter().all(|rank| (0.0..=1.0).contains(rank)), "{:?}", ranks);
            prop_assert!(ranks.is_sorted(), "{:?}", ranks);
            prop_assert_eq!([quantiles.mid_rank(-f64::MAX), quantiles.mid_rank(f64::MAX)], [0.0, 1.0]);
        }
    }
}
