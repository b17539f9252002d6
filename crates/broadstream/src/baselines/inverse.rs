//! The explicit inverse of a matrix, which RI-BLS and BLS-CIL form for each sample.
//!
//! It uses elimination with partial pivoting, like the inverse of every common library; the matrix
//! of BLS-CIL need not be positive definite.

use faer::{
    Accum, Mat, MatRef, Par,
    dyn_stack::{MemBuffer, MemStack},
    linalg::{
        lu::partial_pivoting::{factor, inverse},
        matmul::matmul,
    },
};

use crate::numeric::clear_upper_halves;

/// matrix⁻¹·right, with the inverse formed explicitly; `matrix` is overwritten. `None` when the
/// result is not finite.
pub(super) fn inverse_times(matrix: &mut Mat<f64>, right: MatRef<'_, f64>) -> Option<Mat<f64>> {
    let order = matrix.nrows();
    let mut permutation = vec![0usize; order];
    let mut permuted_back = vec![0usize; order];
    let scratch =
        factor::lu_in_place_scratch::<usize, f64>(order, order, Par::Seq, Default::default())
            .or(inverse::inverse_scratch::<usize, f64>(order, Par::Seq));
    let mut memory = MemBuffer::new(scratch);
    let (_, permutation) = factor::lu_in_place(
        matrix.as_mut(),
        &mut permutation,
        &mut permuted_back,
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    );
    let mut inverted = Mat::zeros(order, order);
    inverse::inverse(
        inverted.as_mut(),
        matrix.as_ref(),
        matrix.as_ref(),
        permutation,
        Par::Seq,
        MemStack::new(&mut memory),
    );
    let mut product = Mat::zeros(order, right.ncols());
    matmul(product.as_mut(), Accum::Replace, inverted.as_ref(), right, 1.0, Par::Seq);
    clear_upper_halves();
    product.is_all_finite().then_some(product)
}

/// matrix ← matrix + weight·v·vᵀ.
pub(super) fn add_outer_product(matrix: &mut Mat<f64>, weight: f64, v: &[f64]) {
    for (j, v_j) in v.iter().enumerate() {
        let scaled = weight * v_j;
        for (entry, v_i) in matrix.col_as_slice_mut(j).iter_mut().zip(v) {
            *entry += scaled * v_i;
        }
    }
}

/// The bytes of the matrix, of its inverse and of the work space.
pub(super) fn bytes(order: usize) -> u128 {
    (order as u128 * order as u128).saturating_mul(4 * size_of::<f64>() as u128)
}
