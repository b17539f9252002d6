//! The random weights of the feature map.
//!
//! Weights are uniform, since normal ones need a logarithm or a cosine, which differ between
//! platforms. An input's weights are drawn from a sequence named after the input, and a node's
//! number is its place in that sequence, so neither the order of the inputs nor the number of nodes
//! changes what is drawn for the others.
//!
//! A node that sees few inputs sees whole columns: all categories of a column, such as `mode=eco` and
//! `mode=sport`, or none. Were each category chosen on its own, a node of two inputs would see a few
//! categories of nearly every column, and could not tell what two columns do together.

use crate::{config::WeightScale, numeric::Random};

/// Identifies this way of drawing weights in model files. A model keeps drawing as it began, because it
/// draws all its nodes again when it gets more of them.
pub(super) const VERSION: u64 = 2;

/// The last way in which a node chose each category on its own instead of whole columns.
pub(super) const CATEGORIES_ALONE: u64 = 1;

/// The largest value of a uniform distribution on \[-b, b\] with variance 1.
const UNIT_VARIANCE: f64 = 1.7320508075688772;

/// Of the enhancement nodes that see the inputs, every third sees only some of them.
const SELECTIVE_EVERY: usize = 3;

/// The spread of the non-linearity's argument at nodes that see all inputs, and at nodes that see
/// some. Nodes of few inputs may be steeper: they then come close to a threshold on an input, which
/// suits tables of heterogeneous columns.
const GAIN: f64 = 0.7;
const SELECTIVE_GAIN: f64 = 1.5;

/// The largest bias of a node with gain 1 or less; steeper nodes have proportionally larger ones.
const LARGEST_BIAS: f64 = 2.0;

/// `count` numbers on \[-1, 1).
pub(super) fn uniform(seed: u64, role: &str, name: &str, count: usize) -> Vec<f64> {
    let mut random = Random::new(seed, role, name);
    (0..count).map(|_| random.signed_unit()).collect()
}

/// Where an input comes from: the sample, or an earlier label.
#[derive(Clone, Copy, Debug)]
pub(super) enum Origin {
    Sample,
    Label,
}

impl Origin {
    /// The role under which its weights are drawn. Inputs and labels of the same name thus get
    /// unrelated weights.
    fn role(self, layer: &str) -> String {
        match self {
            Origin::Sample => layer.to_owned(),
            Origin::Label => format!("{layer} of a label"),
        }
    }
}

/// An input's weights for the linear nodes, when a sample has `fan_in` inputs.
pub(super) fn linear(
    seed: u64,
    origin: Origin,
    name: &str,
    nodes: usize,
    scale: WeightScale,
    fan_in: usize,
) -> Vec<f64> {
    let size = match scale {
        WeightScale::FanIn => UNIT_VARIANCE / (fan_in.max(1) as f64).sqrt(),
        WeightScale::Paper => 1.0,
    };
    uniform(seed, &origin.role("feature"), name, nodes).into_iter().map(|w| w * size).collect()
}

/// The number of random linear nodes whose place nodes that are inputs themselves take: the ridge
/// must weigh as much beside the latter.
const REPLACED: f64 = 100.0;

/// The weights of the input of that number for linear nodes that are the inputs themselves. The sum of
/// their squares is what it would be for random ones.
pub(super) fn input_node(input: usize, nodes: usize, fan_in: usize) -> Vec<f64> {
    let mut weights = vec![0.0; nodes];
    weights[input] = (REPLACED / fan_in.max(1) as f64).sqrt();
    weights
}

/// The biases of these nodes: the last one is constant, again with the squared sum of random ones.
pub(super) fn constant_node(nodes: usize) -> Vec<f64> {
    let mut biases = vec![0.0; nodes];
    if let Some(last) = biases.last_mut() {
        *last = REPLACED.sqrt() / UNIT_VARIANCE;
    }
    biases
}

/// An input's weights for the enhancement nodes, when these see the inputs and a sample has
/// `fan_in` of them, in the way of that version.
pub(super) fn from_inputs(
    seed: u64,
    version: u64,
    origin: Origin,
    name: &str,
    nodes: usize,
    fan_in: usize,
) -> Vec<f64> {
    let fan_in = fan_in.max(1);
    let shares = uniform(seed, "enhancement fan-in", "", nodes);
    let chosen_by = if version == CATEGORIES_ALONE { name } else { column_of(name) };
    let chances = uniform(seed, &origin.role("enhancement choice"), chosen_by, nodes);
    let weights = uniform(seed, &origin.role("enhancement"), name, nodes);
    weights
        .iter()
        .enumerate()
        .map(|(node, w)| {
            if !is_selective(node) {
                return w * (GAIN * UNIT_VARIANCE / (fan_in as f64).sqrt());
            }
            let seen = inputs_seen(shares[node], fan_in) as f64;
            let chosen = (chances[node] + 1.0) / 2.0 < seen / fan_in as f64;
            if chosen { w * (SELECTIVE_GAIN * UNIT_VARIANCE / seen.sqrt()) } else { 0.0 }
        })
        .collect()
}

/// The column of an input: categories are inputs named after their column and value.
fn column_of(name: &str) -> &str {
    name.split_once('=').map_or(name, |(column, _)| column)
}

/// The biases of enhancement nodes that see the inputs.
pub(super) fn biases_from_inputs(seed: u64, nodes: usize) -> Vec<f64> {
    let steepness = |node| if is_selective(node) { SELECTIVE_GAIN } else { 1.0 };
    let draws = uniform(seed, "enhancement bias", "", nodes);
    draws.iter().enumerate().map(|(node, b)| b * LARGEST_BIAS * steepness(node)).collect()
}

fn is_selective(node: usize) -> bool {
    node % SELECTIVE_EVERY == SELECTIVE_EVERY - 1
}

/// How many of `fan_in` inputs a selective node sees on average: a power of two from 2 on, all
/// equally likely. `draw` lies on \[-1, 1).
fn inputs_seen(draw: f64, fan_in: usize) -> usize {
    let powers = fan_in.ilog2().max(1);
    let power = 1 + ((draw + 1.0) / 2.0 * f64::from(powers)) as u32;
    (1 << power.min(powers)).min(fan_in)
}

/// W_e of enhancement nodes that see the linear nodes, row by row.
pub(super) fn from_linear(seed: u64, linear: usize, nodes: usize, scale: WeightScale) -> Vec<f64> {
    let mut weights = uniform(seed, "enhancement", "", linear * nodes);
    match scale {
        WeightScale::FanIn => {
            let size = UNIT_VARIANCE / (linear as f64).sqrt();
            weights.iter_mut().for_each(|w| *w *= size);
        }
        WeightScale::Paper => orthonormalise(&mut weights, linear, nodes),
    }
    weights
}

/// Makes the rows of a matrix orthonormal, or its columns when it has more rows than columns, by
/// the modified Gram–Schmidt method. It is run twice, which makes them orthogonal to rounding.
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

    #[test]
    fn the_papers_enhancement_weights_are_orthonormal() {
        for (rows, columns) in [(5, 9), (9, 5), (4, 4)] {
            let w = from_linear(1, rows, columns, WeightScale::Paper);
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

    #[test]
    fn selective_nodes_see_as_many_inputs_as_they_should() {
        assert_eq!([-1.0, 0.0, 0.999].map(|draw| inputs_seen(draw, 1)), [1, 1, 1]);
        assert_eq!([-1.0, 0.0, 0.999].map(|draw| inputs_seen(draw, 3)), [2, 2, 2]);
        assert_eq!([-1.0, -0.5, 0.0, 0.5].map(|draw| inputs_seen(draw, 16)), [2, 4, 8, 16]);
        assert_eq!(inputs_seen(1.0 - 1e-16, 16), 16);
        let (inputs, nodes) = (64, 300);
        let rows: Vec<Vec<f64>> = (0..inputs)
            .map(|i| from_inputs(5, VERSION, Origin::Sample, &i.to_string(), nodes, inputs))
            .collect();
        let seen = |node: usize| rows.iter().filter(|row| row[node] != 0.0).count();
        assert!((0..nodes).filter(|node| !is_selective(*node)).all(|node| seen(node) == inputs));
        let selective: Vec<usize> = (2..nodes).step_by(3).map(seen).collect();
        let few = selective.iter().filter(|seen| **seen <= 4).count();
        assert!((12..40).contains(&few), "about a quarter of a hundred, found {few}");
        assert!(selective.iter().any(|seen| *seen > 50));
    }

    #[test]
    fn a_selective_node_sees_all_categories_of_a_column_or_none() {
        let seen = |version, name| -> Vec<bool> {
            let row = from_inputs(5, version, Origin::Sample, name, 300, 16);
            (2..300).step_by(3).map(|node| row[node] != 0.0).collect()
        };
        let [eco, sport, other] =
            ["mode=eco", "mode=sport", "model=eco"].map(|name| seen(VERSION, name));
        assert_eq!(eco, sport);
        assert_ne!(eco, other);
        let draw = |name| from_inputs(5, VERSION, Origin::Sample, name, 300, 16);
        assert_ne!(draw("mode=eco"), draw("mode=sport"), "the weights differ");
        // As it was in models of earlier versions.
        let alone = |name| seen(CATEGORIES_ALONE, name);
        assert_ne!(alone("mode=eco"), alone("mode=sport"));
        assert_eq!(alone("mode"), seen(VERSION, "mode"), "inputs that are no categories");
    }

    #[test]
    fn fewer_nodes_are_the_first_of_more() {
        let draw = |nodes| from_inputs(3, VERSION, Origin::Label, "a", nodes, 9);
        assert_eq!(draw(40)[..25], draw(25));
        assert_eq!(biases_from_inputs(3, 40)[..25], biases_from_inputs(3, 25));
    }
}
