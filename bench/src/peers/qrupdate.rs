//! qrupdate, the Fortran library behind Octave's `cholupdate`: `dch1up` on K = RᵀR, and BLAS's
//! `dtrsv` twice.

use std::ffi::c_int;

use super::Peer;

// The values of CBLAS's enumerations.
const COLUMN_MAJOR: c_int = 102;
const NO_TRANSPOSE: c_int = 111;
const TRANSPOSE: c_int = 112;
const UPPER: c_int = 121;
const NON_UNIT: c_int = 131;

unsafe extern "C" {
    fn dch1up_(
        n: *const c_int,
        r: *mut f64,
        leading_dimension: *const c_int,
        u: *mut f64,
        workspace: *mut f64,
    );
    fn cblas_dtrsv(
        layout: c_int,
        triangle: c_int,
        transpose: c_int,
        diagonal: c_int,
        n: c_int,
        a: *const f64,
        leading_dimension: c_int,
        x: *mut f64,
        increment: c_int,
    );
    fn openblas_set_num_threads(threads: c_int);
}

pub(crate) struct Qrupdate {
    order: c_int,
    /// R, upper triangular, by columns.
    r: Vec<f64>,
    /// The sample, which the update overwrites.
    u: Vec<f64>,
    workspace: Vec<f64>,
}

impl Qrupdate {
    pub(crate) fn new(order: usize, ridge: f64) -> Self {
        // SAFETY: it takes any positive number.
        unsafe { openblas_set_num_threads(1) };
        let mut r = vec![0.0; order * order];
        r.iter_mut().step_by(order + 1).for_each(|entry| *entry = ridge.sqrt());
        let n = c_int::try_from(order).expect("the order is small");
        Qrupdate { order: n, r, u: vec![0.0; order], workspace: vec![0.0; order] }
    }

    /// x ← R⁻¹x or R⁻ᵀx.
    fn solve(&self, transpose: c_int, x: &mut [f64]) {
        assert_eq!(x.len(), self.u.len());
        let n = self.order;
        // SAFETY: R has n columns of n numbers, x has n.
        unsafe {
            cblas_dtrsv(
                COLUMN_MAJOR,
                UPPER,
                transpose,
                NON_UNIT,
                n,
                self.r.as_ptr(),
                n,
                x.as_mut_ptr(),
                1,
            );
        }
    }
}

impl Peer for Qrupdate {
    fn name(&self) -> String {
        "qrupdate, `dch1up`; OpenBLAS, `dtrsv`".to_owned()
    }

    fn learn_and_solve(&mut self, features: &[f64], x: &mut [f64]) {
        self.u.copy_from_slice(features);
        // SAFETY: R has n columns of n numbers, the sample and the workspace have n.
        unsafe {
            dch1up_(
                &self.order,
                self.r.as_mut_ptr(),
                &self.order,
                self.u.as_mut_ptr(),
                self.workspace.as_mut_ptr(),
            );
        }
        self.solve(TRANSPOSE, x);
        self.solve(NO_TRANSPOSE, x);
    }
}
