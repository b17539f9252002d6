//! The answers to requests that came with an idempotency key, for those who ask again.
//!
//! A client that did not hear the answer, since the network failed or the service was killed, sends its
//! request once more with the same key. It gets the answer that it should have got, and nothing is learned
//! twice. As everything else, answers depend on the records alone.

use std::collections::{HashMap, VecDeque};

use super::{
    ServeError,
    codec::{Decoder, Encoder},
    record::RequestKey,
};

/// How many answers are kept, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AnswerLimits {
    pub(crate) count: usize,
    pub(crate) bytes: usize,
    pub(crate) milliseconds: u64,
}

/// Answers by idempotency key.
#[derive(Clone, Debug)]
pub(crate) struct Answers {
    limits: AnswerLimits,
    answers: HashMap<String, Answer>,
    /// The keys with their times, the oldest first.
    order: VecDeque<(u64, String)>,
    bytes: usize,
}

#[derive(Clone, Debug)]
struct Answer {
    request: u64,
    content: Box<[u8]>,
}

impl Answers {
    pub(crate) fn new(limits: AnswerLimits) -> Self {
        Answers { limits, answers: HashMap::new(), order: VecDeque::new(), bytes: 0 }
    }

    /// The answer to a request that was carried out before. A key that came with another request is
    /// refused.
    pub(crate) fn find(&self, key: &RequestKey) -> Result<Option<&[u8]>, ServeError> {
        match self.answers.get(&key.key) {
            Some(answer) if answer.request == key.request => Ok(Some(&answer.content)),
            Some(_) => Err(ServeError::KeyReused { key: key.key.clone() }),
            None => Ok(None),
        }
    }

    /// Keeps an answer. The oldest make room.
    pub(crate) fn add(&mut self, at: u64, key: RequestKey, content: Vec<u8>) {
        let RequestKey { key, request } = key;
        self.bytes += key.len() + content.len();
        self.order.push_back((at, key.clone()));
        self.answers.insert(key, Answer { request, content: content.into() });
        while self.order.len() > self.limits.count || self.bytes > self.limits.bytes {
            if self.remove_oldest().is_none() {
                break;
            }
        }
    }

    /// Forgets the answers whose time is over.
    pub(crate) fn expire(&mut self, now: u64) {
        while let Some((at, _)) = self.order.front() {
            if now.saturating_sub(*at) <= self.limits.milliseconds {
                break;
            }
            self.remove_oldest();
        }
    }

    fn remove_oldest(&mut self) -> Option<()> {
        let (_, key) = self.order.pop_front()?;
        let answer = self.answers.remove(&key)?;
        self.bytes -= key.len() + answer.content.len();
        Some(())
    }

    pub(super) fn write(&self, to: &mut Encoder) {
        to.number(self.order.len() as u64);
        for (at, key) in &self.order {
            let answer = self.answers.get(key);
            to.number(*at);
            to.text(key);
            to.number(answer.map_or(0, |answer| answer.request));
            to.bytes(answer.map_or(&[], |answer| &answer.content));
        }
    }

    pub(super) fn read(limits: AnswerLimits, from: &mut Decoder<'_>) -> Option<Self> {
        let mut answers = Answers::new(limits);
        let kept = from.list(|from| {
            let at = from.number()?;
            let key = RequestKey { key: from.text()?.to_owned(), request: from.number()? };
            Some((at, key, from.bytes()?.to_vec()))
        })?;
        kept.into_iter().for_each(|(at, key, content)| answers.add(at, key, content));
        Some(answers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: AnswerLimits = AnswerLimits { count: 3, bytes: 60, milliseconds: 100 };

    fn key(key: &str, request: u64) -> RequestKey {
        RequestKey { key: key.to_owned(), request }
    }

    #[test]
    fn who_asks_again_gets_the_same_answer() {
        let mut answers = Answers::new(LIMITS);
        answers.add(5, key("a", 1), b"first".to_vec());
        assert_eq!(answers.find(&key("a", 1)).unwrap(), Some(&b"first"[..]));
        assert!(matches!(answers.find(&key("a", 2)), Err(ServeError::KeyReused { .. })));
        assert_eq!(answers.find(&key("b", 1)).unwrap(), None);
        let mut to = Encoder::default();
        answers.write(&mut to);
        let restored = Answers::read(LIMITS, &mut Decoder(&to.0)).unwrap();
        assert_eq!(restored.find(&key("a", 1)).unwrap(), Some(&b"first"[..]));
        assert_eq!(restored.bytes, answers.bytes);
        answers.expire(105);
        assert!(answers.find(&key("a", 1)).unwrap().is_some());
        answers.expire(106);
        assert_eq!((answers.find(&key("a", 1)).unwrap(), answers.bytes), (None, 0));
    }

    #[test]
    fn their_number_and_their_memory_are_bounded() {
        let mut answers = Answers::new(LIMITS);
        for i in 0..9 {
            answers.add(i, key(&format!("k{i}"), i), vec![0; 8]);
        }
        assert_eq!((answers.order.len(), answers.bytes), (3, 30));
        answers.add(9, key("large", 9), vec![0; 50]);
        assert_eq!(answers.order.len(), 1);
        answers.add(10, key("too large", 9), vec![0; 500]);
        assert_eq!((answers.order.len(), answers.bytes), (0, 0));
    }
}
