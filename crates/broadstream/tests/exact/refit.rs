//! A ridge regression solved in 300 bits, to compare with.

use dashu_float::{FBig, round::mode::HalfEven};

type Number = FBig<HalfEven, 2>;

/// The precision of every number, in bits: enough for condition numbers of 1e70.
const BITS: usize = 300;

pub(crate) struct Row {
    pub(crate) features: Vec<f64>,
    pub(crate) class: usize,
    pub(crate) weight: f64,
}

/// The weights of a ridge regression: a row for each feature, a number for each class.
pub(crate) struct Refit {
    weights: Vec<Vec<Number>>,
}

pub(crate) fn number(value: f64) -> Number {
    Number::try_from(value).expect("features are finite").with_precision(BITS).value()
}

impl Refit {
    /// Solves (λI + Σ w·a·aᵀ) W = Σ w·a·yᵀ by a Cholesky factorisation without square roots.
    pub(crate) fn new<'a>(
        rows: impl Iterator<Item = &'a Row>,
        order: usize,
        classes: usize,
        ridge: f64,
    ) -> Self {
        let zero = number(0.0);
        let mut k = vec![vec![zero.clone(); order]; order];
        (0..order).for_each(|i| k[i][i] = number(ridge));
        let mut q = vec![vec![zero; classes]; order];
        for row in rows {
            let a: Vec<Number> = row.features.iter().map(|a| number(*a)).collect();
            let weight = number(row.weight);
            for i in 0..order {
                let weighted = &a[i] * &weight;
                for j in 0..=i {
                    k[i][j] += &weighted * &a[j];
                }
                q[i][row.class] += weighted;
            }
        }
        // K = L D Lᵀ in place, with D on the diagonal.
        for j in 0..order {
            for t in 0..j {
                let scaled = &k[j][t] * &k[t][t];
                for row in &mut k[j..] {
                    let product = &row[t] * &scaled;
                    row[j] -= product;
                }
            }
            let pivot = k[j][j].clone();
            for row in &mut k[j + 1..] {
                row[j] = &row[j] / &pivot;
            }
        }
        for i in 0..order {
            for t in 0..i {
                for class in 0..classes {
                    let product = &k[i][t] * &q[t][class];
                    q[i][class] -= product;
                }
            }
        }
        for i in (0..order).rev() {
            for class in 0..classes {
                let mut solved = &q[i][class] / &k[i][i];
                for t in i + 1..order {
                    solved -= &k[t][i] * &q[t][class];
                }
                q[i][class] = solved;
            }
        }
        Refit { weights: q }
    }

    pub(crate) fn scores(&self, features: &[f64]) -> Vec<f64> {
        let classes = self.weights[0].len();
        let mut scores = vec![number(0.0); classes];
        for (weights, a) in self.weights.iter().zip(features) {
            let a = number(*a);
            for (score, weight) in scores.iter_mut().zip(weights) {
                *score += weight * &a;
            }
        }
        scores.iter().map(|score| score.to_f64().value()).collect()
    }
}
