//! One source, compiled twice: for any processor, and for those with AVX2 and FMA.
//!
//! Kernels are plain loops over small arrays that call `mul_add`. Compiled for a processor without
//! fused multiply-add that is a library call, twelve times slower; so at run time, where the
//! processor allows it, the same loops run as compiled under `target_feature(avx2, fma)`. A fused
//! multiply-add rounds once on either path and the order of operations is that of the source, so
//! both paths give the same bits.

/// Which compilation of the kernels runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Path(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

impl Path {
    /// The path that runs on every processor.
    #[cfg_attr(not(test), allow(dead_code))]
    pub(crate) const PORTABLE: Path = Path(Kind::Portable);

    /// The best path that this processor supports.
    pub(crate) fn detect() -> Path {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return Path(Kind::Avx2);
        }
        Path(Kind::Portable)
    }

    /// Runs a kernel on this path. The kernel's body must be inlined into the closure for it to be
    /// compiled for the path, hence `#[inline(always)]` on all that it calls.
    #[inline(always)]
    pub(crate) fn run<T>(self, kernel: impl FnOnce() -> T) -> T {
        match self.0 {
            Kind::Portable => kernel(),
            // SAFETY: only `detect` makes this value, after it found both features.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { run_avx2(kernel) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2<T>(kernel: impl FnOnce() -> T) -> T {
    kernel()
}
