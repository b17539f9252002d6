//! A few numbers side by side, as kernels load them.

/// Neighbouring entries of one column, aligned so that vector registers load them whole.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub(crate) struct Column<const R: usize>(pub(crate) [f64; R]);

impl<const R: usize> Column<R> {
    pub(crate) const ZERO: Self = Column([0.0; R]);
}
