//! Numbers in rows and columns.

use std::ops::Index;

/// A matrix of numbers, row by row.
///
/// ```
/// use broadstream::{Classifier, OnlineBls, OnlineBlsConfig, Sample};
///
/// let mut model = OnlineBls::new(OnlineBlsConfig::single())?;
/// model.learn_one(Sample::dense(&[]), 0, 1.0)?;
/// let weights = model.weights();
/// assert_eq!(weights.shape(), (1100, 1));
/// assert_eq!(weights.row(7), [weights[(7, 0)]]);
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Matrix {
    /// A matrix of that many rows and columns, with its values row by row.
    pub(crate) fn new(rows: usize, columns: usize, values: Vec<f64>) -> Self {
        debug_assert_eq!(values.len(), rows * columns);
        Matrix { rows, columns, values }
    }

    /// The numbers of rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.columns..][..self.columns]
    }

    /// All values, row by row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All values, row by row.
    pub fn into_values(self) -> Vec<f64> {
        self.values
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;

    fn index(&self, (row, column): (usize, usize)) -> &f64 {
        &self.row(row)[column]
    }
}
