//! The instruction set that the kernels use, detected at run time.
//!
//! Kernels are written twice. The portable ones are plain loops over small arrays that call
//! `mul_add`; they run anywhere and are the reference. Where the processor has AVX-512, or AVX2 and
//! FMA, hand-written kernels replace the hottest ones, and the others are the same source compiled
//! under `target_feature`, since without it `mul_add` is a slow library call. A fused multiply-add
//! rounds once in all of them, and the order of operations is the same, so all give the same bits.

/// The kernels to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InstructionSet {
    /// The kernels that run on every processor.
    Portable,
    /// The kernels for AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// The kernels for AVX-512.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

/// Proof that this processor has AVX2 and FMA: only [`InstructionSet::available`] creates it.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Avx2(());

/// Proof that this processor has the parts of AVX-512 that the kernels use: only
/// [`InstructionSet::available`] creates it.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Avx512(());

impl InstructionSet {
    /// The best instruction set that this processor supports.
    pub(crate) fn detect() -> InstructionSet {
        Self::available().last().unwrap_or(InstructionSet::Portable)
    }

    /// The instruction sets that this processor supports, the best one last.
    pub(crate) fn available() -> impl Iterator<Item = InstructionSet> {
        let portable = Some(InstructionSet::Portable);
        #[cfg(target_arch = "x86_64")]
        let all = {
            let has_avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let has_avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            [
                portable,
                has_avx2.then_some(InstructionSet::Avx2(Avx2(()))),
                (has_avx2 && has_avx512).then_some(InstructionSet::Avx512(Avx512(()))),
            ]
        };
        #[cfg(not(target_arch = "x86_64"))]
        let all = [portable];
        all.into_iter().flatten()
    }

    /// Runs a portable kernel, compiled for this instruction set. That works only if its body is
    /// inlined into the closure, hence the `#[inline(always)]` on everything that it calls.
    #[inline(always)]
    pub(crate) fn run<T>(self, kernel: impl FnOnce() -> T) -> T {
        match self {
            InstructionSet::Portable => kernel(),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2(avx2) => avx2.run(kernel),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512(avx512) => avx512.run(kernel),
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

#[cfg(target_arch = "x86_64")]
impl Avx512 {
    /// Runs a kernel that is compiled for AVX-512.
    #[inline(always)]
    pub(crate) fn run<T>(self, kernel: impl FnOnce() -> T) -> T {
        #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
        fn compiled<T>(kernel: impl FnOnce() -> T) -> T {
            kernel()
        }
        // SAFETY: `self` exists, so the processor has these features.
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
