//! Enhancement nodes whose weights are differences of samples.
//!
//! A random direction says little about inputs that move together, such as the pixels of an image.
//! The difference of two samples of the stream is a direction in which the stream does vary
//! (Bolager et al., "Sampling weights of deep neural networks", 2023). With samples a and b, a gain
//! s, and t uniform on \[0, 1), such a node is
//!
//! ```text
//! tanh(wᵀx + β)    w = s·(a − b) / |a − b|²    β = −s·t − wᵀb
//! ```
//!
//! so that it changes its sign between the two. No label takes part. In tables, where inputs mean
//! different things, differences in a few inputs do better: one, two, four and so on, all equally
//! likely.
//!
//! Inputs that do not differ among the samples, or were not known yet, have the weights that they
//! have in random nodes.
//!
//! The samples also tell which inputs are [columns of codes](CodedColumns), for nodes that read them as
//! categories.

use super::{
    NodeKind, Shape,
    coded_columns::CodedColumns,
    draw::{self, Origin},
};
use crate::{
    data::Input,
    error::ModelFileError,
    numeric::Random,
    preprocessing::ScaledSample,
    state::{ReadScope, WriteScope},
};

/// The steepness s of nodes on all inputs, and on few. Of gains from 1.5 to 3, these did best on the
/// first samples of most of fifteen streams.
const GAIN: f64 = 3.0;
const FEW_GAIN: f64 = 2.0;

/// How often two samples are drawn again if they are equal.
const ATTEMPTS: usize = 8;

/// Samples to draw nodes from.
#[derive(Clone, Debug)]
pub(super) struct SampledNodes {
    seed: u64,
    /// The way in which random weights are drawn.
    version: u64,
    samples: Vec<ScaledSample>,
    /// The inputs that were known when the samples were taken.
    inputs: usize,
    coded: CodedColumns,
}

/// The weights and biases of nodes: a row of weights for each input, or for each of its codes.
pub(super) struct NodeWeights {
    pub(super) rows: Vec<Vec<f64>>,
    pub(super) biases: Vec<f64>,
}

impl SampledNodes {
    /// Nodes from these samples, which have no inputs beyond the first `inputs`.
    pub(super) fn new(shape: &Shape, samples: Vec<ScaledSample>, inputs: usize) -> Self {
        let Shape { seed, version, .. } = *shape;
        let coded = CodedColumns::of(&samples, inputs);
        SampledNodes { seed, version, samples, inputs, coded }
    }

    /// The columns of codes.
    pub(super) fn coded(&self) -> &CodedColumns {
        &self.coded
    }

    /// The weights of the first `count` nodes of a kind for the given inputs, of which a sample
    /// usually has `fan_in`. More nodes begin with the same ones.
    pub(super) fn weights(
        &self,
        kind: NodeKind,
        count: usize,
        inputs: &[Input],
        fan_in: usize,
    ) -> NodeWeights {
        if kind == NodeKind::Coded {
            return self.coded_weights(count, inputs, fan_in);
        }
        let dense: Vec<Vec<f64>> = self.samples.iter().map(|sample| self.dense(sample)).collect();
        let varies = |input: usize| {
            input < self.inputs && dense.iter().any(|row| row[input] != dense[0][input])
        };
        let mut rows: Vec<Vec<f64>> = inputs
            .iter()
            .enumerate()
            .map(|(position, input)| match varies(position) {
                true => vec![0.0; count],
                false => self.random(&input.name, count, fan_in),
            })
            .collect();
        // One number for each input and one for each node, instead of one for both together, which
        // would take as long as all the rest. Mixed, they choose a node's inputs by their names.
        let keys: Vec<u64> = inputs
            .iter()
            .map(|input| Random::new(self.seed, "sampled input", &input.name).below(u64::MAX))
            .collect();
        let role = match kind {
            NodeKind::SampledFew => "sampled few",
            _ => "sampled",
        };
        let biases = (0..count).map(|node| {
            let mut random = Random::new(self.seed, role, &node.to_string());
            let (a, b, differing) = self.pair(&dense, &mut random);
            let chosen = match kind {
                NodeKind::SampledFew => few(differing, fan_in, &keys, &mut random),
                _ => differing,
            };
            let gain = if kind == NodeKind::SampledFew { FEW_GAIN } else { GAIN };
            let square: f64 = chosen.iter().map(|&i| (a[i] - b[i]) * (a[i] - b[i])).sum();
            let mut bias = -gain * unit(&mut random);
            for &i in &chosen {
                let weight = gain * (a[i] - b[i]) / square;
                rows[i][node] = weight;
                bias -= weight * b[i];
            }
            bias
        });
        let biases = biases.collect();
        NodeWeights { rows, biases }
    }

    /// The weights of nodes on codes.
    fn coded_weights(&self, count: usize, inputs: &[Input], fan_in: usize) -> NodeWeights {
        let names =
            inputs.iter().enumerate().flat_map(|(i, input)| self.coded.names(i, &input.name));
        let rows = names.map(|name| self.random(&name, count, fan_in)).collect();
        NodeWeights { rows, biases: draw::biases_from_inputs(self.seed, count) }
    }

    /// The weights that an input has in random nodes.
    fn random(&self, name: &str, count: usize, fan_in: usize) -> Vec<f64> {
        draw::from_inputs(self.seed, self.version, Origin::Sample, name, count, fan_in)
    }

    /// Two samples, and the inputs in which they differ.
    fn pair<'a>(
        &self,
        dense: &'a [Vec<f64>],
        random: &mut Random,
    ) -> (&'a [f64], &'a [f64], Vec<usize>) {
        let samples = dense.len() as u64;
        let mut draw = || {
            let (a, b) = (random.below(samples) as usize, random.below(samples) as usize);
            (dense[a].as_slice(), dense[b].as_slice())
        };
        let (mut a, mut b) = draw();
        for _ in 1..ATTEMPTS {
            if a != b {
                break;
            }
            (a, b) = draw();
        }
        (a, b, (0..self.inputs).filter(|&i| a[i] != b[i]).collect())
    }

    /// The values of all known inputs; one that a sample lacks counts as 0.
    fn dense(&self, sample: &ScaledSample) -> Vec<f64> {
        let mut row = vec![0.0; self.inputs];
        for (input, value) in sample.sample().iter() {
            row[input] = value;
        }
        row
    }

    pub(super) fn save(&self, to: &mut WriteScope<'_>) {
        to.integer("inputs", self.inputs);
        ScaledSample::save_all(self.samples.iter(), &mut to.scope("samples"));
    }

    /// The samples of a map with this many inputs.
    pub(super) fn restore(
        shape: &Shape,
        from: &ReadScope<'_>,
        inputs: usize,
    ) -> Result<Self, ModelFileError> {
        let inputs = from.count("inputs", inputs)?;
        let samples = ScaledSample::restore_all(&from.scope("samples")?, inputs)?;
        from.check("samples", !samples.is_empty(), "at least one sample")?;
        Ok(SampledNodes::new(shape, samples, inputs))
    }
}

/// Some of the inputs in which two samples differ: a power of two of them, up to `fan_in`.
fn few(mut differing: Vec<usize>, fan_in: usize, keys: &[u64], random: &mut Random) -> Vec<usize> {
    let powers = fan_in.max(2).ilog2();
    let count = 1_usize << random.below(u64::from(powers) + 1);
    let node = random.below(u64::MAX);
    if differing.len() > count {
        differing.sort_unstable_by_key(|&input| mix(keys[input] ^ node));
        differing.truncate(count);
        // Sums go through the inputs in their order.
        differing.sort_unstable();
    }
    differing
}

/// Uniform on \[0, 1).
fn unit(random: &mut Random) -> f64 {
    (random.signed_unit() + 1.0) / 2.0
}

/// The finaliser of SplitMix64: every bit of the result depends on every bit of the number.
fn mix(mut number: u64) -> u64 {
    number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::OnlineBlsConfig,
        data::{InputKind, Sample},
    };

    fn inputs(names: &[&str]) -> Vec<Input> {
        let input = |name: &&str| Input { name: (*name).to_owned(), kind: InputKind::Numeric };
        names.iter().map(input).collect()
    }

    fn shape() -> Shape {
        Shape::of(&OnlineBlsConfig { seed: 5, ..OnlineBlsConfig::default() })
    }

    fn nodes(rows: &[&[f64]]) -> SampledNodes {
        let samples = rows.iter().map(|row| ScaledSample::new(Sample::dense(row), row));
        SampledNodes::new(&shape(), samples.collect(), rows[0].len())
    }

    #[test]
    fn a_node_changes_its_sign_between_two_samples() {
        let rows: [&[f64]; 3] = [&[0.0, 1.0, 3.0], &[2.0, -1.0, 0.5], &[-1.0, 0.0, 1.0]];
        for (kind, gain) in [(NodeKind::Sampled, GAIN), (NodeKind::SampledFew, FEW_GAIN)] {
            let NodeWeights { rows: weights, biases } =
                nodes(&rows).weights(kind, 60, &inputs(&["a", "b", "c"]), 3);
            for node in 0..60 {
                let sums = rows.map(|row| {
                    biases[node] + (0..3).map(|i| row[i] * weights[i][node]).sum::<f64>()
                });
                let used = (0..3).filter(|i| weights[*i][node] != 0.0).count();
                assert!(used > 0 && (kind == NodeKind::SampledFew || used == 3), "node {node}");
                // Two of the samples are the gain apart, on both sides of zero.
                let found = [(0, 1), (0, 2), (1, 2)].iter().any(|(i, j)| {
                    let (low, high) = (sums[*i].min(sums[*j]), sums[*i].max(sums[*j]));
                    (high - low - gain).abs() < 1e-12 && low <= 1e-12 && high > -1e-12
                });
                assert!(found, "node {node}: {sums:?}");
            }
        }
    }

    #[test]
    fn fewer_nodes_are_the_first_of_more_and_follow_names() {
        let rows: [&[f64]; 2] = [&[0.0, 1.0, 3.0], &[2.0, -1.0, 0.5]];
        let swapped: [&[f64]; 2] = [&[1.0, 0.0, 3.0], &[-1.0, 2.0, 0.5]];
        for kind in [NodeKind::Sampled, NodeKind::SampledFew] {
            let more = nodes(&rows).weights(kind, 40, &inputs(&["a", "b", "c"]), 3);
            let fewer = nodes(&rows).weights(kind, 25, &inputs(&["a", "b", "c"]), 3);
            let other = nodes(&swapped).weights(kind, 40, &inputs(&["b", "a", "c"]), 3);
            assert_eq!(fewer.biases, more.biases[..25]);
            for (i, j) in [(0, 1), (1, 0), (2, 2)] {
                assert_eq!(fewer.rows[i], more.rows[i][..25]);
                let close = |(x, y): (&f64, &f64)| (x - y).abs() < 1e-12;
                assert!(more.rows[i].iter().zip(&other.rows[j]).all(close));
            }
        }
    }

    #[test]
    fn what_never_differs_has_random_weights() {
        let rows: [&[f64]; 2] = [&[0.0, 7.0], &[2.0, 7.0]];
        let weights =
            nodes(&rows).weights(NodeKind::Sampled, 9, &inputs(&["a", "constant", "new"]), 3);
        for (row, name) in [(1, "constant"), (2, "new")] {
            assert_eq!(weights.rows[row], nodes(&rows).random(name, 9, 3));
        }
        // Even if no two samples differ at all.
        let rows: [&[f64]; 2] = [&[1.0], &[1.0]];
        let weights = nodes(&rows).weights(NodeKind::SampledFew, 9, &inputs(&["a"]), 1);
        assert!(weights.biases.iter().all(|bias| bias.is_finite()));
    }
}
