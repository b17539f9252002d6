//! Predictions whose labels have not arrived yet.
//!
//! They are kept within a number, an amount of memory and a time. Every label gets an answer that says what
//! became of its prediction. What happens depends on the records alone, so it happens again when the log is
//! replayed.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::{
    codec::{Decoder, Encoder},
    record::Prediction,
};

/// How many predictions may wait, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PendingLimits {
    pub(crate) count: usize,
    pub(crate) bytes: usize,
    pub(crate) milliseconds: u64,
}

/// What became of a prediction that does not wait any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It was labelled.
    Labelled,
    /// Its time was over.
    Expired,
    /// Others needed its place.
    Evicted,
}

/// What is known of the prediction of a label.
#[derive(Debug, PartialEq)]
pub(crate) enum Lookup<'p> {
    /// It waits. With it comes when it was made.
    Waiting(&'p Prediction, u64),
    /// It waited once.
    Gone(Fate),
    /// It was made so long ago that nobody remembers what became of it.
    Forgotten,
    /// It was never made.
    Unknown,
}

/// Predictions that wait for their labels.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    limits: PendingLimits,
    /// By id, each with the time at which it was made.
    waiting: BTreeMap<u64, (u64, Prediction)>,
    bytes: usize,
    /// What became of the last ones, the oldest first.
    fates: VecDeque<u64>,
    fate_of: HashMap<u64, Fate>,
    /// The largest id.
    last: u64,
}

impl Pending {
    pub(crate) fn new(limits: PendingLimits) -> Self {
        Pending {
            limits,
            waiting: BTreeMap::new(),
            bytes: 0,
            fates: VecDeque::new(),
            fate_of: HashMap::new(),
            last: 0,
        }
    }

    /// Adds a prediction that was made at a time. The oldest make room.
    pub(crate) fn add(&mut self, at: u64, prediction: Prediction) {
        self.last = self.last.max(prediction.id);
        self.bytes += prediction.bytes();
        if let Some((_, replaced)) = self.waiting.insert(prediction.id, (at, prediction)) {
            self.bytes -= replaced.bytes();
        }
        while self.waiting.len() > self.limits.count || self.bytes > self.limits.bytes {
            let Some((&oldest, _)) = self.waiting.first_key_value() else { break };
            self.remove(oldest, Fate::Evicted);
        }
    }

    /// Gives up the predictions whose time is over.
    pub(crate) fn expire(&mut self, now: u64) {
        while let Some((&oldest, (at, _))) = self.waiting.first_key_value() {
            if now.saturating_sub(*at) <= self.limits.milliseconds {
                break;
            }
            self.remove(oldest, Fate::Expired);
        }
    }

    pub(crate) fn look_up(&self, id: u64) -> Lookup<'_> {
        match (self.waiting.get(&id), self.fate_of.get(&id)) {
            (Some((at, prediction)), _) => Lookup::Waiting(prediction, *at),
            (None, Some(fate)) => Lookup::Gone(*fate),
            (None, None) if id == 0 || id > self.last => Lookup::Unknown,
            (None, None) => Lookup::Forgotten,
        }
    }

    /// Ends the wait of a prediction.
    pub(crate) fn remove(&mut self, id: u64, fate: Fate) {
        let Some((_, prediction)) = self.waiting.remove(&id) else { return };
        self.bytes -= prediction.bytes();
        self.remember(id, fate);
    }

    /// Forgets the samples as they were prepared, since the model has become another one. Their rows stay.
    pub(crate) fn forget_prepared(&mut self) {
        for (_, prediction) in self.waiting.values_mut() {
            if let Some(prepared) = prediction.prepared.take() {
                self.bytes -= prepared.len();
            }
        }
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The largest id so far.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    fn remember(&mut self, id: u64, fate: Fate) {
        self.fate_of.insert(id, fate);
        self.fates.push_back(id);
        if self.fates.len() > self.limits.count
            && let Some(oldest) = self.fates.pop_front()
        {
            self.fate_of.remove(&oldest);
        }
    }

    pub(super) fn write(&self, to: &mut Encoder) {
        to.number(self.last);
        to.number(self.waiting.len() as u64);
        for (at, prediction) in self.waiting.values() {
            to.number(*at);
            prediction.write(to);
        }
        to.number(self.fates.len() as u64);
        for id in &self.fates {
            to.number(*id);
            to.byte(self.fate_of.get(id).map_or(0, |fate| *fate as u8));
        }
    }

    pub(super) fn read(limits: PendingLimits, from: &mut Decoder<'_>) -> Option<Self> {
        let mut pending = Pending::new(limits);
        pending.last = from.number()?;
        for (at, prediction) in from.list(|from| Some((from.number()?, Prediction::read(from)?)))? {
            pending.bytes += prediction.bytes();
            pending.waiting.insert(prediction.id, (at, prediction));
        }
        let fates = from.list(|from| Some((from.number()?, from.byte()?)))?;
        for (id, fate) in fates {
            let fates = [Fate::Labelled, Fate::Expired, Fate::Evicted];
            pending.remember(id, *fates.iter().find(|known| **known as u8 == fate)?);
        }
        Some(pending)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prediction(id: u64) -> Prediction {
        Prediction {
            id,
            row: "{}".into(),
            prepared: Some([0; 40].into()),
            class: Some(0),
            probabilities: vec![1.0],
        }
    }

    fn limits(count: usize) -> PendingLimits {
        PendingLimits { count, bytes: 100 * prediction(1).bytes(), milliseconds: 1000 }
    }

    #[test]
    fn every_label_learns_what_became_of_its_prediction() {
        let mut pending = Pending::new(limits(3));
        (1..=4).for_each(|id| pending.add(id * 100, prediction(id)));
        pending.remove(3, Fate::Labelled);
        pending.expire(1200);
        assert!(matches!(pending.look_up(2), Lookup::Waiting(_, 200)), "exactly its time");
        pending.expire(1201);
        assert_eq!(pending.look_up(1), Lookup::Gone(Fate::Evicted));
        assert_eq!(pending.look_up(2), Lookup::Gone(Fate::Expired));
        assert_eq!(pending.look_up(3), Lookup::Gone(Fate::Labelled));
        assert!(matches!(pending.look_up(4), Lookup::Waiting(_, 400)));
        assert_eq!(pending.look_up(5), Lookup::Unknown);
        assert_eq!(pending.look_up(0), Lookup::Unknown);
        pending.remove(4, Fate::Labelled);
        assert_eq!(pending.look_up(1), Lookup::Forgotten, "three fates are remembered");
        assert_eq!((pending.len(), pending.bytes), (0, 0));
    }

    #[test]
    fn memory_is_bounded_and_does_not_drift() {
        let one = prediction(1).bytes();
        let mut pending =
            Pending::new(PendingLimits { count: 1000, bytes: 5 * one, milliseconds: 1000 });
        for id in 1..=50 {
            pending.add(0, prediction(id));
            pending.add(0, prediction(id));
            assert_eq!(
                (pending.len(), pending.bytes),
                (5.min(id) as usize, 5.min(id) as usize * one)
            );
        }
        pending.forget_prepared();
        assert_eq!(pending.bytes, 5 * (one - 40));
        pending.expire(5000);
        assert_eq!((pending.len(), pending.bytes), (0, 0));
    }

    #[test]
    fn what_waits_is_restored() {
        let mut pending = Pending::new(limits(3));
        (1..=6).for_each(|id| pending.add(id, prediction(id)));
        pending.remove(5, Fate::Labelled);
        let mut to = Encoder::default();
        pending.write(&mut to);
        let mut from = Decoder(&to.0);
        let restored = Pending::read(limits(3), &mut from).unwrap();
        from.end().unwrap();
        let mut again = Encoder::default();
        restored.write(&mut again);
        assert_eq!((again.0, restored.bytes), (to.0.clone(), pending.bytes));
        for end in 0..to.0.len() {
            assert!(Pending::read(limits(3), &mut Decoder(&to.0[..end])).is_none());
        }
    }
}
