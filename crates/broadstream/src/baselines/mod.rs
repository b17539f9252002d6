//! Models to compare with.

mod majority;
mod no_change;

pub use self::{majority::Majority, no_change::NoChange};

/// Relative frequencies of counts, uniform when all are 0.
fn shares(counts: &[f64]) -> Vec<f64> {
    let sum: f64 = counts.iter().sum();
    let uniform = 1.0 / counts.len() as f64;
    counts.iter().map(|count| if sum > 0.0 { count / sum } else { uniform }).collect()
}
