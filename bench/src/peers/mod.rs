//! Other libraries at the same work: a rank-one update of a triangular factor, then one forward and
//! one backward solve.

mod eigen;
mod faer;
mod nalgebra;
mod qrupdate;

pub(crate) use self::{
    eigen::Eigen,
    faer::{Faer, FaerForm, FaerLiteral},
    nalgebra::Nalgebra,
    qrupdate::Qrupdate,
};

/// A library that keeps K = ridge · I + Σ a·aᵀ as a factor.
pub(crate) trait Peer {
    /// The library, its version and its routine.
    fn name(&self) -> String;

    /// Updates the factor to that of K + a·aᵀ, and then replaces `x`, which enters as b, by the
    /// solution of K x = b.
    fn learn_and_solve(&mut self, features: &[f64], x: &mut [f64]);
}
