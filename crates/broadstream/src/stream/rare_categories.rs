//! The categories of a column that has more of them than may have an input each.
//!
//! A column may have a bounded number of inputs. Its first categories get an input each, which is all
//! there is to it for most columns. From then on the other categories are rare until they prove to be
//! frequent: a hash of its text gives each of them one of a few inputs that rare categories share. Those
//! that occur often, though they appeared late, are found by counting, and get an input of their own
//! while there is room.
//!
//! The counts are those of the space-saving algorithm (Metwally, Agrawal and El Abbadi, "Efficient
//! computation of frequent and top-k elements in data streams", 2005): there is a fixed number of counters,
//! and a category without one takes over a counter of the smallest count. What its count had before is
//! its error, so that count − error is a number of rows that the category has surely had. Counters know
//! categories by their hash, so that they cost the same for texts of any length.
//!
//! An input that was given to a category stays that category's, and a shared input stays shared: the model
//! has learned samples with these inputs.

use std::collections::{BTreeSet, HashMap};

use crate::{
    error::ModelFileError,
    numeric::{spread, stable_hash},
    state::{ReadScope, WriteScope},
};

/// A rare category that has surely occurred this often has an input of its own from then on.
const FREQUENT: u64 = 10;

/// What the names of the inputs that rare categories share begin with, in place of a category. A category
/// of that very name shares that input too.
const SHARED: &str = "other#";

/// How many inputs of each sort a column may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CategoryLimits {
    /// The categories that get an input of their own as soon as they appear.
    pub(super) first: usize,
    /// All that may have one.
    pub(super) own: usize,
    /// The inputs that the others share.
    shared: u32,
    /// The categories that are counted.
    counted: usize,
}

impl CategoryLimits {
    /// All inputs together.
    pub(super) fn inputs(&self) -> usize {
        self.own + self.shared()
    }

    /// How many inputs rare categories share.
    pub(super) fn shared(&self) -> usize {
        self.shared as usize
    }

    /// The parts of `inputs` inputs, of which there must be at least one: half of them for the first
    /// categories, a quarter for those that prove to be frequent later, and a quarter for the others.
    pub(super) fn of(inputs: usize) -> Self {
        let inputs = inputs.max(1);
        let shared = (inputs / 4).clamp(1, MOST_SHARED);
        let late = inputs / 4;
        let own = inputs - shared;
        CategoryLimits {
            first: own - late.min(own),
            own,
            shared: shared as u32,
            counted: (inputs / 2).clamp(1, MOST_COUNTED),
        }
    }
}

/// More inputs are hardly shared, and more counters find nothing that is frequent.
const MOST_SHARED: usize = 1 << 20;
const MOST_COUNTED: usize = 1 << 16;

/// The categories of a column that came when there was no input left for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RareCategories {
    /// How many inputs they share.
    shared: u32,
    /// The most counters.
    capacity: usize,
    counters: Vec<Counter>,
    /// Once all counters are in use, no count is below this, and the next counter to be taken over is the first
    /// one from `next` on that has it.
    least: u64,
    next: usize,
    /// The position of the counter of each hash.
    positions: HashMap<u64, usize>,
    /// The hashes of the categories that have shared an input before they got one of their own.
    promoted: BTreeSet<u64>,
    /// Whether these are the categories of several models. One of them may have had its own input for a
    /// category that was rare in another.
    merged: bool,
}

/// How often a category has occurred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counter {
    /// 0 if the counter belongs to none.
    hash: u64,
    /// At least as often as the category has occurred.
    count: u64,
    /// How much the count may be too high.
    error: u64,
}

/// What counting a category has changed.
#[derive(Clone, Copy, Debug)]
pub(super) struct CountChange {
    position: usize,
    /// The counter as it was; `None` if it is new.
    before: Option<Counter>,
    least: u64,
    next: usize,
}

impl RareCategories {
    pub(super) fn new(limits: CategoryLimits) -> Self {
        RareCategories {
            shared: limits.shared,
            capacity: limits.counted,
            counters: Vec::new(),
            least: 1,
            next: 0,
            positions: HashMap::new(),
            promoted: BTreeSet::new(),
            merged: false,
        }
    }

    /// How many inputs rare categories share.
    pub fn shared(&self) -> usize {
        self.shared as usize
    }

    /// Counts a category, and returns whether it is frequent by now.
    pub(super) fn count(&mut self, hash: u64) -> (CountChange, bool) {
        let (least, next) = (self.least, self.next);
        let (position, before) = match self.positions.get(&hash) {
            Some(position) => (*position, Some(self.counters[*position])),
            None if self.counters.len() < self.capacity => {
                self.counters.push(Counter::default());
                (self.counters.len() - 1, None)
            }
            None => {
                let position = self.find_least();
                let before = self.counters[position];
                self.positions.remove(&before.hash);
                let error = self.least;
                self.counters[position] = Counter { hash, count: error, error };
                (position, Some(before))
            }
        };
        let counter = &mut self.counters[position];
        counter.hash = hash;
        counter.count += 1;
        let is_frequent = counter.count - counter.error >= FREQUENT;
        self.positions.insert(hash, position);
        (CountChange { position, before, least, next }, is_frequent)
    }

    /// The position of a counter with the smallest count.
    fn find_least(&mut self) -> usize {
        // Counts only grow, so one that was passed over is larger than the smallest, except where
        // a counter was given back meanwhile: that one is met in the next round.
        loop {
            let rest = &self.counters[self.next..];
            if let Some(further) = rest.iter().position(|counter| counter.count <= self.least) {
                self.next += further;
                return self.next;
            }
            let smallest = self.counters.iter().map(|counter| counter.count).min();
            (self.next, self.least) = (0, smallest.unwrap_or(1).max(self.least));
        }
    }

    /// Notes that a category, which was just counted, has got an input of its own. Its counter is free for
    /// another one.
    pub(super) fn promote(&mut self, hash: u64) {
        self.promoted.insert(hash);
        if let Some(position) = self.positions.remove(&hash) {
            // As if what was counted had occurred as often as the rarest.
            let least = self.least;
            self.counters[position] = Counter { hash: 0, count: least, error: least };
        }
    }

    /// Undoes a count, and whether it has promoted the category.
    pub(super) fn undo(&mut self, hash: u64, change: CountChange) {
        let CountChange { position, before, least, next } = change;
        self.promoted.remove(&hash);
        self.positions.remove(&hash);
        match before {
            Some(before) => {
                self.counters[position] = before;
                if before.hash != 0 {
                    self.positions.insert(before.hash, position);
                }
            }
            None => self.counters.truncate(position),
        }
        (self.least, self.next) = (least, next);
    }

    /// Whether rows with a category that has an input of its own may have been learned with a shared one.
    pub(super) fn may_have_shared(&self, hash: u64) -> bool {
        self.merged || self.promoted.contains(&hash)
    }

    /// Adds what another model has counted in the same column. Both must share as many inputs.
    ///
    /// This is the merge of space-saving summaries (Agarwal et al., "Mergeable summaries", 2012): counts are
    /// added, and the largest are kept.
    pub(super) fn merge(&mut self, other: &RareCategories) {
        let mut counters: Vec<Counter> = Vec::new();
        let all = self.counters.iter().chain(&other.counters).filter(|counter| counter.hash != 0);
        let hashes: BTreeSet<u64> = all.map(|counter| counter.hash).collect();
        for hash in hashes {
            let [own, others] = [&*self, other].map(|rare| rare.counter(hash));
            counters.push(Counter {
                hash,
                count: own.count.saturating_add(others.count),
                error: own.error.saturating_add(others.error),
            });
        }
        self.capacity = self.capacity.max(other.capacity);
        counters.sort_unstable_by_key(|counter| (std::cmp::Reverse(counter.count), counter.hash));
        counters.truncate(self.capacity);
        let is_full = counters.len() == self.capacity;
        self.least = counters.last().filter(|_| is_full).map_or(1, |counter| counter.count);
        self.next = 0;
        self.positions =
            counters.iter().enumerate().map(|(position, c)| (c.hash, position)).collect();
        self.counters = counters;
        self.promoted.extend(&other.promoted);
        self.merged = true;
    }

    /// Notes that another model was merged, all of whose categories had an input of their own.
    pub(super) fn note_merge(&mut self) {
        self.merged = true;
    }

    /// What is known about a hash: if it has no counter, that it has not occurred more often than the rarest.
    fn counter(&self, hash: u64) -> Counter {
        match self.positions.get(&hash) {
            Some(position) => self.counters[*position],
            None if self.counters.len() < self.capacity => Counter { hash, count: 0, error: 0 },
            None => Counter { hash, count: self.least, error: self.least },
        }
    }

    pub(super) fn save(&self, to: &mut WriteScope<'_>) {
        to.integer("shared", self.shared as usize);
        to.integer("capacity", self.capacity);
        to.integers("hashes", self.counters.iter().map(|counter| counter.hash).collect());
        to.integers("counts", self.counters.iter().map(|counter| counter.count).collect());
        to.integers("errors", self.counters.iter().map(|counter| counter.error).collect());
        to.integers("smallest", vec![self.least, self.next as u64]);
        to.integers("promoted", self.promoted.iter().copied().collect());
        to.value("merged", self.merged);
    }

    pub(super) fn restore(from: &ReadScope<'_>) -> Result<Self, ModelFileError> {
        let capacity = from.count("capacity", MOST_COUNTED)?;
        let shared = from.count("shared", MOST_SHARED)?;
        from.check("shared", shared > 0 && capacity > 0, "at least 1, as the capacity")?;
        let hashes = from.any_integers("hashes")?;
        from.check("hashes", hashes.len() <= capacity, "at most the capacity")?;
        let [counts, errors] = [
            from.integers("counts", hashes.len(), u64::MAX)?,
            from.integers("errors", hashes.len(), u64::MAX)?,
        ];
        let mut positions = HashMap::new();
        let mut counters = Vec::with_capacity(hashes.len());
        for (position, hash) in hashes.into_iter().enumerate() {
            let (count, error) = (counts[position], errors[position]);
            from.check("counts", count < MOST_ROWS && error <= count, "at least the errors")?;
            let is_new = hash == 0 || positions.insert(hash, position).is_none();
            from.check("hashes", is_new, "different hashes")?;
            counters.push(Counter { hash, count, error });
        }
        let smallest = from.integers("smallest", 2, u64::MAX)?;
        let (least, next) = (smallest[0], usize::try_from(smallest[1]).unwrap_or(usize::MAX));
        let is_sound = least < MOST_ROWS && next <= counters.len();
        from.check("smallest", is_sound, "a count, and the position of a counter")?;
        Ok(RareCategories {
            shared: shared as u32,
            capacity,
            counters,
            least,
            next,
            positions,
            promoted: from.any_integers("promoted")?.into_iter().collect(),
            merged: from.flag("merged")?,
        })
    }
}

/// More rows than any stream has.
const MOST_ROWS: u64 = 1 << 62;

/// The hash by which a category is counted. It is never 0.
pub(super) fn category_hash(text: &[u8]) -> u64 {
    stable_hash(text).max(1)
}

/// What stands in place of a rare category in the name of its input, if `shared` inputs are shared.
pub(super) fn shared_name(hash: u64, shared: usize) -> String {
    format!("{SHARED}{}", spread(hash, shared as u32))
}

/// What stands in the names of all inputs that rare categories share.
pub(super) fn shared_names(shared: usize) -> impl Iterator<Item = String> {
    (0..shared).map(|number| format!("{SHARED}{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rare(inputs: usize) -> RareCategories {
        RareCategories::new(CategoryLimits::of(inputs))
    }

    fn counts(rare: &RareCategories) -> Vec<(u64, u64, u64)> {
        rare.counters.iter().map(|c| (c.hash, c.count, c.error)).collect()
    }

    #[test]
    fn a_column_has_no_more_inputs_than_it_may_have() {
        for inputs in 1..3000 {
            let CategoryLimits { first, own, shared, counted } = CategoryLimits::of(inputs);
            assert_eq!(own + shared as usize, inputs);
            assert!(first <= own && shared >= 1 && counted >= 1);
        }
        let CategoryLimits { first, own, shared, counted } = CategoryLimits::of(2000);
        assert_eq!((first, own, shared, counted), (1000, 1500, 500, 1000));
    }

    #[test]
    fn counts_are_bounds_for_any_stream() {
        let mut random = crate::numeric::Random::new(3, "test", "rare");
        let (mut rare, mut exact) = (rare(16), HashMap::<u64, u64>::new());
        for row in 0..20_000 {
            let hash = match random.below(3) {
                0 => 1 + random.below(4),
                1 => 10 + random.below(30) + row / 5000,
                _ => 1000 + row,
            };
            *exact.entry(hash).or_default() += 1;
            let (_, is_frequent) = rare.count(hash);
            let counter = rare.counter(hash);
            assert!(counter.count >= exact[&hash] && counter.count - counter.error <= exact[&hash]);
            assert_eq!(is_frequent, counter.count - counter.error >= FREQUENT);
        }
        let total: u64 = counts(&rare).iter().map(|(_, count, _)| count).sum();
        assert_eq!(total, 20_000, "space-saving counts every row");
        let least = counts(&rare).iter().map(|(_, count, _)| *count).min().unwrap();
        for (hash, count) in exact {
            assert!(count <= least || rare.positions.contains_key(&hash), "{hash}: {count}");
        }
    }

    #[test]
    fn what_is_undone_leaves_nothing_behind() {
        let mut random = crate::numeric::Random::new(4, "test", "rare");
        let mut rare = rare(12);
        for _ in 0..500 {
            let before = rare.clone();
            let mut changes = Vec::new();
            for _ in 0..random.below(8) {
                let hash = 1 + random.below(20);
                let (change, is_frequent) = rare.count(hash);
                if is_frequent && random.below(2) == 0 {
                    rare.promote(hash);
                }
                changes.push((hash, change));
            }
            if random.below(2) == 0 {
                let after = rare.clone();
                changes.iter().rev().for_each(|(hash, change)| rare.undo(*hash, *change));
                assert_eq!(rare, before);
                rare = after;
            }
        }
    }

    #[test]
    fn merged_counts_are_bounds_too() {
        let mut random = crate::numeric::Random::new(5, "test", "rare");
        let (mut parts, mut exact) = ([rare(16), rare(16)], HashMap::<u64, u64>::new());
        for row in 0..4000 {
            let hash = if row % 3 == 0 { 1000 + row } else { 1 + random.below(10) };
            parts[(row % 2) as usize].count(hash);
            *exact.entry(hash).or_default() += 1;
        }
        let [mut merged, other] = parts;
        merged.merge(&other);
        for (hash, count, error) in counts(&merged) {
            assert!(count >= exact[&hash] && count - error <= exact[&hash]);
        }
        assert_eq!(merged.counters.len(), 8);
        // It goes on counting.
        (0..1000).for_each(|row| _ = merged.count(50_000 + row));
        assert!(merged.may_have_shared(17));
    }
}
