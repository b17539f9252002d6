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

/// What a ridge regression sums over its rows: λI + Σ w·a·aᵀ and Σ w·a·yᵀ.
#[derive(Clone)]
pub(crate) struct Sums {
    k: Vec<Vec<Number>>,
    q: Vec<Vec<Number>>,
}

impl Sums {
    /// The sums over no rows.
    pub(crate) fn new(order: usize, classes: usize, ridge: f64) -> Self {
        let mut k = matrix(order, order);
        (0..order).for_each(|i| k[i][i] = number(ridge));
        Sums { k, q: matrix(order, classes) }
    }

    pub(crate) fn add(&mut self, row: &Row) {
        let (a, weight) = (numbers(&row.features), number(row.weight));
        add_square(&mut self.k, &a, &weight);
        for (q, a) in self.q.iter_mut().zip(&a) {
            q[row.class] += a * &weight;
        }
    }

    /// Solves (λI + Σ w·a·aᵀ) W = Σ w·a·yᵀ.
    pub(crate) fn solve(self) -> Refit {
        Refit { weights: solve(self.k, self.q) }
    }
}

impl Refit {
    /// The ridge regression of some rows.
    pub(crate) fn new<'a>(
        rows: impl Iterator<Item = &'a Row>,
        order: usize,
        classes: usize,
        ridge: f64,
    ) -> Self {
        let mut sums = Sums::new(order, classes, ridge);
        rows.for_each(|row| sums.add(row));
        sums.solve()
    }

    /// The paper's Algorithm 2, with a ridge that decays between refreshes: P ← μP + w·a·aᵀ, and W
    /// grows by (P + λI)⁻¹·w·a·(y − aᵀW)ᵀ.
    pub(crate) fn forgetting<'a>(
        rows: impl Iterator<Item = &'a Row>,
        order: usize,
        classes: usize,
        ridge: f64,
        (mu, refresh_every): (f64, usize),
    ) -> Self {
        let (mut p, mut weights) = (matrix(order, order), matrix(order, classes));
        let (mu, full) = (number(mu), number(ridge));
        let mut ridge = full.clone();
        for (i, row) in rows.enumerate() {
            ridge = if i % refresh_every == 0 { full.clone() } else { ridge * &mu };
            p.iter_mut().flatten().for_each(|entry| *entry *= &mu);
            let (a, weight) = (numbers(&row.features), number(row.weight));
            add_square(&mut p, &a, &weight);
            let mut k = p.clone();
            (0..order).for_each(|i| k[i][i] += &ridge);
            let gain = solve(k, a.iter().map(|a| vec![a * &weight]).collect());
            for class in 0..classes {
                let mut residual = number(f64::from(u8::from(class == row.class)));
                for (a, weights) in a.iter().zip(&weights) {
                    residual -= a * &weights[class];
                }
                for (weights, gain) in weights.iter_mut().zip(&gain) {
                    weights[class] += &gain[0] * &residual;
                }
            }
        }
        Refit { weights }
    }

    pub(crate) fn scores(&self, features: &[f64]) -> Vec<f64> {
        let classes = self.weights[0].len();
        let mut scores = vec![number(0.0); classes];
        for (weights, a) in self.weights.iter().zip(numbers(features)) {
            for (score, weight) in scores.iter_mut().zip(weights) {
                *score += weight * &a;
            }
        }
        scores.iter().map(|score| score.to_f64().value()).collect()
    }
}

fn matrix(rows: usize, columns: usize) -> Vec<Vec<Number>> {
    vec![vec![number(0.0); columns]; rows]
}

fn numbers(values: &[f64]) -> Vec<Number> {
    values.iter().map(|value| number(*value)).collect()
}

/// Adds w·a·aᵀ to a lower triangle.
fn add_square(k: &mut [Vec<Number>], a: &[Number], weight: &Number) {
    for i in 0..a.len() {
        let weighted = &a[i] * weight;
        for j in 0..=i {
            k[i][j] += &weighted * &a[j];
        }
    }
}

/// Solves K X = Q by a Cholesky factorisation without square roots; only the lower triangle of K is
/// read.
fn solve(mut k: Vec<Vec<Number>>, mut q: Vec<Vec<Number>>) -> Vec<Vec<Number>> {
    let (order, columns) = (q.len(), q[0].len());
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
            for c in 0..columns {
                let product = &k[i][t] * &q[t][c];
                q[i][c] -= product;
            }
        }
    }
    for i in (0..order).rev() {
        for c in 0..columns {
            let mut solved = &q[i][c] / &k[i][i];
            for t in i + 1..order {
                solved -= &k[t][i] * &q[t][c];
            }
            q[i][c] = solved;
        }
    }
    q
}
