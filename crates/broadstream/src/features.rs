//! The broad features of a sample (equations 1 to 3 of the paper).
//!
//! ```text
//! z = W_fᵀ x + β_f        feature_groups × feature_nodes linear nodes
//! h = σ(W_eᵀ z + β_e)     enhancement_groups × enhancement_nodes non-linear nodes
//! a = [z; h]
//! ```
//!
//! The weights are random and never change. (The paper's equation 2 feeds h from x, but gives W_e the
//! shape that only z fits, as its appendix has it.) Groups share no weights, so a number of groups of
//! some nodes is one group of all of them; only the numbering of the weights knows the groups.
//!
//! An input's row of W_f is drawn from a sequence named by the input, so that inputs may come in any
//! order and at any time. Each node sums its inputs in increasing order, whatever the size of the
//! block, which fixes the bits.

use crate::{
    activation::Activation, factor::Column, random::Random, sample::Sample, simd::Path,
    threads::Threads,
};

/// How the random weights are distributed. All are uniform and differ in size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WeightScale {
    /// Unit variance divided by the number of a node's inputs: nodes are of the same size as
    /// standardised inputs, however many there are.
    #[default]
    FanIn,
    /// W_f on \[-1, 1\], W_e with orthonormal rows: the reading of the paper that comes closest to its
    /// figures (it states no distribution).
    Paper,
}

/// Nodes that are computed together, and samples: nine registers of sums, enough to hide the latency of
/// a multiply-add, and few enough that none is spilled.
const NODES: usize = 12;
const GROUP: usize = 3;

/// Fewer samples are transformed before another thread could be of help. The tests have threads at any
/// size.
const LEAST_SAMPLES: usize = if cfg!(test) { 2 } else { 8 };

/// The largest value of a uniform distribution on \[-b, b\] with variance 1.
const UNIT_VARIANCE: f64 = 1.7320508075688772;

/// The random map from inputs to broad features.
#[derive(Clone, Debug)]
pub(crate) struct FeatureMap {
    seed: u64,
    linear: usize,
    enhancement: usize,
    activation: Activation,
    weight_scale: WeightScale,
    /// What W_f is multiplied by; known once the number of inputs per sample is.
    input_scale: Option<f64>,
    /// Row i of W_f: `linear` weights, padded to whole columns of `NODES`.
    input_weights: Vec<Column<NODES>>,
    input_biases: Vec<Column<NODES>>,
    /// W_e by columns of `NODES` nodes: for each of them `linear` rows.
    weights: Vec<Column<NODES>>,
    biases: Vec<Column<NODES>>,
    path: Path,
    threads: Threads,
}

impl FeatureMap {
    pub(crate) fn new(
        seed: u64,
        linear: usize,
        enhancement: usize,
        activation: Activation,
        weight_scale: WeightScale,
    ) -> Self {
        let w_e = enhancement_weights(seed, linear, enhancement, weight_scale);
        let columns = enhancement.div_ceil(NODES);
        let mut weights = vec![Column::ZERO; columns * linear];
        for (row, w) in w_e.chunks_exact(enhancement).enumerate() {
            for (node, w) in w.iter().enumerate() {
                weights[node / NODES * linear + row].0[node % NODES] = *w;
            }
        }
        FeatureMap {
            seed,
            linear,
            enhancement,
            activation,
            weight_scale,
            input_scale: None,
            input_weights: Vec::new(),
            input_biases: random_columns(seed, "feature bias", "", linear),
            weights,
            biases: random_columns(seed, "enhancement bias", "", enhancement),
            path: Path::detect(),
            threads: Threads::default(),
        }
    }

    /// How many features a sample has.
    pub(crate) fn len(&self) -> usize {
        self.linear + self.enhancement
    }

    /// How many bytes the weights of one input take.
    pub(crate) fn bytes_per_input(linear: usize) -> u128 {
        linear.div_ceil(NODES) as u128 * size_of::<Column<NODES>>() as u128
    }

    /// How many bytes the weights of the enhancement nodes take.
    pub(crate) fn bytes(linear: usize, enhancement: usize) -> u128 {
        let columns = enhancement.div_ceil(NODES) as u128;
        (columns * linear as u128).saturating_mul(size_of::<Column<NODES>>() as u128)
    }

    pub(crate) fn declare_input(&mut self, name: &str) {
        self.input_weights.extend(random_columns(self.seed, "feature", name, self.linear));
    }

    /// Fixes the number of inputs per sample that weights are scaled for; only the first call counts.
    pub(crate) fn fix_fan_in(&mut self, inputs: usize) {
        self.input_scale.get_or_insert(input_scale(self.weight_scale, inputs));
    }

    /// Shares threads with others.
    pub(crate) fn share_threads(&mut self, threads: &Threads) {
        self.threads = threads.clone();
    }

    /// Appends the features of each sample, a row each, to `features`. `scaled` holds the samples'
    /// values after scaling, one sample after the other.
    pub(crate) fn transform<'a>(
        &self,
        samples: impl Iterator<Item = Sample<'a>>,
        scaled: &[f64],
        features: &mut Vec<f64>,
    ) {
        let mut rest = scaled;
        let samples: Vec<(Sample<'_>, &[f64])> = samples
            .map(|sample| {
                let values;
                (values, rest) = rest.split_at(sample.len());
                (sample, values)
            })
            .collect();
        let start = features.len();
        features.resize(start + samples.len() * self.len(), 0.0);
        let rows = features[start..].chunks_mut(GROUP * self.len());
        let groups = samples.chunks(GROUP).zip(rows);
        let enough = samples.len() >= LEAST_SAMPLES;
        self.threads.share(enough, groups, || (), |(), (samples, rows)| self.fill(samples, rows));
    }

    /// Fills in the rows of a group of samples.
    fn fill(&self, samples: &[(Sample<'_>, &[f64])], rows: &mut [f64]) {
        for ((sample, values), row) in samples.iter().zip(rows.chunks_exact_mut(self.len())) {
            self.linear_nodes(*sample, values, &mut row[..self.linear]);
        }
        self.path.run(
            #[inline(always)]
            || match samples.len() {
                1 => self.enhancement_nodes::<1>(rows),
                2 => self.enhancement_nodes::<2>(rows),
                _ => self.enhancement_nodes::<GROUP>(rows),
            },
        );
        for row in rows.chunks_exact_mut(self.len()) {
            self.activation.apply_on(self.path, &mut row[self.linear..]);
        }
    }

    /// Fills in one sample's z.
    fn linear_nodes(&self, sample: Sample<'_>, values: &[f64], z: &mut [f64]) {
        let input_scale =
            self.input_scale.unwrap_or_else(|| input_scale(self.weight_scale, sample.len()));
        let columns = self.input_biases.len();
        self.path.run(
            #[inline(always)]
            || {
                for (c, z) in z.chunks_mut(NODES).enumerate() {
                    let mut sums = self.input_biases[c].0;
                    for ((input, _), value) in sample.iter().zip(values) {
                        if *value != 0.0 {
                            let x = value * input_scale;
                            let weights = &self.input_weights[input * columns + c];
                            for i in 0..NODES {
                                sums[i] = x.mul_add(weights.0[i], sums[i]);
                            }
                        }
                    }
                    z.copy_from_slice(&sums[..z.len()]);
                }
            },
        );
    }

    /// Fills in W_eᵀ z + β_e of `G` rows whose z is there.
    #[inline(always)]
    fn enhancement_nodes<const G: usize>(&self, rows: &mut [f64]) {
        let length = self.len();
        let z: Vec<[f64; G]> =
            (0..self.linear).map(|k| std::array::from_fn(|s| rows[s * length + k])).collect();
        for (c, bias) in self.biases.iter().enumerate() {
            let weights = &self.weights[c * self.linear..][..self.linear];
            let mut sums = [*bias; G];
            weighted_sums(weights, &z, &mut sums);
            let first = self.linear + c * NODES;
            let size = NODES.min(length - first);
            for s in 0..G {
                rows[s * length + first..][..size].copy_from_slice(&sums[s].0[..size]);
            }
        }
    }
}

/// sums ← sums + Σ_k z_k · w_k for `G` samples.
#[inline(always)]
fn weighted_sums<const G: usize>(
    weights: &[Column<NODES>],
    z: &[[f64; G]],
    sums: &mut [Column<NODES>; G],
) {
    let mut carried = *sums;
    for (weights, z) in weights.iter().zip(z) {
        for s in 0..G {
            for i in 0..NODES {
                carried[s].0[i] = z[s].mul_add(weights.0[i], carried[s].0[i]);
            }
        }
    }
    *sums = carried;
}

/// `count` numbers on \[-1, 1), padded with zeros to whole columns.
fn random_columns(seed: u64, role: &str, name: &str, count: usize) -> Vec<Column<NODES>> {
    let mut random = Random::new(seed, role, name);
    let mut columns = vec![Column::ZERO; count.div_ceil(NODES)];
    for i in 0..count {
        columns[i / NODES].0[i % NODES] = random.signed_unit();
    }
    columns
}

/// What W_f is multiplied by when a sample has that many inputs.
fn input_scale(weight_scale: WeightScale, inputs: usize) -> f64 {
    match weight_scale {
        WeightScale::FanIn => UNIT_VARIANCE / (inputs.max(1) as f64).sqrt(),
        WeightScale::Paper => 1.0,
    }
}

/// W_e, row by row.
fn enhancement_weights(
    seed: u64,
    linear: usize,
    enhancement: usize,
    weight_scale: WeightScale,
) -> Vec<f64> {
    let mut random = Random::new(seed, "enhancement", "");
    let mut weights: Vec<f64> = (0..linear * enhancement).map(|_| random.signed_unit()).collect();
    match weight_scale {
        WeightScale::FanIn => {
            let scale = UNIT_VARIANCE / (linear as f64).sqrt();
            weights.iter_mut().for_each(|w| *w *= scale);
        }
        WeightScale::Paper => orthonormalise(&mut weights, linear, enhancement),
    }
    weights
}

/// Makes the rows of a matrix orthonormal, or its columns when it has more rows than columns: the
/// modified method of Gram and Schmidt, run twice, which is orthogonal to rounding.
fn orthonormalise(matrix: &mut [f64], rows: usize, columns: usize) {
    let (count, length, step, stride) =
        if rows <= columns { (rows, columns, columns, 1) } else { (columns, rows, 1, columns) };
    let dot = |matrix: &[f64], a: usize, b: usize| -> f64 {
        (0..length).map(|k| matrix[a * step + k * stride] * matrix[b * step + k * stride]).sum()
    };
    for i in 0..count {
        for _ in 0..2 {
            for j in 0..i {
                let overlap = dot(matrix, i, j);
                for k in 0..length {
                    matrix[i * step + k * stride] -= overlap * matrix[j * step + k * stride];
                }
            }
        }
        let norm = dot(matrix, i, i).sqrt();
        for k in 0..length {
            matrix[i * step + k * stride] /= norm;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(linear: usize, enhancement: usize, names: &[&str]) -> FeatureMap {
        let mut map = FeatureMap::new(3, linear, enhancement, Activation::Tanh, WeightScale::FanIn);
        for name in names {
            map.declare_input(name);
        }
        map.fix_fan_in(names.len());
        map
    }

    fn features(map: &FeatureMap, samples: &[Sample<'_>]) -> Vec<f64> {
        let scaled: Vec<f64> = samples.iter().flat_map(|x| x.values()).copied().collect();
        let mut features = Vec::new();
        map.transform(samples.iter().copied(), &scaled, &mut features);
        features
    }

    /// The equations, node by node.
    fn definition(map: &FeatureMap, x: Sample<'_>) -> Vec<f64> {
        let columns = map.input_biases.len();
        let mut a: Vec<f64> = (0..map.linear)
            .map(|j| {
                let sum: f64 = x
                    .iter()
                    .map(|(i, x)| x * map.input_weights[i * columns + j / NODES].0[j % NODES])
                    .sum();
                sum * map.input_scale.unwrap() + map.input_biases[j / NODES].0[j % NODES]
            })
            .collect();
        let z = a.clone();
        a.extend((0..map.enhancement).map(|j| {
            let weights = &map.weights[j / NODES * map.linear..][..map.linear];
            let sum: f64 = z.iter().zip(weights).map(|(z, w)| z * w.0[j % NODES]).sum();
            (sum + map.biases[j / NODES].0[j % NODES]).tanh()
        }));
        a
    }

    #[test]
    fn features_follow_their_equations() {
        for (linear, enhancement) in [(1, 1), (5, 11), (12, 12), (13, 25), (24, 7), (30, 1)] {
            let map = map(linear, enhancement, &["a", "b", "c"]);
            for x in [Sample::dense(&[0.3, -2.0, 0.7]), Sample::sparse(&[1], &[1.5]).unwrap()] {
                let found = features(&map, &[x]);
                let expected = definition(&map, x);
                assert_eq!(found.len(), expected.len());
                for (found, expected) in found.iter().zip(&expected) {
                    assert!((found - expected).abs() < 1e-14);
                }
            }
        }
    }

    #[test]
    fn a_block_has_the_bits_of_its_samples() {
        let mut map = map(13, 26, &["a", "b"]);
        let rows: Vec<[f64; 2]> = (0..11).map(|i| [i as f64 * 0.3 - 1.0, 0.1]).collect();
        let samples: Vec<Sample<'_>> = rows.iter().map(|row| Sample::dense(row)).collect();
        let whole = features(&map, &samples);
        let paths = [(Path::detect(), 1), (Path::Portable, 1), (Path::detect(), 3)];
        for (path, threads) in paths {
            map.path = path;
            map.share_threads(&Threads::new(threads).unwrap());
            for size in [1, 2, 3, 4, 5, 7] {
                let parts: Vec<f64> =
                    samples.chunks(size).flat_map(|part| features(&map, part)).collect();
                assert_eq!(parts, whole, "blocks of {size}");
            }
        }
    }

    #[test]
    fn the_order_of_inputs_does_not_matter() {
        let forward = features(&map(10, 20, &["a", "b"]), &[Sample::dense(&[0.5, -1.0])]);
        let backward = features(&map(10, 20, &["b", "a"]), &[Sample::dense(&[-1.0, 0.5])]);
        for (forward, backward) in forward.iter().zip(&backward) {
            assert!((forward - backward).abs() < 1e-14);
        }
    }

    #[test]
    fn the_papers_enhancement_weights_are_orthonormal() {
        for (rows, columns) in [(5, 9), (9, 5), (4, 4)] {
            let w = enhancement_weights(1, rows, columns, WeightScale::Paper);
            for i in 0..rows.min(columns) {
                for j in 0..=i {
                    let at = |r: usize, k: usize| {
                        if rows <= columns { w[r * columns + k] } else { w[k * columns + r] }
                    };
                    let dot: f64 = (0..rows.max(columns)).map(|k| at(i, k) * at(j, k)).sum();
                    let expected = f64::from(u8::from(i == j));
                    assert!((dot - expected).abs() < 1e-14);
                }
            }
        }
    }
}
