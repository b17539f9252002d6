//! Python's random numbers: the generator behind `random.Random(seed).random()`.

use rand_mt::Mt;

/// The sequence of Python's `random.Random(seed)` for a seed that fits 64 bits.
#[derive(Clone, Debug)]
pub(crate) struct PythonRandom(Mt);

impl PythonRandom {
    /// Seeds as CPython does: the seed's 32-bit words, lowest first, are the key of MT19937's
    /// `init_by_array`. A seed below 2³² is a key of one word, not of two.
    pub(crate) fn new(seed: u64) -> Self {
        let words = [seed as u32, (seed >> 32) as u32];
        let length = if words[1] == 0 { 1 } else { 2 };
        PythonRandom(Mt::new_with_key(words[..length].iter().copied()))
    }

    /// Python's `random()`: uniform on [0, 1) with 53 bits, 27 from one draw and 26 from the next.
    pub(crate) fn random(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1u64 << 53) as f64;
        let high = u64::from(self.0.next_u32() >> 5);
        let low = u64::from(self.0.next_u32() >> 6);
        ((high << 26) + low) as f64 * STEP
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line is `[random() for _ in range(4)]` after `random.seed(…)`, printed by Python.
    #[test]
    fn draws_what_python_draws() {
        let cases: [(u64, [f64; 4]); 5] = [
            (0, [0.8444218515250481, 0.7579544029403025, 0.420571580830845, 0.25891675029296335]),
            (
                42,
                [
                    0.6394267984578837,
                    0.025010755222666936,
                    0.27502931836911926,
                    0.22321073814882275,
                ],
            ),
            (
                u64::from(u32::MAX),
                [0.6353574441341173, 0.20319993954407756, 0.6073666030347188, 0.29133552762158776],
            ),
            (
                (1 << 32) + 5,
                [0.15727238718789782, 0.2824866316461999, 0.6044540318498407, 0.014523449205355199],
            ),
            (
                u64::MAX,
                [0.021825695401270107, 0.3380953268613758, 0.21196748656082065, 0.6151259995625727],
            ),
        ];
        for (seed, expected) in cases {
            let mut random = PythonRandom::new(seed);
            assert_eq!([(); 4].map(|()| random.random()), expected, "seed {seed}");
        }
    }

    /// MT19937 renews its state every 624 draws of 32 bits.
    #[test]
    fn still_agrees_after_many_draws() {
        let mut random = PythonRandom::new(42);
        let sum: f64 = (0..100_000).map(|_| random.random()).sum();
        assert_eq!((sum, random.random()), (50014.4292116282, 0.5755863844582546));
    }
}
