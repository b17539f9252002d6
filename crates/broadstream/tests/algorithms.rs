//! The learner against the paper's algorithms, implemented literally: Cholesky factor, Givens
//! rotations, forward and backward substitution for every class.

#![allow(non_snake_case)]

use broadstream::{
    Classifier, Forgetting, InputKind, Nodes, OnlineBls, OnlineBlsConfig, Sample, Scaling, Scores,
    stream::{
        Stream,
        synth::{Hyperplane, HyperplaneOptions},
    },
};

type Matrix = Vec<Vec<f64>>;

fn zeros(rows: usize, columns: usize) -> Matrix {
    vec![vec![0.0; columns]; rows]
}

/// Chol(M) of the paper: the lower factor.
fn cholesky(M: &Matrix) -> Matrix {
    let m = M.len();
    let mut L = zeros(m, m);
    for j in 0..m {
        for i in j..m {
            let sum: f64 = (0..j).map(|k| L[i][k] * L[j][k]).sum();
            L[i][j] = if i == j { (M[j][j] - sum).sqrt() } else { (M[i][j] - sum) / L[j][j] };
        }
    }
    L
}

/// Equation 15: rotates a into the factor.
fn givens(L: &mut Matrix, a: &[f64]) {
    let mut a = a.to_vec();
    for i in 0..a.len() {
        let norm = L[i][i].hypot(a[i]);
        let (c, s) = (L[i][i] / norm, a[i] / norm);
        for k in i..a.len() {
            let (l_ki, a_k) = (L[k][i], a[k]);
            L[k][i] = c * l_ki + s * a_k;
            a[k] = c * a_k - s * l_ki;
        }
    }
}

/// Equations 13 and 14, with the indices of L corrected, and equation 10.
fn solve_and_add(L: &Matrix, B: &Matrix, W: &mut Matrix) {
    let (m, c) = (B.len(), B[0].len());
    let mut C = zeros(m, c);
    let mut dW = zeros(m, c);
    for j in 0..c {
        for i in 0..m {
            let sum: f64 = (0..i).map(|d| L[i][d] * C[d][j]).sum();
            C[i][j] = (B[i][j] - sum) / L[i][i];
        }
        for i in (0..m).rev() {
            let sum: f64 = (i + 1..m).map(|d| L[d][i] * dW[d][j]).sum();
            dW[i][j] = (C[i][j] - sum) / L[i][i];
            W[i][j] += dW[i][j];
        }
    }
}

fn predict(a: &[f64], W: &Matrix) -> Vec<f64> {
    (0..W[0].len()).map(|j| a.iter().zip(W).map(|(a, row)| a * row[j]).sum()).collect()
}

/// B = a (y - ŷ)ᵀ.
fn right_side(a: &[f64], y: &[f64], prediction: &[f64]) -> Matrix {
    a.iter().map(|a| y.iter().zip(prediction).map(|(y, p)| a * (y - p)).collect()).collect()
}

/// The two algorithms on the same features.
struct Literal {
    W: Matrix,
    L: Matrix,
    P: Matrix,
    ridge: f64,
    mu: Option<f64>,
}

impl Literal {
    fn new(m: usize, classes: usize, ridge: f64, mu: Option<f64>) -> Self {
        let mut ridge_matrix = zeros(m, m);
        (0..m).for_each(|i| ridge_matrix[i][i] = ridge);
        let L = cholesky(&ridge_matrix);
        Literal { W: zeros(m, classes), L, P: zeros(m, m), ridge, mu }
    }

    fn test_then_train(&mut self, a: &[f64], class: usize) -> Vec<f64> {
        let prediction = predict(a, &self.W);
        let mut y = vec![0.0; prediction.len()];
        y[class] = 1.0;
        match self.mu {
            None => givens(&mut self.L, a),
            Some(mu) => {
                let m = a.len();
                for i in 0..m {
                    for j in 0..m {
                        self.P[i][j] = mu * self.P[i][j] + a[i] * a[j];
                    }
                }
                let mut K = self.P.clone();
                (0..m).for_each(|i| K[i][i] += self.ridge);
                self.L = cholesky(&K);
            }
        }
        solve_and_add(&self.L, &right_side(a, &y, &prediction), &mut self.W);
        prediction
    }
}

fn config(forgetting: f64) -> OnlineBlsConfig {
    OnlineBlsConfig {
        feature_groups: 2,
        feature_nodes: 4,
        enhancement_nodes: Nodes::Fixed(21),
        nested_models: 1,
        inputs_per_sample: Some(4),
        forgetting: Forgetting::Fixed(forgetting),
        ..OnlineBlsConfig::single()
    }
}

/// Runs the learner and the literal algorithm side by side and returns the largest differences of
/// predictions and of weights.
fn largest_difference(config: &OnlineBlsConfig, samples: usize) -> (f64, f64) {
    let mu = config.forgetting.fixed().filter(|mu| *mu < 1.0);
    let mut model = OnlineBls::new(config.clone()).unwrap();
    let options = HyperplaneOptions { inputs: 4, noise: 0.1, ..HyperplaneOptions::default() };
    let mut stream = Hyperplane::new(options).unwrap().take(samples as u64);
    for i in 0..4 {
        model.declare_input(&i.to_string(), InputKind::Numeric).unwrap();
    }
    let mut block = broadstream::Block::new();
    stream.read_block(&mut block, samples).unwrap();
    let mut literal = Literal::new(model.features(), 2, 1.0, mu);
    let mut predictions = 0.0f64;
    for i in 0..samples {
        let (x, class) = (block.sample(i), block.class(i));
        let expected = literal.test_then_train(&model.features_one(x).unwrap(), class);
        for (found, expected) in model.scores_one(x).unwrap().iter().zip(&expected) {
            predictions = predictions.max((found - expected).abs());
        }
        model.learn_one(x, class, 1.0).unwrap();
    }
    let expected: Vec<f64> = literal.W.concat();
    let scale = expected.iter().fold(0.0f64, |scale, w| scale.max(w.abs()));
    let weights = model.weights().into_values();
    let differences = weights.iter().zip(&expected).map(|(w, e)| (w - e).abs() / scale);
    (predictions, differences.fold(0.0, f64::max))
}

#[test]
fn without_forgetting_it_is_algorithm_1() {
    let (predictions, weights) = largest_difference(&config(1.0), 300);
    assert!(predictions < 1e-9 && weights < 1e-9, "{predictions:e}, {weights:e}");
}

#[test]
fn refreshed_after_every_sample_it_is_algorithm_2() {
    let refreshed = OnlineBlsConfig { refresh_every: Some(1), ..config(0.97) };
    let (predictions, weights) = largest_difference(&refreshed, 300);
    assert!(predictions < 1e-9 && weights < 1e-9, "{predictions:e}, {weights:e}");
}

#[test]
fn refreshed_by_default_it_stays_near_algorithm_2() {
    // The ridge decays to a quarter between refreshes: predictions of 0/1 targets differ a little.
    let (predictions, _) = largest_difference(&config(0.99), 1000);
    assert!(predictions < 0.2, "{predictions}");
    assert!(predictions > 1e-6, "suspiciously equal: {predictions:e}");
}

#[test]
fn corrected_it_is_algorithm_2_but_for_the_steps_left_out() {
    let mut last = largest_difference(&config(0.97), 150).0;
    for steps in [2, 4, 8] {
        let config = OnlineBlsConfig { correction_steps: steps, ..config(0.97) };
        let difference = largest_difference(&config, 150).0;
        assert!(difference < last / 2.0, "{steps} steps: {difference}, before {last}");
        last = difference;
    }
    assert!(last < 1e-4, "{last}");
}

#[test]
fn leverage_is_that_of_the_definition() {
    let mut model =
        OnlineBls::new(OnlineBlsConfig { scaling: Scaling::None, ..config(1.0) }).unwrap();
    for i in 0..4 {
        model.declare_input(&i.to_string(), InputKind::Numeric).unwrap();
    }
    let rows: Vec<[f64; 4]> =
        (0..60).map(|i| [0.1, 0.7, 1.3, 2.9].map(|f: f64| (f * f64::from(i)).sin())).collect();
    let mut K = zeros(model.features(), model.features());
    (0..K.len()).for_each(|i| K[i][i] = 1.0);
    for (i, row) in rows.iter().enumerate() {
        let x = Sample::dense(row);
        let a = model.features_one(x).unwrap();
        let mut solved = zeros(a.len(), 1);
        let B: Matrix = a.iter().map(|a| vec![*a]).collect();
        solve_and_add(&cholesky(&K), &B, &mut solved);
        let expected: f64 = a.iter().zip(&solved).map(|(a, s)| a * s[0]).sum();
        let found = model.leverage_one(x).unwrap();
        assert!((found - expected).abs() < 1e-9 * expected, "{found} is not {expected}");
        model.learn_one(x, i % 2, 1.0).unwrap();
        for j in 0..a.len() {
            for k in 0..a.len() {
                K[j][k] += a[j] * a[k];
            }
        }
    }
}

#[test]
fn an_integer_weight_is_a_repetition() {
    let make = || {
        let mut model =
            OnlineBls::new(OnlineBlsConfig { scaling: Scaling::None, ..config(1.0) }).unwrap();
        model.declare_input("x", InputKind::Numeric).unwrap();
        model
    };
    let (mut weighted, mut repeated) = (make(), make());
    for i in 0..40 {
        let x = [f64::from(i).sin()];
        let times = i % 3 + 1;
        weighted.learn_one(Sample::dense(&x), (i % 2) as usize, f64::from(times)).unwrap();
        for _ in 0..times {
            repeated.learn_one(Sample::dense(&x), (i % 2) as usize, 1.0).unwrap();
        }
    }
    for (w, r) in weighted.weights().values().iter().zip(repeated.weights().values()) {
        assert!((w - r).abs() < 1e-10, "{w} is not {r}");
    }
    let mut scores = Scores::new();
    weighted.test_then_train(&broadstream::Block::new(), &mut scores).unwrap();
    assert!(scores.is_empty(), "an empty block is nothing");
}
