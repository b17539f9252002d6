//! One layer of nodes: how its weights are stored, and its sums for several samples at once.

#![allow(clippy::inline_always)]

use std::ops::Range;

use crate::{
    error::ModelFileError,
    numeric::Column,
    state::{ReadScope, WriteScope},
};

/// The number of nodes, and of samples, that are computed together. That makes nine registers of
/// sums: enough to hide the latency of a multiply-add, and few enough that none is spilled.
pub(super) const NODES: usize = 12;
pub(super) const SAMPLES: usize = 3;

/// The sums of a column of nodes.
pub(super) type NodeSums = Column<NODES>;

/// The weights of Wᵀx + β, in columns of `NODES` nodes. A column has an entry per input, so that
/// inputs can be added, and a node sums its inputs in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Layer {
    nodes: usize,
    columns: Vec<Vec<Column<NODES>>>,
    biases: Vec<Column<NODES>>,
}

/// The inputs of up to `SAMPLES` samples.
pub(super) struct SampleGroup<'a> {
    samples: usize,
    /// The inputs that are present, or `None` when they are 0, 1, 2, ….
    inputs: Option<&'a [u32]>,
    /// For each of these inputs the value of every sample.
    values: Vec<f64>,
}

/// The terms of a sample's sums in any order: the input of each, and its value.
#[derive(Clone, Copy)]
pub(super) struct Terms<'a> {
    pub(super) inputs: &'a [u32],
    pub(super) values: &'a [f64],
}

impl Terms<'_> {
    /// sum ← sum + Σ x·w for some of the terms.
    #[inline(always)]
    fn add(&self, part: Range<usize>, weights: &[Column<NODES>], sum: &mut Column<NODES>) {
        let mut carried = *sum;
        for (&input, x) in self.inputs[part.clone()].iter().zip(&self.values[part]) {
            let weights = &weights[input as usize];
            for i in 0..NODES {
                carried.0[i] = x.mul_add(weights.0[i], carried.0[i]);
            }
        }
        *sum = carried;
    }
}

impl Layer {
    /// Nodes without inputs.
    pub(super) fn new(biases: &[f64]) -> Self {
        let nodes = biases.len();
        let columns = nodes.div_ceil(NODES);
        let mut layer = Layer {
            nodes,
            columns: vec![Vec::new(); columns],
            biases: vec![Column::ZERO; columns],
        };
        for (node, bias) in biases.iter().enumerate() {
            layer.biases[node / NODES].0[node % NODES] = *bias;
        }
        layer
    }

    /// The number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    /// The number of inputs.
    pub(super) fn inputs(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// The bytes that an input takes in a layer of `nodes` nodes.
    pub(super) fn bytes_per_input(nodes: usize) -> u128 {
        nodes.div_ceil(NODES) as u128 * size_of::<Column<NODES>>() as u128
    }

    /// Adds an input by its weight for each node.
    pub(super) fn push_input(&mut self, weights: &[f64]) {
        for (column, weights) in self.columns.iter_mut().zip(weights.chunks(NODES)) {
            let mut entry = Column::ZERO;
            entry.0[..weights.len()].copy_from_slice(weights);
            column.push(entry);
        }
    }

    /// Removes the last input.
    pub(super) fn pop_input(&mut self) {
        self.columns.iter_mut().for_each(|column| {
            column.pop();
        });
    }

    /// The weights of all inputs, one after the other, and the biases.
    pub(super) fn save(&self, to: &mut WriteScope<'_>) {
        let inputs = self.columns.first().map_or(0, Vec::len);
        let row = |entry: &dyn Fn(usize) -> Column<NODES>| -> Vec<f64> {
            let entries = (0..self.columns.len()).flat_map(|c| entry(c).0);
            entries.take(self.nodes).collect()
        };
        let weights = (0..inputs).flat_map(|i| row(&|c| self.columns[c][i]));
        to.floats("weights", weights.collect());
        to.floats("biases", row(&|c| self.biases[c]));
    }

    /// Takes over the biases, and the weights of `inputs` inputs.
    pub(super) fn restore(
        &mut self,
        from: &ReadScope<'_>,
        inputs: usize,
    ) -> Result<(), ModelFileError> {
        let biases = from.floats("biases", self.nodes)?;
        let weights = from.floats("weights", inputs.saturating_mul(self.nodes))?;
        *self = Layer::new(&biases);
        weights.chunks_exact(self.nodes.max(1)).for_each(|row| self.push_input(row));
        Ok(())
    }

    /// Computes all nodes of samples that have a row of `length` numbers each in `rows`; the
    /// samples of the groups follow each other. The nodes are written from `first` on.
    ///
    /// The loop goes column by column, and through each column group by group: the weights of one
    /// column stay in the cache, while those of all columns would not.
    #[inline(always)]
    pub(super) fn apply(
        &self,
        groups: &[SampleGroup<'_>],
        rows: &mut [f64],
        length: usize,
        first: usize,
    ) {
        for (c, (weights, bias)) in self.columns.iter().zip(&self.biases).enumerate() {
            let size = NODES.min(self.nodes - c * NODES);
            let mut start = first + c * NODES;
            for group in groups {
                let mut out = Out { rows: &mut rows[start..], length, size };
                match group.samples {
                    1 => group.sum::<1>(weights, bias, &mut out),
                    2 => group.sum::<2>(weights, bias, &mut out),
                    _ => group.sum::<SAMPLES>(weights, bias, &mut out),
                }
                start += group.samples * length;
            }
        }
    }

    /// The sums of all terms outside each part, with the biases: for each column of nodes one for each
    /// part. The parts do not overlap, and increase.
    #[inline(always)]
    pub(super) fn sums_outside(&self, terms: Terms<'_>, parts: &[Range<usize>]) -> Vec<NodeSums> {
        let mut outside = Vec::with_capacity(self.columns.len() * parts.len());
        for (weights, bias) in self.columns.iter().zip(&self.biases) {
            let first = outside.len();
            let (mut before, mut done) = (*bias, 0);
            for part in parts {
                terms.add(done..part.start, weights, &mut before);
                outside.push(before);
                terms.add(part.clone(), weights, &mut before);
                done = part.end;
            }
            let (mut after, mut left) = (Column::ZERO, terms.inputs.len());
            for (part, outside) in parts.iter().zip(&mut outside[first..]).rev() {
                terms.add(part.end..left, weights, &mut after);
                for i in 0..NODES {
                    outside.0[i] += after.0[i];
                }
                terms.add(part.clone(), weights, &mut after);
                left = part.start;
            }
        }
        outside
    }

    /// Computes all nodes of a sample without each of some groups of its terms, which follow each other.
    /// `outside` has, for each column of nodes, the sum of all other terms. The nodes are written from
    /// `first` on into rows of `length` numbers.
    ///
    /// A sum without a group is the sum of the terms before it and that of those after it. Subtracting
    /// the group from the sum of all would be as fast, but lose the rest beside a large term.
    #[inline(always)]
    pub(super) fn apply_without<'a>(
        &self,
        terms: Terms<'_>,
        groups: &[Range<usize>],
        outside: impl Iterator<Item = &'a NodeSums>,
        rows: &mut [f64],
        length: usize,
        first: usize,
    ) {
        let mut after = vec![Column::ZERO; groups.len()];
        for (c, (weights, outside)) in self.columns.iter().zip(outside).enumerate() {
            let size = NODES.min(self.nodes - c * NODES);
            let mut sum = Column::ZERO;
            for (group, after) in groups.iter().zip(&mut after).rev() {
                *after = sum;
                terms.add(group.clone(), weights, &mut sum);
            }
            let mut before = *outside;
            let start = first + c * NODES;
            for ((group, after), row) in groups.iter().zip(&after).zip(rows.chunks_mut(length)) {
                let mut nodes = before;
                for i in 0..NODES {
                    nodes.0[i] += after.0[i];
                }
                row[start..start + size].copy_from_slice(&nodes.0[..size]);
                terms.add(group.clone(), weights, &mut before);
            }
        }
    }

    #[cfg(test)]
    pub(super) fn weight(&self, input: usize, node: usize) -> f64 {
        self.columns[node / NODES][input].0[node % NODES]
    }

    #[cfg(test)]
    pub(super) fn bias(&self, node: usize) -> f64 {
        self.biases[node / NODES].0[node % NODES]
    }
}

/// Where the sums of a column go: `size` numbers in each row of a group.
struct Out<'a> {
    rows: &'a mut [f64],
    length: usize,
    size: usize,
}

impl<'a> SampleGroup<'a> {
    /// A group of samples that all have the same inputs, given by their values.
    pub(super) fn new(inputs: Option<&'a [u32]>, samples: &[&[f64]]) -> Self {
        let length = samples.first().map_or(0, |values| values.len());
        let values = (0..length).flat_map(|i| samples.iter().map(move |values| values[i]));
        SampleGroup { samples: samples.len(), inputs, values: values.collect() }
    }

    #[inline(always)]
    fn sum<const G: usize>(
        &self,
        weights: &[Column<NODES>],
        bias: &Column<NODES>,
        out: &mut Out<'_>,
    ) {
        let mut sums = [*bias; G];
        let values = self.values.as_chunks::<G>().0;
        match self.inputs {
            None => add(weights.iter().zip(values), &mut sums),
            Some(inputs) => {
                add(inputs.iter().map(|&i| &weights[i as usize]).zip(values), &mut sums);
            }
        }
        for (row, sums) in out.rows.chunks_mut(out.length).zip(&sums) {
            row[..out.size].copy_from_slice(&sums.0[..out.size]);
        }
    }
}

/// sums ← sums + Σ x·w for `G` samples.
#[inline(always)]
fn add<'a, const G: usize>(
    terms: impl Iterator<Item = (&'a Column<NODES>, &'a [f64; G])>,
    sums: &mut [Column<NODES>; G],
) {
    let mut carried = *sums;
    for (weights, x) in terms {
        for s in 0..G {
            for i in 0..NODES {
                carried[s].0[i] = x[s].mul_add(weights.0[i], carried[s].0[i]);
            }
        }
    }
    *sums = carried;
}
