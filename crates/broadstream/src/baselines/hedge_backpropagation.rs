//! Hedge backpropagation: a network with a classifier at every depth, which learns how deep it
//! should be.
//!
//! Sahoo et al., Online deep learning: learning deep neural networks on the fly, IJCAI 2018. With
//! h⁰ = x and hˡ the hidden layers,
//!
//! ```text
//! F(x) = Σ αˡ fˡ,   fˡ = softmax(Θˡhˡ),   l = 0 … L                       (their equations 2)
//! αˡ ← αˡ·β^ℓ(fˡ),  then αˡ ← max(αˡ, s/L), then normalised               (3, and Algorithm 1)
//! Θˡ ← Θˡ − η·αˡ·∇ℓ(fˡ)                                                   (4)
//! Wˡ ← Wˡ − η·Σ_{j ≥ l} αʲ·∇ℓ(fʲ)                                         (5)
//! ```
//!
//! ℓ is the cross-entropy. Equation 3 requires it within (0, 1), so there it is capped at 1. All
//! steps are computed from the weights before the sample. A sample of weight w counts its losses w
//! times, which makes steps w times as long and raises β to w times the power.
//!
//! The logarithm in ℓ is the platform's, so the last bits may differ between platforms.

use super::{
    hidden::{Hidden, NetworkOptions, check_step},
    layers::{DenseLayer, InputLayer},
    scaled_baseline::{Learner, Present},
};
use crate::{
    classifier::Member,
    config::check,
    error::Error,
    numeric::{exp_m1, probability},
};

/// A network with a classifier on the inputs and after every hidden layer.
#[derive(Clone, Debug)]
pub struct HedgeBackpropagation {
    options: HedgeOptions,
    hidden: Hidden,
    /// Θ⁰.
    shallowest: InputLayer,
    /// Θ¹ … Θᴸ.
    deeper: Vec<DenseLayer>,
    /// α⁰ … αᴸ.
    alphas: Vec<f64>,
}

/// The options of hedge backpropagation.
#[derive(Clone, Debug, PartialEq)]
pub struct HedgeOptions {
    /// The network: by default 20 hidden layers of 100 nodes and a learning rate of 0.01, as in the
    /// original article.
    pub network: NetworkOptions,
    /// β: the factor by which a loss of 1 reduces a classifier's share. Default 0.99.
    pub discount: f64,
    /// s: no classifier's share falls below s/L before shares are normalised. Default 0.2.
    pub smoothing: f64,
}

impl Default for HedgeOptions {
    fn default() -> Self {
        let network = NetworkOptions { hidden_layers: 20, ..NetworkOptions::default() };
        HedgeOptions { network, discount: 0.99, smoothing: 0.2 }
    }
}

impl HedgeBackpropagation {
    /// f⁰ … fᴸ for the inputs and the values of the hidden nodes.
    fn classifiers(&self, x: &Present, values: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let deeper = self.deeper.iter().zip(values).map(|(layer, values)| layer.forward(values));
        let scores = std::iter::once(self.shallowest.forward(x)).chain(deeper);
        scores.map(|scores| probability::softmax(&scores)).collect()
    }

    /// Equation 3 and the smoothing of Algorithm 1.
    fn hedge(&mut self, losses: impl Iterator<Item = f64>, weight: f64) {
        let rate = -self.options.discount.ln();
        let least = self.options.smoothing / self.options.network.hidden_layers as f64;
        for (alpha, loss) in self.alphas.iter_mut().zip(losses) {
            // β^(w·ℓ) = 1 / e^(w·ℓ·(−ln β))
            let exponent = (weight * loss.min(1.0) * rate).min(700.0);
            *alpha = (*alpha / (1.0 + exp_m1(exponent))).max(least);
        }
        let sum: f64 = self.alphas.iter().sum();
        self.alphas.iter_mut().for_each(|alpha| *alpha /= sum);
    }
}

impl Learner for HedgeBackpropagation {
    type Options = HedgeOptions;

    const MAY_FAIL: bool = true;

    fn check(options: &HedgeOptions) -> Result<(), Error> {
        options.network.check()?;
        let HedgeOptions { discount, smoothing, .. } = *options;
        check("discount", discount > 0.0 && discount < 1.0, "above 0 and below 1", &discount)?;
        // Without a minimum, a share that has vanished could never recover, nor could their sum.
        check("smoothing", smoothing > 0.0 && smoothing <= 1.0, "above 0 and at most 1", &smoothing)
    }

    fn new(options: &HedgeOptions) -> Self {
        let NetworkOptions { hidden_layers, hidden_nodes, .. } = options.network;
        let members = hidden_layers + 1;
        HedgeBackpropagation {
            options: options.clone(),
            hidden: Hidden::new(&options.network),
            shallowest: InputLayer::new(0),
            deeper: vec![DenseLayer::new(hidden_nodes); hidden_layers],
            alphas: vec![1.0 / members as f64; members],
        }
    }

    fn bytes(options: &HedgeOptions, inputs: usize, classes: usize) -> u128 {
        let NetworkOptions { hidden_layers, hidden_nodes, .. } = options.network;
        let deeper = DenseLayer::bytes(hidden_nodes, classes).saturating_mul(hidden_layers as u128);
        let shallowest = InputLayer::bytes(inputs, classes);
        options.network.bytes(inputs).saturating_add(shallowest).saturating_add(deeper)
    }

    fn declare_input(&mut self, name: &str) {
        self.hidden.declare_input(name);
        self.shallowest.push_input(vec![0.0; self.shallowest.nodes()]);
    }

    fn add_classes(&mut self, classes: usize) {
        self.shallowest.add_nodes(classes);
        self.deeper.iter_mut().for_each(|layer| layer.add_nodes(classes));
    }

    /// F(x), which is a probability for each class.
    fn scores(&self, x: &Present) -> Vec<f64> {
        let mut scores = vec![0.0; self.shallowest.nodes()];
        let members = self.classifiers(x, &self.hidden.forward(x));
        for (alpha, member) in self.alphas.iter().zip(members) {
            scores.iter_mut().zip(member).for_each(|(score, p)| *score += alpha * p);
        }
        scores
    }

    fn probabilities(&self, scores: &[f64]) -> Vec<f64> {
        super::shares(scores)
    }

    fn members(&self) -> Vec<Member> {
        let name = |depth| format!("depth {depth}");
        let alphas = self.alphas.iter().enumerate();
        alphas
            .map(|(depth, &weight)| Member {
                name: name(depth),
                weight,
                features: None,
                nodes: None,
                rests: false,
            })
            .collect()
    }

    fn learn(&mut self, x: &Present, class: usize, weight: f64) -> Result<(), Error> {
        if !self.hidden.is_scaled() {
            let mut scaled = self.clone();
            scaled.hidden.scale_for(x.len());
            scaled.learn(x, class, weight)?;
            *self = scaled;
            return Ok(());
        }
        let values = self.hidden.forward(x);
        let mut deltas = self.classifiers(x, &values);
        let losses: Vec<f64> = deltas.iter().map(|p| -p[class].ln()).collect();
        // The gradient of the cross-entropy in the scores is p − y.
        for (delta, alpha) in deltas.iter_mut().zip(&self.alphas) {
            delta[class] -= 1.0;
            let rate = self.options.network.learning_rate * weight * alpha;
            delta.iter_mut().for_each(|delta| *delta *= rate);
        }
        let mut errors: Vec<Vec<f64>> = values.iter().map(|layer| vec![0.0; layer.len()]).collect();
        for ((layer, delta), errors) in self.deeper.iter().zip(&deltas[1..]).zip(&mut errors) {
            layer.backward(delta, errors);
        }
        let errors = self.hidden.backward(&values, errors);
        check_step(x.iter().map(|(_, value)| *value), &deltas[0])?;
        for (values, delta) in values.iter().zip(&deltas[1..]) {
            check_step(values.iter().copied(), delta)?;
        }
        Hidden::check_step(x, &values, &errors)?;
        self.shallowest.step(x, &deltas[0]);
        for ((layer, delta), values) in self.deeper.iter_mut().zip(&deltas[1..]).zip(&values) {
            layer.step(values, delta);
        }
        self.hidden.step(x, &values, &errors);
        self.hedge(losses.into_iter(), weight);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: f64 = 0.01;

    fn network(hidden_layers: usize) -> HedgeBackpropagation {
        let network = NetworkOptions {
            hidden_layers,
            hidden_nodes: 6,
            learning_rate: RATE,
            ..NetworkOptions::default()
        };
        let mut network =
            HedgeBackpropagation::new(&HedgeOptions { network, ..HedgeOptions::default() });
        network.declare_input("a");
        network.declare_input("b");
        network.add_classes(2);
        network
    }

    fn trained() -> HedgeBackpropagation {
        let mut network = network(3);
        for i in 0..80 {
            let i = f64::from(i);
            network.learn(&[(0, i.sin()), (1, i.cos())], usize::from(i.sin() > 0.1), 1.0).unwrap();
        }
        network
    }

    /// The step of a weight, compared with the slope of Σ αˡℓ(fˡ) by finite differences.
    fn compare(weight: impl Fn(&mut HedgeBackpropagation) -> &mut f64) -> f64 {
        const STEP: f64 = 1e-6;
        let x = [(0, 0.4), (1, -0.9)];
        let loss = |by: f64| -> f64 {
            let mut moved = trained();
            *weight(&mut moved) += by;
            let members = moved.classifiers(&x, &moved.hidden.forward(&x));
            moved.alphas.iter().zip(members).map(|(alpha, p)| -alpha * p[1].ln()).sum()
        };
        let slope = (loss(STEP) - loss(-STEP)) / (2.0 * STEP);
        let (mut before, mut after) = (trained(), trained());
        after.learn(&x, 1, 1.0).unwrap();
        let gradient = (*weight(&mut before) - *weight(&mut after)) / RATE;
        assert!((gradient - slope).abs() < 1e-7, "{gradient} is not {slope}");
        slope
    }

    #[test]
    fn a_step_follows_the_weighted_gradient() {
        let mut largest = [0.0f64; 4];
        for node in 0..6 {
            let slopes = [
                compare(|network| network.hidden.input_weight_mut(Some(0), node)),
                compare(|network| network.hidden.weight_mut(1, (node + 1) % 6, node)),
                compare(|network| network.hidden.weight_mut(2, (node + 2) % 6, node)),
                compare(|network| network.deeper[1].weight_mut(Some(node), 0)),
            ];
            for (largest, slope) in largest.iter_mut().zip(slopes) {
                *largest = largest.max(slope.abs());
            }
        }
        assert!(largest.iter().all(|slope| *slope > 1e-6), "no layer may be dead: {largest:?}");
        assert!(compare(|network| network.shallowest.weight_mut(Some(1), 0)).abs() > 1e-3);
        for l in 0..3 {
            assert!(compare(|network| network.deeper[l].weight_mut(None, 1)).abs() > 1e-3);
        }
    }

    #[test]
    fn shares_follow_the_losses() {
        let mut network = network(1);
        // f⁰ = (¾, ¼) and f¹ = (½, ½): losses ln(4/3) and ln 2 of class 0.
        *network.shallowest.weight_mut(None, 0) = 3.0f64.ln();
        network.learn(&[(0, 0.0)], 0, 1.0).unwrap();
        let shares = [0.99f64.powf((4.0f64 / 3.0).ln()), 0.99f64.powf(2.0f64.ln())];
        let expected = shares[0] / (shares[0] + shares[1]);
        assert!((network.alphas[0] - expected).abs() < 1e-15, "{:?}", network.alphas);
        // A loss above 1 counts as 1, and the smoothing keeps the loser at 0.2.
        network.alphas = vec![0.79, 0.21];
        network.hedge([0.0, 5.0].into_iter(), 1.0);
        let expected = 0.79 / (0.79 + 0.21 * 0.99);
        assert!((network.alphas[0] - expected).abs() < 1e-15, "{:?}", network.alphas);
        network.hedge([0.0, 5.0].into_iter(), 1e6);
        let expected = expected / (expected + 0.2);
        assert!((network.alphas[0] - expected).abs() < 1e-15, "{:?}", network.alphas);
    }

    #[test]
    fn the_prediction_is_the_weighted_mean() {
        let mut network = network(1);
        *network.shallowest.weight_mut(None, 0) = 3.0f64.ln();
        network.alphas = vec![0.4, 0.6];
        let scores = network.scores(&[(0, 0.0)]);
        assert!((scores[0] - (0.4 * 0.75 + 0.6 * 0.5)).abs() < 1e-15, "{scores:?}");
    }
}
