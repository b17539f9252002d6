//! nalgebra: `Cholesky::rank_one_update` and `solve_mut`.

use nalgebra::{Cholesky, DMatrix, DVectorView, DVectorViewMut, Dyn};

use super::Peer;

pub(crate) struct Nalgebra(Cholesky<f64, Dyn>);

impl Nalgebra {
    pub(crate) fn new(order: usize, ridge: f64) -> Self {
        // The argument is the factor itself, so its diagonal is the root of the ridge.
        let factor = DMatrix::from_diagonal_element(order, order, ridge.sqrt());
        Nalgebra(Cholesky::pack_dirty(factor))
    }
}

impl Peer for Nalgebra {
    fn name(&self) -> String {
        format!("nalgebra {}, `Cholesky::rank_one_update`", env!("BENCH_NALGEBRA"))
    }

    fn learn_and_solve(&mut self, features: &[f64], x: &mut [f64]) {
        let order = features.len();
        self.0.rank_one_update(&DVectorView::from_slice(features, order), 1.0);
        self.0.solve_mut(&mut DVectorViewMut::from_slice(x, order));
    }
}
