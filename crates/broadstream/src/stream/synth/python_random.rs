//! Python's random numbers: `random.Random(seed)` and those of its methods that generators draw from.

use std::{f64::consts::TAU, hint::black_box};

use rand_mt::Mt;

/// The sequence of Python's `random.Random(seed)` for a seed that fits 64 bits.
#[derive(Clone, Debug)]
pub(crate) struct PythonRandom {
    twister: Mt,
    /// Normal numbers are made in pairs; this is the second of a pair whose first was taken.
    second_normal: Option<f64>,
}

impl PythonRandom {
    /// Seeds as CPython does: the seed's 32-bit words, lowest first, are the key of MT19937's
    /// `init_by_array`. A seed below 2³² is a key of one word, not of two.
    pub(crate) fn new(seed: u64) -> Self {
        let words = [seed as u32, (seed >> 32) as u32];
        let length = if words[1] == 0 { 1 } else { 2 };
        let twister = Mt::new_with_key(words[..length].iter().copied());
        PythonRandom { twister, second_normal: None }
    }

    /// Python's `random()`: uniform on [0, 1) with 53 bits, 27 from one draw and 26 from the next.
    pub(crate) fn random(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1u64 << 53) as f64;
        let high = u64::from(self.twister.next_u32() >> 5);
        let low = u64::from(self.twister.next_u32() >> 6);
        ((high << 26) + low) as f64 * STEP
    }

    /// Uniform on 0, 1, …, `n` - 1: Python's `randint(0, n - 1)`, and the position that `choice`
    /// takes from a list of `n`.
    ///
    /// As many bits as `n` has, drawn again while they do not fall below it; so even `n` = 1
    /// draws until a bit is 0. There is no number below 0: for `n` = 0 it is 0, without a draw.
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        if n == 0 {
            return 0;
        }
        loop {
            let bits = self.twister.next_u32() >> n.leading_zeros();
            if bits < n {
                return bits;
            }
        }
    }

    /// Python's `randint(low, high)`, both ends included.
    pub(crate) fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high - low + 1)
    }

    /// Python's `gauss(0, 1)`: the two coordinates of a random point in the plane, in turn.
    ///
    /// The logarithm, sine and cosine are the platform's, as they are Python's. C libraries round
    /// them differently in about one case of a thousand, some even by processor, so these numbers
    /// agree with Python's to the bit on the same machine and within rounding elsewhere.
    pub(crate) fn normal(&mut self) -> f64 {
        if let Some(second) = self.second_normal.take() {
            return second;
        }
        let angle = self.random() * TAU;
        let radius = (-2.0 * (1.0 - self.random()).ln()).sqrt();
        self.second_normal = Some(angle.sin() * radius);
        angle.cos() * radius
    }
}

/// Python's `x ** 0.5`, which is the platform's `pow` and not its square root: the last bits of the
/// two differ in about one case of a thousand.
pub(crate) fn power_of_one_half(x: f64) -> f64 {
    // An exponent that the compiler knew would be turned into a square root.
    x.powf(black_box(0.5))
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

    /// `[randint(0, n - 1) for _ in range(10)]` after `random.seed(7)`, printed by Python.
    #[test]
    fn draws_the_integers_of_python() {
        let cases: [(u32, [u32; 10]); 6] = [
            (1, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            (2, [1, 0, 1, 0, 0, 0, 1, 0, 0, 0]),
            (3, [1, 0, 1, 2, 0, 0, 2, 0, 1, 2]),
            (10, [5, 2, 6, 0, 1, 8, 1, 5, 9, 0]),
            (17, [10, 4, 12, 1, 2, 3, 11, 1, 16, 6]),
            (
                u32::MAX,
                [
                    1390851128, 4071050724, 647892279, 1695753998, 2795742288, 207388624,
                    311111475, 3527346212, 2301595691, 404285457,
                ],
            ),
        ];
        for (n, expected) in cases {
            let mut random = PythonRandom::new(7);
            assert_eq!([(); 10].map(|()| random.below(n)), expected, "below {n}");
        }
        let mut random = PythonRandom::new(7);
        assert_eq!(random.below(0), 0);
        assert_eq!(random.random(), PythonRandom::new(7).random(), "nothing was drawn");
        // `[randint(20, 80) for _ in range(4)]`
        let mut random = PythonRandom::new(7);
        assert_eq!([(); 4].map(|()| random.between(20, 80)), [40, 80, 29, 45]);
    }

    /// `random(), gauss(0, 1), random(), gauss(0, 1), random(), gauss(0, 1)` after
    /// `random.seed(7)`: the second normal number draws nothing.
    #[test]
    fn draws_the_normal_numbers_of_python() {
        let mut random = PythonRandom::new(7);
        let drawn = [(); 3].map(|()| [random.random(), random.normal()]);
        let expected = [
            [0.32383276483316237, 0.8465186258155725],
            [0.07243628666754276, 1.178302784639487],
            [0.5358820043066892, -0.22972548234202542],
        ];
        for (drawn, expected) in drawn.into_iter().zip(expected) {
            assert_eq!(drawn[0], expected[0]);
            assert!((drawn[1] - expected[1]).abs() < 1e-14, "{drawn:?} and {expected:?}");
        }
    }

    #[test]
    fn one_half_is_the_exponent_of_the_square_root() {
        for x in [0.0, 1.0, 2.0, 0.3, 1e300] {
            assert!((power_of_one_half(x) - x.sqrt()).abs() <= x.sqrt() * f64::EPSILON, "{x}");
        }
    }
}
