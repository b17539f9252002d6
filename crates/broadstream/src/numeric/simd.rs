//! The instruction set that the kernels use, detected at run time.
//!
//! Kernels are written twice. The portable ones are plain loops over small arrays that call
//! `mul_add`; they run anywhere and are the reference. Where the processor has AVX2 and FMA,
//! hand-written kernels replace the hottest ones, and the others are the same source compiled under
//! `target_feature`, since without it `mul_add` is a slow library call. A fused multiply-add rounds
//! once in both, and the order of operations is the same, so both give the same bits.

/// The kernels to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InstructionSet {
    /// The kernels that run on every processor.
    Portable,
    /// The kernels for AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
}

/// Proof that this processor has AVX2 and FMA: only [`InstructionSet::detect`] creates it.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Avx2(());

impl InstructionSet {
    /// The best instruction set that this processor supports.
    pub(crate) fn detect() -> InstructionSet {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return InstructionSet::Avx2(Avx2(()));
        }
        InstructionSet::Portable
    }

    /// Runs a portable kernel, compiled for this instruction set. That works only if its body is
    /// inlined into the closure, hence the `#[inline(always)]` on everything that it calls.
    #[inline(always)]
    pub(crate) fn run<T>(self, kernel: impl FnOnce() -> T) -> T {
        match self {
            InstructionSet::Portable => kernel(),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2(avx2) => avx2.run(kernel),
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    /// Runs a kernel that is compiled for AVX2 and FMA.
    #[inline(always)]
    pub(crate) fn run<T>(self, kernel: impl FnOnce() -> T) -> T {
        #[target_feature(enable = "avx2,fma")]
        fn compiled<T>(kernel: impl FnOnce() -> T) -> T {
            kernel()
        }
        // SAFETY: `self` exists, so the processor has both features.
        unsafe { compiled(kernel) }
    }
}

/// Clears the upper halves of the vector registers. Other libraries' kernels may leave them dirty,
/// and every legacy SSE instruction then waits for them.
#[cfg(feature = "dense-baselines")]
pub(crate) fn clear_upper_halves() {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx") {
        // SAFETY: the processor has AVX.
        unsafe { std::arch::x86_64::_mm256_zeroupper() }
    }
}
