//! Operations on a trained model that leave it exactly what it should be.

mod explain;
mod ill_conditioned;
mod inputs;
mod late_labels;
mod leverage;
mod merge;
mod predictor;
mod refit;
mod unlearn;
mod window;

use std::ops::Range;

use broadstream::{
    Affine, Block, Classifier, Forgetting, InputKind, Nodes, OnlineBls, OnlineBlsConfig, Ridge,
    Sample, Scaling,
};

/// Sizes on both sides of a panel of 24 rows, and several regressions.
fn configs() -> Vec<OnlineBlsConfig> {
    let config = |nodes, ridge| OnlineBlsConfig {
        feature_groups: 2,
        feature_nodes: 3,
        enhancement_nodes: Nodes::Fixed(nodes),
        inputs_per_sample: Some(3),
        scaling: given(),
        ridge,
        forgetting: Forgetting::Fixed(1.0),
        stacking: false,
        label_lags: 0,
        ..OnlineBlsConfig::default()
    };
    vec![
        config(17, Ridge::Fixed(1.0)),
        config(18, Ridge::Fixed(0.1)),
        config(19, Ridge::Fixed(1.0)),
        config(40, Ridge::Auto),
    ]
}

fn given() -> Scaling {
    let affine = |centre, scale| Affine { centre, scale };
    let inputs = [("a", affine(2.0, 1.5)), ("b", affine(45.0, 25.0))];
    Scaling::Given(inputs.map(|(name, affine)| (name.to_owned(), affine)).into())
}

/// A model that has some of the inputs, in that order.
fn model(config: &OnlineBlsConfig, inputs: &[&str]) -> OnlineBls {
    let mut model = OnlineBls::new(config.clone()).unwrap();
    for name in inputs {
        let kind = if name.contains('=') { InputKind::Indicator } else { InputKind::Numeric };
        model.declare_input(name, kind).unwrap();
    }
    model
}

const INPUTS: [&str; 3] = ["a", "b", "c=red"];

/// Samples of different weights with the inputs a, b and c=red, and a class that appears late.
fn samples(range: Range<u32>) -> Block {
    let mut block = Block::new();
    for i in range {
        let x = [f64::from(i * 7 % 23) / 5.0, f64::from(i * 13 % 31) * 3.0, 1.0];
        let class = match i {
            0 | 1 => i as usize,
            _ if i > 90 && i % 7 == 0 => 2,
            _ => usize::from(x[0] + x[1] / 20.0 > 3.0),
        };
        let weight = [1.0, 0.5, 2.0, 1.0, 3.0][i as usize % 5];
        let x = if i % 2 == 0 { &x[..] } else { &x[..2] };
        block.push(Sample::dense(x), class, weight).unwrap();
    }
    block
}

/// One sample of a block, alone.
fn alone(block: &Block, i: usize) -> Block {
    let mut one = Block::new();
    one.push(block.sample(i), block.class(i), block.weight(i)).unwrap();
    one
}

/// The largest distance of weights, relative to the largest weight.
fn distance(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(0.0_f64, |largest, w| largest.max(w.abs()));
    let apart = found.iter().zip(expected).map(|(found, expected)| (found - expected).abs());
    apart.fold(0.0, f64::max) / largest
}
