//! Arithmetic that gives the same bits on every machine: non-linearities, logarithms, random
//! numbers and probabilities of our own, sums of 32 digits, the choice of instruction set, and
//! threads that share work in a fixed order, and a hash of texts.

mod activation;
mod column;
mod double_double;
mod hash;
mod logarithm;
pub(crate) mod probability;
mod random;
mod simd;
mod threads;

pub use self::activation::Activation;
#[cfg(feature = "dense-baselines")]
pub(crate) use self::simd::clear_upper_halves;
#[cfg(target_arch = "x86_64")]
pub(crate) use self::simd::{Avx2, Avx512};
pub(crate) use self::{
    activation::exp_m1,
    column::Column,
    double_double::{DoubleDoubles, two_product, two_sum},
    hash::{spread, stable_hash},
    logarithm::ln,
    random::Random,
    simd::InstructionSet,
    threads::{Counter, ReleaseOnPanic, Threads, Wavefront},
};
