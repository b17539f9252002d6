//! The samples that every row learns: features like those of tanh, one-hot targets.

/// The number of different samples.
pub(crate) const POOL: usize = 128;

/// The number of classes, and so of targets.
pub(crate) const TARGETS: usize = 10;

/// A pool of samples, the same for every row.
pub(crate) struct Samples {
    order: usize,
    features: Vec<f64>,
    targets: Vec<f64>,
    right_hand_side: Vec<f64>,
}

/// A position in the pool that advances with every sample.
#[derive(Default)]
pub(crate) struct Cursor(usize);

impl Samples {
    pub(crate) fn new(order: usize) -> Self {
        let mut random = SplitMix(order as u64);
        let mut uniform =
            |count: usize| -> Vec<f64> { (0..count).map(|_| random.next()).collect() };
        let features = uniform(POOL * order);
        let right_hand_side = uniform(order);
        let mut targets = vec![0.0; POOL * TARGETS];
        for (sample, row) in targets.chunks_exact_mut(TARGETS).enumerate() {
            row[sample * 7 % TARGETS] = 1.0;
        }
        Samples { order, features, targets, right_hand_side }
    }

    pub(crate) fn order(&self) -> usize {
        self.order
    }

    /// The features of `count` consecutive samples, a divisor of the pool.
    pub(crate) fn next(&self, cursor: &mut Cursor, count: usize) -> (&[f64], &[f64]) {
        let first = cursor.0 % POOL;
        cursor.0 += count;
        (
            &self.features[first * self.order..][..count * self.order],
            &self.targets[first * TARGETS..][..count * TARGETS],
        )
    }

    /// The b of K x = b.
    pub(crate) fn right_hand_side(&self) -> &[f64] {
        &self.right_hand_side
    }
}

/// Steele, Lea and Flood's generator: a benchmark needs no better one.
struct SplitMix(u64);

impl SplitMix {
    /// Uniform on [-1, 1].
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        (z >> 11) as f64 * (2.0 / (1_u64 << 53) as f64) - 1.0
    }
}
