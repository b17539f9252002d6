//! Random numbers that are the same on every machine and in every version.
//!
//! A saved model regenerates its weights from its seed alone, so nothing here depends on a
//! library's choice of distribution or on the platform's `ln` and `cos`: a key is a SHA-256 digest,
//! the generator is ChaCha8, and a number is the upper 53 bits of a draw.

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};
use sha2::{Digest, Sha256};

/// A sequence of random numbers, identified by a seed, a role and a name.
pub(crate) struct Random(ChaCha8Rng);

impl Random {
    /// The sequence for `name` in its `role`. Different roles or names give unrelated sequences.
    pub(crate) fn new(seed: u64, role: &str, name: &str) -> Self {
        let mut digest = Sha256::new();
        digest.update(b"broadstream random 1\0");
        digest.update(seed.to_le_bytes());
        digest.update(role.as_bytes());
        digest.update(b"\0");
        digest.update(name.as_bytes());
        Random(ChaCha8Rng::from_seed(digest.finalize().into()))
    }

    /// Uniform on [-1, 1).
    pub(crate) fn signed_unit(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1u64 << 52) as f64;
        (self.0.next_u64() >> 11) as f64 * STEP - 1.0
    }

    /// Uniform on 0 … n-1, without bias.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        // Reject draws from the incomplete last run of n values, which would favour small numbers.
        let last_fair = u64::MAX - u64::MAX % n;
        loop {
            let draw = self.0.next_u64();
            if draw < last_fair {
                return draw % n;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_never_changes() {
        let mut random = Random::new(42, "feature", "age");
        let drawn: Vec<f64> = (0..3).map(|_| random.signed_unit()).collect();
        assert_eq!(drawn, [-0.36979357928914003, -0.6687811781047956, -0.4849089812324605]);
    }

    #[test]
    fn names_and_roles_are_unrelated() {
        let first = |role, name| Random::new(1, role, name).signed_unit();
        assert_ne!(first("feature", "a"), first("feature", "b"));
        assert_ne!(first("feature", "a"), first("bias", "a"));
    }

    #[test]
    fn draws_cover_their_range_evenly() {
        let mut random = Random::new(7, "test", "");
        let mut counts = [0; 3];
        let mut sum = 0.0;
        for _ in 0..30_000 {
            counts[random.below(3) as usize] += 1;
            let u = random.signed_unit();
            assert!((-1.0..1.0).contains(&u));
            sum += u;
        }
        assert!(counts.iter().all(|&n| (9_700..10_300).contains(&n)), "{counts:?}");
        assert!((sum / 30_000.0_f64).abs() < 0.02);
    }
}
