//! Eigen: `LLT::rankUpdate` and `solveInPlace`, through `peers.cpp`.

use std::ptr::NonNull;

use super::Peer;

/// The struct of that name in `peers.cpp`.
#[repr(C)]
struct Opaque {
    _private: [u8; 0],
}

unsafe extern "C" {
    fn eigen_new(order: isize, ridge: f64) -> *mut Opaque;
    fn eigen_learn_and_solve(peer: *mut Opaque, a: *const f64, x: *mut f64);
    fn eigen_delete(peer: *mut Opaque);
    safe fn eigen_version() -> i32;
}

pub(crate) struct Eigen {
    peer: NonNull<Opaque>,
    order: usize,
}

impl Eigen {
    pub(crate) fn new(order: usize, ridge: f64) -> Self {
        let rows = isize::try_from(order).expect("the order is small");
        // SAFETY: any order and ridge are valid.
        let peer = unsafe { eigen_new(rows, ridge) };
        Eigen { peer: NonNull::new(peer).expect("new never gives null"), order }
    }
}

impl Peer for Eigen {
    fn name(&self) -> String {
        let version = eigen_version();
        let (world, major, minor) = (version / 10000, version / 100 % 100, version % 100);
        format!("Eigen {world}.{major}.{minor}, `LLT::rankUpdate`")
    }

    fn learn_and_solve(&mut self, features: &[f64], x: &mut [f64]) {
        assert!(features.len() == self.order && x.len() == self.order);
        // SAFETY: the peer lives until `drop`, and both slices have its order.
        unsafe { eigen_learn_and_solve(self.peer.as_ptr(), features.as_ptr(), x.as_mut_ptr()) };
    }
}

impl Drop for Eigen {
    fn drop(&mut self) {
        // SAFETY: `eigen_new` made it, and nothing uses it afterwards.
        unsafe { eigen_delete(self.peer.as_ptr()) };
    }
}
